// Sizes of the blocks that device memory is cut into: four classes per doubling from 256 bytes on.
#pragma once

#include <cstddef>

namespace xtensor {

constexpr size_t kBlockAlignment = 256;
constexpr int kBlockClasses = 4 * 48;
/// Blocks from here on have memory of the driver's of their own.
constexpr size_t kSharedBlock = size_t(1) << 20;

/// 256, 320, 384, 448, 512, 640, ...
inline int blockClassOf(size_t bytes) {
  if (bytes <= kBlockAlignment)
    return 0;
  int log = 63 - __builtin_clzll(bytes - 1);
  return 4 * (log - 8) + static_cast<int>((bytes - 1) >> (log - 2)) - 3;
}

inline size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

inline size_t bytesOfBlockClass(int sizeClass) {
  return roundUp(size_t(4 + sizeClass % 4) << (sizeClass / 4 + 6), kBlockAlignment);
}

/// How many blocks of a size are asked of the driver at once.
inline size_t blocksAtOnce(size_t bytes) {
  if (bytes >= kSharedBlock)
    return 1;
  size_t wanted = 16 * bytes;
  wanted = wanted < kSharedBlock / 4 ? kSharedBlock / 4 : wanted;
  return (wanted < 4 * kSharedBlock ? wanted : 4 * kSharedBlock) / bytes;
}

} // namespace xtensor
