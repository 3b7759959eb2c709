// Sorting, and the first positions of an order. Rows are sorted in parallel. A word holds the key
// of an element in its upper bits and the position in its lower ones, so one comparison of integers
// decides, and an order of equal keys is stable.
#include "Clones.h"
#include "ColumnSort.h"
#include "Network.h"
#include "SortKeys.h"
#include "VectorSort.h"

#include <cstring>
#include <utility>

namespace {

/// Rows from here on are sorted by digits, where no vectors sort.
constexpr int64_t kRadix = 1024;
/// Up to this part of a row, what is wanted is chosen while the row is read. More of it is set
/// apart and then sorted, or comes first in the whole.
constexpr int64_t kChosenPart = 32;
/// Rows up to here are sorted by vectors faster than their least are chosen.
constexpr int64_t kShort = 256;

/// The bits that a number takes.
int widthOf(uint64_t n) { return n ? 64 - __builtin_clzll(n) : 0; }

/// Stable: least digit first. Sorts by the bits from `low` to `high`; `other` has room for `n`.
template <typename Word>
void sortByDigits(Word *words, Word *other, int64_t n, int low, int high) {
  Word *from = words, *to = other;
  for (int shift = low; shift < high; shift += 8) {
    int64_t count[256] = {};
    for (int64_t i = 0; i < n; ++i)
      ++count[(from[i] >> shift) & 255];
    if (count[(from[0] >> shift) & 255] == n)
      continue; // all alike
    int64_t start = 0;
    for (int64_t &place : count)
      start += std::exchange(place, start);
    for (int64_t i = 0; i < n; ++i)
      to[count[(from[i] >> shift) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != words)
    std::memcpy(words, from, n * sizeof(Word));
}

/// Sorts words whose bits below `low` are in order already.
template <typename Word>
void sortWords(Word *words, Word *other, int64_t n, int low, int high) {
  if (n >= kVectorRow && xt_sorts_by_vectors())
    xt_sort_by_vectors(words, n);
  else if (n < kRadix)
    std::sort(words, words + n);
  else
    sortByDigits(words, other, n, low, high);
}

//===- positions -----------------------------------------------------------===//

/// How keys and positions of a row are made words.
struct Packing {
  uint64_t least; // of the keys
  int drop;       // bits of the keys, at their end, for which there is no room
  int keyBits, positionBits;
};

template <typename Key>
XT_INLINE void findBounds(const Key *keys, int64_t n, Key &least, Key &greatest) {
  Key low = keys[0], high = keys[0];
  for (int64_t i = 0; i < n; ++i) {
    low = keys[i] < low ? keys[i] : low;
    high = keys[i] > high ? keys[i] : high;
  }
  least = low;
  greatest = high;
}

template <typename Word, typename Key>
XT_INLINE void packAs(const Key *keys, int64_t n, const Packing &p, Word *words) {
  const uint64_t least = p.least;
  const int drop = p.drop, up = p.positionBits;
  for (int64_t i = 0; i < n; ++i)
    words[i] = static_cast<Word>((keys[i] - least) >> drop) << up | static_cast<Word>(i);
}

XT_CLONES void positionsOf(const uint32_t *from, int64_t n, uint64_t mask, uint64_t *to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = from[i] & mask;
}
XT_CLONES void positionsOf(const uint64_t *from, int64_t n, uint64_t mask, uint64_t *to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = from[i] & mask;
}

/// Words of equal bits of keys, sorted by the bits that had no room.
template <typename Key>
void sortRest(const Key *keys, int64_t n, const Packing &p, uint64_t *words) {
  const uint64_t mask = (uint64_t(1) << p.positionBits) - 1;
  auto isBefore = [&](uint64_t a, uint64_t b) {
    Key x = keys[a & mask], y = keys[b & mask];
    return x != y ? x < y : a < b;
  };
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && words[end] >> p.positionBits == words[begin] >> p.positionBits)
      ++end;
    if (end - begin > 1 && !std::is_sorted(words + begin, words + end, isBefore))
      std::sort(words + begin, words + end, isBefore);
  }
}

// What is compiled for several processors has no templates of the standard library: the compiler
// forgets their bodies.
#define XT_LOOPS_OVER(Key)                                                                         \
  XT_CLONES void bounds(const Key *keys, int64_t n, Key &least, Key &greatest) {                   \
    findBounds(keys, n, least, greatest);                                                          \
  }                                                                                                \
  XT_CLONES void pack(const Key *keys, int64_t n, const Packing &p, uint32_t *words) {             \
    packAs(keys, n, p, words);                                                                     \
  }                                                                                                \
  XT_CLONES void pack(const Key *keys, int64_t n, const Packing &p, uint64_t *words) {             \
    packAs(keys, n, p, words);                                                                     \
  }                                                                                                \
  XT_CLONES void toBits(const xt_order &order, Key *keys, int64_t n) {                             \
    for (int64_t i = 0; i < n; ++i)                                                                \
      keys[i] = xt_order_bits(order, keys[i]);                                                     \
  }
XT_LOOPS_OVER(uint8_t)
XT_LOOPS_OVER(uint16_t)
XT_LOOPS_OVER(uint32_t)
XT_LOOPS_OVER(uint64_t)
#undef XT_LOOPS_OVER

/// The order of the keys of a row: positions, in its first `n` words. `words` has room for 2 n.
template <typename Key>
void order(const Key *keys, int64_t n, uint64_t *words) {
  Key least, greatest;
  bounds(keys, n, least, greatest);
  Packing p{least, 0, widthOf(uint64_t(greatest) - least), widthOf(uint64_t(n - 1))};
  p.drop = std::max(0, p.keyBits + p.positionBits - 64);
  p.keyBits -= p.drop;
  const int bits = p.keyBits + p.positionBits;
  const uint64_t mask = (uint64_t(1) << p.positionBits) - 1;
  if (bits <= 32 && p.positionBits < 32) {
    auto *half = reinterpret_cast<uint32_t *>(words + n);
    pack(keys, n, p, half);
    sortWords(half, half + n, n, p.positionBits, bits);
    return positionsOf(half, n, mask, words);
  }
  pack(keys, n, p, words);
  sortWords(words, words + n, n, p.positionBits, bits);
  if (p.drop)
    sortRest(keys, n, p, words);
  positionsOf(words, n, mask, words);
}

/// The `wanted` least of `n` items, in order, in place of the first ones.
template <typename Key>
void selectLeast(const Key *keys, Item<Key> *items, int64_t wanted, int64_t n) {
  int64_t room = wanted * kChosenPart <= n ? wanted + std::max<int64_t>(wanted, 32) : n;
  room = std::min(room, n);
  for (int64_t i = 0; i < room; ++i)
    items[i] = {keys[i], i};
  int64_t filled = room;
  auto setApart = [&] { std::nth_element(items, items + wanted - 1, items + filled); };
  setApart();
  filled = wanted;
  // What may be among the least is added to those; once the room is full, the rest of it goes. So
  // each element costs the same, in whatever order they come. Of equal keys the first one stays.
  Key last = items[wanted - 1].key;
  for (int64_t i = room; i < n; ++i)
    if (keys[i] < last) {
      items[filled++] = {keys[i], i};
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

struct Job : Rows {
  int64_t wanted;
};

/// What later reads may use all the same, where memory was missing.
template <typename Out>
void clearRows(const Rows &rows, int64_t begin, int64_t end, int64_t wanted) {
  for (int64_t row = begin; row < end; ++row)
    for (int64_t i = 0; i < wanted; ++i)
      static_cast<Out *>(rows.y->data)[xt_row_offset(rows.y, row) + i * rows.out()] = 0;
}

//===- short rows ----------------------------------------------------------===//

/// Rows up to here are sorted side by side: vectors across the rows.
constexpr int64_t kSideBySide = 16;
/// The bits of their positions.
constexpr int kShortBits = 4;

/// The comparators of a network for rows of up to kSideBySide elements.
struct Network {
  struct {
    int64_t low, high;
  } pairs[63];
  int64_t count = 0;

  explicit Network(int64_t n) {
    forEachComparator(n, [&](int64_t low, int64_t high) { pairs[count++] = {low, high}; });
  }
};

/// Sorts columns of keys that leave no room for the positions: these lie `apart` words behind.
XT_CLONES void sortColumns(uint64_t *keys, int64_t apart, const Network &network) {
  for (int64_t c = 0; c < network.count; ++c) {
    uint64_t *a = keys + network.pairs[c].low * kRowsAtOnce;
    uint64_t *b = keys + network.pairs[c].high * kRowsAtOnce;
    for (int64_t r = 0; r < kRowsAtOnce; ++r) {
      uint64_t x = a[r], y = b[r], i = a[r + apart], j = b[r + apart];
      bool swaps = (y < x) | ((x == y) & (j < i));
      a[r] = swaps ? y : x;
      b[r] = swaps ? x : y;
      a[r + apart] = swaps ? j : i;
      b[r + apart] = swaps ? i : j;
    }
  }
}

/// Writes the first positions of rows from `begin` to `end`.
template <typename Key>
void argsortShort(const Job &job, int64_t begin, int64_t end) {
  constexpr int64_t kMost = kSideBySide * kRowsAtOnce;
  constexpr bool hasRoom = sizeof(Key) <= sizeof(uint32_t); // for positions in words of keys
  const int64_t n = job.size, wanted = std::min(job.wanted, n), out = job.out();
  const Network network(n);
  Key keys[kMost];
  alignas(64) uint64_t words[hasRoom ? kMost : 2 * kMost] = {};
  uint64_t *positions = hasRoom ? words : words + kMost;
  for (int64_t block = begin; block < end; block += kRowsAtOnce) {
    int64_t rows = std::min(kRowsAtOnce, end - block);
    xt_read_keys(job, block, rows, n, keys);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t r = 0; r < rows; ++r) {
        Key key = keys[r * n + i];
        if constexpr (hasRoom) {
          words[i * kRowsAtOnce + r] = uint64_t(key) << kShortBits | uint64_t(i);
        } else {
          words[i * kRowsAtOnce + r] = key;
          positions[i * kRowsAtOnce + r] = uint64_t(i);
        }
      }
    if constexpr (hasRoom)
      xt_sort_words(words, n, rows);
    else
      sortColumns(words, kMost, network);
    for (int64_t r = 0; r < rows; ++r) {
      int64_t *y = static_cast<int64_t *>(job.y->data) + xt_row_offset(job.y, block + r);
      for (int64_t i = 0; i < wanted; ++i)
        y[i * out] = int64_t(positions[i * kRowsAtOnce + r] & (kSideBySide - 1));
    }
  }
}

//===- rows of positions ---------------------------------------------------===//

template <typename Key>
void argsortRows(void *context, int64_t begin, int64_t end) {
  const Job &job = *static_cast<const Job *>(context);
  if (job.size <= kSideBySide)
    return argsortShort<Key>(job, begin, end);
  const int64_t n = job.size, atOnce = job.atOnce(end - begin);
  bool isChosen = job.wanted < n && (xt_sorts_by_vectors() ? n > kShort : n < kRadix);
  isChosen |= job.wanted < n && job.wanted * kChosenPart <= n;
  static_assert(sizeof(Item<Key>) <= 2 * sizeof(uint64_t));
  // Words of each row, and room for those of one more; before them, keys.
  auto *words = static_cast<uint64_t *>(
      xt_arena_acquire((atOnce + 1) * n * static_cast<int64_t>(2 * sizeof(uint64_t))));
  if (!words) // reported; what the call gives is not used
    return clearRows<int64_t>(job, begin, end, job.wanted);
  auto *keys = reinterpret_cast<Key *>(words + (atOnce + 1) * n);
  for (int64_t block = begin; block < end; block += atOnce) {
    int64_t rows = std::min(atOnce, end - block);
    xt_read_keys(job, block, rows, n, keys);
    for (int64_t r = 0; r < rows; ++r) {
      if (!isChosen) {
        order(keys + r * n, n, words + r * n);
        continue;
      }
      auto *items = reinterpret_cast<Item<Key> *>(words + r * n);
      selectLeast(keys + r * n, items, job.wanted, n);
      for (int64_t i = 0; i < job.wanted; ++i)
        words[r * n + i] = items[i].position;
    }
    writeRows<int64_t>(job, block, rows, job.wanted, words);
  }
  xt_arena_release(words);
}

//===- values --------------------------------------------------------------===//

/// In place; `words` has room for 2 n numbers of 32 bits, or of 64 for keys of that size.
template <typename Key>
void sortKeys(Key *keys, int64_t n, uint64_t *words) {
  if constexpr (sizeof(Key) >= sizeof(uint32_t)) {
    sortWords(keys, reinterpret_cast<Key *>(words), n, 0, 8 * sizeof(Key));
  } else {
    auto *wide = reinterpret_cast<uint32_t *>(words);
    std::copy(keys, keys + n, wide);
    sortWords(wide, wide + n, n, 0, 8 * sizeof(Key));
    std::copy(wide, wide + n, keys);
  }
}

/// Makes the sorted keys of a row the bits of its elements `x`. Of equal keys those of zeros and of
/// NaN stand for several bits: these come in the order of the row.
template <typename Key>
void restoreBits(const Rows &rows, const Key *x, Key *keys) {
  xt_order order = rows.order;
  order.bytes = sizeof(Key);
  const int64_t n = rows.size, step = rows.step();
  const Key alike[] = {static_cast<Key>(xt_order_key(&order, 0)), static_cast<Key>(~Key(0))};
  std::pair<Key *, Key *> runs[2];
  for (int i = 0; i < 2; ++i)
    runs[i] = std::equal_range(keys, keys + n, alike[i]);
  toBits(order, keys, n);
  if (!order.infinity)
    return;
  for (int k = 0; k < 2; ++k)
    for (int64_t i = 0; runs[k].first < runs[k].second; ++i)
      if (Key bits = x[i * step]; static_cast<Key>(xt_order_key(&order, bits)) == alike[k])
        *runs[k].first++ = bits;
}

template <typename Key>
const Key *rowOf(const Rows &rows, int64_t row) {
  return static_cast<const Key *>(rows.x->data) + xt_row_offset(rows.x, row);
}

/// Rows side by side; `begin` becomes the first of those that are left.
template <typename Key>
void sortColumns(const Rows &job, int64_t &begin, int64_t end) {
  if (end - begin < kLeastColumns)
    return;
  void *memory = xt_arena_acquire(ColumnRoom<Key>::bytes(job.size));
  if (!memory) { // reported; what the call gives is not used
    clearRows<Key>(job, begin, end, job.size);
    begin = end;
    return;
  }
  const ColumnRoom<Key> room(job.size, memory);
  for (; end - begin >= kLeastColumns; begin = std::min(begin + kRowsAtOnce, end)) {
    int64_t rows = std::min(kRowsAtOnce, end - begin);
    if (xt_sort_columns(job, begin, rows, room))
      continue;
    for (int64_t r = 0; r < rows; ++r) {
      restoreBits(job, rowOf<Key>(job, begin + r), room.rows + r * room.padded);
      writeRows<Key>(job, begin + r, 1, job.size, room.rows + r * room.padded);
    }
  }
  xt_arena_release(memory);
}

template <typename Key>
void sortRows(void *context, int64_t begin, int64_t end) {
  const Rows &job = *static_cast<const Rows *>(context);
  if (job.size <= kLongestColumn<Key>)
    sortColumns<Key>(job, begin, end);
  if (begin == end)
    return;
  const int64_t n = job.size, atOnce = job.atOnce(end - begin);
  auto *words = static_cast<uint64_t *>(xt_arena_acquire(
      n * static_cast<int64_t>(2 * std::max(sizeof(Key), sizeof(uint32_t)) + atOnce * sizeof(Key)) +
      static_cast<int64_t>(sizeof(uint64_t))));
  if (!words) // reported; what the call gives is not used
    return clearRows<Key>(job, begin, end, n);
  auto *keys =
      reinterpret_cast<Key *>(words + (n * 2 * std::max(sizeof(Key), sizeof(uint32_t)) + 7) / 8);
  for (int64_t block = begin; block < end; block += atOnce) {
    int64_t rows = std::min(atOnce, end - block);
    xt_read_keys(job, block, rows, n, keys);
    for (int64_t r = 0; r < rows; ++r) {
      sortKeys(keys + r * n, n, words);
      restoreBits(job, rowOf<Key>(job, block + r), keys + r * n);
    }
    writeRows<Key>(job, block, rows, n, keys);
  }
  xt_arena_release(words);
}

/// About 5 ns for an element and each doubling of the row; by vectors less.
int64_t nsOf(const Rows &rows) {
  int64_t doublings = widthOf(static_cast<uint64_t>(rows.size)) + 1;
  return xt_sorts_by_vectors() ? 1 + doublings : 5 * doublings;
}

/// The first `wanted` positions of each row.
void argsort(const xt_array *arrays, const int64_t *options, int64_t wanted) {
  Job job{{arrays, options}, wanted};
  if (job.count == 0 || job.wanted == 0)
    return;
  auto *loop = loopOf(job.order, argsortRows<uint8_t>, argsortRows<uint16_t>, argsortRows<uint32_t>,
                      argsortRows<uint64_t>);
  xt_parallel_for(loop, &job, job.count, grainOf(job, nsOf(job)));
}

} // namespace

void xt_argsort(const xt_array *arrays, const int64_t *options) {
  argsort(arrays, options, arrays[0].sizes[arrays[0].rank - 1]);
}

void xt_top_k(const xt_array *arrays, const int64_t *options) {
  argsort(arrays, options, options[2]);
}

void xt_sort(const xt_array *arrays, const int64_t *options) {
  Rows rows(arrays, options);
  if (rows.count == 0 || rows.size == 0)
    return;
  auto *loop = loopOf(rows.order, sortRows<uint8_t>, sortRows<uint16_t>, sortRows<uint32_t>,
                      sortRows<uint64_t>);
  xt_parallel_for(loop, &rows, rows.count, grainOf(rows, nsOf(rows)));
}
