// Which ops call functions of the process in order.
#ifndef XTENSOR_CALLBACK_OPS_H
#define XTENSOR_CALLBACK_OPS_H

#include "XTensor/XTensor.h"

namespace xtensor {

/// Whether `op`, or an op in its regions, is an ordered call.
bool callsInOrder(mlir::Operation *op);

/// Erases ordered calls without results from `op` and its regions: what runs again prints once. The
/// code of a derivative, in a `custom_derivative`, runs only then.
void eraseEffects(mlir::Operation *op);

} // namespace xtensor

#endif // XTENSOR_CALLBACK_OPS_H
