// xtensor-truncate-in-steps: float64 to bfloat16 by way of float32, rounded once.
#include "SPIRV/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {
#define GEN_PASS_DEF_TRUNCATEINSTEPS
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

/// The float32 next to x whose last bit is set where x lies between two: what is rounded further
/// sees on which side of a half x was.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value x) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value near = arith::TruncFOp::create(b, f32, x);
  Value back = arith::ExtFOp::create(b, x.getType(), near);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  Value over = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
                                     math::AbsFOp::create(b, x));
  Value bits = arith::BitcastOp::create(b, i32, near);
  Value one = arith::ConstantIntOp::create(b, i32, 1);
  // Towards zero first; then what was cut off is one set bit.
  Value less = arith::SubIOp::create(b, bits, one);
  Value towardsZero = arith::SelectOp::create(b, over, less, bits);
  Value odd = arith::OrIOp::create(b, towardsZero, one);
  return arith::BitcastOp::create(b, f32, arith::SelectOp::create(b, inexact, odd, bits));
}

namespace {
struct TruncateInStepsPass : xtensor::impl::TruncateInStepsBase<TruncateInStepsPass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::TruncFOp op) {
      if (!op.getIn().getType().isF64() || !op.getType().isBF16())
        return;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.getInMutable().assign(roundToOdd(b, op.getIn()));
    });
  }
};
} // namespace
