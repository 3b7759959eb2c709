// Small matrices of a batch side by side, one in each lane of the kernels in LaneFactors.h:
// which batches are worth it, the loop over them, and the copies into lanes and back.
#pragma once

#include "LaneFactors.h"
#include "Matrices.h"

namespace xtensor {

/// Whether a batch of matrices with at most `largest` rows and columns fills the lanes.
inline bool fillsLanes(int64_t rows, int64_t columns, int64_t count, int64_t largest) {
  return std::min(rows, columns) > 0 && std::max(rows, columns) <= largest && count >= kMatrixLanes;
}
inline bool squaresFillLanes(int64_t rows, int64_t columns, int64_t count) {
  return rows == columns && fillsLanes(rows, columns, count, kLaneMatrix);
}

/// Up to kMatrixLanes neighbouring instances of a batch. Lanes past `count` repeat the last one.
struct LaneBlock {
  int64_t count, at[kMatrixLanes][Batches::kMaxArrays];

  /// Element (i, j) of the matrix of array `which` in lane v becomes to[(i columns + j) lanes + v].
  template <typename T>
  void load(const xt_array &array, int which, T *to) const {
    load(matrixOf<T>(array), which, to);
  }
  template <typename T>
  void load(Matrix<T> m, int which, T *to) const {
    const T *from[kMatrixLanes];
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      from[v] = m.data + at[v][which];
    for (int64_t i = 0; i < m.rows; ++i)
      for (int64_t j = 0; j < m.columns; ++j, to += kMatrixLanes)
        for (int64_t v = 0, k = i * m.rowStride + j * m.columnStride; v < kMatrixLanes; ++v)
          to[v] = from[v][k];
  }
  template <typename T>
  void store(const T *from, const xt_array &array, int which) const {
    store(from, matrixOf<T>(array), which);
  }
  template <typename T>
  void storeColumn(const T *from, const xt_array &array, int which) const {
    store(from, columnOf<T>(array), which);
  }
  template <typename T>
  void store(const T *from, Matrix<T> m, int which) const {
    for (int64_t v = 0; v < count; ++v) {
      T *to = m.data + at[v][which];
      for (int64_t i = 0; i < m.rows; ++i)
        for (int64_t j = 0; j < m.columns; ++j)
          to[i * m.rowStride + j * m.columnStride] = from[(i * m.columns + j) * kMatrixLanes + v];
    }
  }
};

/// Runs body(block, scratch) for each block of a batch. An instance costs `work` multiply-adds.
template <typename Body>
void forEachBlock(const Batches &loops, double work, size_t bytes, Body body) {
  int64_t count = loops.count(), blocks = (count + kMatrixLanes - 1) / kMatrixLanes;
  forInstances(blocks, work * kMatrixLanes / 4, [&](int64_t begin, int64_t end) {
    LaneBlock block;
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i * kMatrixLanes;
      block.count = std::min(kMatrixLanes, count - first);
      loops.offsets(first, block.count, kMatrixLanes, block.at);
      if (!withScratch(bytes, [&](Scratch &scratch) { body(block, scratch); }))
        return;
    }
  });
}

} // namespace xtensor
