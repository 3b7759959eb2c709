// Reads and updates by position. Positions count in the whole array, so the dims that are indexed
// are whole. Updates along other dims that are split come from several processes.
#include "Distribute/Blocks.h"
#include "Distribute/Moves.h"

using namespace mlir;
using namespace xtensor;

static LogicalResult gather(Distributor &t, Operation *o) {
  auto op = cast<GatherOp>(o);
  ArrayRef<Attribute> along = op.getAlong().getValue();
  auto isMoved = moveSplit(t, op, along, /*fixed=*/{}, /*isCheap=*/true);
  if (failed(isMoved) || *isMoved)
    return isMoved;
  auto wanted = t.wantedOf(op);
  if (failed(wanted))
    return failure();
  op.getSourceMutable().set(t.whole(op.getSource(), along));
  if (failed(t.infer(op)))
    return failure();
  t.takeParts(op, *wanted);
  return success();
}

/// The dims of index arrays along which several updates go to one target, where they are split.
static SmallVector<Attribute> summedDims(Distributor &t, OperandRange indices, ArrayType target,
                                         ArrayRef<Attribute> along) {
  llvm::SmallSetVector<Attribute, 4> dims;
  for (Value index : indices)
    for (StringAttr dim : arrayType(index).getDimNames())
      if (t.splitOf(t.wholeOf(index), dim) &&
          (!target.hasDim(dim) || llvm::is_contained(along, dim)))
        dims.insert(dim);
  return dims.takeVector();
}

static std::optional<ReduceKind> combining(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::add:
    return ReduceKind::sum;
  case ScatterKind::max:
    return ReduceKind::max;
  case ScatterKind::min:
    return ReduceKind::min;
  default: // the order of processes matters, or a factor would count once for each
    return std::nullopt;
  }
}

/// What `dims` are split along, if no two of them and no dim that the target keeps are split alike.
static std::optional<SmallVector<const MeshDim *>>
across(Distributor &t, OperandRange indices, ArrayType kept, ArrayRef<Attribute> dims) {
  llvm::SmallPtrSet<const MeshDim *, 4> taken = t.splitsOf(kept);
  SmallVector<const MeshDim *> found;
  for (Attribute dim : dims) {
    found.push_back(t.splitOf(indices, dim));
    if (!taken.insert(found.back()).second)
      return std::nullopt;
  }
  return found;
}

static LogicalResult scatter(Distributor &t, Operation *o) {
  auto op = cast<ScatterOp>(o);
  ArrayRef<Attribute> along = op.getAlong().getValue();
  auto wanted = t.wantedOf(op);
  if (failed(wanted))
    return failure();
  Value target = op.getTarget();
  ArrayType type = t.wholeOf(target);
  SmallVector<Attribute> summed = summedDims(t, op.getIndices(), type, along);
  auto together = across(t, op.getIndices(), minus(type, along), summed);
  std::optional<ReduceKind> kind = combining(op.getKind());
  op.getTargetMutable().set(t.whole(target, along));
  if (!kind || !together) {
    for (OpOperand &index : op.getIndicesMutable())
      index.set(t.whole(index.get(), summed));
    op.getUpdatesMutable().set(t.whole(op.getUpdates(), summed));
    together.emplace();
  }
  bool adds = !together->empty() && kind == ReduceKind::sum;
  Type element = type.getElementType();
  if (adds) { // the target counts once; -0.0 is what changes no sum
    op.getUpdatesMutable().set(t.widened(op.getUpdates()));
    ArrayType sums =
        arrayType(op.getTarget()).withElement(arrayType(op.getUpdates()).getElementType());
    Value nothing = scalar(t.b, t.loc(), sums.getElementType(), -0.0);
    op.getTargetMutable().set(conform(t.b, t.loc(), nothing, sums, {}));
  }
  if (failed(t.infer(op)))
    return failure();
  if (together->empty()) {
    t.takeParts(op, *wanted);
    return success();
  }
  t.b.setInsertionPointAfter(op);
  FailureOr<Value> sums = Value();
  if (adds && t.isDeterministic() && llvm::isa<FloatType>(element))
    sums = reducedBlocks(t, op, *kind, dimsOf(type), summed);
  if (failed(sums))
    return failure();
  t.replaceUses(op.getY(), [&] {
    Value all = *sums ? t.as(*sums, element) : t.combined(*kind, op.getY(), *together, element);
    all = t.part(all, wanted->front());
    return adds ? AddOp::create(t.b, t.loc(), target, all).getResult() : all;
  });
  return success();
}

/// A recurrence takes its steps in order, so it is not cut.
static LogicalResult accumulate(Distributor &t, Operation *o) {
  auto op = cast<AccumulateOp>(o);
  llvm::SmallSetVector<Attribute, 4> touched; // indices may share dims
  touched.insert_range(op.getAlong().getValue());
  for (Value index : op.getIndices())
    touched.insert_range(arrayType(index).getDimNames());
  return t.onWhole(op, touched.getArrayRef());
}

void xtensor::addIndexDistributeRules(DistributeRules &rules) {
  rules.add<AccumulateOp>(accumulate, "whole along the dims of indices");
  rules.add<GatherOp>(gather, "the source whole where it is indexed");
  rules.add<ScatterOp>(scatter, "sums and extrema of parts, combined");
}
