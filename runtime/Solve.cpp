// Triangular solves, products with triangles, and solves with LU factors: xt_triangular_solve,
// xt_triangular_product, xt_lu_solve. Right-hand sides are copied into scratch memory, so they may
// have any strides. Kernels for small triangles work there. Large triangles are blocks of small
// ones and products, for which the library is faster. The inverse, xt_lu_inverse, is a solve that
// skips the zeros above the diagonal of the identity: two thirds of the work.
#include "LaneTriangles.h"
#include "Lapack.h"
#include "Matrices.h"
#include "SideBySide.h"

using namespace xtensor;

namespace {

template <typename T>
using Kernel = void(int64_t, const T *, int64_t, int64_t, bool, T *, int64_t, int64_t);

// Right-hand sides of a large matrix that are solved together: enough for products to be fast, few
// enough for the threads to share those of one matrix.
constexpr int64_t kLargeColumns = 2 * kSolveColumns;

/// A triangle of a matrix. Its diagonal is not read where it counts as ones, or in a product as
/// zeros.
template <typename T>
struct Triangle {
  Matrix<const T> a;
  bool upper, unit;

  Triangle transposed() const { return {a.transposed(), !upper, unit}; }

  /// Of rows and columns `begin` to `end` - 1.
  Triangle part(int64_t begin, int64_t end) const {
    Matrix<const T> part{a.data + begin * (a.rowStride + a.columnStride), end - begin, end - begin,
                         a.rowStride, a.columnStride};
    return {part, upper, unit};
  }

  /// X of this X = X, or this X (`product`), in its place, row-major with `columns` columns. In
  /// blocks of rows: what one takes from others is a product. `spare` holds n * n where neither
  /// stride is 1 and n is large.
  void apply(bool product, T *x, int64_t columns, T *spare) const {
    int64_t n = a.rows;
    if (n <= kSmallMatrix)
      return applySmall(product, x, columns);
    bool byRows = a.columnStride == 1 && a.rowStride >= n;
    if (!byRows && !(a.rowStride == 1 && a.columnStride >= n)) {
      Matrix<T> copied{spare, n, n, n, 1};
      copy(a, copied);
      return Triangle{{spare, n, n, n, 1}, upper, unit}.apply(product, x, columns, nullptr);
    }
    // A solve begins with the row of one element. A product ends with it: what others need is
    // theirs as long as it is not its own.
    int64_t blocks = (n + kSmallMatrix - 1) / kSmallMatrix;
    for (int64_t i = 0; i < blocks; ++i) {
      int64_t done = (product ? blocks - 1 - i : i) * kSmallMatrix;
      int64_t now = std::min(kSmallMatrix, n - done), left = n - done - now;
      int64_t begin = upper ? left : done, rest = upper ? 0 : done + now;
      // Row-major is column-major of the transposed matrices.
      auto others = [&] {
        lapack::addProduct(
            product ? T(1) : T(-1), false, !byRows, int(columns), int(left), int(now),
            x + begin * columns, int(columns), a.data + rest * a.rowStride + begin * a.columnStride,
            int(byRows ? a.rowStride : a.columnStride), x + rest * columns, int(columns));
      };
      if (product)
        others();
      part(begin, begin + now).applySmall(product, x + begin * columns, columns);
      if (!product)
        others();
    }
  }

private:
  void applySmall(bool product, T *x, int64_t columns) const {
    int64_t n = a.rows, last = n - 1;
    Kernel<T> *solve = solveLower, *multiply = multiplyLower;
    Kernel<T> *kernel = product ? multiply : solve;
    if (!upper)
      return kernel(n, a.data, a.rowStride, a.columnStride, unit, x, columns, columns);
    // Seen from its last element, an upper triangle is a lower one; the rows of X turn with it.
    kernel(n, a.data + last * (a.rowStride + a.columnStride), -a.rowStride, -a.columnStride, unit,
           x + last * columns, columns, -columns);
  }
};

/// The triangles to solve or multiply with, one after the other, and where rows go before and
/// after.
template <typename T>
struct Steps {
  Triangle<T> first, second;
  bool two = false, product = false;
  const int64_t *before = nullptr, *after = nullptr; // row i is taken from row [i]
  int64_t beforeStride = 0, afterStride = 0;
};

template <typename T>
class Solver {
public:
  Solver(int64_t n, int64_t columns) : n(n), columns(columns), small(n <= kSmallMatrix) {
    width = columns == 1 ? 1 : small || columns <= kSolveColumns ? kSolveColumns : kLargeColumns;
  }
  /// How many parts of the columns can be solved on their own.
  int64_t parts() const { return small ? 1 : (columns + width - 1) / width; }
  size_t bytes() const {
    return 2 * Scratch::bytesFor<T>(n * width) + (small ? 0 : Scratch::bytesFor<T>(n * n));
  }

