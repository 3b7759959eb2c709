// xtensor-narrow-comparisons: comparisons of extended integers, where they were before.
#include "SPIRV/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace xtensor {
#define GEN_PASS_DEF_NARROWCOMPARISONS
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {
struct NarrowComparisonsPass : xtensor::impl::NarrowComparisonsBase<NarrowComparisonsPass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::CmpIOp op) {
      bool isSigned = op.getLhs().getDefiningOp<arith::ExtSIOp>();
      if (!isSigned && !op.getLhs().getDefiningOp<arith::ExtUIOp>())
        return;
      Value narrow = op.getLhs().getDefiningOp()->getOperand(0);
      unsigned width = narrow.getType().getIntOrFloatBitWidth();
      APInt bound;
      if (width == 1 || !matchPattern(op.getRhs(), m_ConstantInt(&bound)) ||
          !(isSigned ? bound.isSignedIntN(width) : bound.isIntN(width)))
        return;
      arith::CmpIPredicate predicate = op.getPredicate();
      if (predicate != arith::CmpIPredicate::eq && predicate != arith::CmpIPredicate::ne) {
        // Extended with zeros, order is that of unsigned numbers whichever way it is asked for.
        bool asSigned = predicate < arith::CmpIPredicate::ult;
        if (isSigned != asSigned && (isSigned || bound.isNegative()))
          return;
        if (!isSigned && asSigned)
          predicate = static_cast<arith::CmpIPredicate>(static_cast<int>(predicate) + 4);
      }
      OpBuilder b(op);
      Value other = arith::ConstantOp::create(
          b, op.getLoc(), b.getIntegerAttr(narrow.getType(), bound.trunc(width)));
      op.replaceAllUsesWith(
          arith::CmpIOp::create(b, op.getLoc(), predicate, narrow, other).getResult());
      op.erase();
    });
  }
};
} // namespace
