// The block sizes of the memory pools, of the CPU and of devices: four size classes per power of
// two.
#pragma once

#include <cstddef>

namespace xtensor {

inline size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/// Classes of blocks whose sizes are multiples of 2^`kLog`, the smallest of that size:
/// 64, 128, 192, 256, 320, 384, 448, 512, 640, ... for 6.
template <int kLog>
struct BlockSizes {
  static constexpr size_t kSmallest = size_t(1) << kLog;

  static int classOf(size_t bytes) {
    if (bytes <= kSmallest)
      return 0;
    int log = 63 - __builtin_clzll(bytes - 1);
    return 4 * (log - kLog) + static_cast<int>((bytes - 1) >> (log - 2)) - 3;
  }
  static size_t bytesOf(int sizeClass) {
    return roundUp(size_t(4 + sizeClass % 4) << (sizeClass / 4 + kLog - 2), kSmallest);
  }
};

/// Of devices.
using DeviceBlocks = BlockSizes<8>;
constexpr size_t kBlockAlignment = DeviceBlocks::kSmallest;
constexpr int kBlockClasses = 4 * 48;
/// Blocks from here on have memory of the driver's of their own.
constexpr size_t kSharedBlock = size_t(1) << 20;

/// How many blocks of a size are asked of the driver at once.
inline size_t blocksAtOnce(size_t bytes) {
  if (bytes >= kSharedBlock)
    return 1;
  size_t wanted = 16 * bytes;
  wanted = wanted < kSharedBlock / 4 ? kSharedBlock / 4 : wanted;
  return (wanted < 4 * kSharedBlock ? wanted : 4 * kSharedBlock) / bytes;
}

} // namespace xtensor
