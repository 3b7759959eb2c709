// Result types of reading and updating by arrays of positions.
#include "XTensor/IndexOps.h"
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

bool xtensor::isKnownInside(Value index, ArrayType source, StringAttr dim) {
  int64_t size = source.getSize(dim);
  if (size == ArrayType::kDynamic)
    return false;
  DenseElementsAttr known;
  if (matchPattern(index, m_Constant(&known))) {
    bool isSigned = !known.getElementType().isUnsignedInteger();
    return llvm::all_of(known.getValues<APInt>(), [&](const APInt &value) {
      if (!isSigned)
        return value.ult(size);
      return value.getSExtValue() < size && value.getSExtValue() >= -size;
    });
  }
  auto iota = index.getDefiningOp<IotaOp>();
  return iota && !iota.getSize() && arrayType(index).getShape()[0] <= size;
}

//===- reports -------------------------------------------------------------===//

static bool raises(Operation *op) {
  auto outside = [](auto op, Value target) {
    return op.getMode() == IndexMode::raise &&
           !llvm::all_of(llvm::zip_equal(op.getIndices(), op.getAlong()), [&](auto at) {
             auto [index, dim] = at;
             return isKnownInside(index, arrayType(target), cast<StringAttr>(dim));
           });
  };
  if (auto gather = dyn_cast<GatherOp>(op))
    return outside(gather, gather.getSource());
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return outside(scatter, scatter.getTarget());
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    return outside(accumulate, accumulate.getStart());
  return false;
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// The effect of reporting an index out of range. It keeps an op whose result is unused.
static void reportEffect(Operation *op, Effects &effects) {
  if (raises(op))
    effects.emplace_back(MemoryEffects::Write::get());
}

void AccumulateOp::getEffects(Effects &effects) { reportEffect(*this, effects); }
void GatherOp::getEffects(Effects &effects) { reportEffect(*this, effects); }
void ScatterOp::getEffects(Effects &effects) { reportEffect(*this, effects); }

/// An op that may report must not run where the program would not run it.
static Speculation::Speculatability unlessRaising(Operation *op) {
  return raises(op) ? Speculation::NotSpeculatable : Speculation::Speculatable;
}

Speculation::Speculatability AccumulateOp::getSpeculatability() { return unlessRaising(*this); }
Speculation::Speculatability GatherOp::getSpeculatability() { return unlessRaising(*this); }
Speculation::Speculatability ScatterOp::getSpeculatability() { return unlessRaising(*this); }

namespace {
/// CSE does not merge reads that may fail. This pattern does, if the first precedes the second.
struct EqualRead : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    if (!raises(op))
      return failure();
    for (Operation *user : op.getSource().getUsers()) {
      if (user == op || !isa<GatherOp>(user) ||
          !OperationEquivalence::isEquivalentTo(user, op, OperationEquivalence::IgnoreLocations))
        continue;
      Operation *here = user->getBlock()->findAncestorOpInBlock(*op);
      if (!here || !user->isBeforeInBlock(here))
        continue;
      rewriter.replaceOp(op, user);
      return success();
    }
    return failure();
  }
};
} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<EqualRead>(context);
}

//===- types ---------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  if (adaptor.getMode() == IndexMode::drop)
    return emitOptionalError(loc, "gather: mode drop is for updates; use raise or clip");
  auto type = inferGather("gather", loc, dyn_cast<ArrayType>(adaptor.getSource().getType()),
                          adaptor.getIndices(), adaptor.getAlong().getValue(),
                          adaptor.getMode() == IndexMode::raise);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

/// Checks that `updates` fits what a gather reads of `target`.
static LogicalResult checkUpdates(StringRef op, StringRef what, MaybeLoc loc, Value updates,
                                  ArrayType target, ArrayType view) {
  auto type = dyn_cast<ArrayType>(updates.getType());
  if (!type || type.getElementType() != target.getElementType())
    return emitOptionalError(loc, op, ": ", what, " must be an array of ", target.getElementType());
  if (failed(inferUnion(op, loc, {view, type}, target.getElementType())))
    return failure();
  if (SmallVector<Attribute> extra = lacking(type, view); !extra.empty())
    return emitOptionalError(loc, Fault::Dimension, op, ": ", what, " have dim ", extra.front(),
                             ", which the selected view lacks; it has (", describeDims(view), ")");
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  auto target = dyn_cast<ArrayType>(adaptor.getTarget().getType());
  auto view = inferGather("scatter", loc, target, adaptor.getIndices(),
                          adaptor.getAlong().getValue(), adaptor.getMode() == IndexMode::raise);
  if (failed(view) ||
      failed(checkUpdates("scatter", "updates", loc, adaptor.getUpdates(), target, *view)))
    return failure();
  ScatterKind kind = adaptor.getKind();
  if (target.isBool() && (kind == ScatterKind::add || kind == ScatterKind::mul))
    return emitOptionalError(loc, "scatter: ", stringifyScatterKind(kind),
                             " is not for bools; use set, max or min");
  types.push_back(target);
  return success();
}

LogicalResult AccumulateOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                             Types &types) {
  auto start = dyn_cast<ArrayType>(adaptor.getStart().getType());
  auto view = inferGather("accumulate", loc, start, adaptor.getIndices(),
                          adaptor.getAlong().getValue(), adaptor.getMode() == IndexMode::raise);
  if (failed(view) ||
      failed(checkUpdates("accumulate", "factors", loc, adaptor.getFactors(), start, *view)) ||
      failed(checkUpdates("accumulate", "terms", loc, adaptor.getTerms(), start, *view)))
    return failure();
  types.push_back(adaptor.getKind() == AccumulateKind::last ? start : *view);
  return success();
}
