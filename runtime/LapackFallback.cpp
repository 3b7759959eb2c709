// The dense linear algebra routines on machines without LAPACK. The front end refuses programs
// that need them (xt_lapack_name), so only programs that were compiled elsewhere call these.
#include "runtime.h"

#include <cstdio>
#include <cstdlib>

const char *xt_lapack_name(void) { return nullptr; }

[[noreturn]] static void refuse(const char *name) {
  fprintf(stderr,
          "xtensor: %s needs LAPACK, and this runtime was built without: build it with "
          "OpenBLAS (pip install scipy-openblas32)\n",
          name);
  abort();
}

#define XT_MISSING(name)                                                                           \
  void name(const xt_array *, const int64_t *) { refuse(#name); }
XT_MISSING(xt_cholesky)
XT_MISSING(xt_cholesky_tangent)
XT_MISSING(xt_complex_cholesky)
XT_MISSING(xt_complex_eig)
XT_MISSING(xt_complex_eigh)
XT_MISSING(xt_complex_lu)
XT_MISSING(xt_complex_lu_solve)
XT_MISSING(xt_complex_qr)
XT_MISSING(xt_complex_svd)
XT_MISSING(xt_complex_triangular_solve)
XT_MISSING(xt_eigh)
XT_MISSING(xt_lu)
XT_MISSING(xt_lu_inverse)
XT_MISSING(xt_lu_solve)
XT_MISSING(xt_lu_tangent)
XT_MISSING(xt_pinv)
XT_MISSING(xt_qr)
XT_MISSING(xt_svd)
XT_MISSING(xt_triangle_of_product)
XT_MISSING(xt_triangular_product)
XT_MISSING(xt_triangular_solve)
