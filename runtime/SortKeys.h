// Keys of a row: unsigned integers whose order includes the direction, NaN last, and equal zeros.
#pragma once

#include "Clones.h"
#include "order.h"
#include "runtime.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

/// Rows that are strided are copied this many at a time: they share cache lines.
constexpr int64_t kRowsAtOnce = 16;
/// Their elements in all, except for those of a single row.
constexpr int64_t kMostAtOnce = int64_t(1) << 16;
/// From here on vectors sort faster than insertion.
constexpr int64_t kVectorRow = 16;

/// The bits of an element, from its key: zero is positive, and NaN one of many.
template <typename Key>
XT_INLINE Key xt_order_bits(const xt_order &order, Key key) {
  const Key sign = Key(Key(1) << (8 * sizeof(Key) - 1));
  if (order.descending)
    key = Key(~key);
  if (order.infinity && !(key & sign))
    return Key(~key);
  return order.is_unsigned ? key : Key(key ^ sign);
}

template <typename Key>
struct Item {
  Key key;
  int64_t position;
  bool operator<(const Item &other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

/// Some rows of an array along its last axis.
struct Rows {
  const xt_array *x, *y;
  xt_order order;
  int64_t count, size;

  Rows(const xt_array *arrays, const int64_t *options)
      : x(&arrays[0]), y(&arrays[1]), order(xt_order_of(x, options)), count(1),
        size(x->sizes[x->rank - 1]) {
    for (int32_t axis = 0; axis + 1 < x->rank; ++axis)
      count *= x->sizes[axis];
  }
  int64_t step() const { return x->strides[x->rank - 1]; }
  int64_t out() const { return y->strides[y->rank - 1]; }
  /// How many rows are copied together.
  int64_t atOnce(int64_t most) const {
    bool isDense = step() == 1 && out() == 1;
    return isDense ? 1
                   : std::clamp<int64_t>(kMostAtOnce / std::max<int64_t>(size, 1), 1,
                                         std::min(kRowsAtOnce, most));
  }
};

/// Writes rows of `n` elements each to where they belong.
template <typename Out, typename From>
void writeRows(const Rows &rows, int64_t row, int64_t count, int64_t wanted, const From *from) {
  const int64_t out = rows.out(), n = rows.size;
  Out *y[kRowsAtOnce];
  for (int64_t r = 0; r < count; ++r)
    y[r] = static_cast<Out *>(rows.y->data) + xt_row_offset(rows.y, row + r);
  if (out == 1) {
    for (int64_t r = 0; r < count; ++r)
      std::memcpy(y[r], from + r * n, static_cast<size_t>(wanted) * sizeof(Out));
    return;
  }
  for (int64_t i = 0; i < wanted; ++i)
    for (int64_t r = 0; r < count; ++r)
      y[r][i * out] = static_cast<Out>(from[r * n + i]);
}

// The keys of rows `row` to `row + count`, each `padded` long.
void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded, uint8_t *keys);
void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded, uint16_t *keys);
void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded, uint32_t *keys);
void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded, uint64_t *keys);

/// The version of a loop for the keys of an order.
template <typename Loop>
Loop loopOf(const xt_order &order, Loop of1, Loop of2, Loop of4, Loop of8) {
  return order.bytes == 1 ? of1 : order.bytes == 2 ? of2 : order.bytes == 4 ? of4 : of8;
}

/// Rows of a loop that one thread takes at least, of which an element costs about `ns`.
inline int64_t grainOf(const Rows &rows, int64_t ns) {
  int64_t grain = std::max<int64_t>(1, 10'000 / (ns * std::max<int64_t>(rows.size, 1)));
  if (rows.step() != 1 && rows.count >= 4 * kRowsAtOnce)
    grain = (grain + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
  return grain;
}
