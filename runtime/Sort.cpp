// Sorting, and the first positions of an order. Rows are sorted in parallel. The keys are unsigned
// integers, whose order includes the direction, NaN last, and equal zeros. So one comparison, or
// the digits of a radix sort, decides.
#include "order.h"
#include "runtime.h"

#include <algorithm>
#include <cstring>

namespace {

/// Rows from here on are sorted by digits.
constexpr int64_t kRadix = 1024;
/// Up to this part of a row, what is wanted is chosen while the row is read. More of it is set
/// apart and then sorted, or, of rows that are sorted by digits, comes first in the whole.
constexpr int64_t kChosenPart = 32;

template <typename Key>
struct Item {
  Key key;
  int64_t position;
  bool operator<(const Item &other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

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
  xt_order order;
  int64_t rows, size, wanted;
};

/// The `wanted` least of `n` items, in order, in place of the first ones. `item(i)` makes one.
template <typename Key, typename ItemFn>
void selectLeast(Item<Key> *items, int64_t wanted, int64_t n, ItemFn item) {
  int64_t room = wanted * kChosenPart <= n ? wanted + std::max<int64_t>(wanted, 32) : n;
  room = std::min(room, n);
  for (int64_t i = 0; i < room; ++i)
    items[i] = item(i);
  int64_t filled = room;
  auto setApart = [&] { std::nth_element(items, items + wanted - 1, items + filled); };
  setApart();
  filled = wanted;
  // What may be among the least is added to those; once the room is full, the rest of it goes. So
  // each element costs the same, in whatever order they come. Of equal keys the first one stays.
  Key last = items[wanted - 1].key;
  for (int64_t i = room; i < n; ++i)
    if (Item<Key> next = item(i); next.key < last) {
      items[filled++] = next;
      if (filled == room) {
        setApart();
        filled = wanted;
        last = items[wanted - 1].key;
      }
    }
  if (filled > wanted)
    setApart();
  std::sort(items, items + wanted);
}

/// Positions that later reads may use all the same.
void clearRows(const Job &job, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row)
    for (int64_t i = 0; i < job.wanted; ++i)
      static_cast<int64_t *>(
          job.y->data)[xt_row_offset(job.y, row) + i * job.y->strides[job.y->rank - 1]] = 0;
}

template <typename Key>
void sortRows(void *context, int64_t begin, int64_t end) {
  const Job &job = *static_cast<const Job *>(context);
  const int64_t n = job.size;
  xt_order order = job.order;
  order.bytes = sizeof(Key); // known while this is compiled
  const int64_t step = job.x->strides[job.x->rank - 1], out = job.y->strides[job.y->rank - 1];
  auto *items =
      static_cast<Item<Key> *>(xt_arena_acquire(2 * n * static_cast<int64_t>(sizeof(Item<Key>))));
  if (!items) // reported; what the call gives is not used
    return clearRows(job, begin, end);
  for (int64_t row = begin; row < end; ++row) {
    const Key *x = static_cast<const Key *>(job.x->data) + xt_row_offset(job.x, row);
    int64_t *y = static_cast<int64_t *>(job.y->data) + xt_row_offset(job.y, row);
    auto item = [&](int64_t i) {
      return Item<Key>{static_cast<Key>(xt_order_key(&order, x[i * step])), i};
    };
    if (job.wanted < n && (n < kRadix || job.wanted * kChosenPart <= n)) {
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
  Job job{&x, &arrays[1], xt_order_of(&x, options), 1, x.sizes[x.rank - 1], wanted};
  for (int32_t axis = 0; axis + 1 < x.rank; ++axis)
    job.rows *= x.sizes[axis];
  if (job.rows == 0 || job.wanted == 0)
    return;
  void (*rows)(void *, int64_t, int64_t) = job.order.bytes == 1   ? sortRows<uint8_t>
                                           : job.order.bytes == 2 ? sortRows<uint16_t>
                                           : job.order.bytes == 4 ? sortRows<uint32_t>
                                                                  : sortRows<uint64_t>;
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
