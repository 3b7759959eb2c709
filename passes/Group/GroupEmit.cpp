// Writes a group of linalg ops as one scf.forall. Operands become slices of one row or block.
// Values that only the group uses become tensors of that size. The other values are written to a
// slice of the result, and bufferization turns this into a write in place.

#include "Group/GroupEmit.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xtensor {

OpFoldResult sizeOf(OpBuilder &builder, Location loc, Value value, unsigned dim) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  while (auto op = value.getDefiningOp<linalg::LinalgOp>())
    value = op.getTiedOpOperand(cast<OpResult>(value))->get();
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSize(dim);
  return tensor::DimOp::create(builder, loc, value, dim).getResult();
}

Init initOf(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return {fill.getInputs()[0], Value()};
  if (init.getDefiningOp<tensor::EmptyOp>())
    return {};
  return {Value(), init};
}

namespace {

class Emitter {
public:
  Emitter(OpBuilder &outer, const SharedDims &dims, const Plan &plan, ArrayRef<Operation *> members)
      : outer(outer), dims(dims), plan(plan), members(members), loc(members.back()->getLoc()) {
    for (const auto &[op, loops] : dims.loops)
      loopsOf[op] = &loops;
  }

  scf::ForallOp run();

private:
  /// How one operand is seen from inside the forall.
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    SmallVector<OpFoldResult> keptSizes;
    SmallVector<unsigned> kept;
    RankedTensorType type; // of the part, rank-reduced
    AffineMap access;      // the op's map to the part, over its kept loops
    AffineMap place;       // which part: per dim an expression of the forall's dims, or -1
  };

  int forallDimOf(linalg::GenericOp op, unsigned loop) const {
    for (auto [i, dim] : llvm::enumerate(plan.dims))
      if ((*loopsOf.lookup(op))[dim.shared] == loop)
        return i;
    return -1;
  }
  bool isDropped(int forallDim) const { return forallDim >= 0 && plan.dims[forallDim].block == 1; }

  void createForall();
  void readInductionVariables(OpBuilder &b);
  OpFoldResult outsideSize(Value value, unsigned dim);
  OpFoldResult rangeOf(linalg::GenericOp op, unsigned loop);
  OpFoldResult spanOf(OpBuilder &b, OpFoldResult count, int64_t stride);
  Slice sliceOf(linalg::GenericOp op, OpOperand *operand, OpBuilder &b);
  Value extract(OpBuilder &b, Value source, const Slice &slice);
  Value scratch(OpBuilder &b, const Slice &slice);
  Value initFor(OpBuilder &b, linalg::GenericOp op, unsigned result, const Slice &slice);
  void emitMember(OpBuilder &b, linalg::GenericOp op);
  void rewriteIndices(linalg::GenericOp from, Region &body);

  OpBuilder &outer;
  const SharedDims &dims;
  const Plan &plan;
  ArrayRef<Operation *> members;
  Location loc;
  llvm::DenseMap<Operation *, const SmallVector<unsigned, 4> *> loopsOf;

  SmallVector<OpResult> results; // used outside, in order
  scf::ForallOp forall;
  SmallVector<Value> ivs;
  SmallVector<OpFoldResult> bounds, blocks;
  llvm::DenseMap<std::pair<Value, unsigned>, OpFoldResult> outsideSizes;
  llvm::DenseMap<std::pair<Value, AffineMap>, Value> extracted;
  llvm::DenseMap<Value, Value> inside; // value of a member -> its part
  /// Of the results that overwrite what the group may read: this iteration's part.
  llvm::DenseMap<unsigned, Value> overwritten;
  SmallVector<std::pair<unsigned, Slice>, 0> inserts;
};

OpFoldResult Emitter::outsideSize(Value value, unsigned dim) {
  auto [it, isNew] = outsideSizes.try_emplace({value, dim});
  if (isNew) {
    OpBuilder::InsertionGuard guard(outer);
    if (forall)
      outer.setInsertionPoint(forall);
    it->second = sizeOf(outer, loc, value, dim);
  }
  return it->second;
}

