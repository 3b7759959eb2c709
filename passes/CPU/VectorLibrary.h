// glibc's vector math functions: libmvec on x86-64, found when the process starts.
#ifndef XTENSOR_PASSES_CPU_VECTORLIBRARY_H
#define XTENSOR_PASSES_CPU_VECTORLIBRARY_H

#include "mlir/IR/Operation.h"

namespace xtensor {

/// A function over all lanes of one vector register, for the elements of `type`.
struct VectorFunction {
  std::string symbol; // empty: the library has no such function
  int64_t lanes = 0;
};
/// What computes `op` of the math dialect on f32 or f64 with vectors of `bits` bits.
VectorFunction vectorFunctionFor(mlir::Operation *op, mlir::Type element, int64_t bits);

} // namespace xtensor

#endif // XTENSOR_PASSES_CPU_VECTORLIBRARY_H