  /// Solves for the columns of one part.
  void run(const Steps<T> &steps, Matrix<T> b, Matrix<T> x, int64_t index, Scratch &scratch) const {
    T *block = scratch.take<T>(n * width), *moved = scratch.take<T>(n * width);
    T *spare = small ? nullptr : scratch.take<T>(n * n);
    int64_t first = small ? 0 : index * width, end = small ? columns : first + 1;
    for (int64_t c = first; c < end; c += width) {
      int64_t now = std::min(width, columns - c);
      Matrix<T> from = part(b, c, now), to = part(x, c, now), here{block, n, now, width, 1};
      if (now < width)
        std::fill_n(block, n * width, T(0));
      take(from, here, steps.before, steps.beforeStride);
      steps.first.apply(steps.product, block, width, spare);
      if (steps.two)
        steps.second.apply(false, block, width, spare);
      if (steps.after) {
        Matrix<T> other{moved, n, now, width, 1};
        take(here, other, steps.after, steps.afterStride);
        here = other;
      }
      copy(here, to);
    }
  }

  /// The columns of the inverse of L U that one part has; column i goes to column order[i] of `x`.
  void invert(const Triangle<T> &lower, const Triangle<T> &upper, const int64_t *order,
              int64_t stride, Matrix<T> x, int64_t index, Scratch &scratch) const {
    T *block = scratch.take<T>(n * width);
    T *spare = small ? nullptr : scratch.take<T>(n * n);
    int64_t first = small ? 0 : index * width, end = small ? columns : first + 1;
    for (int64_t c = first; c < end; c += width) {
      int64_t now = std::min(width, columns - c);
      Matrix<T> here{block, n, now, width, 1};
      std::fill_n(block, n * width, T(0));
      for (int64_t j = 0; j < now; ++j)
        here.at(c + j, j) = T(1);
      // What lies above the first one stays 0.
      lower.part(c, n).apply(false, &here.at(c, 0), width, spare);
      upper.apply(false, block, width, spare);
      T *to[kLargeColumns];
      for (int64_t j = 0; j < now; ++j)
        to[j] = &x.at(0, std::clamp<int64_t>(order[(c + j) * stride], 0, n - 1));
      // Along the result's rows, if they are what lies side by side.
      bool byRows = x.columnStride < x.rowStride;
      for (int64_t outer = 0, inner = byRows ? now : n; outer < (byRows ? n : now); ++outer)
        for (int64_t v = 0; v < inner; ++v) {
          int64_t i = byRows ? outer : v, j = byRows ? v : outer;
          to[j][i * x.rowStride] = here.at(i, j);
        }
    }
  }

private:
  static Matrix<T> part(Matrix<T> m, int64_t c, int64_t now) {
    return {m.data + c * m.columnStride, m.rows, now, m.rowStride, m.columnStride};
  }
  static void take(Matrix<T> from, Matrix<T> to, const int64_t *rows, int64_t stride) {
    if (!rows)
      return copy(from, to);
    for (int64_t i = 0; i < to.rows; ++i) {
      int64_t source = std::clamp<int64_t>(rows[i * stride], 0, to.rows - 1);
      for (int64_t j = 0; j < to.columns; ++j)
        to.at(i, j) = from.at(source, j);
    }
  }

  int64_t n, columns, width;
  bool small;
};

/// The axes of a right-hand side after the batch and the equation's own: the last ones that are
/// walked with one stride are its columns, the others join the loops over instances.
struct Columns {
  int64_t size = 1, bStride = 1, xStride = 1;

