// If the large matrix is stored row by row, a few of its rows are added to all rows of the result
// at once. If it is stored transposed, its rows are multiplied with those of the other factor.
#include "FewRows.h"
#include "WideVectors.h"

#include <algorithm>

#ifdef XT_HAS_WIDE_VECTORS

using namespace xtensor;

namespace {

/// Rows of the large matrix that are read side by side. Their terms are summed in registers.
constexpr int64_t kTogether = 8;
/// Bytes of sums, and of the few rows, that stay in the first cache beside the large matrix.
constexpr int64_t kSumBytes = 16 << 10, kRowBytes = 32 << 10;
/// What all of the few rows are multiplied with before the next, so that a cache holds it: rows of
/// the large matrix, or bytes of it.
constexpr int64_t kBlockRows = 256, kBlockBytes = 256 << 10;

template <typename T>
struct Rows {
  const T *a;
  int64_t row, term; // steps in A
  const T *b;
  int64_t ldb;
  T *c;
  int64_t ldc;
  bool accumulate;
};

/// Adds terms to the sums of columns [j, j + vectors), which lie `width` apart from row to row.
/// `masks`: of the columns of each vector that there are; none: all.
template <typename T, int64_t rows, int64_t vectors, int64_t width, typename... Masks>
XT_V4_INLINE void addTerms(const Rows<T> &f, T *out, int64_t j, int64_t first, int64_t terms,
                           const Masks *...masks) {
  using V = Vector<T>;
  typename V::Type sums[rows][vectors];
  sumTerms<T, kTogether>(sums, f.a + first * f.term, f.row, f.term, f.b + first * f.ldb + j, f.ldb,
                         terms, masks...);
#pragma clang loop unroll(full)
  for (int64_t r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < vectors; ++s) {
      T *to = out + r * width + s * V::size;
      V::store(to, first > 0 ? V::load(to) + sums[r][s] : sums[r][s]);
    }
}

/// The sums of a panel of columns lie side by side, however far apart the rows of C are: rows that
/// are a power of two apart share places of the cache.
template <typename T, int64_t rows>
XT_V4_INLINE void multiplyRows(int64_t n, int64_t k, const Rows<T> &f) {
  using V = Vector<T>;
  constexpr int64_t vectors = rows <= 4 ? 4 : 2, step = vectors * V::size;
  constexpr int64_t panel = kSumBytes / int64_t(sizeof(T)) / rows / step * step;
  constexpr int64_t width = panel + V::size;
  alignas(64) T sums[rows * width];
  for (int64_t begin = 0; begin < n; begin += panel) {
    int64_t end = std::min(n, begin + panel);
    for (int64_t l = 0; l < k; l += kTogether) {
      int64_t terms = std::min(kTogether, k - l), j = begin;
      for (; j + step <= end; j += step)
        addTerms<T, rows, vectors, width>(f, sums + (j - begin), j, l, terms);
      for (; j < end; j += V::size) {
        int64_t mask = maskOf(end - j, V::size);
        addTerms<T, rows, 1, width>(f, sums + (j - begin), j, l, terms, &mask);
      }
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = begin; j < end; j += V::size) {
        T *to = f.c + r * f.ldc + j;
        int64_t mask = maskOf(end - j, V::size);
        typename V::Type sum = V::load(sums + r * width + (j - begin));
        V::store(to, f.accumulate ? V::load(to, mask) + sum : sum, mask);
      }
  }
}

template <typename T>
struct Dots {
  const T *a;
  int64_t lda;
  const T *b;
  int64_t ldb;
  T *c;
  int64_t row, column; // steps in C
  bool accumulate;
};

/// The terms [begin, end) of the products of `rows` rows of A and `others` of B.
template <typename T, int64_t rows, int64_t others>
XT_V4_INLINE void addDots(const Dots<T> &f, int64_t j, int64_t begin, int64_t end) {
  using V = Vector<T>;
  const T *a = f.a, *b = f.b + j * f.ldb;
  typename V::Type sums[rows][others];
#pragma clang loop unroll(full)
  for (int64_t r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < others; ++s)
      sums[r][s] = V::all(0);
  auto add = [&](int64_t l, auto... mask) XT_V4 __attribute__((always_inline)) {
    typename V::Type left[rows];
#pragma clang loop unroll(full)
    for (int64_t r = 0; r < rows; ++r)
      left[r] = V::load(a + r * f.lda + l, mask...);
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < others; ++s) {
      typename V::Type right = V::load(b + s * f.ldb + l, mask...);
      _mm_prefetch(b + (s + others) * f.ldb + l, _MM_HINT_T1);
#pragma clang loop unroll(full)
      for (int64_t r = 0; r < rows; ++r)
        sums[r][s] = __builtin_elementwise_fma(left[r], right, sums[r][s]);
    }
  };
  int64_t l = begin;
  for (; l + V::size <= end; l += V::size)
    add(l);
  if (l < end)
    add(l, maskOf(end - l, V::size));
#pragma clang loop unroll(full)
  for (int64_t r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < others; ++s) {
      T *to = f.c + r * f.row + (j + s) * f.column;
      T sum = V::sum(sums[r][s]);
      *to = f.accumulate || begin > 0 ? *to + sum : sum;
    }
}

