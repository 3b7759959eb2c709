// Single places of the order of rows, as medians and quantiles read them.
#include "Clones.h"
#include "SortKeys.h"
#include "VectorSort.h"

#include <type_traits>

namespace {

struct Selection : Rows {
  int64_t wanted;
  const int64_t *places;
};

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

/// The same for all places, by a sorted copy of the keys. Of equal keys, the first ones come first.
template <typename Key, typename Word>
void placesBySorting(const Key *keys, int64_t n, const Selection &job, Word *sorted, int64_t *y) {
  std::copy(keys, keys + n, sorted);
  xt_sort_by_vectors(sorted, n);
  for (const int64_t *place = job.places; place < job.places + job.wanted; ++place) {
    Word found = sorted[*place];
    int64_t i = 0;
    for (int64_t skip = *place - (std::lower_bound(sorted, sorted + n, found) - sorted);
         keys[i] != found || skip-- > 0;)
      ++i;
    y[*place * job.out()] = i;
  }
}

/// The positions of the elements at all places of one row.
template <typename Key>
void selectRow(const Selection &job, const Key *keys, int64_t padded, Item<Key> *items,
               int64_t *y) {
  const int64_t n = job.size, out = job.out(), *last = job.places + job.wanted;
  if (n < kSampled && n >= kVectorRow && sizeof(Key) > 1 && xt_sorts_by_vectors()) {
    using Word = std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t>;
    return placesBySorting(keys, n, job, reinterpret_cast<Word *>(items), y);
  }
  if (n < kSampled) {
    for (const int64_t *place = job.places; place < last; ++place)
      y[*place * out] = placeOf(keys, padded, *place);
    return;
  }
  for (const int64_t *place = job.places, *next; place < last; place = next) {
    next = place + 1;
    while (next < last && *next - next[-1] <= n / 64 + 1)
      ++next;
    int64_t below = selectPlaces(keys, n, place, next, items);
    for (; place < next; ++place)
      y[*place * out] = items[*place - below].position;
  }
}

template <typename Key>
void selectRows(void *context, int64_t begin, int64_t end) {
  const Selection &job = *static_cast<const Selection *>(context);
  const int64_t n = job.size, atOnce = job.step() == 1 ? 1 : job.atOnce(end - begin);
  int64_t padded = (n + kVectors - 1) / kVectors * kVectors;
  auto *items = static_cast<Item<Key> *>(
      xt_arena_acquire(n * static_cast<int64_t>(sizeof(Item<Key>)) +
                       atOnce * padded * static_cast<int64_t>(sizeof(Key))));
  auto *keys = reinterpret_cast<Key *>(items + n);
  for (int64_t block = begin; block < end; block += atOnce) {
    int64_t rows = std::min(atOnce, end - block);
    if (items)
      xt_read_keys(job, block, rows, padded, keys);
    for (int64_t r = 0; r < rows; ++r) {
      int64_t *y = static_cast<int64_t *>(job.y->data) + xt_row_offset(job.y, block + r);
      Key *row = keys + r * padded;
      // Without memory, which is reported: positions that later reads may use all the same.
      for (int64_t k = 0; !items && k < job.wanted; ++k)
        y[job.places[k] * job.out()] = 0;
      if (!items)
        continue;
      std::fill(row + n, row + padded, Key(~Key(0)));
      selectRow(job, row, padded, items, y);
    }
  }
  xt_arena_release(items);
}

} // namespace

// Options: descending, unsigned, how many places of the order are wanted, and these, in increasing
// order. Nothing else is written.
void xt_select(const xt_array *arrays, const int64_t *options) {
  Selection job{{arrays, options}, options[2], options + 3};
  if (job.wanted == 0 || job.count == 0)
    return;
  auto *loop = loopOf(job.order, selectRows<uint8_t>, selectRows<uint16_t>, selectRows<uint32_t>,
                      selectRows<uint64_t>);
  xt_parallel_for(loop, &job, job.count, grainOf(job, 5));
}
