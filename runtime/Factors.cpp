// Factorisations of batches of matrices: Cholesky, LU, QR, eigenvalues, singular values and the
// pseudoinverse. Each matrix is copied, whatever its strides. LAPACK factors the copy column-major
// (our kernel does small Cholesky factors), and the factors are written to their destination. If
// LAPACK fails, the result is NaN. LAPACK never gets a NaN, because some versions do not return
// then.
#include "Lapack.h"
#include "Matrices.h"
#include "Pool.h"
#include "SideBySide.h"
#include "Tridiagonal.h"

#include <mutex>

using namespace xtensor;

//===- threads -------------------------------------------------------------===//

static std::mutex libraryThreads;

LibraryThreads::LibraryThreads(int64_t count, int64_t size) {
  constexpr int64_t kLarge = 256;
  static std::once_flag once;
  std::call_once(once, [] { XT_BLAS(openblas_set_num_threads)(1); });
  threaded = size >= kLarge && count < xt_num_threads() && !insideParallelLoop() &&
             libraryThreads.try_lock();
  if (threaded)
    XT_BLAS(openblas_set_num_threads)(xt_num_threads());
}

LibraryThreads::~LibraryThreads() {
  if (!threaded)
    return;
  XT_BLAS(openblas_set_num_threads)(1);
  libraryThreads.unlock();
}

namespace {

//===- Cholesky ------------------------------------------------------------===//

template <typename T>
void cholesky(const xt_array *arrays) {
  int64_t n = rowsOf(arrays[0]);
  bool square = n == columnsOf(arrays[0]), small = n <= kSmallMatrix;
  int64_t leading = spacedColumns(n);
  const int trailing[] = {2, 2};
  if (Batches loops(arrays, 2, trailing);
      squaresFillLanes(n, columnsOf(arrays[0]), loops.count())) {
    size_t bytes = Scratch::bytesFor<T>(n * n * kMatrixLanes);
    return forEachBlock(loops, double(n) * n * n / 3, bytes,
                        [&](const LaneBlock &block, Scratch &scratch) {
                          T *elements = scratch.take<T>(n * n * kMatrixLanes);
                          block.load(arrays[0], 0, elements);
                          choleskyLanes(n, elements);
                          block.store(elements, arrays[1], 1);
                        });
  }
  forEachMatrix(arrays, 2, trailing, n, double(n) * n * n / 3, Scratch::bytesFor<T>(n * leading),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> a = matrixOf<T>(arrays[0], at[0]), l = matrixOf<T>(arrays[1], at[1]);
                  T *s = scratch.take<T>(n * leading);
                  if (!square)
                    return l.fill(kNaN<T>);
                  if (small)
                    for (int64_t i = 0; i < n; ++i)
                      std::fill_n(s + i * leading + n, leading - n, T(0));
                  copySymmetric(a, Matrix<T>{s, n, n, leading, 1});
                  // Row-major U^T U is column-major L L^T.
                  bool done = small ? factorUpper(n, s, leading)
                                    : lapack::potrf('L', int(n), s, int(leading)) == 0;
                  for (int64_t i = 0; i < n && done; ++i)
                    done = std::isfinite(s[i * leading + i]);
                  for (int64_t j = 0; j < n; ++j) {
                    std::fill_n(s + j * leading, j, T(0));
                    if (!done)
                      std::fill_n(s + j * leading + j, n - j, kNaN<T>);
                  }
                  copy(Matrix<T>{s, n, n, 1, leading}, l);
                });
}

//===- LU ------------------------------------------------------------------===//

