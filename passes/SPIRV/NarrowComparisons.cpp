// xtensor-narrow-comparisons: compares integers before their extension instead of after it, and
// 64-bit integers without comparing signs.
#include "SPIRV/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace xtensor {
#define GEN_PASS_DEF_NARROWCOMPARISONS
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

/// An integer before it was extended; positions have 32 bits here.
struct Extended {
  Value narrow;
  bool isSigned;
};

std::optional<Extended> extended(Value v) {
  if (auto op = v.getDefiningOp<arith::ExtSIOp>())
    return Extended{op.getIn(), true};
  if (auto op = v.getDefiningOp<arith::ExtUIOp>())
    return Extended{op.getIn(), false};
  if (auto op = v.getDefiningOp<arith::IndexCastOp>())
    if (op.getIn().getType().isIndex() && op.getType().isInteger(64))
      return Extended{op.getIn(), true};
  return std::nullopt;
}

bool isOrder(arith::CmpIPredicate p) {
  return p != arith::CmpIPredicate::eq && p != arith::CmpIPredicate::ne;
}
bool isSignedOrder(arith::CmpIPredicate p) { return isOrder(p) && p < arith::CmpIPredicate::ult; }

void narrow(arith::CmpIOp op) {
  std::optional<Extended> x = extended(op.getLhs());
  if (!x || x->narrow.getType().isInteger(1))
    return;
  Type type = x->narrow.getType();
  unsigned width = type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
  arith::CmpIPredicate predicate = op.getPredicate();
  OpBuilder b(op);
  Value other;
  APInt bound;
  if (matchPattern(op.getRhs(), m_ConstantInt(&bound))) {
    bool negative = bound.isNegative();
    if (!(x->isSigned ? bound.isSignedIntN(width) : bound.isIntN(width)) ||
        (isOrder(predicate) && !isSignedOrder(predicate) && (x->isSigned || negative)))
      return;
    IntegerAttr known = type.isIndex() ? b.getIndexAttr(bound.getSExtValue())
                                       : b.getIntegerAttr(type, bound.trunc(width));
    other = arith::ConstantOp::create(b, op.getLoc(), known);
  } else {
    std::optional<Extended> y = extended(op.getRhs());
    if (!y || y->isSigned != x->isSigned || y->narrow.getType() != type)
      return;
    other = y->narrow;
  }
  // Extended with zeros, signed order is that of unsigned numbers; extended with signs, both orders
  // are what they were.
  if (!x->isSigned && isSignedOrder(predicate))
    predicate = static_cast<arith::CmpIPredicate>(static_cast<int>(predicate) + 4);
  op.replaceAllUsesWith(
      arith::CmpIOp::create(b, op.getLoc(), predicate, x->narrow, other).getResult());
  op.erase();
}

/// An unrolled loop may leave the driver with an extended number and a constant where no constant
/// is seen here: the first sum of a loop is 0 plus what it reads. With their signs flipped, numbers
/// have the order of unsigned ones, and the driver finds no extension below the flip.
void flipSigns(arith::CmpIOp op) {
  if (!op.getLhs().getType().isInteger(64) || !isSignedOrder(op.getPredicate()))
    return;
  OpBuilder b(op);
  Value sign = arith::ConstantIntOp::create(b, op.getLoc(), b.getI64Type(),
                                            std::numeric_limits<int64_t>::min());
  for (OpOperand &operand : op->getOpOperands())
    operand.set(b.createOrFold<arith::XOrIOp>(op.getLoc(), operand.get(), sign));
  op.setPredicate(static_cast<arith::CmpIPredicate>(static_cast<int>(op.getPredicate()) + 4));
}

struct NarrowComparisonsPass : xtensor::impl::NarrowComparisonsBase<NarrowComparisonsPass> {
  void runOnOperation() override {
    getOperation()->walk(narrow);
    getOperation()->walk(flipSigns);
  }
};

} // namespace
