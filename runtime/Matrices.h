// What the dense linear algebra routines share: matrices with strides, loops over batches on the
// thread pool, scratch memory, and the rule for when OpenBLAS uses its own threads.
#pragma once

#include "SmallMatrices.h"
#include "runtime.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace xtensor {

/// How far apart columns of `n` elements are put: whole vectors, and not such a power of two that
/// all begin in the same sets of the cache.
inline int64_t spacedColumns(int64_t n) {
  return (n + 15) / 16 * 16 + (n >= 128 && n % 32 == 0 ? 16 : 0);
}

template <typename T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

/// A matrix in memory, any strides.
template <typename T>
struct Matrix {
  T *data;
  int64_t rows, columns, rowStride, columnStride;

  T &at(int64_t i, int64_t j) const { return data[i * rowStride + j * columnStride]; }
  Matrix transposed() const { return {data, columns, rows, columnStride, rowStride}; }
  void fill(T value) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        at(i, j) = value;
  }
  bool isFinite() const {
    // A sum of products with 0 is not finite if any element is not, and this vectorises.
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (!std::isfinite(at(i, j)))
          return false;
    return true;
  }
};

/// to = from; both have the same sizes. Rows are copied or transposed by vectors, if possible: a
/// loop over single elements is slow if the linker puts it across two cache lines.
template <typename S, typename T>
void copy(const Matrix<S> &from, const Matrix<T> &to) {
  constexpr int64_t kBlock = 32;
  if (to.columnStride > to.rowStride && to.rows > 1)
    return copy(from.transposed(), to.transposed());
  if (to.columnStride == 1 && from.columnStride == 1) {
    for (int64_t i = 0; i < to.rows; ++i)
      std::copy_n(from.data + i * from.rowStride, to.columns, to.data + i * to.rowStride);
    return;
  }
  if (to.columnStride == 1 && from.rowStride == 1)
    return transpose(to.rows, to.columns, from.data, from.columnStride, to.data, to.rowStride);
  for (int64_t i0 = 0; i0 < to.rows; i0 += kBlock)
    for (int64_t j0 = 0; j0 < to.columns; j0 += kBlock)
      for (int64_t i = i0, iEnd = std::min(to.rows, i0 + kBlock); i < iEnd; ++i)
        for (int64_t j = j0, jEnd = std::min(to.columns, j0 + kBlock); j < jEnd; ++j)
          to.at(i, j) = from.at(i, j);
}

/// to = (a + a^T) / 2.
template <typename T>
void copySymmetric(const Matrix<T> &a, const Matrix<T> &to) {
  constexpr int64_t kBlock = 16;
  int64_t n = a.rows;
  for (int64_t i0 = 0; i0 < n; i0 += kBlock)
    for (int64_t j0 = 0; j0 < n; j0 += kBlock)
      for (int64_t i = i0; i < std::min(n, i0 + kBlock); ++i)
        for (int64_t j = j0; j < std::min(n, j0 + kBlock); ++j)
          to.at(i, j) = T(0.5) * a.at(i, j) + T(0.5) * a.at(j, i);
}

/// The axes before the last `trailing` ones of several arrays of one batch; an array that lacks an
/// axis has size 1 and stride 0 there.
class Batches {
public:
  static constexpr int kMaxRank = 32, kMaxArrays = 8;

  Batches(const xt_array *arrays, int count, const int *trailing)
      : numArrays(count), rank(arrays[0].rank - trailing[0]) {
    for (int d = 0; d < rank; ++d) {
      sizes[d] = 1;
      for (int a = 0; a < count; ++a) {
        if (arrays[a].sizes[d] != 1 || arrays[a].strides[d] != 0)
          sizes[d] = arrays[a].sizes[d];
        strides[a][d] = arrays[a].sizes[d] == 1 ? 0 : arrays[a].strides[d];
      }
    }
  }
  /// One more loop, for axes that only some arrays walk.
  void add(int64_t size, std::initializer_list<int64_t> steps) {
    sizes[rank] = size;
    int a = 0;
    for (int64_t step : steps)
      strides[a++][rank] = step;
    ++rank;
  }
  int64_t count() const {
    int64_t n = 1;
    for (int d = 0; d < rank; ++d)
      n *= sizes[d];
    return n;
  }
  /// Where the arrays' matrices of instance `i` begin, in elements.
  void offsets(int64_t i, int64_t *out) const {
    std::fill_n(out, numArrays, 0);
    for (int d = rank; d-- > 0;) {
      int64_t at = i % sizes[d];
      i /= sizes[d];
      for (int a = 0; a < numArrays; ++a)
        out[a] += at * strides[a][d];
    }
  }
  /// Calls body(offsets) for the instances from `begin` to `end`.
  template <typename Body>
  void forEach(int64_t begin, int64_t end, Body body) const {
    int64_t at[kMaxArrays];
    for (int64_t i = begin; i < end; ++i) {
      offsets(i, at);
      body(at);
    }
  }
  /// The offsets of `count` instances from `first` on, and of the last of them up to `lanes`.
  void offsets(int64_t first, int64_t count, int64_t lanes, int64_t (*out)[kMaxArrays]) const {
    offsets(first, out[0]);
    // Neighbours along the last axis are a stride apart: no division for each.
    int64_t near = rank == 0 ? 1 : std::min(count, sizes[rank - 1] - first % sizes[rank - 1]);
    for (int64_t v = 1; v < near; ++v)
      for (int a = 0; a < numArrays; ++a)
        out[v][a] = out[v - 1][a] + strides[a][rank - 1];
    for (int64_t v = near; v < lanes; ++v)
      offsets(first + std::min(v, count - 1), out[v]);
  }

private:
  int numArrays, rank;
  int64_t sizes[kMaxRank], strides[kMaxArrays][kMaxRank];
};

