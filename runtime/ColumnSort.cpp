#include "ColumnSort.h"

#include "Clones.h"
#include "Network.h"

#include <utility>

namespace {

/// The columns that registers hold together.
constexpr int kSquare = 16;
static_assert(kRowsAtOnce == kSquare);

/// The comparators of a network for `n` elements, known to the compiler.
template <int n>
struct Network {
  int low[64] = {}, high[64] = {}, count = 0;
  constexpr Network() {
    forEachComparator(n, [this](int64_t a, int64_t b) {
      low[count] = static_cast<int>(a);
      high[count++] = static_cast<int>(b);
    });
  }
};

template <typename Key, int lanes>
struct Lanes {
  typedef Key Vector __attribute__((vector_size(lanes * sizeof(Key))));
};

template <typename Vector>
XT_INLINE void compare(Vector &low, Vector &high) {
  Vector x = low, y = high;
  low = x < y ? x : y;
  high = x < y ? y : x;
}

template <int n, typename Vector, size_t... pair>
XT_INLINE void sortVectors(Vector *v, std::index_sequence<pair...>) {
  constexpr Network<n> network;
  (compare(v[network.low[pair]], v[network.high[pair]]), ...);
}

/// Some of the lanes of all columns: what one register holds, so that a square is in registers.
template <typename Key>
struct Part {
  static constexpr int kLanes = sizeof(Key) == 8 ? 8 : kSquare;
  using Vector = typename Lanes<Key, kLanes>::Vector;
  Key *first;

