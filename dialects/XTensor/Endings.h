// A mark on scans. Those that are made of one while loop with max_steps share an attribute: after
// some number of steps, the same for all of them, no step changes a carry. Whoever makes a scan
// of another one's steps hands the mark on; without it a loop just takes all of its steps.
#ifndef XTENSOR_DIALECT_ENDINGS_H
#define XTENSOR_DIALECT_ENDINGS_H

#include "llvm/ADT/StringRef.h"

namespace xtensor {

constexpr llvm::StringLiteral kEndsEarly = "xtensor.ends_early";

} // namespace xtensor

#endif // XTENSOR_DIALECT_ENDINGS_H