/// The matrix that the axes from `axis` of `array` span, `offset` elements in.
template <typename T>
Matrix<T> matrixOf(const xt_array &array, int64_t offset = 0) {
  int axis = array.rank - 2;
  return {static_cast<T *>(array.data) + offset, array.sizes[axis], array.sizes[axis + 1],
          array.strides[axis], array.strides[axis + 1]};
}
/// The vector of the last axis, as a column.
template <typename T>
Matrix<T> columnOf(const xt_array &array, int64_t offset = 0) {
  int axis = array.rank - 1;
  return {static_cast<T *>(array.data) + offset, array.sizes[axis], 1, array.strides[axis], 1};
}

inline int64_t rowsOf(const xt_array &a) { return a.sizes[a.rank - 2]; }
inline int64_t columnsOf(const xt_array &a) { return a.sizes[a.rank - 1]; }

/// Memory for one thread while it works on its matrices: see withScratch.
class Scratch {
public:
  ~Scratch() { xt_arena_release(start); }
  Scratch(const Scratch &) = delete;
  template <typename T>
  T *take(int64_t count) {
    T *found = reinterpret_cast<T *>(start + used);
    used += bytesFor<T>(count);
    return found;
  }
  template <typename T>
  static size_t bytesFor(int64_t count) {
    return (std::max<int64_t>(count, 1) * sizeof(T) + 63) / 64 * 64;
  }

private:
  template <typename Body>
  friend bool withScratch(size_t bytes, Body body);
  explicit Scratch(size_t bytes) : start(static_cast<char *>(xt_arena_acquire(bytes))) {}

  char *start;
  size_t used = 0;
};

/// Calls body(scratch) and returns true. If there is no memory, the call is told and `body` does
/// not run.
template <typename Body>
bool withScratch(size_t bytes, Body body) {
  Scratch scratch(bytes);
  if (scratch.start)
    body(scratch);
  return scratch.start;
}

/// Calls body(begin, end) over all instances, each of about `work` multiply-adds.
template <typename Body>
void forInstances(int64_t count, double work, Body body) {
  // About ten of them per nanosecond; a chunk is worth a few microseconds.
  int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(20000 / std::max(work, 1.0)));
  xt_parallel_for([](void *context, int64_t begin,
                     int64_t end) { (*static_cast<Body *>(context))(begin, end); },
                  &body, count, grain);
}

/// While it lives OpenBLAS uses all threads, if there are fewer large matrices than threads; else
/// it uses one, and the pool runs over the batch.
class LibraryThreads {
public:
  LibraryThreads(int64_t count, int64_t size);
  ~LibraryThreads();
  bool own() const { return threaded; }

private:
  bool threaded;
};

/// Runs body(offsets, scratch) for each instance of the batch that all arrays share.
template <typename Body>
void forEachMatrix(const xt_array *arrays, int count, const int *trailing, int64_t size,
                   double work, size_t bytes, Body body) {
  Batches loops(arrays, count, trailing);
  int64_t instances = loops.count();
  LibraryThreads threads(instances, size);
  auto range = [&](int64_t begin, int64_t end) {
    int64_t at[Batches::kMaxArrays];
    for (int64_t i = begin; i < end; ++i) {
      loops.offsets(i, at);
      if (!withScratch(bytes, [&](Scratch &scratch) { body(at, scratch); }))
        return;
    }
  };
  if (threads.own())
    range(0, instances);
  else
    forInstances(instances, work, range);
}

} // namespace xtensor
