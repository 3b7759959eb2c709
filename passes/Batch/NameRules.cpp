// Ops without regions. Nearly all are extended by name: operands align by name, so a batch name of
// an operand becomes one more dim of the result.
#include "Batch/Batcher.h"
#include "XTensor/Fault.h"

using namespace mlir;
using namespace xtensor;

static LogicalResult byName(Batcher &t, Operation *op) { return t.copy(op); }

/// The batch names come first in the result where they do in the first operand.
static LogicalResult elementwise(Batcher &t, Operation *op) {
  Operation *made = t.clone(op);
  BatchNames names = t.names(made->getOperands());
  Value y = op->getResult(0);
  auto fits = [&] {
    return arrayType(made->getResult(0)).getDimNames() ==
           t.typeOf(y.getType(), names).getDimNames();
  };
  if (failed(t.infer(made)))
    return failure();
  if (!fits() && op->hasTrait<OpTrait::IsCommutative>()) {
    Value first = made->getOperand(0);
    made->setOperands({made->getOperand(1), first});
    if (failed(t.infer(made)))
      return failure();
    if (!fits())
      made->setOperands({first, made->getOperand(0)});
  }
  if (!fits()) {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPoint(made);
    made->setOperand(0, t.spread(made->getOperand(0), names));
    if (failed(t.infer(made)))
      return failure();
  }
  t.set(y, made->getResult(0));
  return success();
}

//===- names that must be said ---------------------------------------------===//

static LogicalResult broadcast(Batcher &t, Operation *o) {
  auto op = cast<BroadcastOp>(o);
  SmallVector<Value> sizes = t.valuesOf(op.getSizes());
  if (t.names(sizes))
    return op.emitOpError("cannot be vectorized: its sizes depend on the instance") << Fault::Size;
  Value x = t.value(op.getX());
  t.set(op.getY(), BroadcastOp::create(t.b, t.typeOf(op.getType(), t.names(x)), x, sizes));
  return success();
}

static LogicalResult barrier(Batcher &t, Operation *o) {
  auto op = cast<BarrierOp>(o);
  Value x = t.value(op.getX());
  t.set(op.getY(), BarrierOp::create(t.b, x.getType(), x, op.getId()));
  return success();
}

/// Nothing is summed over a batch name; the result states where they stand.
static LogicalResult contract(Batcher &t, Operation *o) {
  auto op = cast<ContractOp>(o);
  SmallVector<Value> inputs = t.valuesOf(op.getInputs());
  ArrayType type = t.typeOf(op.getType(), t.names(inputs));
  SmallVector<ArrayType> types = llvm::map_to_vector(inputs, arrayType);
  ArrayType natural = minus(unionOf(types, type.getElementType()), op.getOver().getValue());
  ArrayAttr order = natural == type ? ArrayAttr() : t.b.getArrayAttr(dimsOf(type));
  t.set(op.getY(), ContractOp::create(t.b, inputs, op.getOver(), order));
  return success();
}

/// It would be useful in linear code only, which a vectorize does not contain.
static LogicalResult drop(Batcher &t, Operation *op) {
  t.set(op->getResult(0), t.value(op->getOperand(0)));
  return success();
}

//===- operands that must have them ----------------------------------------===//

static LogicalResult concat(Batcher &t, Operation *o) {
  auto op = cast<ConcatOp>(o);
  SmallVector<Value> inputs = t.valuesOf(op.getInputs());
  BatchNames names = t.names(inputs);
  for (Value &input : inputs)
    input = t.spread(input, names);
  t.set(op.getY(), ConcatOp::create(t.b, inputs, op.getDimAttr()));
  return success();
}