/// As `lu`, of a batch of small square matrices.
template <typename T>
void luSideBySide(const xt_array *arrays, const Batches &loops) {
  int64_t n = rowsOf(arrays[0]);
  size_t bytes = Scratch::bytesFor<T>(n * n * kMatrixLanes) + Scratch::bytesFor<T>(kMatrixLanes) +
                 Scratch::bytesFor<int32_t>(n * kMatrixLanes);
  forEachBlock(loops, double(n) * n * n, bytes, [&](const LaneBlock &block, Scratch &scratch) {
    T *elements = scratch.take<T>(n * n * kMatrixLanes), *parity = scratch.take<T>(kMatrixLanes);
    int32_t *order = scratch.take<int32_t>(n * kMatrixLanes);
    block.load(arrays[0], 0, elements);
    factorLanes(n, elements, order, parity);
    block.store(elements, arrays[1], 1);
    for (int64_t v = 0; v < block.count; ++v) {
      Matrix<int64_t> rows = columnOf<int64_t>(arrays[2], block.at[v][2]),
                      inverse = columnOf<int64_t>(arrays[3], block.at[v][3]);
      for (int64_t i = 0; i < n; ++i) {
        int32_t row = order[i * kMatrixLanes + v];
        rows.at(i, 0) = row;
        inverse.at(row, 0) = i;
      }
      static_cast<T *>(arrays[4].data)[block.at[v][4]] = parity[v];
    }
  });
}

template <typename T>
void lu(const xt_array *arrays) {
  int64_t m = rowsOf(arrays[0]), n = columnsOf(arrays[0]), k = std::min(m, n);
  const int trailing[] = {2, 2, 1, 1, 0};
  if (Batches loops(arrays, 5, trailing); squaresFillLanes(m, n, loops.count()))
    return luSideBySide<T>(arrays, loops);
  forEachMatrix(arrays, 5, trailing, k, double(m) * n * k * 2 / 3,
                Scratch::bytesFor<T>(m * n) + Scratch::bytesFor<int>(k),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> a = matrixOf<T>(arrays[0], at[0]),
                            packed = matrixOf<T>(arrays[1], at[1]);
                  Matrix<int64_t> order = columnOf<int64_t>(arrays[2], at[2]),
                                  inverse = columnOf<int64_t>(arrays[3], at[3]);
                  T *parity = static_cast<T *>(arrays[4].data) + at[4];
                  for (int64_t i = 0; i < m; ++i)
                    order.at(i, 0) = inverse.at(i, 0) = i;
                  *parity = 1;
                  if (!a.isFinite()) {
                    packed.fill(kNaN<T>);
                    return;
                  }
                  T *copied = scratch.take<T>(m * n);
                  int *pivots = scratch.take<int>(k);
                  Matrix<T> here{copied, m, n, 1, std::max<int64_t>(m, 1)};
                  copy(a, here);
                  if (k > 0)
                    lapack::getrf(int(m), int(n), copied, int(std::max<int64_t>(m, 1)), pivots);
                  copy(here, packed);
                  for (int64_t i = 0; i < k; ++i) {
                    int64_t other = pivots[i] - 1;
                    if (other == i)
                      continue;
                    std::swap(order.at(i, 0), order.at(other, 0));
                    *parity = -*parity;
                  }
                  for (int64_t i = 0; i < m; ++i)
                    inverse.at(order.at(i, 0), 0) = i;
                });
}

//===- QR ------------------------------------------------------------------===//

template <typename T>
void qr(const xt_array *arrays) {
  int64_t m = rowsOf(arrays[0]), n = columnsOf(arrays[0]), k = std::min(m, n);
  const int trailing[] = {2, 2, 2};
  if (Batches loops(arrays, 3, trailing); fillsLanes(m, n, loops.count(), kLaneReflections)) {
    size_t bytes =
        Scratch::bytesFor<T>(m * n * kMatrixLanes) + Scratch::bytesFor<T>(m * k * kMatrixLanes);
    return forEachBlock(
        loops, 4.0 * m * n * k, bytes, [&](const LaneBlock &block, Scratch &scratch) {
          T *a = scratch.take<T>(m * n * kMatrixLanes), *q = scratch.take<T>(m * k * kMatrixLanes);
          block.load(arrays[0], 0, a);
          qrLanes(m, n, a, q);
          block.store(q, arrays[1], 1);
          block.store(a, arrays[2], 2);
        });
  }
  int lda = int(std::max<int64_t>(m, 1));
  T sizes[2] = {1, 1}, none = 0;
  if (k > 0) {
    lapack::geqrf(int(m), int(n), &none, lda, &none, &sizes[0], -1);
    lapack::orgqr(int(m), int(k), int(k), &none, lda, &none, &sizes[1], -1);
  }
  int work = int(std::max(sizes[0], sizes[1])) + 1;
  forEachMatrix(arrays, 3, trailing, k, 4.0 * m * n * k,
                Scratch::bytesFor<T>(m * n) + Scratch::bytesFor<T>(k) + Scratch::bytesFor<T>(work),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> a = matrixOf<T>(arrays[0], at[0]), q = matrixOf<T>(arrays[1], at[1]),
                            r = matrixOf<T>(arrays[2], at[2]);
                  if (k == 0)
                    return;
                  if (!a.isFinite()) {
                    q.fill(kNaN<T>);
                    r.fill(kNaN<T>);
                    return;
                  }
                  T *copied = scratch.take<T>(m * n), *tau = scratch.take<T>(k);
                  T *space = scratch.take<T>(work);
                  copy(a, Matrix<T>{copied, m, n, 1, m});
                  lapack::geqrf(int(m), int(n), copied, lda, tau, space, work);
                  for (int64_t i = 0; i < k; ++i)
                    for (int64_t j = 0; j < n; ++j)
                      r.at(i, j) = j < i ? T(0) : copied[i + j * m];
                  lapack::orgqr(int(m), int(k), int(k), copied, lda, tau, space, work);
                  copy(Matrix<T>{copied, m, k, 1, m}, q);
                });
}

