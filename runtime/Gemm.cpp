// Matrix products: OpenBLAS on one thread per tile of the result, and our pool over the tiles. Two
// pools whose threads spin would take cores from each other.
#include "Blas.h"
#include "FewRows.h"
#include "Pool.h"
#include "ShortSums.h"
#include "runtime.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <pthread.h>

using namespace xtensor;

namespace {

// One thread does about 100 (f32) or 50 multiply-adds per ns: below these two, splitting does not
// pay.
constexpr double kMinTileWork = 1 << 19; // multiply-adds
constexpr int64_t kMinTile = 32;         // rows or columns
constexpr int64_t kMaxInt = INT_MAX / 2; // the library counts in int
constexpr int64_t kMaxSumTiles = 16;
constexpr int64_t kLeastSquared = 64; // rows and terms of A A^T from which on a half is faster

void blasGemm(int ta, int tb, int m, int n, int k, const float *a, int lda, const float *b, int ldb,
              float beta, float *c, int ldc) {
  XT_BLAS(cblas_sgemm)(blas::kRowMajor, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
}
void blasGemm(int ta, int tb, int m, int n, int k, const double *a, int lda, const double *b,
              int ldb, double beta, double *c, int ldc) {
  XT_BLAS(cblas_dgemm)(blas::kRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}
void blasGemv(int t, int m, int n, const float *a, int lda, const float *x, int incx, float *y,
              int incy) {
  XT_BLAS(cblas_sgemv)(blas::kRowMajor, t, m, n, 1.0f, a, lda, x, incx, 1.0f, y, incy);
}
void blasGemv(int t, int m, int n, const double *a, int lda, const double *x, int incx, double *y,
              int incy) {
  XT_BLAS(cblas_dgemv)(blas::kRowMajor, t, m, n, 1.0, a, lda, x, incx, 1.0, y, incy);
}
/// The part on and below the diagonal of op(A) op(A)^T.
void blasSyrk(int t, int n, int k, const float *a, int lda, float *c, int ldc) {
  XT_BLAS(cblas_ssyrk)(blas::kRowMajor, blas::kLower, t, n, k, 1.0f, a, lda, 0.0f, c, ldc);
}
void blasSyrk(int t, int n, int k, const double *a, int lda, double *c, int ldc) {
  XT_BLAS(cblas_dsyrk)(blas::kRowMajor, blas::kLower, t, n, k, 1.0, a, lda, 0.0, c, ldc);
}

/// C[m, n] = op(A)[m, k] op(B)[k, n]
template <typename T>
struct Product {
  bool transA, transB;
  int64_t m, n, k;
  const T *a;
  int64_t lda;
  const T *b;
  int64_t ldb;
  T *c;
  int64_t ldc;
  bool accumulate;
  // For multiplyShort and products of few rows: of the whole product, so that its parts agree.
  bool hasShortSums = false, hasFewRows = false, hasFewColumns = false;

  Product rows(int64_t begin, int64_t end) const {
    Product part = *this;
    part.a += begin * (transA ? 1 : lda);
    part.c += begin * ldc;
    part.m = end - begin;
    return part;
  }
  Product columns(int64_t begin, int64_t end) const {
    Product part = *this;
    part.b += begin * (transB ? ldb : 1);
    part.c += begin;
    part.n = end - begin;
    return part;
  }
  /// The summands [begin, end).
  Product terms(int64_t begin, int64_t end) const {
    Product part = *this;
    part.a += begin * (transA ? lda : 1);
    part.b += begin * (transB ? 1 : ldb);
    part.k = end - begin;
    return part;
  }

  void clear() const {
    for (int64_t i = 0; i < m; ++i)
      memset(c + i * ldc, 0, n * sizeof(T));
  }

  /// Whether op(B) is the transpose of op(A): the result is symmetric.
  bool isSquared() const {
    return a == b && transA != transB && lda == ldb && m == n && !accumulate &&
           std::min(m, k) >= kLeastSquared;
  }

  /// Rows [begin, end) of a symmetric result from its columns, up to column `last`.
  void mirror(int64_t begin, int64_t end, int64_t first, int64_t last) const {
    constexpr int64_t kSide = 16; // squares that the first cache holds
    for (int64_t i = begin; i < end; i += kSide)
      for (int64_t j = first; j < last; j += kSide)
        for (int64_t p = i; p < std::min(i + kSide, end); ++p)
          for (int64_t q = std::max(j, p + 1); q < std::min(j + kSide, last); ++q)
            c[p * ldc + q] = c[q * ldc + p];
  }

  void runHere() const {
    if (m == 0 || n == 0)
      return;
    if (k == 0 || m == 1 || n == 1) {
      // gemv with beta = 0 multiplies in some versions, and 0 * NaN is not 0: always add.
      if (!accumulate)
        clear();
      if (k == 0)
        return;
    }
    int ta = transA ? blas::kTrans : blas::kNoTrans, tb = transB ? blas::kTrans : blas::kNoTrans;
    if (n == 1) // a column vector: strided by ldb unless it is stored transposed
      return blasGemv(ta, transA ? k : m, transA ? m : k, a, lda, b, transB ? 1 : ldb, c, ldc);
    if (m == 1) // C^T = op(B)^T op(A)^T
      return blasGemv(transB ? blas::kNoTrans : blas::kTrans, transB ? n : k, transB ? k : n, b,
                      ldb, a, transA ? lda : 1, c, 1);
    if (isSquared()) {
      blasSyrk(ta, m, k, a, lda, c, ldc);
      return mirror(0, m, 0, m);
    }
    if (hasFewRows && !transB)
      return multiplyFewRows(m, n, k, a, transA ? 1 : lda, transA ? lda : 1, b, ldb, c, ldc,
                             accumulate);
    if (hasFewRows)
      return multiplyFew(m, n, a, transA ? 1 : lda, transA ? lda : 1, b, ldb, ldc, 1);
    if (hasFewColumns && !transA)
      return multiplyFew(n, m, b, transB ? ldb : 1, transB ? 1 : ldb, a, lda, 1, ldc);
    if (hasShortSums && !transB &&
        multiplyShort(transA, m, n, k, a, lda, b, ldb, c, ldc, accumulate))
      return;
    blasGemm(ta, tb, m, n, k, a, lda, b, ldb, accumulate ? T(1) : T(0), c, ldc);
  }

  /// A few rows times those of `many`. The steps are from row to row and from term to term, and
  /// from row to row and column to column of the result. The rows are copied, because those that
  /// are a power of two apart share places of the cache.
  void multiplyFew(int64_t few, int64_t many, const T *rows, int64_t row, int64_t term,
                   const T *matrix, int64_t ldm, int64_t down, int64_t across) const {
    int64_t width = k + 16;
    T *copy = static_cast<T *>(xt_arena_acquire(few * width * sizeof(T)));
    if (!copy)
      return; // the call was told that memory is exhausted
    if (term == 1)
      for (int64_t i = 0; i < few; ++i)
        memcpy(copy + i * width, rows + i * row, k * sizeof(T));
    else
      for (int64_t l = 0; l < k; ++l)
        for (int64_t i = 0; i < few; ++i)
          copy[i * width + l] = rows[i * row + l * term];
    multiplyFewTransposed(few, many, k, copy, width, matrix, ldm, c, down, across, accumulate);
    xt_arena_release(copy);
  }
};

/// How a product is cut: `down` x `across` tiles of the result, or `deep` partial sums.
struct Cut {
  int64_t down = 1, across = 1, deep = 1;
  int64_t tiles() const { return down * across * deep; }
};

Cut chooseCut(double m, double n, double k, int64_t threads) {
  Cut cut;
  int64_t most = std::min<int64_t>(threads, m * n * k / kMinTileWork);
  if (most < 2)
    return cut;
  int64_t maxDown = std::max<int64_t>(1, m / kMinTile),
          maxAcross = std::max<int64_t>(1, n / kMinTile);
  // Every tile packs its share of both operands again: as many tiles as threads, the squarest ones.
  double best = 0;
  for (int64_t down = 1; down <= std::min(most, maxDown); ++down) {
    int64_t across = std::min(most / down, maxAcross);
    double cost = (1 + 8 * (down / m + across / n)) / (down * across);
    if (best == 0 || cost < best)
      best = cost, cut.down = down, cut.across = across;
  }
  if (cut.tiles() * 2 <= most && k >= 4 * m && k >= 4 * n) {
    cut.down = cut.across = 1;
    cut.deep = std::min(most, kMaxSumTiles);
  }
  return cut;
}

int64_t edge(int64_t size, int64_t part, int64_t parts) {
  if (part == parts)
    return size;
  return size * part / parts & ~int64_t(size >= parts * 64 ? 15 : 0);
}

template <typename T>
struct Tiles {
  Product<T> whole;
  Cut cut;
  T *sums[kMaxSumTiles];

  static void run(void *self, int64_t tile) {
    auto &t = *static_cast<Tiles *>(self);
    const Product<T> &p = t.whole;
    const Cut &cut = t.cut;
    if (cut.deep > 1) {
      Product<T> part = p.terms(edge(p.k, tile, cut.deep), edge(p.k, tile + 1, cut.deep));
      if (tile > 0) {
        part.c = t.sums[tile], part.ldc = p.n;
        part.accumulate = false;
      }
      return part.runHere();
    }
    int64_t i = tile / cut.across, j = tile % cut.across;
    p.rows(edge(p.m, i, cut.down), edge(p.m, i + 1, cut.down))
        .columns(edge(p.n, j, cut.across), edge(p.n, j + 1, cut.across))
        .runHere();
  }
};

/// Blocks on and below the diagonal of a symmetric result. Each writes its mirror image, too.
template <typename T>
struct Triangle {
  Product<T> whole;
  int64_t parts;

  static void run(void *self, int64_t task) {
    auto &[p, parts] = *static_cast<Triangle *>(self);
    int64_t i = 0;
    for (; task > i; ++i)
      task -= i + 1;
    int64_t top = edge(p.m, i, parts), bottom = edge(p.m, i + 1, parts);
    int64_t left = edge(p.n, task, parts), right = edge(p.n, task + 1, parts);
    p.rows(top, bottom).columns(left, right).runHere();
    if (task < i)
      p.mirror(left, right, top, bottom);
  }
};

template <typename T>
void runDeep(Tiles<T> &t) {
  const Product<T> &p = t.whole;
  size_t bytes = p.m * p.n * sizeof(T);
  bool isWhole = true; // else the call was told that memory is exhausted
  for (int64_t i = 1; i < t.cut.deep; ++i) {
    t.sums[i] = static_cast<T *>(xt_arena_acquire(bytes));
    isWhole &= t.sums[i] != nullptr;
  }
  if (isWhole)
    runChunks(Tiles<T>::run, &t, t.cut.deep, true);
  for (int64_t part = 1; part < t.cut.deep; ++part) { // a fixed order: the same bits every time
    for (int64_t i = 0; isWhole && i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j)
        p.c[i * p.ldc + j] += t.sums[part][i * p.n + j];
    xt_arena_release(t.sums[part]);
  }
}

template <typename T>
void naive(const Product<T> &p) {
  if (!p.accumulate)
    p.clear();
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t l = 0; l < p.k; ++l)
      for (int64_t j = 0; j < p.n; ++j)
        p.c[i * p.ldc + j] += (p.transA ? p.a[l * p.lda + i] : p.a[i * p.lda + l]) *
                              (p.transB ? p.b[j * p.ldb + l] : p.b[l * p.ldb + j]);
}

/// Sizes that do not fit the library's int. (A leading dimension of one row may be anything.)
template <typename T>
bool runHuge(Product<T> &p) {
  if ((p.transA ? p.k : p.m) == 1)
    p.lda = std::max<int64_t>(p.transA ? p.m : p.k, 1);
  if ((p.transB ? p.n : p.k) == 1)
    p.ldb = std::max<int64_t>(p.transB ? p.k : p.n, 1);
  if (p.m == 1)
    p.ldc = std::max<int64_t>(p.n, 1);
  if (std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc}) <= kMaxInt)
    return false;
  if (std::max({p.lda, p.ldb, p.ldc}) > INT_MAX) {
    naive(p);
    return true;
  }
  for (int64_t i = 0; i < p.m; i += kMaxInt)
    for (int64_t j = 0; j < p.n; j += kMaxInt)
      for (int64_t l = 0; l < std::max<int64_t>(p.k, 1); l += kMaxInt) {
        Product<T> part = p.rows(i, std::min(p.m, i + kMaxInt))
                              .columns(j, std::min(p.n, j + kMaxInt))
                              .terms(l, std::min(p.k, l + kMaxInt));
        part.accumulate |= l > 0;
        part.runHere();
      }
  return true;
}

