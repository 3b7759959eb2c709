// Rewrites of the ops with regions: what is known not to run, or not to be read, goes.
#include "XTensor/Dims.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// The region's ops in front of `op`, whose results become what the region yields.
void inlineRegion(PatternRewriter &rewriter, Operation *op, Region &region, ValueRange arguments) {
  Block &body = region.front();
  Operation *yield = &body.back();
  rewriter.inlineBlockBefore(&body, op, arguments);
  rewriter.replaceOp(op, yield->getOperands());
  rewriter.eraseOp(yield);
}

/// A selector that is known, or one region alone, leaves nothing to choose.
struct KnownSwitch : OpRewritePattern<SwitchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SwitchOp op, PatternRewriter &rewriter) const override {
    int64_t last = op.getBranches().size() - 1;
    int64_t chosen = 0;
    DenseElementsAttr value;
    if (matchPattern(op.getSelector(), m_Constant(&value)))
      chosen = std::clamp<int64_t>(value.getSplatValue<APInt>().getSExtValue(), 0, last);
    else if (last > 0)
      return failure();
    inlineRegion(rewriter, op, op.getBranches()[chosen], {});
    return success();
  }
};

/// Marks what is needed of the carries of a loop: those in `needed`, those that a needed one is
/// computed from, and those that ops with effects read, such as an index that may be out of range.
SmallVector<bool> neededCarries(Block &body, SmallVector<Value> needed, unsigned carries) {
  // Ops are few in a body; a value's operands are those of its op and of what nests in it.
  SmallVector<bool> marked(carries);
  llvm::SmallPtrSet<Operation *, 32> seen;
  auto yields = body.back().getOperands();
  for (Operation &op : body)
    if (!isMemoryEffectFree(&op))
      op.walk([&](Operation *inner) { llvm::append_range(needed, inner->getOperands()); });
  while (!needed.empty()) {
    Value v = needed.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      unsigned i = argument.getArgNumber();
      if (argument.getOwner() == &body && i < carries && !std::exchange(marked[i], true))
        needed.push_back(yields[i]);
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (!body.getParent()->isAncestor(op->getParentRegion()) || !seen.insert(op).second)
      continue;
    op->walk([&](Operation *inner) { llvm::append_range(needed, inner->getOperands()); });
  }
  return marked;
}

/// The values of `range` where `keep` holds.
SmallVector<Value> kept(ValueRange range, ArrayRef<bool> keep) {
  SmallVector<Value> values;
  for (auto [v, yes] : llvm::zip_equal(range, keep))
    if (yes)
      values.push_back(v);
  return values;
}

/// Replaces `op` by `next`, which has only the results where `keep` holds.
void replaceKept(PatternRewriter &rewriter, Operation *op, Operation *next, ArrayRef<bool> keep) {
  SmallVector<Value> results;
  unsigned given = 0;
  for (bool keeps : keep)
    results.push_back(keeps ? next->getResult(given++) : Value());
  rewriter.replaceOp(op, results);
}

/// Moves `from`'s block into the empty region `to`, with the yield's values where `keep` holds.
void moveBody(PatternRewriter &rewriter, Region &from, Region &to, ArrayRef<bool> keepYields) {
  rewriter.inlineRegionBefore(from, to, to.end());
  auto yield = cast<YieldOp>(to.front().back());
  SmallVector<Value> values = kept(yield.getValues(), keepYields);
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(values); });
}

/// Removes arguments of `body`. Ops that still read one, and whose results are unused, read its
/// stand-in.
void dropArguments(PatternRewriter &rewriter, Block &body, ArrayRef<bool> keep,
                   ValueRange standIns) {
  for (unsigned i = keep.size(); i-- > 0;) {
    if (keep[i])
      continue;
    rewriter.replaceAllUsesWith(body.getArgument(i), standIns[i]);
    body.eraseArgument(i);
  }
}