/// The range of a loop, from the operand where it is easiest to read: from a
/// static size, else from the allocation of a result, else from an input.
OpFoldResult Emitter::rangeOf(linalg::GenericOp op, unsigned loop) {
  OpFoldResult dynamic;
  for (OpOperand &operand : llvm::reverse(op->getOpOperands()))
    for (auto [k, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto plain = dyn_cast<AffineDimExpr>(expr);
      if (!plain || plain.getPosition() != loop)
        continue;
      if (!cast<RankedTensorType>(operand.get().getType()).isDynamicDim(k))
        return outsideSize(operand.get(), k);
      if (!dynamic)
        dynamic = outsideSize(operand.get(), k);
    }
  if (dynamic)
    return dynamic;
  llvm_unreachable("every loop of a linalg op has an operand that tells its range");
}

void Emitter::createForall() {
  for (const ForallDim &dim : plan.dims) {
    const auto &[op, loops] = dims.loops[dims.largest];
    bounds.push_back(rangeOf(op, loops[dim.shared]));
  }
  SmallVector<Value> inits;
  for (OpResult result : results) {
    auto op = cast<linalg::GenericOp>(result.getOwner());
    Value init = op.getDpsInitOperand(result.getResultNumber())->get();
    bool readsContents = initOf(init).contents && !inside.contains(init) &&
                         !llvm::is_contained(members, init.getDefiningOp());
    // A place that was made further out is there to be written into.
    auto empty = init.getDefiningOp<tensor::EmptyOp>();
    if (readsContents || (empty && empty->getBlock() != op->getBlock())) {
      inits.push_back(init);
      continue;
    }
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes;
    for (unsigned k = 0, e = type.getRank(); k < e; ++k)
      sizes.push_back(outsideSize(init, k));
    inits.push_back(tensor::EmptyOp::create(outer, loc, sizes, type.getElementType()));
  }
  SmallVector<OpFoldResult> zeros(bounds.size(), outer.getIndexAttr(0)), steps;
  for (const ForallDim &dim : plan.dims)
    steps.push_back(outer.getIndexAttr(dim.block));
  forall = scf::ForallOp::create(outer, loc, zeros, bounds, steps, inits, std::nullopt);
  ivs = forall.getInductionVars();
}

/// The sizes of this iteration's blocks: the last one may be shorter.
void Emitter::readInductionVariables(OpBuilder &b) {
  for (auto [i, dim] : llvm::enumerate(plan.dims)) {
    std::optional<int64_t> bound = getConstantIntValue(bounds[i]);
    if (dim.block == 1 || (bound && *bound % dim.block == 0)) {
      blocks.push_back(b.getIndexAttr(dim.block));
      continue;
    }
    Value end = getValueOrCreateConstantIndexOp(b, loc, bounds[i]);
    Value rest = arith::SubIOp::create(b, loc, end, ivs[i]);
    Value block = arith::ConstantIndexOp::create(b, loc, dim.block);
    blocks.push_back(arith::MinSIOp::create(b, loc, rest, block).getResult());
  }
}

/// The elements from the first to the last of `count` that are `stride` apart.
OpFoldResult Emitter::spanOf(OpBuilder &b, OpFoldResult count, int64_t stride) {
  if (stride == 1)
    return count;
  if (std::optional<int64_t> known = getConstantIntValue(count))
    return b.getIndexAttr((*known - 1) * stride + 1);
  AffineExpr span = (getAffineSymbolExpr(0, b.getContext()) - 1) * stride + 1;
  return affine::expandAffineExpr(b, loc, span, {}, cast<Value>(count));
}

Emitter::Slice Emitter::sliceOf(linalg::GenericOp op, OpOperand *operand, OpBuilder &b) {
  MLIRContext *context = op.getContext();
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned numLoops = op.getNumLoops();
  // Loops of the op inside: the dropped ones are gone.
  SmallVector<AffineExpr> inner(numLoops, getAffineConstantExpr(0, context));
  SmallVector<AffineExpr> place(numLoops, getAffineConstantExpr(0, context));
  unsigned numInner = 0;
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    int dim = forallDimOf(op, loop);
    if (dim >= 0)
      place[loop] = getAffineDimExpr(dim, context);
    if (!isDropped(dim))
      inner[loop] = getAffineDimExpr(numInner++, context);
  }

  Slice slice;
  SmallVector<AffineExpr> access, places;
  SmallVector<int64_t> shape;
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    slice.strides.push_back(b.getIndexAttr(1));
    int dim = -1;
    for (unsigned loop = 0; loop < numLoops && dim < 0; ++loop)
      if (expr.isFunctionOfDim(loop))
        dim = forallDimOf(op, loop);
    if (isDropped(dim)) {
      AffineExpr offset = expr.replaceDims(place);
      places.push_back(offset);
      slice.offsets.push_back(isa<AffineDimExpr>(expr) ? OpFoldResult(ivs[dim])
                                                       : OpFoldResult(affine::expandAffineExpr(
                                                             b, loc, offset, ivs, {})));
      slice.sizes.push_back(b.getIndexAttr(1));
      continue;
    }
    slice.kept.push_back(k);
    access.push_back(expr.replaceDims(inner));
    if (dim >= 0 && isa<AffineDimExpr>(expr)) {
      places.push_back(getAffineDimExpr(dim, context));
      slice.offsets.push_back(ivs[dim]);
      slice.sizes.push_back(blocks[dim]);
    } else if (dim >= 0) {
      // From the lowest position on, which is that of the last step if the index falls.
      auto [stride, offset] = *linearIndex(expr);
      int64_t fall = stride < 0 ? stride * (plan.dims[dim].block - 1) : 0;
      AffineExpr start = expr.replaceDims(place);
      places.push_back(start);
      slice.offsets.push_back(affine::expandAffineExpr(b, loc, start + fall, ivs, {}));
      slice.sizes.push_back(spanOf(b, blocks[dim], std::abs(stride)));
      access.back() = access.back() - offset - fall;
    } else {
      places.push_back(getAffineConstantExpr(-1, context));
      slice.offsets.push_back(b.getIndexAttr(0));
      auto plain = dyn_cast<AffineDimExpr>(expr);
      bool isDynamic = cast<RankedTensorType>(operand->get().getType()).isDynamicDim(k);
      slice.sizes.push_back(plain && isDynamic ? rangeOf(op, plain.getPosition())
                                               : outsideSize(operand->get(), k));
    }
    slice.keptSizes.push_back(slice.sizes.back());
    shape.push_back(getConstantIntValue(slice.sizes.back()).value_or(ShapedType::kDynamic));
  }
  slice.type = RankedTensorType::get(shape, getElementTypeOrSelf(operand->get().getType()));
  slice.access = AffineMap::get(numInner, 0, access, context);
  slice.place = AffineMap::get(plan.dims.size(), 0, places, context);
  return slice;
}

