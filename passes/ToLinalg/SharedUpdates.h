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

/// A choice between two numbers, which is made where it is read: a mask takes a quarter of the
/// room. Without a condition there is none.
struct Mask {
  mlir::Value condition;
  mlir::TypedAttr where, elsewhere;
};
Mask maskOf(ScatterOp op);

/// What the updates of a product found: the same pass gives both. Null if nobody asks.
AccumulateOp statesOf(ScatterOp op);

/// The op that asks for the last values where `op` asks for the states, or the other way round.
AccumulateOp sameUpdates(AccumulateOp op);

/// The product that is all that is wanted of `states`, and its other factor, which is known before
/// `at`; null if there is none.
struct Product {
  MulOp op;
  mlir::Value factor;
};
Product productOf(AccumulateOp states, mlir::Operation *at);

} // namespace xtensor

#endif // XTENSOR_TOLINALG_SHAREDUPDATES_H