//===- eigenvalues ---------------------------------------------------------===//

/// The eigenvectors of a small matrix in place of its lower triangle, by way of a tridiagonal one.
/// `space` has room for syevd. False, with the matrix lost, if it needs the library.
template <typename T>
bool smallEigh(int n, T *a, T *values, T *space, int size) {
  T *below = space, *tau = below + n, *q = tau + n, *work = q + n * n;
  int left = size - int(work - space);
  if (lapack::sytrd(n, a, n, values, below, tau, work, left) != 0)
    return false;
  // The reflections leave the first row alone.
  std::fill_n(q, n * n, T(0));
  q[0] = 1;
  for (int j = 1; j < n; ++j)
    std::copy_n(a + (j - 1) * n + 1, n - 1, q + j * n + 1);
  if (lapack::orgqr(n - 1, n - 1, n - 1, q + n + 1, n, tau, work, left) != 0 ||
      !tridiagonalEigh(n, values, below, q))
    return false;
  std::copy_n(q, n * n, a);
  return true;
}

template <typename T>
void eigh(const xt_array *arrays) {
  int64_t n = rowsOf(arrays[0]);
  bool square = n == columnsOf(arrays[0]);
  const int trailing[] = {2, 1, 2};
  if (Batches loops(arrays, 3, trailing);
      squaresFillLanes(n, columnsOf(arrays[0]), loops.count())) {
    size_t bytes =
        2 * Scratch::bytesFor<T>(n * n * kMatrixLanes) + Scratch::bytesFor<T>(n * kMatrixLanes);
    return forEachBlock(loops, 30.0 * n * n * n, bytes,
                        [&](const LaneBlock &block, Scratch &scratch) {
                          T *a = scratch.take<T>(n * n * kMatrixLanes),
                            *vectors = scratch.take<T>(n * n * kMatrixLanes);
                          T *values = scratch.take<T>(n * kMatrixLanes);
                          block.load(arrays[0], 0, a);
                          eighLanes(n, a, values, vectors);
                          block.storeColumn(values, arrays[1], 1);
                          block.store(vectors, arrays[2], 2);
                        });
  }
  int lda = int(std::max<int64_t>(n, 1)), isize = 1;
  T size = 1, none = 0;
  if (n > 0)
    lapack::syevd(int(n), &none, lda, &none, &size, -1, &isize, -1);
  int work = int(size) + 1;
  forEachMatrix(arrays, 3, trailing, n, 9.0 * n * n * n,
                Scratch::bytesFor<T>(n * n) + Scratch::bytesFor<T>(n) + Scratch::bytesFor<T>(work) +
                    Scratch::bytesFor<int>(isize),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> a = matrixOf<T>(arrays[0], at[0]), w = columnOf<T>(arrays[1], at[1]),
                            v = matrixOf<T>(arrays[2], at[2]);
                  T *copied = scratch.take<T>(n * n), *values = scratch.take<T>(n);
                  T *space = scratch.take<T>(work);
                  int *ispace = scratch.take<int>(isize);
                  bool done = square && a.isFinite();
                  if (done && n > 0) {
                    Matrix<T> symmetric{copied, n, n, 1, n};
                    copySymmetric(a, symmetric);
                    bool isSmall = 1 < n && n <= kSmallTridiagonal;
                    if (!isSmall || !smallEigh(lda, copied, values, space, work)) {
                      if (isSmall)
                        copySymmetric(a, symmetric);
                      done =
                          lapack::syevd(lda, copied, lda, values, space, work, ispace, isize) == 0;
                    }
                  }
                  if (!done) {
                    w.fill(kNaN<T>);
                    v.fill(kNaN<T>);
                    return;
                  }
                  for (int64_t j = 0; j < n; ++j)
                    if (T *column = copied + j * n; signOfColumn(n, column) < 0)
                      for (int64_t i = 0; i < n; ++i)
                        column[i] = -column[i];
                  copy(Matrix<T>{values, n, 1, 1, 1}, w);
                  copy(Matrix<T>{copied, n, n, 1, n}, v);
                });
}