Value Emitter::extract(OpBuilder &b, Value source, const Slice &slice) {
  if (llvm::all_of(slice.place.getResults(), [](AffineExpr place) {
        auto constant = dyn_cast<AffineConstantExpr>(place);
        return constant && constant.getValue() == -1;
      }))
    return source;
  return tensor::ExtractSliceOp::create(b, loc, slice.type, source, slice.offsets, slice.sizes,
                                        slice.strides);
}

/// A tensor for a value that stays inside: of a static size where the block
/// has one at most, so that it can live on the stack.
Value Emitter::scratch(OpBuilder &b, const Slice &slice) {
  SmallVector<OpFoldResult> sizes = slice.keptSizes;
  bool isPart = false;
  for (OpFoldResult &size : sizes)
    for (auto [i, dim] : llvm::enumerate(plan.dims))
      if (auto value = dyn_cast<Value>(size); value && OpFoldResult(value) == blocks[i]) {
        size = b.getIndexAttr(dim.block);
        isPart = true;
      }
  Value whole = tensor::EmptyOp::create(b, loc, sizes, slice.type.getElementType());
  if (!isPart)
    return whole;
  SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, slice.type, whole, zeros, slice.keptSizes, ones);
}

Value Emitter::initFor(OpBuilder &b, linalg::GenericOp op, unsigned result, const Slice &slice) {
  OpOperand *operand = op.getDpsInitOperand(result);
  Value value = operand->get();
  if (Value part = inside.lookup(value))
    return part;
  Init init = initOf(value);
  bool isRead = !op.getMatchingBlockArgument(operand).use_empty();
  Value part;
  auto position = llvm::find(results, op->getResult(result));
  if (position != results.end()) {
    unsigned place = position - results.begin();
    part = overwritten.lookup(place);
    if (!part)
      part = extract(b, forall.getRegionIterArgs()[place], slice);
  } else if (init.contents && isRead) {
    return extract(b, value, slice);
  } else {
    part = scratch(b, slice);
  }
  if (init.scalar && isRead)
    part = linalg::FillOp::create(b, op.getLoc(), init.scalar, part).getResult(0);
  return part;
}

