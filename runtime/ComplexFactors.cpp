// Factors of batches of complex matrices, by LAPACK. complex_factors.h does one matrix; libraries
// for C share it.
#include "Lapack.h"
#include "Matrices.h"
#include "Pool.h"

using namespace xtensor;

#define T float
#define OF(name) name##F32
#define LAPACK(name) XT_LAPACK(s##name)
#define COMPLEX_LAPACK(name) XT_LAPACK(c##name)
#include "complex_factors.h"
#undef T
#undef OF
#undef LAPACK
#undef COMPLEX_LAPACK

#define T double
#define OF(name) name##F64
#define LAPACK(name) XT_LAPACK(d##name)
#define COMPLEX_LAPACK(name) XT_LAPACK(z##name)
#include "complex_factors.h"
#undef T
#undef OF
#undef LAPACK
#undef COMPLEX_LAPACK

/// `flops` of one matrix, a multiple of m * n * k.
static void run(int kind, const xt_array *arrays, const int64_t *options, int count,
                std::initializer_list<int> trailing, double flops) {
  bool single = arrays[0].type == XT_F32;
  xt_complex_plan plan =
      single ? complexPlanF32(kind, arrays, options) : complexPlanF64(kind, arrays, options);
  auto *one = single ? complexFactorF32 : complexFactorF64;
  forEachMatrix(
      arrays, count, trailing.begin(), plan.k, flops * plan.m * plan.n * plan.k, plan.bytes,
      [&](const int64_t *at, Scratch &scratch) { one(&plan, at, scratch.take<char>(plan.bytes)); });
}

// a -> l
void xt_complex_cholesky(const xt_array *arrays, const int64_t *options) {
  run(kComplexCholesky, arrays, options, 2, {3, 3}, 4.0 / 3);
}
// a -> w, v
void xt_complex_eig(const xt_array *arrays, const int64_t *options) {
  run(kComplexEig, arrays, options, 3, {3, 2, 3}, 100);
}
// a -> w, v
void xt_complex_eigh(const xt_array *arrays, const int64_t *options) {
  run(kComplexEigh, arrays, options, 3, {3, 1, 3}, 36);
}
// a -> l, u, order, parity
void xt_complex_lu(const xt_array *arrays, const int64_t *options) {
  run(kComplexLu, arrays, options, 5, {3, 3, 3, 1, 0}, 8.0 / 3);
}
// l, u, order, b -> x. options: adjoint. As in Solve.cpp, sizes that differ only now give NaN.
void xt_complex_lu_solve(const xt_array *arrays, const int64_t *options) {
  int b = arrays[3].rank, x = arrays[4].rank, batch = arrays[0].rank - 3;
  run(kComplexLuSolve, arrays, options, 5, {3, 3, 1, b - batch, x - batch}, 8);
}
// a -> q, r
void xt_complex_qr(const xt_array *arrays, const int64_t *options) {
  run(kComplexQr, arrays, options, 3, {3, 3, 3}, 16);
}
// a -> u, s, vh
void xt_complex_svd(const xt_array *arrays, const int64_t *options) {
  run(kComplexSvd, arrays, options, 4, {3, 3, 1, 3}, 48);
}
// a, b -> x. options: upper, unit.
void xt_complex_triangular_solve(const xt_array *arrays, const int64_t *options) {
  int b = arrays[1].rank, x = arrays[2].rank, batch = arrays[0].rank - 3;
  run(kComplexTriangularSolve, arrays, options, 3, {3, b - batch, x - batch}, 4);
}
