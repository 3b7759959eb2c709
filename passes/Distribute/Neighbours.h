// Parts of arrays that the walk has made whole, computed from the elements that they need.
#ifndef XTENSOR_DISTRIBUTE_NEIGHBOURS_H
#define XTENSOR_DISTRIBUTE_NEIGHBOURS_H

#include "Distribute/Distributor.h"

namespace xtensor {

/// Where a part is read from an array that slices, windows and so on of gathered parts give: asks
/// the other processes for the elements that it needs, not for all.
void useNeighbours(Distributor &t, mlir::func::FuncOp func, llvm::ArrayRef<GatherOp> parts);

} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_NEIGHBOURS_H
