// Sorting, and the first positions of an order. Rows are sorted in parallel. The keys are unsigned
// integers, whose order includes the direction, NaN last, and equal zeros. So one comparison, or
// the digits of a radix sort, decides.
#include "Clones.h"
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

//===- single places of the order ------------------------------------------===//

struct Selection {
  const xt_array *x, *y;
  xt_order order;
  int64_t rows, size, count;
  const int64_t *places;
};

/// Rows that are strided are copied this many at a time: they share cache lines.
constexpr int64_t kRowsAtOnce = 16;
/// Rows from here on are narrowed down by a sample; shorter ones by the bits of the key.
constexpr int64_t kSampled = 1024;
/// Keys that are compared at a time.
constexpr int64_t kVectors = 64;

/// Where the element at `place` of the order lies: bit by bit, the greatest key that at most
/// `place` keys are below. Every loop is one of vectors.
template <typename Key>
XT_INLINE int64_t placeByBits(const Key *keys, int64_t padded, int64_t place) {
  Key found = 0;
  int64_t before = 0;
  for (int bit = 8 * sizeof(Key); bit-- > 0;) {
    Key next = found | Key(Key(1) << bit);
    uint32_t below = 0;
    for (int64_t i = 0; i < padded; i += kVectors)
      for (int64_t v = 0; v < kVectors; ++v)
        below += keys[i + v] < next;
    if (below <= place) {
      found = next;
      before = below;
    }
  }
  // Of equal keys, the first ones come first.
  int64_t i = 0;
  for (int64_t skip = place - before; keys[i] != found || skip-- > 0;)
    ++i;
  return i;
}

XT_CLONES int64_t placeOf(const uint8_t *keys, int64_t padded, int64_t place) {
  return placeByBits(keys, padded, place);
}
XT_CLONES int64_t placeOf(const uint16_t *keys, int64_t padded, int64_t place) {
  return placeByBits(keys, padded, place);
}
XT_CLONES int64_t placeOf(const uint32_t *keys, int64_t padded, int64_t place) {
  return placeByBits(keys, padded, place);
}
XT_CLONES int64_t placeOf(const uint64_t *keys, int64_t padded, int64_t place) {
  return placeByBits(keys, padded, place);
}

/// The bounds within which the elements at places `first` to `last` of the order probably lie.
template <typename Key>
std::pair<Key, Key> probableBounds(const Key *keys, int64_t n, int64_t first, int64_t last) {
  constexpr int64_t kMost = 1024;
  int64_t size = 64;
  while (size < kMost && size * size < 4 * n)
    size *= 2;
  Key sample[kMost];
  uint32_t random = 1;
  int64_t part = n / size;
  for (int64_t i = 0; i < size; ++i) {
    random = random * 1664525 + 1013904223; // so that no pattern of the row hides from the sample
    sample[i] = keys[i * part + (random >> 8) % part];
  }
  std::sort(sample, sample + size);
  // Three standard deviations of a place in the sample at most.
  int64_t margin = 1;
  while (4 * margin * margin < 9 * size)
    ++margin;
  int64_t low = first * size / n - margin, high = last * size / n + margin;
  return {low < 0 ? Key(0) : sample[low], high >= size ? Key(~Key(0)) : sample[high]};
}

/// Finds the elements at the places from `begin` to `end`, which lie close together: item
/// place - result is theirs.
template <typename Key>
int64_t selectPlaces(const Key *keys, int64_t n, const int64_t *begin, const int64_t *end,
                     Item<Key> *items) {
  int64_t below = 0, found = 0;
  auto [low, high] = probableBounds(keys, n, *begin, end[-1]);
  for (int64_t i = 0; i < n; ++i) {
    items[found] = {keys[i], i};
    found += (keys[i] >= low) & (keys[i] <= high);
    below += keys[i] < low;
  }
  if (*begin < below || end[-1] >= below + found) {
    below = 0;
    found = n;
    for (int64_t i = 0; i < n; ++i)
      items[i] = {keys[i], i};
  }
  Item<Key> *from = items;
  for (const int64_t *place = begin; place < end; ++place) {
    Item<Key> *at = items + (*place - below);
    std::nth_element(from, at, items + found);
    from = at + 1;
  }
  return below;
}