void Emitter::rewriteIndices(linalg::GenericOp from, Region &body) {
  SmallVector<unsigned> inner(from.getNumLoops());
  unsigned numInner = 0;
  for (unsigned loop = 0; loop < inner.size(); ++loop)
    if (!isDropped(forallDimOf(from, loop)))
      inner[loop] = numInner++;
  for (linalg::IndexOp index : llvm::make_early_inc_range(body.getOps<linalg::IndexOp>())) {
    int dim = forallDimOf(from, index.getDim());
    if (isDropped(dim)) {
      index.replaceAllUsesWith(ivs[dim]);
      index.erase();
      continue;
    }
    index.setDim(inner[index.getDim()]);
    if (dim < 0)
      continue;
    OpBuilder b(index->getContext());
    b.setInsertionPointAfter(index);
    Value sum = arith::AddIOp::create(b, index.getLoc(), index.getResult(), ivs[dim]);
    index.getResult().replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
}

void Emitter::emitMember(OpBuilder &b, linalg::GenericOp op) {
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Slice, 0> outputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value value = operand->get();
    if (!isa<RankedTensorType>(value.getType())) {
      inputs.push_back(value);
      maps.push_back(AffineMap());
      continue;
    }
    Slice slice = sliceOf(op, operand, b);
    maps.push_back(slice.access);
    Value part = inside.lookup(value);
    if (!part) {
      Value &known = extracted[{value, slice.place}];
      if (!known)
        known = extract(b, value, slice);
      part = known;
    }
    inputs.push_back(part);
  }
  for (unsigned result = 0, e = op.getNumDpsInits(); result < e; ++result) {
    outputs.push_back(sliceOf(op, op.getDpsInitOperand(result), b));
    maps.push_back(outputs.back().access);
    inits.push_back(initFor(b, op, result, outputs.back()));
  }
  for (AffineMap &map : maps)
    if (!map) // a scalar
      map = AffineMap::get(maps.back().getNumDims(), 0, op.getContext());

  SmallVector<utils::IteratorType> iterators;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!isDropped(forallDimOf(op, loop)))
      iterators.push_back(iterator);
  auto part = linalg::GenericOp::create(b, op.getLoc(), ValueRange(inits).getTypes(), inputs, inits,
                                        maps, iterators);
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&part.getRegion(), mapping);
  rewriteIndices(op, part.getRegion());
  for (unsigned result = 0, e = op->getNumResults(); result < e; ++result) {
    inside[op->getResult(result)] = part->getResult(result);
    auto position = llvm::find(results, op->getResult(result));
    if (position != results.end())
      inserts.push_back({unsigned(position - results.begin()), outputs[result]});
  }
}

scf::ForallOp Emitter::run() {
  llvm::SmallPtrSet<Operation *, 8> isMember(members.begin(), members.end());
  for (Operation *op : members)
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !isMember.contains(user); }))
        results.push_back(result);
  createForall();
  OpBuilder b = OpBuilder::atBlockTerminator(forall.getBody());
  readInductionVariables(b);
  // Of what is overwritten an iteration reads the very part that it writes, so that both can be
  // one place.
  for (auto [i, result] : llvm::enumerate(results)) {
    auto op = cast<linalg::GenericOp>(result.getOwner());
    OpOperand *operand = op.getDpsInitOperand(result.getResultNumber());
    Value init = operand->get();
    if (forall.getOutputs()[i] != init || !initOf(init).contents)
      continue;
    Slice slice = sliceOf(op, operand, b);
    Value part = extract(b, forall.getRegionIterArgs()[i], slice);
    overwritten[i] = part;
    extracted.try_emplace({init, slice.place}, part);
  }
  for (Operation *op : members)
    emitMember(b, cast<linalg::GenericOp>(op));
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto &[position, slice] : inserts)
    tensor::ParallelInsertSliceOp::create(b, loc, inside.lookup(results[position]),
                                          forall.getRegionIterArgs()[position], slice.offsets,
                                          slice.sizes, slice.strides);
  for (auto [result, replacement] : llvm::zip(results, forall.getResults()))
    result.replaceAllUsesWith(replacement);
  for (Operation *op : llvm::reverse(members))
    op->erase();
  return forall;
}

} // namespace

scf::ForallOp emitGroup(OpBuilder &builder, const SharedDims &dims, const Plan &plan,
                        ArrayRef<Operation *> members) {
  return Emitter(builder, dims, plan, members).run();
}

} // namespace xtensor
