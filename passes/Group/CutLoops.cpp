// Cuts a loop of a generic in two (see CutLoops.h).

#include "Group/CutLoops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xtensor;

Value xtensor::expandedFor(Operation *op, Value input, ArrayRef<int64_t> shape,
                           ArrayRef<ReassociationIndices> groups) {
  auto type = RankedTensorType::get(shape, cast<ShapedType>(input.getType()).getElementType());
  if (auto whole = input.getDefiningOp<tensor::CollapseShapeOp>();
      whole && whole.getSrcType() == type && whole.getReassociationIndices() == groups)
    return whole.getSrc();
  for (Operation *user : input.getUsers())
    if (auto cut = dyn_cast<tensor::ExpandShapeOp>(user);
        cut && cut.getType() == type && cut->getBlock() == op->getBlock() &&
        cut->isBeforeInBlock(op) && cut.getReassociationIndices() == groups)
      return cut;
  OpBuilder b(op);
  return tensor::ExpandShapeOp::create(b, op->getLoc(), type, input, groups);
}

bool LoopCut::isPossible() {
  return !ShapedType::isDynamicShape(op.getStaticLoopRanges()) &&
         op.getBody()->getOps<linalg::IndexOp>().empty() &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); });
}

AffineExpr LoopCut::newLoop(unsigned old) {
  return getAffineDimExpr(old <= loop ? old : old + 1, op->getContext());
}

SmallVector<utils::IteratorType> LoopCut::iterators() {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin() + loop, utils::IteratorType::parallel);
  return kinds;
}

LoopCut::Operand LoopCut::cutInput(OpOperand &operand) {
  SmallVector<AffineExpr> exprs;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  int axis = -1;
  for (auto [k, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    groups.push_back({static_cast<int64_t>(exprs.size())});
    exprs.push_back(newLoop(d));
    shape.push_back(type.getDimSize(k));
    if (d != loop)
      continue;
    axis = k;
    groups.back().push_back(exprs.size());
    exprs.push_back(getAffineDimExpr(loop + 1, op->getContext()));
    shape.back() /= block;
    shape.push_back(block);
  }
  Value value = operand.get();
  if (axis >= 0) {
    auto producer = value.getDefiningOp<linalg::GenericOp>();
    Value made = producer ? cutProducer(producer, shape, groups, axis) : Value();
    value = made ? made : expandedFor(op, value, shape, groups);
  }
  return {value, AffineMap::get(numLoops(), 0, exprs, op->getContext())};
}

/// Whether each of the users is `op`, or needs what it gives. Looks at few ops only.
static bool waitFor(Operation *op, Operation::user_range users) {
  constexpr unsigned kMostOps = 64;
  llvm::SmallSetVector<Operation *, 16> waiting;
  waiting.insert(op);
  for (unsigned i = 0; i < waiting.size() && i < kMostOps; ++i)
    for (Operation *user : waiting[i]->getUsers())
      if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
        waiting.insert(here);
  return llvm::all_of(users, [&](Operation *user) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    return here && waiting.contains(here);
  });
}

/// What an elementwise op makes, made in parts. Null if its loop cannot be cut, or if an op reads
/// it that could share its loop and does not wait for `op`.
Value LoopCut::cutProducer(linalg::GenericOp producer, ArrayRef<int64_t> shape,
                           ArrayRef<ReassociationIndices> groups, unsigned axis) {
  if (producer->getBlock() != op->getBlock() || producer->getNumResults() != 1 ||
      producer.getNumReductionLoops() ||
      !producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)).isIdentity() ||
      !producer.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return {};
  LoopCut inner(producer, axis, block);
  if (!inner.isPossible() || !waitFor(op, producer->getUsers()))
    return {};
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : producer.getDpsInputOperands()) {
    Operand part = inner.cutInput(*operand);
    inputs.push_back(part.value);
    maps.push_back(part.map);
  }
  OpBuilder b(producer);
  Location loc = producer.getLoc();
  maps.push_back(b.getMultiDimIdentityMap(inner.numLoops()));
  auto old = cast<RankedTensorType>(producer.getResult(0).getType());
  Value init = tensor::EmptyOp::create(b, loc, shape, old.getElementType());
  auto made =
      linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, inner.iterators());
  IRMapping mapping;
  producer.getRegion().cloneInto(&made.getRegion(), mapping);
  Value whole = tensor::CollapseShapeOp::create(b, loc, old, made.getResult(0), groups);
  producer.getResult(0).replaceAllUsesWith(whole);
  producer.erase();
  return made.getResult(0);
}