  XT_INLINE Vector &operator[](int64_t column) const {
    return *reinterpret_cast<Vector *>(first + column * kRowsAtOnce);
  }
  XT_INLINE void load(int64_t column, int count, Vector *v) const {
    for (int i = 0; i < count; ++i)
      v[i] = (*this)[column + i];
  }
  XT_INLINE void store(int64_t column, int count, const Vector *v) const {
    for (int i = 0; i < count; ++i)
      (*this)[column + i] = v[i];
  }
};

/// Sorts `n` columns that lie in registers.
template <int n, typename Key>
XT_INLINE void sortFew(const Part<Key> &part, int64_t first) {
  typename Part<Key>::Vector v[n];
  part.load(first, n, v);
  sortVectors<n>(v, std::make_index_sequence<Network<n>().count>());
  part.store(first, n, v);
}

/// Sorts a square whose columns rise, and then fall.
template <typename Key>
XT_INLINE void mergeSquare(const Part<Key> &part, int64_t first) {
  typename Part<Key>::Vector v[kSquare];
  part.load(first, kSquare, v);
#pragma clang loop unroll(full)
  for (int distance = kSquare / 2; distance > 0; distance /= 2)
#pragma clang loop unroll(full)
    for (int i = 0; i < kSquare; ++i)
      if (!(i & distance))
        compare(v[i], v[i + distance]);
  part.store(first, kSquare, v);
}

/// Merges sorted runs of `run` squares, two by two. Source: Batcher's bitonic merge (Knuth, The Art
/// of Computer Programming 3, 5.3.4). Squares from `squares` on are not there: they would be
/// greater than all others, and stay where they are.
template <typename Key>
XT_INLINE void mergeRuns(const Part<Key> &part, int64_t squares, int64_t run) {
  for (int64_t start = 0; start + run < squares; start += 2 * run) {
    int64_t end = std::min(start + 2 * run, squares);
    for (int64_t low = start; low < start + run; ++low)
      if (int64_t high = 2 * start + 2 * run - 1 - low; high < end)
        for (int i = 0; i < kSquare; ++i)
          compare(part[low * kSquare + i], part[high * kSquare + kSquare - 1 - i]);
    for (int64_t distance = run / 2; distance > 0; distance /= 2)
      for (int64_t low = start; low + distance < end; ++low)
        if (!((low - start) & distance))
          for (int i = 0; i < kSquare; ++i)
            compare(part[low * kSquare + i], part[(low + distance) * kSquare + i]);
    for (int64_t square = start; square < end; ++square)
      mergeSquare(part, square * kSquare);
  }
}

/// Sorts the first `lanes` of `n` columns. Columns behind them, up to the next square, become the
/// greatest.
template <typename Key>
XT_INLINE void sortLanes(Key *columns, int64_t n, int64_t lanes) {
  const int64_t padded = ColumnRoom<Key>::paddedOf(n);
  for (int64_t i = n * kRowsAtOnce; i < padded * kRowsAtOnce; ++i)
    columns[i] = static_cast<Key>(~Key(0));
  for (Part<Key> part{columns}; part.first < columns + lanes; part.first += part.kLanes) {
    if (n <= 4) {
      sortFew<4>(part, 0);
      continue;
    }
    if (n <= 8) {
      sortFew<8>(part, 0);
      continue;
    }
    for (int64_t column = 0; column < padded; column += kSquare)
      sortFew<kSquare>(part, column);
    for (int64_t run = 1; run * kSquare < padded; run *= 2)
      mergeRuns(part, padded / kSquare, run);
  }
}

/// The lanes of `x` and `y` in turns, first those of their lower or upper halves.
template <bool upper, typename Vector>
XT_INLINE Vector interleaved(const Vector &x, const Vector &y) {
  constexpr int n = sizeof(Vector) / sizeof(x[0]), k = upper ? n / 2 : 0;
  if constexpr (n == 8)
    return __builtin_shufflevector(x, y, k, n + k, k + 1, n + k + 1, k + 2, n + k + 2, k + 3,
                                   n + k + 3);
  else
    return __builtin_shufflevector(x, y, k, n + k, k + 1, n + k + 1, k + 2, n + k + 2, k + 3,
                                   n + k + 3, k + 4, n + k + 4, k + 5, n + k + 5, k + 6, n + k + 6,
                                   k + 7, n + k + 7);
}

/// Rows of `to` are the columns of `from`: `side` of each. Rows that lie half the square apart are
/// interleaved, as often as `side` can be halved.
template <int side, typename Key>
XT_INLINE void transposeRegisters(const Key *from, int64_t fromStep, Key *to, int64_t toStep) {
  using Vector = typename Lanes<Key, side>::Vector;
  Vector a[side], b[side];
  for (int r = 0; r < side; ++r)
    a[r] = *reinterpret_cast<const Vector *>(from + r * fromStep);
#pragma clang loop unroll(full)
  for (int round = 1; round < side; round *= 2) {
#pragma clang loop unroll(full)
    for (int i = 0; i < side / 2; ++i) {
      b[2 * i] = interleaved<false>(a[i], a[i + side / 2]);
      b[2 * i + 1] = interleaved<true>(a[i], a[i + side / 2]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < side; ++i)
      a[i] = b[i];
  }
  for (int r = 0; r < side; ++r)
    *reinterpret_cast<Vector *>(to + r * toStep) = a[r];
}

/// The same of a square.
template <typename Key>
XT_INLINE void transposeSquare(const Key *from, int64_t fromStep, Key *to, int64_t toStep) {
  constexpr int side = Part<Key>::kLanes;
  for (int row = 0; row < kSquare; row += side)
    for (int column = 0; column < kSquare; column += side)
      transposeRegisters<side>(from + row * fromStep + column, fromStep, to + column * toStep + row,
                               toStep);
}

/// Where rows `row` to `row + count` of an array begin. Returns whether they are all kRowsAtOnce,
/// and neighbours: their columns lie in memory as vectors.
template <typename Key>
bool findRows(const xt_array *array, int64_t row, int64_t count, Key **starts) {
  bool areNeighbours = count == kRowsAtOnce;
  for (int64_t r = 0; r < count; ++r) {
    starts[r] = static_cast<Key *>(array->data) + xt_row_offset(array, row + r);
    areNeighbours &= starts[r] == starts[0] + r;
  }
  return areNeighbours;
}

/// Reads the keys of rows as columns. Returns whether bits of one are not those of its key.
template <typename Key>
XT_INLINE bool readColumns(const Rows &rows, int64_t count, Key *const *x, bool areNeighbours,
                           const ColumnRoom<Key> &room) {
  xt_order order = rows.order;
  order.bytes = sizeof(Key); // known while this is compiled
  order.infinity = static_cast<Key>(order.infinity);
  const Key sign = static_cast<Key>(Key(1) << (8 * sizeof(Key) - 1));
  const Key infinity = static_cast<Key>(order.infinity);
  const int64_t n = rows.size, step = rows.step(), padded = room.padded;
  const Key *first = x[0];
  Key *columns = room.columns;
  Key odd = 0;
  auto keyOf = [&](Key bits) {
    odd |= Key((bits == sign) | (Key(bits & Key(~sign)) > infinity));
    return static_cast<Key>(xt_order_key(&order, bits));
  };
  if (areNeighbours) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t r = 0; r < kRowsAtOnce; ++r)
        columns[i * kRowsAtOnce + r] = keyOf(first[i * step + r]);
  } else {
    for (int64_t r = 0; r < count; ++r) {
      const Key *from = x[r];
      Key *to = room.rows + r * padded;
      if (step == 1)
        for (int64_t i = 0; i < n; ++i)
          to[i] = keyOf(from[i]);
      else
        for (int64_t i = 0; i < n; ++i)
          to[i] = keyOf(from[i * step]);
    }
    for (int64_t i = 0; i < padded; i += kRowsAtOnce)
      transposeSquare(room.rows + i, padded, columns + i * kRowsAtOnce, kRowsAtOnce);
  }
  return order.infinity && odd;
}

