/* All that a library holds beside its kernels, with matrix products of its own. */
#include "check.c"
#include "gemm.c"
#include "half.c"
#include "kernel.c"
#include "sort.c"

const int32_t xta_library_products = 0;
const xt_services xta_services = {
    sizeof(xt_services), xta_acquire, xta_release, xta_loop, 0, 0, xta_route};
