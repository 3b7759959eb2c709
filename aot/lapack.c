/* Factorisations and solves by the LAPACK that comes with the BLAS which the compiler names, in
 * memory of the call. */
#include "gemm.h"

enum {
  kCholesky,
  kCholeskyTangent,
  kEigh,
  kLu,
  kLuTangent,
  kPinv,
  kQr,
  kSvd,
  kSolve,
  kLuSolve,
  kLuInverse,
  kTriangularProduct,
  kTriangleOfProduct
};

typedef struct Job Job;
typedef void Run(const Job *job, const int64_t *at, char *scratch);

struct Job {
  int routine;
  const xt_array *arrays;
  int32_t count, inputs; /* of arrays */
  const int64_t *options;
  int32_t batch; /* how many axes come before those of a matrix */
  int work, integers;
  int64_t bytes; /* of scratch memory */
  Run *run;
  const void *complex; /* the xt_complex_plan, if matrices are complex */
};

enum { kMostArrays = 5 };

/* Bytes, so that what comes next is aligned. */
static int64_t room(int64_t bytes) { return (bytes > 0 ? bytes + 63 : 64) & ~(int64_t)63; }

static int64_t rowOf(int64_t row, int64_t n) { return row < 0 ? 0 : row < n ? row : n - 1; }

#define T float
#define EPSILON __FLT_EPSILON__
#define OF(name) name##_f
#define LAPACK(name) s##name
#define COMPLEX_LAPACK(name) c##name
#define CBLAS(name) cblas_s##name
#include "complex_factors.h"
#include "lapack.h"
#undef T
#undef EPSILON
#undef OF
#undef LAPACK
#undef COMPLEX_LAPACK
#undef CBLAS

#define T double
#define EPSILON __DBL_EPSILON__
#define OF(name) name##_d
#define LAPACK(name) d##name
#define COMPLEX_LAPACK(name) z##name
#define CBLAS(name) cblas_d##name
#include "complex_factors.h"
#include "lapack.h"
#undef T
#undef EPSILON
#undef OF
#undef LAPACK
#undef COMPLEX_LAPACK
#undef CBLAS

/* An axis that some arrays lack has size 1 and stride 0 there. */
static int64_t sizeOf(const Job *job, int32_t axis) {
  for (int32_t i = 0; i < job->count; ++i)
    if (job->arrays[i].sizes[axis] != 1 || job->arrays[i].strides[axis] != 0)
      return job->arrays[i].sizes[axis];
  return 1;
}

/* Zeros for an instance of a result: positions among them can be used. */
static void clear(const xt_array *array, int64_t offset, int32_t batch) {
  int64_t count = 1, bytes = array->type == XT_F32 ? 4 : 8;
  for (int32_t d = batch; d < array->rank; ++d)
    count *= array->sizes[d];
  for (int64_t c = 0; c < count; ++c) {
    int64_t at = offset, rest = c;
    for (int32_t d = array->rank - 1; d >= batch; --d) {
      at += rest % array->sizes[d] * array->strides[d];
      rest /= array->sizes[d];
    }
    if (bytes == 4)
      ((float *)array->data)[at] = 0;
    else
      ((int64_t *)array->data)[at] = 0;
  }
}

static void instances(void *ctx, int64_t begin, int64_t end, xt_call *call) {
  const Job *job = ctx;
  char *scratch = xta_arena_acquire(job->bytes, call);
  for (int64_t i = begin; i < end; ++i) {
    int64_t at[kMostArrays] = {0}, rest = i;
    for (int32_t d = job->batch - 1; d >= 0; --d) {
      int64_t size = sizeOf(job, d);
      for (int32_t a = 0; a < job->count; ++a)
        if (job->arrays[a].sizes[d] != 1)
          at[a] += rest % size * job->arrays[a].strides[d];
      rest /= size;
    }
    if (scratch)
      job->run(job, at, scratch);
    for (int32_t a = job->inputs; !scratch && a < job->count; ++a)
      clear(&job->arrays[a], at[a], job->batch);
  }
  xta_arena_release(scratch, call);
}

static Run *const runs[][2] = {
    [kCholesky] = {cholesky_d, cholesky_f},
    [kCholeskyTangent] = {choleskyTangent_d, choleskyTangent_f},
    [kEigh] = {eigh_d, eigh_f},
    [kLu] = {lu_d, lu_f},
    [kLuTangent] = {luTangent_d, luTangent_f},
    [kPinv] = {svd_d, svd_f},
    [kQr] = {qr_d, qr_f},
    [kSvd] = {svd_d, svd_f},
    [kSolve] = {solve_d, solve_f},
    [kLuSolve] = {solve_d, solve_f},
    [kLuInverse] = {inverse_d, inverse_f},
    [kTriangularProduct] = {solve_d, solve_f},
    [kTriangleOfProduct] = {triangleOfProduct_d, triangleOfProduct_f},
};