template <typename Key>
void selectRows(void *context, int64_t begin, int64_t end) {
  const Selection &job = *static_cast<const Selection *>(context);
  const int64_t n = job.size;
  xt_order order = job.order;
  order.bytes = sizeof(Key); // known while this is compiled
  const int64_t step = job.x->strides[job.x->rank - 1], out = job.y->strides[job.y->rank - 1];
  int64_t atOnce = step == 1 ? 1 : std::min(kRowsAtOnce, end - begin);
  int64_t padded = (n + kVectors - 1) / kVectors * kVectors;
  auto *items = static_cast<Item<Key> *>(
      xt_arena_acquire(n * static_cast<int64_t>(sizeof(Item<Key>)) +
                       atOnce * padded * static_cast<int64_t>(sizeof(Key))));
  auto *keys = reinterpret_cast<Key *>(items + n);
  for (int64_t block = begin; block < end; block += atOnce) {
    int64_t rows = std::min(atOnce, end - block);
    const Key *x[kRowsAtOnce];
    for (int64_t r = 0; r < rows; ++r)
      x[r] = static_cast<const Key *>(job.x->data) + xt_row_offset(job.x, block + r);
    for (int64_t i = 0; items && i < n; ++i)
      for (int64_t r = 0; r < rows; ++r)
        keys[r * padded + i] = static_cast<Key>(xt_order_key(&order, x[r][i * step]));
    for (int64_t r = 0; items && r < rows; ++r)
      std::fill(keys + r * padded + n, keys + (r + 1) * padded, Key(~Key(0)));
    for (int64_t r = 0; r < rows; ++r) {
      int64_t *y = static_cast<int64_t *>(job.y->data) + xt_row_offset(job.y, block + r);
      const int64_t *last = job.places + job.count;
      if (items && n < kSampled) {
        for (const int64_t *place = job.places; place < last; ++place)
          y[*place * out] = placeOf(keys + r * padded, padded, *place);
        continue;
      }
      for (const int64_t *place = job.places, *next; place < last; place = next) {
        next = place + 1;
        while (next < last && *next - next[-1] <= n / 64 + 1)
          ++next;
        int64_t below = items ? selectPlaces(keys + r * padded, n, place, next, items) : 0;
        // Without memory, which is reported: positions that later reads may use all the same.
        for (; place < next; ++place)
          y[*place * out] = items ? items[*place - below].position : 0;
      }
    }
  }
  xt_arena_release(items);
}

//===- calls ---------------------------------------------------------------===//

/// The version for the keys of an order.
template <typename Loop>
Loop loopOf(const xt_order &order, Loop of1, Loop of2, Loop of4, Loop of8) {
  return order.bytes == 1 ? of1 : order.bytes == 2 ? of2 : order.bytes == 4 ? of4 : of8;
}

/// The first `wanted` positions of each row.
void argsort(const xt_array *arrays, const int64_t *options, int64_t wanted) {
  const xt_array &x = arrays[0];
  Job job{&x, &arrays[1], xt_order_of(&x, options), 1, x.sizes[x.rank - 1], wanted};
  for (int32_t axis = 0; axis + 1 < x.rank; ++axis)
    job.rows *= x.sizes[axis];
  if (job.rows == 0 || job.wanted == 0)
    return;
  auto *rows = loopOf(job.order, sortRows<uint8_t>, sortRows<uint16_t>, sortRows<uint32_t>,
                      sortRows<uint64_t>);
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

// Options: descending, unsigned, how many places of the order are wanted, and these, in increasing
// order. Nothing else is written.
void xt_select(const xt_array *arrays, const int64_t *options) {
  const xt_array &x = arrays[0];
  Selection job{&x,         &arrays[1], xt_order_of(&x, options), 1, x.sizes[x.rank - 1],
                options[2], options + 3};
  for (int32_t axis = 0; axis + 1 < x.rank; ++axis)
    job.rows *= x.sizes[axis];
  if (job.rows == 0 || job.count == 0)
    return;
  auto *rows = loopOf(job.order, selectRows<uint8_t>, selectRows<uint16_t>, selectRows<uint32_t>,
                      selectRows<uint64_t>);
  // About 5 ns for an element. Rows that are strided are copied together.
  int64_t grain = std::max<int64_t>(1, 2000 / job.size);
  if (x.strides[x.rank - 1] != 1 && job.rows >= 4 * kRowsAtOnce)
    grain = (grain + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
  xt_parallel_for(rows, &job, job.rows, grain);
}
