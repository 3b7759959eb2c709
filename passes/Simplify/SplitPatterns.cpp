// Splits and merges of dims between elementwise ops. They would force the values before and after
// them into memory. The patterns move them until they are views of stored arrays.
//
// A split puts its new dims last. Where it moves past an op, a broadcast puts them in the place of
// the dim that was split. So the op runs in the order in which its operands are stored, and a
// result that has to be stored is not transposed.
//
// The rewriting terminates: splits only move up and merges only move down, past elementwise ops and
// broadcasts, and no elementwise op is added. A merge that moves down leaves splits above it, but
// has fewer such ops below it. A split that moves up does not change merges, and has fewer such ops
// above it. The broadcasts that it adds are below it. A broadcast above a merge is added once:
// where the merge has to copy, and reads another order than its reader wants.
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

bool isElementwise(Operation *op) {
  return op && op->hasTrait<trait::Elementwise>() && op->getNumResults() == 1;
}

Operation *cloneWith(PatternRewriter &rewriter, Operation *op, ArrayRef<Value> values,
                     ArrayType type) {
  Operation *copy = rewriter.clone(*op);
  copy->setOperands(values);
  copy->getResult(0).setType(type);
  return copy;
}

/// The new dims in the place of the dim that is split.
ArrayType inPlaceType(SplitOp op, ArrayType from) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> shape;
  for (auto [name, size] : llvm::zip_equal(from.getDimNames(), from.getShape())) {
    if (name != op.getDimAttr()) {
      names.push_back(name);
      shape.push_back(size);
      continue;
    }
    for (auto [part, count] : llvm::zip_equal(op.getInto(), op.getSizes())) {
      names.push_back(cast<StringAttr>(part));
      shape.push_back(count);
    }
  }
  return ArrayType::get(from.getContext(), names, shape, from.getElementType());
}

Value reordered(PatternRewriter &rewriter, Location loc, Value x, ArrayType type) {
  if (x.getType() == type)
    return x;
  return BroadcastOp::create(rewriter, loc, type, x, ValueRange());
}

/// Whether this only puts dims in another order.
bool keepsDims(BroadcastOp op) {
  return arrayType(op.getX()).getDimNames().size() == op.getType().getDimNames().size();
}

/// split (mul %a, %b) ==> mul (split %a), (split %b), if the product has no other reader.
struct SplitOfElementwise : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op, PatternRewriter &rewriter) const override {
    Operation *source = op.getX().getDefiningOp();
    if (!isElementwise(source) || op.getInto().size() < 2)
      return failure();
    // A split that another one repeats is the same value.
    for (Operation *user : source->getUsers())
      if (auto split = dyn_cast<SplitOp>(user);
          !split || split->getAttrDictionary() != op->getAttrDictionary() ||
          split->getBlock() != op->getBlock())
        return failure();
    // What the operands turn into, before anything is made.
    SmallVector<ArrayType> types;
    for (Value v : source->getOperands()) {
      ArrayType type = arrayType(v);
      types.push_back(type.hasDim(op.getDimAttr()) ? inPlaceType(op, type) : type);
    }
    ArrayType inside = inPlaceType(op, arrayType(op.getX()));
    if (unionOf(types, inside.getElementType()) != inside)
      return failure();
    rewriter.setInsertionPoint(source);
    SmallVector<Value> values;
    for (auto [v, type] : llvm::zip_equal(source->getOperands(), types)) {
      Value value = v;
      if (arrayType(v).hasDim(op.getDimAttr())) {
        value = SplitOp::create(rewriter, op.getLoc(), v, op.getDimAttr(), op.getIntoAttr(),
                                op.getSizesAttr());
        value = reordered(rewriter, op.getLoc(), value, type);
      }
      values.push_back(value);
    }
    Value split = cloneWith(rewriter, source, values, inside)->getResult(0);
    split = reordered(rewriter, op.getLoc(), split, op.getType());
    for (Operation *user : llvm::make_early_inc_range(source->getUsers()))
      rewriter.replaceOp(user, split);
    // At once: as a reader it would keep the new splits from moving on, until the next round.
    rewriter.eraseOp(source);
    return success();
  }
};

/// split (broadcast %a) ==> broadcast (split %a), if the broadcast only reorders.
struct SplitOfReordered : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getX().getDefiningOp<BroadcastOp>();
    if (!broadcast || !keepsDims(broadcast))
      return failure();
    Value split = SplitOp::create(rewriter, op.getLoc(), broadcast.getX(), op.getDimAttr(),
                                  op.getIntoAttr(), op.getSizesAttr());
    rewriter.replaceOp(op, reordered(rewriter, op.getLoc(), split, op.getType()));
    return success();
  }
};

