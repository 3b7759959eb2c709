// What updates by position combine, and which of them are done together; UpdateLoops.cpp is how.
#include "ToLinalg/Lowering.h"
#include "ToLinalg/SharedUpdates.h"
#include "ToLinalg/UpdateLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor;

/// What is updated or not, an index out of range is an error.
template <typename Op>
static void checkIndices(Op op, Lowering &to) {
  if (op.getMode() != IndexMode::raise)
    return;
  ArrayType target = arrayType(op->getOperand(0)); // or what it starts from
  for (auto [index, dim] : llvm::zip_equal(op.getIndices(), op.getAlong()))
    checkIndex(index, cast<StringAttr>(dim), target, to);
}

void xtensor::lowerScatter(ScatterOp op, Lowering &to) {
  ArrayType target = arrayType(op.getTarget());
  // Nothing fits into an empty target.
  if (llvm::is_contained(target.getShape(), 0) || addsNothing(op)) {
    checkIndices(op, to);
    return to.set(op.getY(), to.view(op.getTarget()));
  }
  Type element = target.getElementType();
  bool isUnsigned = xtensor::isUnsigned(element) || target.isBool();
  Mask mask = maskOf(op);
  auto combine = [&](OpBuilder &b, Location loc, Value old, ValueRange updates) {
    Value update = updates.front();
    if (mask.condition)
      update =
          arith::SelectOp::create(b, loc, update, arith::ConstantOp::create(b, loc, mask.where),
                                  arith::ConstantOp::create(b, loc, mask.elsewhere));
    return combineNumbers(b, loc, op.getKind(), old, update, isUnsigned);
  };
  UpdateLoops loops(to, op.getTarget(), op.getIndices(), op.getAlong(), op.getMode(),
                    mask.condition ? mask.condition : op.getUpdates(), combine);
  if (op.getKind() == ScatterKind::add || op.getKind() == ScatterKind::mul)
    loops.accumulate();
  else if (op.getKind() != ScatterKind::set)
    loops.widenExtrema();
  loops.expectFewChanges(op.getKind());
  AccumulateOp states = statesOf(op);
  if (!states && loops.mayTakeAnyOrder(op.getKind()))
    loops.takeAnyOrder();
  if (states) {
    auto [last, found] = loops.lastAndStates(arrayType(states.getY()));
    to.setTensor(states.getY(), found);
    to.lowered.insert(states);
    return to.setTensor(op.getY(), loops.narrowed(last));
  }
  to.setTensor(op.getY(), loops.last());
}

void xtensor::lowerAccumulate(AccumulateOp op, Lowering &to) {
  ArrayType start = arrayType(op.getStart()), type = arrayType(op.getY());
  if (llvm::is_contained(start.getShape(), 0)) {
    checkIndices(op, to);
    if (op.getKind() == AccumulateKind::last)
      return to.set(op.getY(), to.view(op.getStart()));
    return to.setScalar(op.getY(), to.number(type.getElementType(), 0));
  }
  auto combine = [&](OpBuilder &b, Location loc, Value old, ValueRange updates) -> Value {
    Value product = arith::MulFOp::create(b, loc, updates[0], old);
    return arith::AddFOp::create(b, loc, product, updates[1]);
  };
  UpdateLoops loops(to, op.getStart(), op.getIndices(), op.getAlong(), op.getMode(),
                    {op.getFactors(), op.getTerms()}, combine);
  loops.accumulate();
  if (op.getReverse())
    loops.goBackwards();
  AccumulateOp other = sameUpdates(op);
  bool isLast = op.getKind() == AccumulateKind::last;
  AccumulateOp states = isLast ? other : op;
  if (!states)
    return to.setTensor(op.getY(), loops.last());
  Product product = productOf(states, op);
  Value y = product.op ? product.op.getY() : states.getY();
  auto [last, found] = loops.lastAndStates(arrayType(y), product.factor);
  to.setTensor(y, found);
  if (product.op)
    to.lowered.insert(product.op);
  if (isLast || other)
    to.setTensor((isLast ? op : other).getY(), loops.narrowed(last));
  if (other)
    to.lowered.insert(other);
}