  Columns(const xt_array &b, const xt_array &x, int firstRest, Batches &loops, int before) {
    bool open = true, any = false;
    for (int d = x.rank - 1; d >= firstRest; --d) {
      int64_t n = x.sizes[d];
      if (n == 1)
        continue;
      if (!any) {
        size = n, bStride = b.strides[d], xStride = x.strides[d], any = true;
      } else if (open && b.strides[d] == size * bStride && x.strides[d] == size * xStride) {
        size *= n;
      } else {
        open = false;
        if (before == 1)
          loops.add(n, {0, b.strides[d], x.strides[d]});
        else
          loops.add(n, {0, 0, b.strides[d], x.strides[d]});
      }
    }
  }
};

/// Runs body(solver, offsets, part, scratch) for each part of each instance.
template <typename T, typename Body>
void forEachPart(int64_t n, int64_t columns, const Batches &loops, bool square, Body body) {
  int64_t count = loops.count();
  if (n == 0 || columns == 0 || count == 0)
    return;
  Solver<T> solver(n, columns);
  int64_t parts = square ? solver.parts() : 1;
  LibraryThreads threads(count * parts, columns < kLargeColumns ? 0 : n);
  auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at[Batches::kMaxArrays];
      loops.offsets(i / parts, at);
      auto part = [&](Scratch &scratch) { body(solver, at, i % parts, scratch); };
      if (!withScratch(solver.bytes(), part))
        return;
    }
  };
  if (threads.own())
    return range(0, count * parts);
  forInstances(count * parts, double(n) * n * columns / parts, range);
}

template <typename T, typename MakeSteps>
void solveAll(const xt_array &a, const xt_array &b, const xt_array &x, Batches &loops,
              const Columns &columns, int bIndex, MakeSteps makeSteps) {
  int batch = a.rank - 2;
  int64_t n = a.sizes[batch];
  // A matrix that is not square has no solution; sizes that only a call knows are checked here.
  bool square = n == a.sizes[batch + 1];
  forEachPart<T>(n, columns.size, loops, square,
                 [&](const Solver<T> &solver, const int64_t *at, int64_t part, Scratch &scratch) {
                   Matrix<T> from{static_cast<T *>(b.data) + at[bIndex], n, columns.size,
                                  b.strides[batch], columns.bStride};
                   Matrix<T> to{static_cast<T *>(x.data) + at[bIndex + 1], x.sizes[batch],
                                columns.size, x.strides[batch], columns.xStride};
                   if (!square)
                     return to.fill(std::numeric_limits<T>::quiet_NaN());
                   solver.run(makeSteps(at), from, to, part, scratch);
                 });
}

template <typename T>
Matrix<const T> constMatrix(const xt_array &a, int64_t offset) {
  Matrix<T> m = matrixOf<T>(a, offset);
  return {m.data, m.rows, m.columns, m.rowStride, m.columnStride};
}

/// As `triangular`, of a batch of small matrices.
template <typename T>
void triangularSideBySide(bool product, const xt_array *arrays, const int64_t *options,
                          const Batches &loops, const Columns &columns) {
  const xt_array &a = arrays[0], &b = arrays[1], &x = arrays[2];
  bool upper = options[0] != 0, noDiagonal = options[1] != 0;
  int batch = a.rank - 2;
  int64_t n = a.sizes[batch], m = columns.size;
  size_t bytes =
      Scratch::bytesFor<T>(n * n * kMatrixLanes) + Scratch::bytesFor<T>(n * m * kMatrixLanes);
  Matrix<T> matrix = matrixOf<T>(a);
  Matrix<T> from{static_cast<T *>(b.data), n, m, b.strides[batch], columns.bStride};
  Matrix<T> to{static_cast<T *>(x.data), n, m, x.strides[batch], columns.xStride};
  forEachBlock(loops, double(n) * n * m, bytes, [&](const LaneBlock &block, Scratch &scratch) {
    T *triangle = scratch.take<T>(n * n * kMatrixLanes), *y = scratch.take<T>(n * m * kMatrixLanes);
    block.load(matrix, 0, triangle);
    block.load(from, 1, y);
    if (product)
      multiplyTriangleLanes(n, triangle, upper, noDiagonal, y, m);
    else
      solveTriangleLanes(n, triangle, upper, noDiagonal, y, m);
    block.store(y, to, 2);
  });
}