/// Whether `op` of an array of this type would be a view.
bool isView(MergeOp op, ArrayType type) {
  return findNeighbours(type.getDimNames(), op.getDims().getValue()).has_value();
}

/// What broadcasts that only reorder read, else the value itself.
Value beforeReorder(Value v) {
  for (auto broadcast = v.getDefiningOp<BroadcastOp>(); broadcast && keepsDims(broadcast);
       broadcast = v.getDefiningOp<BroadcastOp>())
    v = broadcast.getX();
  return v;
}

/// merge (broadcast %a) ==> broadcast (merge %a), if the broadcast only reorders, and the merge of
/// %a is a view.
struct MergeOfReordered : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeOp op, PatternRewriter &rewriter) const override {
    Value x = beforeReorder(op.getX());
    if (x == op.getX() || x.getDefiningOp<MergeOp>() || !isView(op, arrayType(x)))
      return failure();
    Value merged = MergeOp::create(rewriter, op.getLoc(), x, op.getDims(), op.getIntoAttr());
    rewriter.replaceOp(op, reordered(rewriter, op.getLoc(), merged, op.getType()));
    return success();
  }
};

/// broadcast (merge %a) ==> broadcast (merge (broadcast %a)), if the outer broadcast only reorders.
/// The inner one puts the dims where the merged dim goes. So what the merge reads is stored in the
/// order of the result, and is not transposed once more.
struct ReorderedMerge : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto merge = op.getX().getDefiningOp<MergeOp>();
    if (!merge || !merge->hasOneUse() || merge->getBlock() != op->getBlock() || !keepsDims(op))
      return failure();
    ArrayType from = arrayType(merge.getX());
    SmallVector<StringAttr> names;
    for (StringAttr name : op.getType().getDimNames()) {
      if (name != merge.getIntoAttr())
        names.push_back(name);
      else
        for (Attribute dim : merge.getDims())
          names.push_back(cast<StringAttr>(dim));
    }
    ArrayType inPlace = reordered(from, names);
    Value source = beforeReorder(merge.getX());
    if (from == inPlace || (!source.getDefiningOp<MergeOp>() && isView(merge, arrayType(source))))
      return failure();
    Location loc = merge.getLoc();
    Value x = reordered(rewriter, loc, source, inPlace);
    x = MergeOp::create(rewriter, loc, x, merge.getDims(), merge.getIntoAttr());
    rewriter.replaceOp(op, reordered(rewriter, op.getLoc(), x, op.getType()));
    rewriter.eraseOp(merge);
    return success();
  }
};

/// mul (merge %a), %b ==> merge (mul %a, (split %b)), if the merged array has no other reader.
struct ElementwiseOfMerge : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeOp op, PatternRewriter &rewriter) const override {
    if (!op->hasOneUse() || op.getDims().size() < 2)
      return failure();
    Operation *reader = *op->user_begin();
    ArrayType from = arrayType(op.getX());
    StringAttr into = op.getIntoAttr();
    // A merge copies nothing only if the dims are merged in their stored order.
    SmallVector<StringAttr> dims(
        llvm::map_range(op.getDims(), [](Attribute dim) { return cast<StringAttr>(dim); }));
    if (!isElementwise(reader) || reader->getBlock() != op->getBlock() ||
        from.getDimNames().take_back(dims.size()) != ArrayRef<StringAttr>(dims) ||
        llvm::any_of(dims, [&](StringAttr dim) { return from.isDynamic(dim); }))
      return failure();
    SmallVector<int64_t> sizes =
        llvm::map_to_vector(dims, [&](StringAttr dim) { return from.getSize(dim); });
    for (Value v : reader->getOperands())
      if (v != op.getY() && llvm::any_of(dims, [&](StringAttr dim) {
            return dim != into && arrayType(v).hasDim(dim);
          }))
        return failure();
    SmallVector<ArrayType> types;
    for (Value v : reader->getOperands())
      types.push_back(v == op.getY() || !arrayType(v).hasDim(into)
                          ? arrayType(v == op.getY() ? op.getX() : v)
                          : splitType(arrayType(v), into, dims, sizes));
    ArrayType result = arrayType(reader->getResult(0));
    ArrayType inside = unionOf(types, result.getElementType());
    if (!inside || inside.getDimNames().take_back(dims.size()) != ArrayRef<StringAttr>(dims))
      return failure();
    ArrayType merged = minus(inside, op.getDims().getValue());
    SmallVector<StringAttr> names(merged.getDimNames());
    names.push_back(into);
    if (ArrayRef<StringAttr>(names) != result.getDimNames())
      return failure();
    rewriter.setInsertionPoint(reader);
    SmallVector<Value> values;
    for (Value v : reader->getOperands()) {
      if (v == op.getY())
        v = op.getX();
      else if (arrayType(v).hasDim(into))
        v = SplitOp::create(rewriter, op.getLoc(), v, into, op.getDims(),
                            rewriter.getDenseI64ArrayAttr(sizes));
      values.push_back(v);
    }
    Operation *copy = cloneWith(rewriter, reader, values, inside);
    rewriter.replaceOpWithNewOp<MergeOp>(reader, copy->getResult(0), op.getDims(), into);
    rewriter.eraseOp(op);
    return success();
  }

  static ArrayType splitType(ArrayType from, StringAttr dim, ArrayRef<StringAttr> into,
                             ArrayRef<int64_t> sizes) {
    ArrayType kept = minus(from, {dim});
    SmallVector<StringAttr> names(kept.getDimNames());
    SmallVector<int64_t> shape(kept.getShape());
    llvm::append_range(names, into);
    llvm::append_range(shape, sizes);
    return ArrayType::get(from.getContext(), names, shape, from.getElementType());
  }
};

