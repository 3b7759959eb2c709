// The line of the user's program that an op comes from.
#ifndef XTENSOR_PLACE_H
#define XTENSOR_PLACE_H

#include "mlir/IR/Location.h"
#include <string>

namespace xtensor {

/// FILE:LINE of the first place that `location` holds, the callee's where it is a call; empty where
/// it holds none.
std::string placeOf(mlir::Location location);

} // namespace xtensor

#endif // XTENSOR_PLACE_H
