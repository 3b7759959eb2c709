// Fourier transforms where the build did not find DUCC. The compiler writes them as contractions
// then, so only programs that were compiled elsewhere call this.
#include "runtime.h"

#include <cstdio>
#include <cstdlib>

void xt_fourier(const xt_array *, const int64_t *) {
  fprintf(stderr, "xtensor: xt_fourier needs DUCC, and this runtime was built without it\n");
  abort();
}
