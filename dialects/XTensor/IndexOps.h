// What is known about positions before the program runs.
#ifndef XTENSOR_INDEX_OPS_H
#define XTENSOR_INDEX_OPS_H

#include "XTensor/XTensor.h"

namespace xtensor {

/// Whether every element of `index` is known to be a position in dim `dim` of `source`, from the
/// start or from the end.
bool isKnownInside(mlir::Value index, ArrayType source, mlir::StringAttr dim);

} // namespace xtensor

#endif // XTENSOR_INDEX_OPS_H