//===- singular values -----------------------------------------------------===//

/// The singular value decomposition of one matrix, column-major.
template <typename T>
struct Singular {
  int64_t m, n, k;
  int work = 1;

  Singular(const xt_array &a) : m(rowsOf(a)), n(columnsOf(a)), k(std::min(m, n)) {
    if (k == 0)
      return;
    T size = 1, none = 0;
    int inone = 0;
    lapack::gesdd(int(m), int(n), &none, int(m), &none, &none, int(m), &none, int(k), &size, -1,
                  &inone);
    work = int(size) + 1;
  }
  size_t bytes() const {
    return Scratch::bytesFor<T>(m * n) + Scratch::bytesFor<T>(k) + Scratch::bytesFor<T>(m * k) +
           Scratch::bytesFor<T>(k * n) + Scratch::bytesFor<T>(work) + Scratch::bytesFor<int>(8 * k);
  }
  double cost() const { return 12.0 * m * n * k; }

  T *s = nullptr, *u = nullptr, *vt = nullptr;

  bool run(Matrix<T> a, Scratch &scratch) {
    T *copied = scratch.take<T>(m * n);
    s = scratch.take<T>(k), u = scratch.take<T>(m * k), vt = scratch.take<T>(k * n);
    T *space = scratch.take<T>(work);
    int *ispace = scratch.take<int>(8 * k);
    if (!a.isFinite())
      return false;
    if (k == 0)
      return true;
    copy(a, Matrix<T>{copied, m, n, 1, m});
    return lapack::gesdd(int(m), int(n), copied, int(m), s, u, int(m), vt, int(k), space, work,
                         ispace) == 0;
  }
};

/// As `svd`, of a batch of small matrices.
template <typename T>
void svdSideBySide(const xt_array *arrays, const Batches &loops) {
  int64_t rows = rowsOf(arrays[0]), columns = columnsOf(arrays[0]);
  // Of a wide matrix, the transposed one: its left vectors are the right ones here.
  bool wide = rows < columns;
  int64_t m = std::max(rows, columns), n = std::min(rows, columns);
  auto turned = [](Matrix<T> matrix, bool turns) { return turns ? matrix.transposed() : matrix; };
  size_t matrix = Scratch::bytesFor<T>(m * n * kMatrixLanes),
         vectors = Scratch::bytesFor<T>(n * n * kMatrixLanes);
  forEachBlock(loops, 30.0 * m * n * n,
               3 * matrix + vectors + Scratch::bytesFor<T>(n * kMatrixLanes),
               [&](const LaneBlock &block, Scratch &scratch) {
                 T *b = scratch.take<T>(m * n * kMatrixLanes),
                   *left = scratch.take<T>(m * n * kMatrixLanes),
                   *space = scratch.take<T>(m * n * kMatrixLanes),
                   *right = scratch.take<T>(n * n * kMatrixLanes),
                   *values = scratch.take<T>(n * kMatrixLanes);
                 block.load(turned(matrixOf<T>(arrays[0]), !wide), 0, b);
                 svdLanes(m, n, b, values, left, right, space, wide);
                 block.store(left, turned(matrixOf<T>(arrays[wide ? 3 : 1]), wide), wide ? 3 : 1);
                 block.storeColumn(values, arrays[2], 2);
                 block.store(right, turned(matrixOf<T>(arrays[wide ? 1 : 3]), wide), wide ? 1 : 3);
               });
}

