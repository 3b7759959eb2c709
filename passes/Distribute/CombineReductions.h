// Small all_reduces of a block become one, so that the processes wait for one message, and what
// reads their results moves to where it is needed.
#ifndef XTENSOR_DISTRIBUTE_COMBINEREDUCTIONS_H
#define XTENSOR_DISTRIBUTE_COMBINEREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xtensor {
/// Call it before any pass simplifies the function: if parts differ in size, the functions of the
/// processes are alike only until then.
void combineReductions(mlir::func::FuncOp func);
} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_COMBINEREDUCTIONS_H