template <typename T>
void triangular(bool product, const xt_array *arrays, const int64_t *options) {
  const xt_array &a = arrays[0], &b = arrays[1], &x = arrays[2];
  bool upper = options[0] != 0, unit = options[1] != 0;
  int batch = a.rank - 2;
  int trailing[] = {2, b.rank - batch, x.rank - batch};
  Batches loops(arrays, 3, trailing);
  Columns columns(b, x, batch + 1, loops, 1);
  if (columns.size <= kLaneColumns && squaresFillLanes(rowsOf(a), columnsOf(a), loops.count()))
    return triangularSideBySide<T>(product, arrays, options, loops, columns);
  solveAll<T>(a, b, x, loops, columns, 1, [&](const int64_t *at) {
    Steps<T> steps;
    steps.first = {constMatrix<T>(a, at[0]), upper, unit};
    steps.product = product;
    return steps;
  });
}

/// As `luSolve`, of a batch of small matrices.
template <typename T>
void luSolveSideBySide(const xt_array *arrays, const Batches &loops, const Columns &columns,
                       bool transposed) {
  const xt_array &a = arrays[0], &order = arrays[1], &b = arrays[2], &x = arrays[3];
  int batch = a.rank - 2;
  int64_t n = a.sizes[batch], m = columns.size, stride = order.strides[batch];
  size_t bytes =
      Scratch::bytesFor<T>(n * n * kMatrixLanes) + Scratch::bytesFor<T>(n * m * kMatrixLanes);
  forEachBlock(
      loops, double(n) * n * (m + 1), bytes, [&](const LaneBlock &block, Scratch &scratch) {
        T *factors = scratch.take<T>(n * n * kMatrixLanes),
          *y = scratch.take<T>(n * m * kMatrixLanes);
        block.load(a, 0, factors);
        // Rows move before the solve, or after the transposed one.
        auto move = [&](bool here, int64_t v, auto copy) {
          const int64_t *rows = static_cast<const int64_t *>(order.data) + block.at[v][1];
          for (int64_t i = 0; i < n; ++i) {
            int64_t row = here ? std::clamp<int64_t>(rows[i * stride], 0, n - 1) : i;
            for (int64_t j = 0; j < m; ++j)
              copy(i, row, j);
          }
        };
        for (int64_t v = 0; v < kMatrixLanes; ++v) {
          const T *from = static_cast<const T *>(b.data) + block.at[v][2];
          move(!transposed, v, [&](int64_t i, int64_t row, int64_t j) {
            y[(i * m + j) * kMatrixLanes + v] = from[row * b.strides[batch] + j * columns.bStride];
          });
        }
        solveLanes(n, factors, transposed, /*identity=*/false, y, m);
        for (int64_t v = 0; v < block.count; ++v) {
          T *to = static_cast<T *>(x.data) + block.at[v][3];
          move(transposed, v, [&](int64_t i, int64_t row, int64_t j) {
            to[i * x.strides[batch] + j * columns.xStride] = y[(row * m + j) * kMatrixLanes + v];
          });
        }
      });
}

template <typename T>
void luSolve(const xt_array *arrays, const int64_t *options) {
  const xt_array &a = arrays[0], &order = arrays[1], &b = arrays[2], &x = arrays[3];
  bool transposed = options[0] != 0;
  int batch = a.rank - 2;
  int trailing[] = {2, 1, b.rank - batch, x.rank - batch};
  Batches loops(arrays, 4, trailing);
  Columns columns(b, x, batch + 1, loops, 2);
  if (columns.size <= kLaneColumns &&
      squaresFillLanes(a.sizes[batch], a.sizes[batch + 1], loops.count()))
    return luSolveSideBySide<T>(arrays, loops, columns, transposed);
  solveAll<T>(a, b, x, loops, columns, 2, [&](const int64_t *at) {
    Triangle<T> l{constMatrix<T>(a, at[0]), /*upper=*/false, /*unit=*/true};
    Triangle<T> u{constMatrix<T>(a, at[0]), /*upper=*/true, /*unit=*/false};
    const int64_t *rows = static_cast<const int64_t *>(order.data) + at[1];
    Steps<T> steps;
    steps.two = true;
    steps.first = transposed ? u.transposed() : l;
    steps.second = transposed ? l.transposed() : u;
    (transposed ? steps.after : steps.before) = rows;
    (transposed ? steps.afterStride : steps.beforeStride) = order.strides[batch];
    return steps;
  });
}

