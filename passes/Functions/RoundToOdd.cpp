#include "Functions/RoundToOdd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

Value xtensor::emitRoundToOdd(ImplicitLocOpBuilder &b, Value x) {
  auto like = [&](Type element) -> Type {
    auto vector = dyn_cast<VectorType>(x.getType());
    return vector ? Type(vector.clone(element)) : element;
  };
  Type f32 = like(b.getF32Type()), i32 = like(b.getI32Type());
  TypedAttr last = b.getI32IntegerAttr(1);
  if (auto vector = dyn_cast<VectorType>(i32))
    last = DenseElementsAttr::get(vector, Attribute(last));
  Value near = arith::TruncFOp::create(b, f32, x);
  Value back = arith::ExtFOp::create(b, x.getType(), near);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  Value over = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
                                     math::AbsFOp::create(b, x));
  Value bits = arith::BitcastOp::create(b, i32, near), one = arith::ConstantOp::create(b, last);
  // Towards zero first; then what was cut off is one set bit.
  Value less = arith::SubIOp::create(b, bits, one);
  Value towardsZero = arith::SelectOp::create(b, over, less, bits);
  Value odd = arith::OrIOp::create(b, towardsZero, one);
  return arith::BitcastOp::create(b, f32, arith::SelectOp::create(b, inexact, odd, bits));
}
