// The debug mode of memory, $XTENSOR_DEBUG_MEMORY=1. Fresh blocks hold a pattern that programs do
// not produce, and guard bytes around them reveal writes outside of a block.
#pragma once

#include <cstddef>
#include <cstring>

namespace xtensor {

/// Read when the library is loaded: compiled programs keep blocks from one mode only.
extern const bool debugMemory;

/// NaN in every float dtype, -1 as an integer, neither 0 nor 1 as a bool.
constexpr int kUnwritten = 0xff;
/// Bytes on each side; a multiple of the alignment of blocks.
constexpr size_t kGuard = 64;

inline void fillUnwritten(void *p, size_t bytes) { memset(p, kUnwritten, bytes); }

/// Writes the guards of a block of `bytes`: behind it, and `front` bytes before it.
void writeGuards(void *p, size_t bytes, size_t front);
/// The first byte of the guards that changed, as an offset from the block; false if none did.
bool findDamage(const void *p, size_t bytes, size_t front, ptrdiff_t &offset);

} // namespace xtensor
