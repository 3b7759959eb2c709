/* Products of matrices for libraries that name none: tiles of the result in registers, vectors of
 * 64 bytes that the code generator makes of what the target has. A panel of B is packed on the
 * stack, so that nothing is allocated. Each element is summed in one order, whatever the tile and
 * the number of threads: the same bits every time. */
#include "gemm.h"

#define KEEP(type, panel) /* summands per packed panel: 16 KiB */                                  \
  (16384 / (panel) / (int)sizeof(type))

typedef float f32x16 __attribute__((vector_size(64), aligned(4)));
typedef double f64x8 __attribute__((vector_size(64), aligned(8)));

#define GEMM(NAME, T, V, LANES, ROWS)                                                              \
  typedef struct {                                                                                 \
    int64_t ta, tb, m, n, k;                                                                       \
    const T *a;                                                                                    \
    int64_t lda;                                                                                   \
    const T *b;                                                                                    \
    int64_t ldb;                                                                                   \
    T *c;                                                                                          \
    int64_t ldc;                                                                                   \
  } NAME##_job;                                                                                    \
  /* C[rows, width] += A B, with B packed. */                                                      \
  static void NAME##_tile(const NAME##_job *j, const T *packed, int64_t i, int64_t rows,           \
                          int64_t first, int64_t width, int64_t l, int64_t depth) {                \
    V sum[ROWS];                                                                                   \
    const T *a[ROWS];                                                                              \
    int64_t step = j->ta ? j->lda : 1;                                                             \
    for (int r = 0; r < ROWS; ++r) {                                                               \
      int64_t row = i + (r < rows ? r : 0);                                                        \
      a[r] = j->a + (j->ta ? l * j->lda + row : row * j->lda + l);                                 \
      sum[r] = (V){0};                                                                             \
    }                                                                                              \
    for (int64_t p = 0; p < depth; ++p) {                                                          \
      V b = *(const V *)(packed + p * LANES);                                                      \
      for (int r = 0; r < ROWS; ++r)                                                               \
        sum[r] += a[r][p * step] * b;                                                              \
    }                                                                                              \
    for (int r = 0; r < ROWS && r < rows; ++r) {                                                   \
      T *c = j->c + (i + r) * j->ldc + first;                                                      \
      if (width == LANES) {                                                                        \
        *(V *)c += sum[r];                                                                         \
        continue;                                                                                  \
      }                                                                                            \
      for (int64_t x = 0; x < width; ++x)                                                          \
        c[x] += sum[r][x];                                                                         \
    }                                                                                              \
  }                                                                                                \
  static void NAME##_panels(void *ctx, int64_t begin, int64_t end, xt_call *call) {                \
    (void)call;                                                                                    \
    const NAME##_job *j = ctx;                                                                     \
    enum { DEPTH = KEEP(T, LANES) };                                                               \
    T packed[DEPTH * LANES] __attribute__((aligned(64)));                                          \
    for (int64_t panel = begin; panel < end; ++panel) {                                            \
      int64_t first = panel * LANES;                                                               \
      int64_t width = j->n - first < LANES ? j->n - first : LANES;                                 \
      for (int64_t l = 0; l < j->k; l += DEPTH) {                                                  \
        int64_t depth = j->k - l < DEPTH ? j->k - l : DEPTH;                                       \
        for (int64_t p = 0; p < depth; ++p)                                                        \
          for (int64_t x = 0; x < LANES; ++x)                                                      \
            packed[p * LANES + x] = x >= width ? 0                                                 \
                                    : j->tb    ? j->b[(first + x) * j->ldb + l + p]                \
                                               : j->b[(l + p) * j->ldb + first + x];               \
        for (int64_t i = 0; i < j->m; i += ROWS)                                                   \
          NAME##_tile(j, packed, i, j->m - i, first, width, l, depth);                             \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  void xta_own_##NAME(int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, const T *a,         \
                      int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t accumulate, \
                      xt_call *call) {                                                             \
    if (!accumulate)                                                                               \
      for (int64_t i = 0; i < m; ++i)                                                              \
        for (int64_t x = 0; x < n; ++x)                                                            \
          c[i * ldc + x] = 0;                                                                      \
    NAME##_job job = {ta, tb, m, n, k, a, lda, b, ldb, c, ldc};                                    \
    int64_t work = m * k * LANES;                                                                  \
    xta_parallel_for(NAME##_panels, &job, (n + LANES - 1) / LANES,                                 \
                     work > 65536 ? 1 : 65536 / (work > 0 ? work : 1) + 1, call);                  \
  }

GEMM(gemm_f32, float, f32x16, 16, 6)
GEMM(gemm_f64, double, f64x8, 8, 6)