template <typename T, int64_t rows>
XT_V4_INLINE void multiplyDots(int64_t n, int64_t k, const Dots<T> &f) {
  constexpr int64_t others = rows <= 4 ? 4 : 2,
                    part = kRowBytes / int64_t(sizeof(T)) / rows / 64 * 64;
  for (int64_t l = 0; l < k; l += part) {
    int64_t end = std::min(k, l + part), j = 0;
    for (; j + others <= n; j += others)
      addDots<T, rows, others>(f, j, l, end);
    for (; j < n; ++j)
      addDots<T, rows, 1>(f, j, l, end);
  }
}

/// Calls `run` with the number of rows as a constant.
#define XT_EACH_NUMBER_OF_ROWS(run, T, m, ...)                                                     \
  switch (m) {                                                                                     \
  case 2:                                                                                          \
    return run<T, 2>(__VA_ARGS__);                                                                 \
  case 3:                                                                                          \
    return run<T, 3>(__VA_ARGS__);                                                                 \
  case 4:                                                                                          \
    return run<T, 4>(__VA_ARGS__);                                                                 \
  case 5:                                                                                          \
    return run<T, 5>(__VA_ARGS__);                                                                 \
  case 6:                                                                                          \
    return run<T, 6>(__VA_ARGS__);                                                                 \
  case 7:                                                                                          \
    return run<T, 7>(__VA_ARGS__);                                                                 \
  case 8:                                                                                          \
    return run<T, 8>(__VA_ARGS__);                                                                 \
  }

template <typename T>
XT_V4 void runRows(int64_t m, int64_t n, int64_t k, const Rows<T> &f) {
  XT_EACH_NUMBER_OF_ROWS(multiplyRows, T, m, n, k, f)
}
template <typename T>
XT_V4 void runDots(int64_t m, int64_t n, int64_t k, const Dots<T> &f) {
  XT_EACH_NUMBER_OF_ROWS(multiplyDots, T, m, n, k, f)
}

/// Calls run(first, rows) for parts of 2 to 8 rows, whose numbers differ by one at most.
template <typename Run>
void inParts(int64_t m, Run run) {
  int64_t parts = (m + 7) / 8;
  for (int64_t part = 0; part < parts; ++part) {
    int64_t first = m * part / parts;
    run(first, m * (part + 1) / parts - first);
  }
}

template <typename T>
void multiplyBlocks(int64_t m, int64_t n, int64_t k, const Rows<T> &f) {
  for (int64_t l = 0; l < k; l += kBlockRows)
    inParts(m, [&](int64_t i, int64_t rows) {
      runRows<T>(rows, n, std::min(kBlockRows, k - l),
                 {f.a + i * f.row + l * f.term, f.row, f.term, f.b + l * f.ldb, f.ldb,
                  f.c + i * f.ldc, f.ldc, f.accumulate || l > 0});
    });
}

template <typename T>
void multiplyBlocks(int64_t m, int64_t n, int64_t k, const Dots<T> &f) {
  int64_t block = std::max<int64_t>(8, kBlockBytes / int64_t(sizeof(T)) / k / 4 * 4);
  for (int64_t j = 0; j < n; j += block)
    inParts(m, [&](int64_t i, int64_t rows) {
      runDots<T>(rows, std::min(block, n - j), k,
                 {f.a + i * f.lda, f.lda, f.b + j * f.ldb, f.ldb, f.c + i * f.row + j * f.column,
                  f.row, f.column, f.accumulate});
    });
}

} // namespace

bool xtensor::hasFewRowProducts() { return hasVectors(); }

#define XT_FEW_ROWS(T)                                                                             \
  void xtensor::multiplyFewRows(int64_t m, int64_t n, int64_t k, const T *a, int64_t row,          \
                                int64_t term, const T *b, int64_t ldb, T *c, int64_t ldc,          \
                                bool accumulate) {                                                 \
    multiplyBlocks<T>(m, n, k, Rows<T>{a, row, term, b, ldb, c, ldc, accumulate});                 \
  }                                                                                                \
  void xtensor::multiplyFewTransposed(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda,    \
                                      const T *b, int64_t ldb, T *c, int64_t row, int64_t column,  \
                                      bool accumulate) {                                           \
    multiplyBlocks<T>(m, n, k, Dots<T>{a, lda, b, ldb, c, row, column, accumulate});               \
  }

#else

bool xtensor::hasFewRowProducts() { return false; }

#define XT_FEW_ROWS(T)                                                                             \
  void xtensor::multiplyFewRows(int64_t, int64_t, int64_t, const T *, int64_t, int64_t, const T *, \
                                int64_t, T *, int64_t, bool) {}                                    \
  void xtensor::multiplyFewTransposed(int64_t, int64_t, int64_t, const T *, int64_t, const T *,    \
                                      int64_t, T *, int64_t, int64_t, bool) {}

#endif

XT_FEW_ROWS(float)
XT_FEW_ROWS(double)