/// Removes unused results, and the carries that only they need. Removes arrays of `over` that the
/// body does not read.
struct UnusedInScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    unsigned carries = op.getNumCarries();
    Block &body = *op.getBody();
    SmallVector<bool> keepYields;
    SmallVector<Value> needed;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), op.getYield().getValues())) {
      bool used = !result.use_empty();
      keepYields.push_back(used);
      if (!used)
        continue;
      needed.push_back(value);
      if (keepYields.size() <= carries)
        needed.push_back(body.getArgument(keepYields.size() - 1));
    }
    SmallVector<bool> carryNeeded = neededCarries(body, needed, carries);
    for (unsigned i = 0; i < carries; ++i)
      keepYields[i] = carryNeeded[i];
    SmallVector<bool> keepArguments(carryNeeded);
    for (Value x : op.getOverArguments())
      keepArguments.push_back(!x.use_empty());
    if (!llvm::is_contained(keepYields, false) && !llvm::is_contained(keepArguments, false))
      return failure();

    ArrayRef<bool> keepOver = ArrayRef(keepArguments).drop_front(carries);
    SmallVector<Value> over = kept(op.getOver(), keepOver);
    IntegerAttr length = op.getLengthAttr();
    Value size = op.getSize();
    if (over.empty() && !op.getOver().empty()) {
      if (op.getSteps() == ArrayType::kDynamic)
        size = op.getStepsValue(rewriter);
      else
        length = rewriter.getI64IntegerAttr(op.getSteps());
    }
    SmallVector<Type> types;
    for (auto [result, keep] : llvm::zip_equal(op.getResults(), keepYields))
      if (keep)
        types.push_back(result.getType());
    auto next = ScanOp::create(rewriter, op.getLoc(), types, op.getDimAttr(), op.getReverseAttr(),
                               kept(op.getCarry(), carryNeeded), over, length, size);
    next->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    moveBody(rewriter, op.getBodyRegion(), next.getBodyRegion(), keepYields);
    // What still reads a dropped carry is dead itself; an array over has no reader.
    SmallVector<Value> standIns(op.getCarry());
    standIns.resize(keepArguments.size());
    for (unsigned i = carries; i < keepArguments.size(); ++i)
      standIns[i] = next.getBody()->getArgument(i);
    dropArguments(rewriter, *next.getBody(), keepArguments, standIns);
    replaceKept(rewriter, op, next, keepYields);
    return success();
  }
};

/// Replaces what reads a carry that its body hands on unchanged by the first value, but for that
/// yield itself.
bool replaceConstantCarry(PatternRewriter &rewriter, Value argument, Value first, Operation *yield,
                          unsigned i) {
  bool changed = false;
  rewriter.replaceUsesWithIf(argument, first, [&](OpOperand &use) {
    bool own = use.getOwner() == yield && use.getOperandNumber() == i;
    changed |= !own;
    return !own;
  });
  return changed;
}

/// True if what the condition reads changes from step to step, or the steps are counted. Another
/// loop never ends once it has begun, and must be there still for somebody to wait for.
bool mayEnd(WhileOp op) {
  if (op.getMaxSteps())
    return true;
  Operation *yield = &op.getBodyRegion().front().back();
  Block &cond = op.getCondRegion().front();
  return llvm::any_of(cond.getArguments(), [&](BlockArgument argument) {
    unsigned i = argument.getArgNumber();
    return !argument.use_empty() && yield->getOperand(i) != op.getBodyRegion().getArgument(i);
  });
}
bool mayEnd(ScanOp) { return true; }

/// A carry that the body hands on unchanged has its first value throughout.
template <typename Op>
struct ConstantCarry : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Block &body = op.getBodyRegion().front();
    Operation *yield = &body.back();
    OperandRange carries = op->getOperands();
    if constexpr (std::is_same_v<Op, ScanOp>)
      carries = op.getCarry();
    bool changed = false;
    for (auto [i, first] : llvm::enumerate(carries)) {
      Value argument = body.getArgument(i);
      if (yield->getOperand(i) != argument)
        continue;
      changed |= replaceConstantCarry(rewriter, argument, first, yield, i);
      if constexpr (std::is_same_v<Op, WhileOp>)
        changed |= replaceConstantCarry(rewriter, op.getCondRegion().front().getArgument(i), first,
                                        yield, i);
      if (!op->getResult(i).use_empty() && mayEnd(op)) {
        rewriter.replaceAllUsesWith(op->getResult(i), first);
        changed = true;
      }
    }
    return success(changed);
  }
};

