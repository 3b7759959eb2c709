// Attributes that mark scans made from a while loop. Code that makes a scan over the steps of a
// marked scan copies the marks.
#ifndef XTENSOR_DIALECT_ENDINGS_H
#define XTENSOR_DIALECT_ENDINGS_H

#include "llvm/ADT/StringRef.h"

namespace xtensor {

/// The scans of one loop, which may be longer than the loop: after the same number of steps, no
/// step of these scans changes a carry. Without the mark, a scan takes all of its steps.
constexpr llvm::StringLiteral kEndsEarly = "xtensor.ends_early";
/// The body of the loop is a checkpoint: a scan back takes steps again, rather than to read the
/// carries of all of them.
constexpr llvm::StringLiteral kReplayed = "xtensor.replayed";

} // namespace xtensor

#endif // XTENSOR_DIALECT_ENDINGS_H