template <typename Key>
XT_INLINE void columnsToRows(const ColumnRoom<Key> &room) {
  for (int64_t i = 0; i < room.padded; i += kRowsAtOnce)
    transposeSquare(room.columns + i * kRowsAtOnce, kRowsAtOnce, room.rows + i, room.padded);
}

/// Writes the rows whose columns are sorted.
template <typename Key>
XT_INLINE void writeColumns(const Rows &rows, int64_t count, Key *const *y, bool areNeighbours,
                            const ColumnRoom<Key> &room) {
  const int64_t n = rows.size, out = rows.out(), padded = room.padded;
  Key *columns = room.columns, *first = y[0];
  xt_order order = rows.order;
  order.bytes = sizeof(Key);
  for (int64_t i = 0; i < n * kRowsAtOnce; ++i)
    columns[i] = xt_order_bits(order, columns[i]);
  if (areNeighbours) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t r = 0; r < kRowsAtOnce; ++r)
        first[i * out + r] = columns[i * kRowsAtOnce + r];
    return;
  }
  columnsToRows(room);
  for (int64_t r = 0; r < count; ++r) {
    Key *to = y[r];
    const Key *from = room.rows + r * padded;
    if (out == 1)
      for (int64_t i = 0; i < n; ++i)
        to[i] = from[i];
    else
      for (int64_t i = 0; i < n; ++i)
        to[i * out] = from[i];
  }
}

template <typename Key>
XT_INLINE bool sortColumns(const Rows &rows, int64_t count, Key *const *x, bool areInColumns,
                           Key *const *y, bool areOutColumns, const ColumnRoom<Key> &room) {
  bool odd = readColumns(rows, count, x, areInColumns, room);
  sortLanes(room.columns, rows.size, count);
  if (!odd) {
    writeColumns(rows, count, y, areOutColumns, room);
    return true;
  }
  columnsToRows(room);
  return false;
}

#define XT_COLUMNS_OF(Key)                                                                         \
  XT_CLONES bool sortBlock(const Rows &rows, int64_t count, Key *const *x, bool areInColumns,      \
                           Key *const *y, bool areOutColumns, const ColumnRoom<Key> &room) {       \
    return sortColumns(rows, count, x, areInColumns, y, areOutColumns, room);                      \
  }
XT_COLUMNS_OF(uint8_t)
XT_COLUMNS_OF(uint16_t)
XT_COLUMNS_OF(uint32_t)
XT_COLUMNS_OF(uint64_t)
#undef XT_COLUMNS_OF

/// Sorts `n` of `columns` and as many behind them as `most` says, which become the greatest.
template <int most>
XT_INLINE void sortUpTo(uint64_t *columns, int64_t n, int64_t lanes) {
  std::fill(columns + n * kRowsAtOnce, columns + most * kRowsAtOnce, ~uint64_t(0));
  for (Part<uint64_t> part{columns}; part.first < columns + lanes; part.first += part.kLanes)
    sortFew<most>(part, 0);
}

XT_CLONES void sortWords(uint64_t *columns, int64_t n, int64_t lanes) {
  if (n <= 2)
    sortUpTo<2>(columns, n, lanes);
  else if (n <= 4)
    sortUpTo<4>(columns, n, lanes);
  else if (n <= 8)
    sortUpTo<8>(columns, n, lanes);
  else
    sortUpTo<kSquare>(columns, n, lanes);
}

} // namespace

void xt_sort_words(uint64_t *columns, int64_t n, int64_t lanes) { sortWords(columns, n, lanes); }

template <typename Key>
bool xt_sort_columns(const Rows &rows, int64_t row, int64_t count, const ColumnRoom<Key> &room) {
  Key *x[kRowsAtOnce], *y[kRowsAtOnce];
  bool areInColumns = findRows(rows.x, row, count, x),
       areOutColumns = findRows(rows.y, row, count, y);
  return sortBlock(rows, count, x, areInColumns, y, areOutColumns, room);
}

template bool xt_sort_columns(const Rows &, int64_t, int64_t, const ColumnRoom<uint8_t> &);
template bool xt_sort_columns(const Rows &, int64_t, int64_t, const ColumnRoom<uint16_t> &);
template bool xt_sort_columns(const Rows &, int64_t, int64_t, const ColumnRoom<uint32_t> &);
template bool xt_sort_columns(const Rows &, int64_t, int64_t, const ColumnRoom<uint64_t> &);
