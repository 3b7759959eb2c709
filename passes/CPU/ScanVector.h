// One vector of steps of a running combination, in registers.
#ifndef XTENSOR_PASSES_CPU_SCANVECTOR_H
#define XTENSOR_PASSES_CPU_SCANVECTOR_H

#include "CPU/Lanes.h"

namespace xtensor::cpu {

/// Takes the steps of `stage`, a scan that is known, for the current vector, and returns the
/// running value after them; in `carried` and in the result all lanes hold it. log2(width) moves
/// within a register (Hillis and Steele, "Data Parallel Algorithms", 1986); of all that, one
/// combination waits for the vector before.
mlir::Value scanVector(mlir::OpBuilder &b, mlir::Location loc, LaneEmitter &lanes, Stage &stage,
                       mlir::Value carried);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_SCANVECTOR_H