/// What is stacked and is the same at every step, or is what was scanned over, is there already;
/// what is stacked twice is stacked once.
struct KnownStack : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    Block &body = *op.getBody();
    bool changed = false;
    auto replace = [&](Value stack, Value by) {
      rewriter.replaceAllUsesWith(stack, by);
      changed = true;
    };
    llvm::SmallDenseMap<Value, Value> stackOf;
    for (auto [value, stack] : llvm::zip_equal(op.getYieldedStacked(), op.getStacked())) {
      if (stack.use_empty())
        continue;
      if (auto [it, isNew] = stackOf.insert({value, stack}); !isNew) {
        replace(stack, it->second);
        continue;
      }
      rewriter.setInsertionPoint(op);
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && argument.getOwner() == &body && argument.getArgNumber() >= op.getNumCarries())
        replace(stack, conform(rewriter, op.getLoc(),
                               op.getOver()[argument.getArgNumber() - op.getNumCarries()],
                               arrayType(stack), {}));
      else if (!op->isAncestor(value.getParentBlock()->getParentOp()))
        replace(stack, repeated(op, value, arrayType(stack), rewriter));
    }
    return success(changed);
  }

  static Value repeated(ScanOp op, Value value, ArrayType type, PatternRewriter &rewriter) {
    SmallVector<Value> sizes;
    if (type.isDynamic(op.getDimAttr()))
      sizes.push_back(op.getStepsValue(rewriter));
    return BroadcastOp::create(rewriter, op.getLoc(), type, value, sizes);
  }
};

/// Without a step, the carries are what they were, and stacks have no elements.
struct NoStep : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    if (op.getSteps() != 0)
      return failure();
    SmallVector<Value> results(op.getCarry());
    for (Value stack : op.getStacked()) {
      if (!arrayType(stack).hasStaticShape())
        return failure();
      results.push_back(zeros(rewriter, op.getLoc(), arrayType(stack), {}));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Removes unused results.
struct UnusedInSwitch : OpRewritePattern<SwitchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SwitchOp op, PatternRewriter &rewriter) const override {
    auto keep = llvm::map_to_vector(op.getResults(), [](Value v) { return !v.use_empty(); });
    if (!llvm::is_contained(keep, false) || op->use_empty())
      return failure();
    SmallVector<Type> types;
    for (Value v : kept(op.getResults(), keep))
      types.push_back(v.getType());
    auto next =
        SwitchOp::create(rewriter, op.getLoc(), types, op.getSelector(), op.getBranches().size());
    for (auto [from, to] : llvm::zip_equal(op.getBranches(), next.getBranches()))
      moveBody(rewriter, from, to, keep);
    replaceKept(rewriter, op, next, keep);
    return success();
  }
};

/// A carry that neither the condition nor a result that is read needs is not computed.
struct UnusedInWhile : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    unsigned carries = op.getInit().size();
    Block &body = op.getBodyRegion().front();
    Block &cond = op.getCondRegion().front();
    SmallVector<Value> needed;
    for (unsigned i = 0; i < carries; ++i)
      if (!op.getResult(i).use_empty() || !cond.getArgument(i).use_empty())
        needed.push_back(body.getArgument(i));
    SmallVector<bool> keep = neededCarries(body, needed, carries);
    if (!llvm::is_contained(keep, false))
      return failure();
    SmallVector<Value> init = kept(op.getInit(), keep);
    auto next = WhileOp::create(rewriter, op.getLoc(), TypeRange(ValueRange(init)), init,
                                op.getMaxStepsAttr());
    rewriter.inlineRegionBefore(op.getCondRegion(), next.getCondRegion(),
                                next.getCondRegion().end());
    moveBody(rewriter, op.getBodyRegion(), next.getBodyRegion(), keep);
    dropArguments(rewriter, next.getBodyRegion().front(), keep, op.getInit());
    dropArguments(rewriter, next.getCondRegion().front(), keep, op.getInit());
    replaceKept(rewriter, op, next, keep);
    return success();
  }
};

} // namespace

void SwitchOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<KnownSwitch, UnusedInSwitch>(context);
}

void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantCarry<WhileOp>, UnusedInWhile>(context);
}

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantCarry<ScanOp>, KnownStack, NoStep, UnusedInScan>(context);
}