template <typename T>
void svd(const xt_array *arrays) {
  const int trailing[] = {2, 2, 1, 2};
  if (Batches loops(arrays, 4, trailing);
      fillsLanes(rowsOf(arrays[0]), columnsOf(arrays[0]), loops.count(), kLaneMatrix))
    return svdSideBySide<T>(arrays, loops);
  Singular<T> plan(arrays[0]);
  forEachMatrix(arrays, 4, trailing, plan.k, plan.cost(), plan.bytes(),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> u = matrixOf<T>(arrays[1], at[1]), s = columnOf<T>(arrays[2], at[2]),
                            vh = matrixOf<T>(arrays[3], at[3]);
                  Singular<T> one = plan;
                  if (!one.run(matrixOf<T>(arrays[0], at[0]), scratch)) {
                    u.fill(kNaN<T>);
                    s.fill(kNaN<T>);
                    vh.fill(kNaN<T>);
                    return;
                  }
                  for (int64_t j = 0; j < one.k; ++j)
                    if (T *left = one.u + j * one.m; signOfColumn(one.m, left) < 0) {
                      for (int64_t i = 0; i < one.m; ++i)
                        left[i] = -left[i];
                      for (int64_t i = 0; i < one.n; ++i)
                        one.vt[j + i * one.k] = -one.vt[j + i * one.k];
                    }
                  copy(Matrix<T>{one.u, one.m, one.k, 1, one.m}, u);
                  copy(Matrix<T>{one.s, one.k, 1, 1, 1}, s);
                  copy(Matrix<T>{one.vt, one.k, one.n, 1, one.k}, vh);
                });
}

template <typename T>
void pinv(const xt_array *arrays) {
  Singular<T> plan(arrays[0]);
  const int trailing[] = {2, 2};
  forEachMatrix(arrays, 2, trailing, plan.k, plan.cost(), plan.bytes(),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> p = matrixOf<T>(arrays[1], at[1]); // n x m
                  Singular<T> one = plan;
                  if (!one.run(matrixOf<T>(arrays[0], at[0]), scratch))
                    return p.fill(kNaN<T>);
                  int64_t m = one.m, n = one.n, k = one.k;
                  T smallest =
                      k ? std::numeric_limits<T>::epsilon() * T(std::max(m, n)) * one.s[0] : T(0);
                  for (int64_t r = 0; r < k; ++r) {
                    T factor = one.s[r] > smallest ? 1 / one.s[r] : T(0);
                    for (int64_t j = 0; j < n; ++j)
                      one.vt[r + j * k] *= factor;
                  }
                  for (int64_t i = 0; i < n; ++i)
                    for (int64_t j = 0; j < m; ++j) {
                      T sum = 0;
                      for (int64_t r = 0; r < k; ++r)
                        sum += one.vt[r + i * k] * one.u[j + r * m];
                      p.at(i, j) = sum;
                    }
                });
}

} // namespace

const char *xt_lapack_name(void) { return xt_blas_name(); }

#define XT_FOR_TYPES(fn) arrays[0].type == XT_F32 ? fn<float>(arrays) : fn<double>(arrays)

// a -> l
void xt_cholesky(const xt_array *arrays, const int64_t *) { XT_FOR_TYPES(cholesky); }
// a -> w, v
void xt_eigh(const xt_array *arrays, const int64_t *) { XT_FOR_TYPES(eigh); }
// a -> packed, order, inverse, parity
void xt_lu(const xt_array *arrays, const int64_t *) { XT_FOR_TYPES(lu); }
// a -> p
void xt_pinv(const xt_array *arrays, const int64_t *) { XT_FOR_TYPES(pinv); }
// a -> q, r
void xt_qr(const xt_array *arrays, const int64_t *) { XT_FOR_TYPES(qr); }
// a -> u, s, vh
void xt_svd(const xt_array *arrays, const int64_t *) { XT_FOR_TYPES(svd); }