/// mul (merge %a), %number ==> merge (mul %a, %number), also where dims are put in another order
/// before or after.
struct NumbersWithMerge : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeOp op, PatternRewriter &rewriter) const override {
    SmallVector<Operation *> moves{op}; // the last one first
    while (isReorder(moves.front()->user_begin(), moves.front()))
      moves.insert(moves.begin(), *moves.front()->user_begin());
    Value read = moves.front()->getResult(0);
    if (!read.hasOneUse())
      return failure();
    Operation *reader = *read.user_begin();
    if (!isElementwise(reader) || reader->getBlock() != op->getBlock() ||
        !llvm::all_of(reader->getOperands(),
                      [&](Value v) { return v == read || arrayType(v).getDimNames().empty(); }))
      return failure();
    while (auto before = moves.back()->getOperand(0).getDefiningOp<BroadcastOp>()) {
      if (!before->hasOneUse() || !keepsDims(before))
        break;
      moves.push_back(before);
    }
    Type element = arrayType(reader->getResult(0)).getElementType();
    auto made = [&](Value v) {
      ArrayType type = arrayType(v);
      return ArrayType::get(op.getContext(), type.getDimNames(), type.getShape(), element);
    };
    Value source = moves.back()->getOperand(0);
    rewriter.setInsertionPoint(reader);
    SmallVector<Value> values(reader->getOperands());
    llvm::replace(values, read, source);
    Value x = cloneWith(rewriter, reader, values, made(source))->getResult(0);
    for (Operation *move : llvm::reverse(moves))
      x = cloneWith(rewriter, move, x, made(move->getResult(0)))->getResult(0);
    rewriter.replaceOp(reader, x);
    for (Operation *move : moves)
      rewriter.eraseOp(move);
    return success();
  }

  static bool isReorder(Operation::user_iterator user, Operation *op) {
    auto broadcast = op->hasOneUse() ? dyn_cast<BroadcastOp>(*user) : BroadcastOp();
    return broadcast && broadcast->getBlock() == op->getBlock() && keepsDims(broadcast);
  }
};

/// split (merge %a) ==> %a, under the names and in the order that the split gives.
struct SplitOfMerge : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op, PatternRewriter &rewriter) const override {
    auto merge = op.getX().getDefiningOp<MergeOp>();
    if (!merge || merge.getIntoAttr() != op.getDimAttr() ||
        merge.getDims().size() != op.getInto().size())
      return failure();
    ArrayType from = arrayType(merge.getX());
    for (auto [dim, size] : llvm::zip_equal(merge.getDims(), op.getSizes()))
      if (from.getSize(dim) != size)
        return failure();
    Value x = merge.getX();
    if (merge.getDims() != op.getInto())
      x = RenameOp::create(rewriter, op.getLoc(), x, merge.getDims(), op.getInto());
    if (x.getType() != op.getType())
      x = BroadcastOp::create(rewriter, op.getLoc(), op.getType(), x, ValueRange());
    rewriter.replaceOp(op, x);
    return success();
  }
};

} // namespace

void xtensor::addSplitPatterns(RewritePatternSet &patterns) {
  patterns.add<SplitOfElementwise, SplitOfReordered, MergeOfReordered, ReorderedMerge,
               ElementwiseOfMerge, NumbersWithMerge, SplitOfMerge>(patterns.getContext());
}
