#include "CPU/ScanVector.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor::cpu;

/// Lane i as lane i + `by` (`reverse`: i - `by`); lanes that nothing moves to are those of `rest`.
static Value moved(OpBuilder &b, Location loc, Value value, Value rest, int64_t by, bool reverse) {
  int64_t width = cast<VectorType>(value.getType()).getNumElements();
  SmallVector<int64_t> from;
  for (int64_t i = 0; i < width; ++i) {
    int64_t source = reverse ? i + by : i - by;
    bool inside = source >= 0 && source < width;
    from.push_back(inside ? source : width + i);
  }
  return vector::ShuffleOp::create(b, loc, value, rest, from);
}

static Value allAsLane(OpBuilder &b, Location loc, Value value, int64_t lane) {
  SmallVector<int64_t> from(cast<VectorType>(value.getType()).getNumElements(), lane);
  return vector::ShuffleOp::create(b, loc, value, value, from);
}

Value xtensor::cpu::scanVector(OpBuilder &b, Location loc, LaneEmitter &lanes, Stage &stage,
                               Value carried) {
  const Scan &scan = *stage.scan;
  bool decays = static_cast<bool>(scan.decay), reverse = scan.reverse;
  llvm::DenseMap<Value, Lane> values;
  SmallVector<Value> wanted{scan.element};
  if (decays)
    wanted.push_back(scan.decay);
  SmallVector<Lane> known = lanes.evaluateSome(stage, 0, wanted, values);
  Value none = lanes.constantOf(scan.neutral, true), one, zero;
  auto inside = [&](Value value, Value otherwise) {
    return lanes.mask ? arith::SelectOp::create(b, loc, lanes.mask, value, otherwise).getResult()
                      : value;
  };
  Value sum = lanes.vectorOf(known[0]), decay;
  if (decays) {
    one = lanes.constantOf(b.getFloatAttr(scan.next.getType(), 1.0), true);
    zero = lanes.constantOf(b.getFloatAttr(scan.next.getType(), 0.0), true);
    decay = inside(lanes.vectorOf(known[1]), one);
  }
  auto times = [&](Value factor, Value value) -> Value {
    Value forgets = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, factor, zero);
    Value product = arith::MulFOp::create(b, loc, factor, value);
    return arith::SelectOp::create(b, loc, forgets, zero, product);
  };
  auto join = [&](Value before, Value factor, Value now) -> Value {
    if (decays)
      return arith::AddFOp::create(b, loc, times(factor, before), now);
    return vector::makeArithReduction(b, loc, scan.kind, before, now);
  };
  if (scan.decaysElement)
    sum = times(decay, sum);
  sum = inside(sum, none);
  for (int64_t by = 1; by < lanes.width; by *= 2) {
    sum = join(moved(b, loc, sum, none, by, reverse), decay, sum);
    if (decays)
      decay = times(decay, moved(b, loc, decay, one, by, reverse));
  }
  Value after = join(carried, decay, sum);
  values[scan.next] = {after, Lane::Vector};
  if (!scan.running.use_empty())
    values[scan.running] = {moved(b, loc, after, carried, 1, reverse), Lane::Vector};
  Value shown = stage.op.getBlock()->getTerminator()->getOperand(0);
  lanes.write(lanes.placeOf(stage, stage.numInputs()), 0,
              lanes.evaluateSome(stage, 0, shown, values)[0]);
  // Not read off `after`: the next vector waits for one combination only.
  int64_t last = reverse ? 0 : lanes.width - 1;
  return join(carried, decays ? allAsLane(b, loc, decay, last) : Value(),
              allAsLane(b, loc, sum, last));
}