/// As `luInverse`, of a batch of small matrices.
template <typename T>
void luInverseSideBySide(const xt_array *arrays, const Batches &loops, bool transposed) {
  const xt_array &order = arrays[1];
  int64_t n = rowsOf(arrays[0]), stride = order.strides[order.rank - 1];
  size_t bytes = 2 * Scratch::bytesFor<T>(n * n * kMatrixLanes);
  forEachBlock(loops, double(n) * n * n, bytes, [&](const LaneBlock &block, Scratch &scratch) {
    T *factors = scratch.take<T>(n * n * kMatrixLanes), *y = scratch.take<T>(n * n * kMatrixLanes);
    block.load(arrays[0], 0, factors);
    for (int64_t i = 0; i < n * n; ++i)
      std::fill_n(y + i * kMatrixLanes, kMatrixLanes, T(i % (n + 1) == 0));
    solveLanes(n, factors, /*transposed=*/false, /*identity=*/true, y, n);
    for (int64_t v = 0; v < block.count; ++v) {
      Matrix<T> to = matrixOf<T>(arrays[2], block.at[v][2]);
      to = transposed ? to.transposed() : to;
      const int64_t *rows = static_cast<const int64_t *>(order.data) + block.at[v][1];
      for (int64_t j = 0; j < n; ++j) {
        int64_t column = std::clamp<int64_t>(rows[j * stride], 0, n - 1);
        for (int64_t i = 0; i < n; ++i)
          to.at(i, column) = y[(i * n + j) * kMatrixLanes + v];
      }
    }
  });
}

template <typename T>
void luInverse(const xt_array *arrays, const int64_t *options) {
  const xt_array &a = arrays[0], &order = arrays[1], &x = arrays[2];
  bool transposed = options[0] != 0;
  int batch = a.rank - 2;
  int64_t n = a.sizes[batch];
  bool square = n == a.sizes[batch + 1];
  const int trailing[] = {2, 1, 2};
  Batches loops(arrays, 3, trailing);
  if (n <= kLaneColumns && squaresFillLanes(n, a.sizes[batch + 1], loops.count()))
    return luInverseSideBySide<T>(arrays, loops, transposed);
  forEachPart<T>(n, n, loops, square,
                 [&](const Solver<T> &solver, const int64_t *at, int64_t part, Scratch &scratch) {
                   Matrix<T> to = matrixOf<T>(x, at[2]);
                   if (!square)
                     return to.fill(std::numeric_limits<T>::quiet_NaN());
                   Triangle<T> l{constMatrix<T>(a, at[0]), /*upper=*/false, /*unit=*/true};
                   Triangle<T> u{constMatrix<T>(a, at[0]), /*upper=*/true, /*unit=*/false};
                   solver.invert(l, u, static_cast<const int64_t *>(order.data) + at[1],
                                 order.strides[batch], transposed ? to.transposed() : to, part,
                                 scratch);
                 });
}

} // namespace

// a, b -> x. options: upper, unit.
void xt_triangular_solve(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? triangular<float>(false, arrays, options)
                           : triangular<double>(false, arrays, options);
}

// a, b -> x, the product. options: upper, strict.
void xt_triangular_product(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? triangular<float>(true, arrays, options)
                           : triangular<double>(true, arrays, options);
}

// packed factors, order (transposed: its inverse), b -> x. options: transposed.
void xt_lu_solve(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? luSolve<float>(arrays, options) : luSolve<double>(arrays, options);
}

// packed factors, order -> the inverse. options: transposed.
void xt_lu_inverse(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? luInverse<float>(arrays, options) : luInverse<double>(arrays, options);
}
