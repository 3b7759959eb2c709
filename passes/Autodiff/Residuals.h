// Chooses the residuals: the values that linear code takes from primal code. No other file chooses
// them.
#ifndef XTENSOR_AUTODIFF_RESIDUALS_H
#define XTENSOR_AUTODIFF_RESIDUALS_H

#include "XTensor/XTensor.h"

namespace xtensor {

/// What `user` must be given from inside `region`, in order of first use, after cheap values
/// have been worked out again in `user`. `isFree`: the value is there anyway, as an input or
/// an output. What `user` holds must be inside of an op.
llvm::SmallVector<mlir::Value> chooseResiduals(mlir::Region &region, mlir::Block &user,
                                               llvm::function_ref<bool(mlir::Value)> isFree);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_RESIDUALS_H
