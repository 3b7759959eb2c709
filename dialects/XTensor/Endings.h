// An attribute that marks the scans that are made from one while loop with max_steps. After the
// same number of steps, no step of these scans changes a carry. Code that makes a scan over the
// steps of a marked scan copies the mark. Without the mark, a loop takes all of its steps.
#ifndef XTENSOR_DIALECT_ENDINGS_H
#define XTENSOR_DIALECT_ENDINGS_H

#include "llvm/ADT/StringRef.h"

namespace xtensor {

constexpr llvm::StringLiteral kEndsEarly = "xtensor.ends_early";

} // namespace xtensor

#endif // XTENSOR_DIALECT_ENDINGS_H