static void run(int routine, int32_t inputs, int32_t count, const xt_array *arrays,
                const int64_t *options, xt_call *call) {
  const int isFloat = arrays[0].type == XT_F32;
  const int64_t element = isFloat ? 4 : 8;
  const xt_array *matrix = arrays + (routine == kTriangleOfProduct ? 2 : 0);
  Job job = {0};
  job.routine = routine;
  job.arrays = arrays;
  job.count = count;
  job.inputs = inputs;
  job.options = options;
  job.batch = matrix->rank - 2;
  job.integers = 1;
  const int64_t m = matrix->sizes[job.batch], n = matrix->sizes[job.batch + 1];
  const int64_t k = m < n ? m : n;
  int64_t total = 1;
  for (int32_t d = 0; d < job.batch; ++d)
    total *= sizeOf(&job, d);
  job.work = isFloat ? workOf_f(routine, (int)m, (int)n, &job.integers)
                     : workOf_d(routine, (int)m, (int)n, &job.integers);
  job.bytes = room(m * n * element) + room(m * element) + room(k * element) +
              room(job.work * element) + room(4 * (int64_t)job.integers) + room(4 * k);
  if (routine == kCholeskyTangent || routine == kLuTangent)
    job.bytes += room(m * n * element);
  if (routine == kSvd || routine == kPinv)
    job.bytes += room(m * k * element) + room(k * n * element);
  job.run = runs[routine][isFloat];
  const int64_t work = m * n * k;
  xta_parallel_for(instances, &job, total, work < 4096 ? 4096 / (work + 64) + 1 : 1, call);
}

static void complexOne(const Job *job, const int64_t *at, char *scratch) {
  (job->arrays[0].type == XT_F32 ? complexFactor_f : complexFactor_d)(job->complex, at, scratch);
}

static void runComplex(int kind, int32_t count, const xt_array *arrays, const int64_t *options,
                       xt_call *call) {
  const int isFloat = arrays[0].type == XT_F32;
  const xt_complex_plan plan =
      isFloat ? complexPlan_f(kind, arrays, options) : complexPlan_d(kind, arrays, options);
  Job job = {0};
  job.arrays = arrays;
  job.count = count;
  job.inputs = kind == kComplexLuSolve ? 4 : kind == kComplexTriangularSolve ? 2 : 1;
  job.complex = &plan;
  job.batch = plan.batch;
  job.bytes = plan.bytes;
  job.run = complexOne;
  int64_t total = 1;
  for (int32_t d = 0; d < job.batch; ++d)
    total *= sizeOf(&job, d);
  const int64_t work = (int64_t)plan.m * plan.n * plan.k;
  xta_parallel_for(instances, &job, total, work < 1024 ? 1024 / (work + 16) + 1 : 1, call);
}

#define COMPLEX_ROUTINE(name, kind, count)                                                         \
  void xta_own_xt_complex_##name(const xt_array *arrays, const int64_t *options, xt_call *call) {  \
    runComplex(kind, count, arrays, options, call);                                                \
  }
COMPLEX_ROUTINE(cholesky, kComplexCholesky, 2)
COMPLEX_ROUTINE(eig, kComplexEig, 3)
COMPLEX_ROUTINE(eigh, kComplexEigh, 3)
COMPLEX_ROUTINE(lu, kComplexLu, 5)
COMPLEX_ROUTINE(lu_solve, kComplexLuSolve, 5)
COMPLEX_ROUTINE(qr, kComplexQr, 3)
COMPLEX_ROUTINE(svd, kComplexSvd, 4)

COMPLEX_ROUTINE(triangular_solve, kComplexTriangularSolve, 3)

#define ROUTINE(name, kind, inputs, count)                                                         \
  void xta_own_xt_##name(const xt_array *arrays, const int64_t *options, xt_call *call) {          \
    run(kind, inputs, count, arrays, options, call);                                               \
  }
ROUTINE(cholesky, kCholesky, 1, 2)
ROUTINE(cholesky_tangent, kCholeskyTangent, 2, 3)
ROUTINE(eigh, kEigh, 1, 3)
ROUTINE(lu, kLu, 1, 5)
ROUTINE(lu_inverse, kLuInverse, 2, 3)
ROUTINE(lu_solve, kLuSolve, 3, 4)
ROUTINE(lu_tangent, kLuTangent, 2, 3)
ROUTINE(pinv, kPinv, 1, 2)
ROUTINE(qr, kQr, 1, 3)
ROUTINE(svd, kSvd, 1, 4)
ROUTINE(triangle_of_product, kTriangleOfProduct, 2, 3)
ROUTINE(triangular_product, kTriangularProduct, 2, 3)
ROUTINE(triangular_solve, kSolve, 2, 3)
