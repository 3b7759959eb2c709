// Running combinations: one linalg.generic whose last loop is the scanned dim. Its first output
// has an element for each step, its second is the running value, which lacks the dim. The
// attribute `xtensor.scan` says that the last loop is walked in order, and from which end.
#include "Combiners.h"
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// What one step shows, and the running value after it.
struct Step {
  Value shown, running;
};
using StepFn = llvm::function_ref<Step(OpBuilder &, Location, ValueRange x, Value running)>;

} // namespace

/// `type` is the result's; `step` computes on compute types, from `start` on.
static void lowerScan(Value result, StringAttr dim, bool reverse, ValueRange operands,
                      TypedAttr start, StepFn step, Lowering &to) {
  ArrayType type = arrayType(result), kept = minus(type, {dim});
  Type element = type.getElementType();
  Names loops(kept.getDimNames());
  loops.push_back(dim);
  SmallVector<View> inputs;
  for (Value operand : operands)
    inputs.push_back(to.access(operand, loops));
  Value steps = to.empty(type), running = to.filled(kept, to.constant(start));
  SmallVector<Value> results =
      to.generic(inputs, {steps, running},
                 {to.mapTo(loops, type.getDimNames()), to.mapTo(loops, kept.getDimNames())},
                 /*reductions=*/1, [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                   SmallVector<Value> loaded =
                       llvm::map_to_vector(x, [&](Value v) { return load(b, loc, v, element); });
                   auto [shown, next] = step(b, loc, loaded, old[1]);
                   return SmallVector<Value>{store(b, loc, shown, element), next};
                 });
  results[0].getDefiningOp()->setAttr("xtensor.scan",
                                      to.b.getStringAttr(reverse ? "reverse" : "forward"));
  to.setTensor(result, results[0]);
}

static ReduceKind reduceKind(CumulativeKind kind) {
  switch (kind) {
  case CumulativeKind::sum:
    return ReduceKind::sum;
  case CumulativeKind::prod:
    return ReduceKind::prod;
  case CumulativeKind::max:
    return ReduceKind::max;
  case CumulativeKind::min:
    return ReduceKind::min;
  }
  llvm_unreachable("a kind without a reduction");
}

void xtensor::lowerCumulative(CumulativeOp op, Lowering &to) {
  ArrayType type = arrayType(op.getX());
  Type element = type.getElementType();
  ReduceKind kind = reduceKind(op.getKind());
  bool isUnsigned = xtensor::isUnsigned(element), exclusive = op.getExclusive();
  if (type.getSize(op.getDimAttr()) == 1) {
    if (!exclusive)
      return to.set(op.getY(), to.view(op.getX()));
    return to.setScalar(op.getY(), to.constant(startOf(kind, storageType(element), isUnsigned)));
  }
  lowerScan(
      op.getY(), op.getDimAttr(), op.getReverse(), op.getX(),
      startOf(kind, computeType(element), isUnsigned),
      [&](OpBuilder &b, Location loc, ValueRange x, Value running) {
        Value next = combine(b, loc, kind, running, x[0], isUnsigned);
        return Step{exclusive ? running : next, next};
      },
      to);
}

void xtensor::lowerRecurrence(RecurrenceOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Type memory = computeType(type.getElementType());
  if (type.getSize(op.getDimAttr()) == 1) {
    if (op.getExclusive())
      return to.setScalar(op.getY(), to.number(type.getElementType(), 0));
    return to.set(op.getY(), to.access(op.getInput(), type.getDimNames()));
  }
  TypedAttr zero = to.b.getFloatAttr(memory, 0.0);
  auto decayed = [&](OpBuilder &b, Location loc, Value decay, Value value) -> Value {
    // A zero forgets: 0 times infinity is 0 here.
    Value none = arith::ConstantOp::create(b, loc, zero);
    Value forgets = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, decay, none);
    Value product = arith::MulFOp::create(b, loc, decay, value);
    return arith::SelectOp::create(b, loc, forgets, none, product);
  };
  lowerScan(
      op.getY(), op.getDimAttr(), op.getReverse(), {op.getDecay(), op.getInput()}, zero,
      [&](OpBuilder &b, Location loc, ValueRange x, Value running) {
        Value decay = x[0], input = x[1];
        if (op.getLate()) {
          Value shown = arith::AddFOp::create(b, loc, running, input);
          return Step{shown, decayed(b, loc, decay, shown)};
        }
        Value next = arith::AddFOp::create(b, loc, decayed(b, loc, decay, running), input);
        return Step{op.getExclusive() ? running : next, next};
      },
      to);
}
