#include "Combiners.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xtensor;

//===- by their names in the dialect -------------------------------------------===//

TypedAttr xtensor::startOf(ReduceKind kind, Type type, bool isUnsigned) {
  bool larger = kind == ReduceKind::max || kind == ReduceKind::argmax;
  bool extremum = larger || kind == ReduceKind::min || kind == ReduceKind::argmin;
  if (auto real = dyn_cast<FloatType>(type)) {
    if (extremum)
      return FloatAttr::get(real, APFloat::getInf(real.getFloatSemantics(), larger));
    return FloatAttr::get(real, kind == ReduceKind::prod ? 1.0 : 0.0);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value(width, kind == ReduceKind::prod || kind == ReduceKind::all ? 1 : 0);
  if (extremum && isUnsigned)
    value = larger ? APInt::getMinValue(width) : APInt::getMaxValue(width);
  else if (extremum)
    value = larger ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(type, value);
}

Value xtensor::combine(OpBuilder &b, Location loc, ReduceKind kind, Value acc, Value x,
                       bool isUnsigned) {
  bool real = isa<FloatType>(x.getType());
  // Of -0 and 0 either is the extremum: telling them apart would take twice the instructions.
  auto noSignedZeros = arith::FastMathFlags::nsz;
  switch (kind) {
  case ReduceKind::sum:
    return real ? b.createOrFold<arith::AddFOp>(loc, acc, x)
                : b.createOrFold<arith::AddIOp>(loc, acc, x);
  case ReduceKind::prod:
    return real ? b.createOrFold<arith::MulFOp>(loc, acc, x)
                : b.createOrFold<arith::MulIOp>(loc, acc, x);
  case ReduceKind::max:
    return real         ? b.createOrFold<arith::MaximumFOp>(loc, acc, x, noSignedZeros)
           : isUnsigned ? b.createOrFold<arith::MaxUIOp>(loc, acc, x)
                        : b.createOrFold<arith::MaxSIOp>(loc, acc, x);
  case ReduceKind::min:
    return real         ? b.createOrFold<arith::MinimumFOp>(loc, acc, x, noSignedZeros)
           : isUnsigned ? b.createOrFold<arith::MinUIOp>(loc, acc, x)
                        : b.createOrFold<arith::MinSIOp>(loc, acc, x);
  case ReduceKind::any:
    return b.createOrFold<arith::OrIOp>(loc, acc, x);
  case ReduceKind::all:
    return b.createOrFold<arith::AndIOp>(loc, acc, x);
  default:
    return {};
  }
}

//===- in bodies of linalg ops -------------------------------------------------===//

Operation *xtensor::combinerOf(linalg::GenericOp op, unsigned out) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), out, combiners) || combiners.size() != 1)
    return nullptr;
  return combiners.front();
}

bool xtensor::mayReorder(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op);
}

TypedAttr xtensor::startOf(Operation *combiner) {
  return arith::getNeutralElement(combiner).value_or(TypedAttr());
}

TypedAttr xtensor::neutralOf(Operation *combiner) {
  if (isa<arith::AddFOp>(combiner)) {
    auto type = cast<FloatType>(combiner->getResult(0).getType());
    return FloatAttr::get(type, APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true));
  }
  return startOf(combiner);
}

Value xtensor::combined(OpBuilder &b, Operation *combiner, Value x, Value y) {
  IRMapping map;
  map.map(combiner->getOperand(0), x);
  map.map(combiner->getOperand(1), y);
  return b.clone(*combiner, map)->getResult(0);
}

Value xtensor::otherOperand(Operation *op, Value value) {
  if (op->getNumOperands() != 2 || op->getOperand(0) == op->getOperand(1))
    return {};
  if (op->getOperand(0) == value)
    return op->getOperand(1);
  return op->getOperand(1) == value ? op->getOperand(0) : Value();
}