/// A value of each instance's own fills what a mask says.
static LogicalResult pad(Batcher &t, Operation *o) {
  auto op = cast<PadOp>(o);
  Value x = t.value(op.getX()), value = t.value(op.getValue());
  auto padded = [&](Value x, Value value) {
    return PadOp::create(t.b, x, value, op.getDims(), op.getLow(), op.getHigh(), op.getInterior());
  };
  if (!t.names(value)) {
    t.set(op.getY(), padded(x, value));
    return success();
  }
  // Only the padded dims matter, and those have static sizes.
  Type i1 = t.b.getI1Type();
  Location loc = t.b.getLoc();
  ArrayType type = reordered(arrayType(op.getX()), op.getDims().getValue()).withElement(i1);
  Value outside =
      padded(conform(t.b, loc, scalar(t.b, loc, i1, 0), type, {}), scalar(t.b, loc, i1, 1));
  Value zero = scalar(t.b, loc, arrayType(x).getElementType(), 0);
  Value inside = padded(t.spread(x, t.names(value)), zero);
  t.set(op.getY(), t.choose(outside, value, inside));
  return success();
}

/// Each instance updates a target of its own.
static LogicalResult scatter(Batcher &t, Operation *o) {
  auto op = cast<ScatterOp>(o);
  SmallVector<Value> indices = t.valuesOf(op.getIndices());
  Value updates = t.value(op.getUpdates());
  Value target = t.spread(t.value(op.getTarget()), t.names(indices) | t.names(updates));
  t.set(op.getY(), ScatterOp::create(t.b, op.getKind(), op.getMode(), target, indices, updates,
                                     op.getAlong()));
  return success();
}

static LogicalResult accumulate(Batcher &t, Operation *o) {
  auto op = cast<AccumulateOp>(o);
  SmallVector<Value> indices = t.valuesOf(op.getIndices());
  Value terms = t.value(op.getTerms()), factors = t.value(op.getFactors());
  Value start =
      t.spread(t.value(op.getStart()), t.names(indices) | t.names(terms) | t.names(factors));
  t.set(op.getY(), AccumulateOp::create(t.b, op.getKind(), op.getMode(), start, terms, factors,
                                        indices, op.getAlong(), op.getReverse()));
  return success();
}

//===- the table -----------------------------------------------------------===//

void xtensor::addNameBatchRules(BatchRules &rules) {
#define XTENSOR_ELEMENTWISE_OP(Op) rules.add<Op>(elementwise, {});
#include "XTensor/XTensorElementwise.inc"
  rules.add<RecurrenceOp>(elementwise);
  rules.addAll<ArgsortOp, CholeskyOp, CholeskyTangentOp, ComplexFactorOp, ConstantOp, CumulativeOp,
               EighOp, FourierOp, GatherOp, IotaOp, LuOp, LuTangentOp, MergeOp, OverlapAddOp,
               PinvOp, QrOp, ReduceOp, RenameOp, ReverseOp, SizeOp, SliceOp, SolveOp, SplitOp,
               SqueezeOp, SvdOp, TriangularContractOp, TriangularSolveOp, WindowOp>(byName);
  rules.add<AccumulateOp>(accumulate, "start gets the names");
  rules.add<BarrierOp>(barrier, "its operand's type");
  rules.add<BroadcastOp>(broadcast, "result type with the names");
  rules.add<ConcatOp>(concat, "every input gets the names");
  rules.add<ContractOp>(contract, "names kept, first in the order");
  rules.add<PadOp>(pad, "an instance's own value through a mask");
  rules.add<ScatterOp>(scatter, "target gets the names");
  rules.add<SizedOp>(drop, "dropped");
  // Expanded before, or not an op by itself.
  rules.addAll<ApplyOp, LinearOp, PullbackOp, PushforwardOp, TransposedOp, VectorizeOp>(
      nullptr, "a request, expanded before");
  rules.addAll<BitsOp, ElementaryOp, LibraryOp>(nullptr, "made when names are gone");
  rules.addAll<AllGatherOp, AllReduceOp, AllToAllOp, HaloOp, ProcessIndexOp>(nullptr,
                                                                             "made after it");
  rules.add<YieldOp>(nullptr, "by the op that has the region");
}
