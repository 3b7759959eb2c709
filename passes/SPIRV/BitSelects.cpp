#include "SPIRV/BitSelects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// One side of a bit select: `value & mask`.
struct Side {
  Value value;
  Value mask;
  APInt known;
};

std::optional<Side> sideOf(Value v) {
  auto masked = v.getDefiningOp<arith::AndIOp>();
  if (!masked)
    return std::nullopt;
  Value left = masked.getLhs(), right = masked.getRhs();
  APInt known;
  if (matchPattern(right, m_ConstantInt(&known)))
    return Side{left, right, known};
  if (matchPattern(left, m_ConstantInt(&known)))
    return Side{right, left, known};
  return std::nullopt;
}

void selectFirst(arith::SelectOp select) {
  for (bool chosenFirst : {true, false}) {
    Value chosen = chosenFirst ? select.getTrueValue() : select.getFalseValue();
    Value other = chosenFirst ? select.getFalseValue() : select.getTrueValue();
    auto bits = other.getDefiningOp<arith::OrIOp>();
    if (!bits || !bits->hasOneUse())
      continue;
    std::optional<Side> kept = sideOf(bits.getLhs()), mixed = sideOf(bits.getRhs());
    if (!kept || !mixed || kept->known != ~mixed->known)
      continue;
    if (kept->value != chosen)
      std::swap(kept, mixed);
    if (kept->value != chosen)
      continue;
    OpBuilder b(select);
    Location loc = select.getLoc();
    Value first = chosenFirst ? chosen : mixed->value, last = chosenFirst ? mixed->value : chosen;
    Value value = arith::SelectOp::create(b, loc, select.getCondition(), first, last);
    Value left = arith::AndIOp::create(b, loc, chosen, kept->mask);
    Value right = arith::AndIOp::create(b, loc, value, mixed->mask);
    select.replaceAllUsesWith(arith::OrIOp::create(b, loc, left, right).getResult());
    select.erase();
    return;
  }
}

} // namespace

void xtensor::spirv::selectBeforeBits(mlir::gpu::GPUModuleOp kernel) {
  // In the order of the program: the result of one may stand under the next.
  kernel.walk(selectFirst);
}
