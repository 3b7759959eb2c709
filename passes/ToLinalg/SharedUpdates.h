// What an update by position does to one element, and what it can do on the way: choose between two
// numbers, and give another op's results.
#ifndef XTENSOR_TOLINALG_SHAREDUPDATES_H
#define XTENSOR_TOLINALG_SHAREDUPDATES_H

#include "XTensor/XTensor.h"

namespace xtensor {

/// `old` after an update, both numbers of compute types.
mlir::Value combineNumbers(mlir::OpBuilder &b, mlir::Location loc, ScatterKind kind,
                           mlir::Value old, mlir::Value update, bool isUnsigned);

/// Whether nothing is added: x + -0.0 is x, whatever x is.
bool addsNothing(ScatterOp op);

/// A choice between two numbers that is evaluated where it is read, because the mask takes a
/// quarter of the memory. If `condition` is null, the update has no such choice.
struct Mask {
  mlir::Value condition;
  mlir::TypedAttr where, elsewhere;
};
Mask maskOf(ScatterOp op);

/// The op for the states before each update of `op`, a product, which one loop computes as well.
/// Null if the program does not need the states.
AccumulateOp statesOf(ScatterOp op);

/// The op that asks for the last values where `op` asks for the states, or the other way round.
AccumulateOp sameUpdates(AccumulateOp op);

/// The only user of `states`, if it is a product, and its other factor, which is computed before
/// `at`. Null otherwise.
struct Product {
  MulOp op;
  mlir::Value factor;
};
Product productOf(AccumulateOp states, mlir::Operation *at);

} // namespace xtensor

#endif // XTENSOR_TOLINALG_SHAREDUPDATES_H
