// A sorting network, for the runtime and for compiled programs.
#pragma once

#include <cstdint>

/// Calls `compare(low, high)` for each comparator of a network that sorts `n` elements: it puts the
/// smaller one of two at `low`. Source: Batcher's merge exchange (Knuth, The Art of Computer
/// Programming 3, algorithm 5.2.2M).
template <typename Compare>
constexpr void forEachComparator(int64_t n, Compare compare) {
  int64_t top = 1;
  while (2 * top < n)
    top *= 2;
  for (int64_t p = n < 2 ? 0 : top; p > 0; p /= 2) {
    int64_t q = top, r = 0, d = p;
    while (true) {
      for (int64_t i = 0; i + d < n; ++i)
        if ((i & p) == r)
          compare(i, i + d);
      if (q == p)
        break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
}