template <typename T>
void gemm(Product<T> p) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { XT_BLAS(openblas_set_num_threads)(1); });
  if (p.m <= 0 || p.n <= 0 || runHuge(p))
    return;
  p.k = std::max<int64_t>(p.k, 0);
  p.hasShortSums = isShort(p.m, p.n, p.k);
  p.hasFewRows = areFewRows(p.m, p.n, p.k) && !(p.hasShortSums && p.m > kVeryFewRows);
  p.hasFewColumns = areFewRows(p.n, p.m, p.k) && !(p.hasShortSums && p.n > kVeryFewRows);
  Tiles<T> t{p, insideParallelLoop() ? Cut() : chooseCut(p.m, p.n, p.k, xt_num_threads()), {}};
  if (t.cut.tiles() == 1)
    return p.runHere();
  if (t.cut.deep > 1)
    return runDeep(t);
  if (p.isSquared()) {
    Triangle<T> triangle{p, std::min(2 * t.cut.tiles(), p.m / kLeastSquared)};
    return runChunks(Triangle<T>::run, &triangle, triangle.parts * (triangle.parts + 1) / 2, true);
  }
  runChunks(Tiles<T>::run, &t, t.cut.tiles(), true);
}

} // namespace

void xt_gemm_f32(int64_t transA, int64_t transB, int64_t m, int64_t n, int64_t k, const float *a,
                 int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
                 int64_t accumulate) {
  gemm(Product<float>{transA != 0, transB != 0, m, n, k, a, lda, b, ldb, c, ldc, accumulate != 0});
}

void xt_gemm_f64(int64_t transA, int64_t transB, int64_t m, int64_t n, int64_t k, const double *a,
                 int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc,
                 int64_t accumulate) {
  gemm(Product<double>{transA != 0, transB != 0, m, n, k, a, lda, b, ldb, c, ldc, accumulate != 0});
}

const char *xt_blas_name(void) { return XT_BLAS(openblas_get_config)(); }
