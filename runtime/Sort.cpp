// Sorting, and the first positions of an order: rows in parallel, each by keys that are unsigned
// integers in the order asked for, so that one comparison (or the digits of a radix sort) settles
// NaN, zeros of both signs and direction.
#include "runtime.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace {

/// Rows from here on are sorted by digits.
constexpr int64_t kRadix = 1024;
/// Up to this part of a row, what is wanted is kept in a heap. More of it is set apart and then
/// sorted, or, of rows that are sorted by digits, comes first in the whole.
constexpr int64_t kHeapPart = 128;

template <typename Key>
struct Item {
  Key key;
  int64_t position;
  bool operator<(const Item &other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

enum class Kind { Signed, Unsigned, Float };

/// Bits as a key: greater keys come later. `infinity`: the bits of a float's infinity.
template <typename Key>
Key keyOf(Key bits, Kind kind, Key infinity, bool descending) {
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1), all = std::numeric_limits<Key>::max();
  Key key = bits;
  if (kind == Kind::Float) {
    Key magnitude = bits & static_cast<Key>(~sign);
    if (magnitude > infinity) // NaN
      return all;
    if (magnitude == 0)
      bits = 0;
    key = bits & sign ? static_cast<Key>(~bits) : static_cast<Key>(bits | sign);
  } else if (kind == Kind::Signed) {
    key = bits ^ sign;
  }
  return descending ? static_cast<Key>(~key) : key;
}

/// Stable: least digit first. `items` holds the result.
template <typename Key>
void sortByDigits(Item<Key> *items, Item<Key> *other, int64_t n) {
  constexpr int digits = sizeof(Key);
  int64_t counts[digits][256] = {};
  for (int64_t i = 0; i < n; ++i)
    for (int d = 0; d < digits; ++d)
      ++counts[d][(items[i].key >> (8 * d)) & 255];
  Item<Key> *from = items, *to = other;
  for (int d = 0; d < digits; ++d) {
    int64_t *count = counts[d];
    if (count[(from[0].key >> (8 * d)) & 255] == n)
      continue; // all alike
    int64_t start = 0;
    for (int v = 0; v < 256; ++v) {
      int64_t size = count[v];
      count[v] = start;
      start += size;
    }
    for (int64_t i = 0; i < n; ++i)
      to[count[(from[i].key >> (8 * d)) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != items)
    std::memcpy(static_cast<void *>(items), from, n * sizeof(Item<Key>));
}

struct Job {
  const xt_array *x, *y;
  Kind kind;
  uint64_t infinity;
  bool descending;
  int64_t rows, size, wanted;
};

/// Where row number `row` starts: the axes but the last, in row-major order.
int64_t offsetOf(const xt_array &array, int64_t row) {
  int64_t offset = 0;
  for (int32_t axis = array.rank - 2; axis >= 0; --axis) {
    offset += row % array.sizes[axis] * array.strides[axis];
    row /= array.sizes[axis];
  }
  return offset;
}

/// The `wanted` least of `n` items, in order, in place of the first ones. `item(i)` makes one.
template <typename Key, typename ItemFn>
void selectLeast(Item<Key> *items, int64_t wanted, int64_t n, ItemFn item) {
  int64_t filled = wanted * kHeapPart <= n ? wanted : n;
  for (int64_t i = 0; i < filled; ++i)
    items[i] = item(i);
  if (filled == n) {
    std::nth_element(items, items + wanted, items + n);
    return std::sort(items, items + wanted);
  }
  std::make_heap(items, items + wanted);
  // Of equal keys the first one stays.
  for (int64_t i = wanted; i < n; ++i)
    if (Item<Key> next = item(i); next.key < items[0].key) {
      std::pop_heap(items, items + wanted);
      items[wanted - 1] = next;
      std::push_heap(items, items + wanted);
    }
  std::sort_heap(items, items + wanted);
}

/// Positions that later reads may use all the same.
void clearRows(const Job &job, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row)
    for (int64_t i = 0; i < job.wanted; ++i)
      static_cast<int64_t *>(
          job.y->data)[offsetOf(*job.y, row) + i * job.y->strides[job.y->rank - 1]] = 0;
}

template <typename Key>
void sortRows(void *context, int64_t begin, int64_t end) {
  const Job &job = *static_cast<const Job *>(context);
  const int64_t n = job.size;
  const int64_t step = job.x->strides[job.x->rank - 1], out = job.y->strides[job.y->rank - 1];
  auto *items =
      static_cast<Item<Key> *>(xt_arena_acquire(2 * n * static_cast<int64_t>(sizeof(Item<Key>))));
  if (!items) // reported; what the call gives is not used
    return clearRows(job, begin, end);
  for (int64_t row = begin; row < end; ++row) {
    const Key *x = static_cast<const Key *>(job.x->data) + offsetOf(*job.x, row);
    int64_t *y = static_cast<int64_t *>(job.y->data) + offsetOf(*job.y, row);
    auto item = [&](int64_t i) {
      Key infinity = static_cast<Key>(job.infinity);
      return Item<Key>{keyOf<Key>(x[i * step], job.kind, infinity, job.descending), i};
    };
    if (job.wanted < n && (n < kRadix || job.wanted * kHeapPart <= n)) {
      selectLeast(items, job.wanted, n, item);
    } else {
      for (int64_t i = 0; i < n; ++i)
        items[i] = item(i);
      if (n < kRadix)
        std::sort(items, items + n);
      else
        sortByDigits(items, items + n, n);
    }
    for (int64_t i = 0; i < job.wanted; ++i)
      y[i * out] = items[i].position;
  }
  xt_arena_release(items);
}

/// The first `wanted` positions of each row.
void argsort(const xt_array *arrays, const int64_t *options, int64_t wanted) {
  const xt_array &x = arrays[0];
  Job job{&x, &arrays[1], Kind::Signed, 0, options[0] != 0, 1, x.sizes[x.rank - 1], wanted};
  for (int32_t axis = 0; axis + 1 < x.rank; ++axis)
    job.rows *= x.sizes[axis];
  if (job.rows == 0 || job.wanted == 0)
    return;
  if (options[1])
    job.kind = Kind::Unsigned;
  void (*rows)(void *, int64_t, int64_t) = nullptr;
  auto isFloat = [&](uint64_t infinity) {
    job.kind = Kind::Float;
    job.infinity = infinity;
  };
  switch (x.type) {
  case XT_I8:
    rows = sortRows<uint8_t>;
    break;
  case XT_F16:
    isFloat(0x7c00);
    rows = sortRows<uint16_t>;
    break;
  case XT_BF16:
    isFloat(0x7f80);
    rows = sortRows<uint16_t>;
    break;
  case XT_I16:
    rows = sortRows<uint16_t>;
    break;
  case XT_F32:
    isFloat(0x7f800000);
    rows = sortRows<uint32_t>;
    break;
  case XT_I32:
    rows = sortRows<uint32_t>;
    break;
  case XT_F64:
    isFloat(0x7ff0000000000000);
    rows = sortRows<uint64_t>;
    break;
  default:
    rows = sortRows<uint64_t>;
    break;
  }
  // About 5 ns for an element and each doubling of the row.
  int64_t doublings = 1;
  while (int64_t(1) << doublings < job.size)
    ++doublings;
  xt_parallel_for(rows, &job, job.rows, std::max<int64_t>(1, 400 / (job.size * doublings)));
}

} // namespace

void xt_argsort(const xt_array *arrays, const int64_t *options) {
  argsort(arrays, options, arrays[0].sizes[arrays[0].rank - 1]);
}

void xt_top_k(const xt_array *arrays, const int64_t *options) {
  argsort(arrays, options, options[2]);
}
