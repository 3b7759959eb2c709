/* All that a library holds beside its kernels, with matrix products of a BLAS. */
#include "blas.c"
#include "check.c"
#include "gemm.c"
#include "half.c"
#include "kernel.c"
#include "lapack.c"
#include "sort.c"

const int32_t xta_library_products = 1;
const xt_services xta_services = {sizeof(xt_services), xta_acquire,       xta_release, xta_loop,
                                  xta_blas_gemm_f32,   xta_blas_gemm_f64, xta_route};
