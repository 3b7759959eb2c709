// Rows of up to kLongestColumn<Key> elements sorted side by side: element i of kRowsAtOnce rows is
// a vector, so a comparator of a network is two instructions for all of these rows.
#pragma once

#include "SortKeys.h"

/// Longer rows are sorted faster one by one (measured on AVX-512).
template <typename Key>
constexpr int64_t kLongestColumn = sizeof(Key) < 8 ? 1024 : 512;
/// With fewer rows, too many lanes have nothing to do.
constexpr int64_t kLeastColumns = 8;

/// Room for some rows, and for their columns, in memory that is aligned as vectors are.
template <typename Key>
struct ColumnRoom {
  /// From one row to the next. Columns are made of squares.
  int64_t padded;
  Key *rows, *columns;

  static int64_t paddedOf(int64_t n) { return (n + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce; }
  static int64_t bytes(int64_t n) {
    return 2 * kRowsAtOnce * paddedOf(n) * static_cast<int64_t>(sizeof(Key));
  }
  ColumnRoom(int64_t n, void *memory)
      : padded(paddedOf(n)), rows(static_cast<Key *>(memory)),
        columns(rows + kRowsAtOnce * padded) {}
};

/// Sorts the first `lanes` of `n` columns, at most 16, which are aligned as vectors are. Columns
/// behind them, up to ColumnRoom::paddedOf(n), are lost.
void xt_sort_words(uint64_t *columns, int64_t n, int64_t lanes);

/// Sorts `count` rows from `row` on, at most kRowsAtOnce, and writes them. Returns false if one has
/// a negative zero or NaN, whose bits are not those of its key: then nothing is written, and the
/// rows of the room are the sorted keys.
template <typename Key>
bool xt_sort_columns(const Rows &rows, int64_t row, int64_t count, const ColumnRoom<Key> &room);
