#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

/// The number that `v` is everywhere.
static std::optional<APFloat> numberOf(Value v) {
  while (auto broadcast = v.getDefiningOp<BroadcastOp>())
    v = broadcast.getX();
  DenseElementsAttr value;
  if (!isFloat(v) || !matchPattern(v, m_Constant(&value)) || !value.isSplat())
    return std::nullopt;
  return value.getSplatValue<APFloat>();
}

static Value materialize(PatternRewriter &rewriter, Location loc, Attribute value, Type element) {
  auto tensor = RankedTensorType::get({}, element);
  return ConstantOp::create(rewriter, loc, ArrayType::get(rewriter.getContext(), {}, {}, element),
                            DenseElementsAttr::get(tensor, ArrayRef<Attribute>(value)));
}

namespace {

/// Arithmetic on numbers, rounded as at run time. The result has no dims and is broadcast, so
/// only results without dynamic dims are handled.
template <typename Op>
struct FoldNumbers : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    ArrayType type = op.getType();
    if (!type.hasStaticShape() || !type.isFloat())
      return failure();
    std::optional<APFloat> x = numberOf(op->getOperand(0));
    std::optional<APFloat> y = numberOf(op->getOperand(op->getNumOperands() - 1));
    if (!x || !y)
      return failure();
    APFloat result = *x;
    if constexpr (std::is_same_v<Op, NegOp>)
      result.changeSign();
    else if constexpr (std::is_same_v<Op, AddOp>)
      result.add(*y, APFloat::rmNearestTiesToEven);
    else if constexpr (std::is_same_v<Op, SubOp>)
      result.subtract(*y, APFloat::rmNearestTiesToEven);
    else if constexpr (std::is_same_v<Op, MulOp>)
      result.multiply(*y, APFloat::rmNearestTiesToEven);
    else
      result.divide(*y, APFloat::rmNearestTiesToEven);
    Type element = type.getElementType();
    Value number =
        materialize(rewriter, op.getLoc(), rewriter.getFloatAttr(element, result), element);
    rewriter.replaceOp(op, conform(rewriter, op.getLoc(), number, type, {}));
    return success();
  }
};

struct FoldIsnan : OpRewritePattern<IsnanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IsnanOp op, PatternRewriter &rewriter) const override {
    std::optional<APFloat> x = numberOf(op.getX());
    ArrayType type = op.getType();
    if (!x || !type.hasStaticShape())
      return failure();
    Type i1 = type.getElementType();
    Value known = materialize(rewriter, op.getLoc(), rewriter.getBoolAttr(x->isNaN()), i1);
    rewriter.replaceOp(op, conform(rewriter, op.getLoc(), known, type, {}));
    return success();
  }
};

/// x or false is x.
struct FoldOr : OpRewritePattern<OrOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OrOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1})
      if (isSplat(op->getOperand(i), 0) && op->getOperand(1 - i).getType() == op.getType()) {
        rewriter.replaceOp(op, op->getOperand(1 - i));
        return success();
      }
    return failure();
  }
};

/// a + (-b) and (-b) + a are a - b, a - (-b) is a + b: the same bits.
struct AddOfNeg : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    if (auto neg = op.getRhs().getDefiningOp<NegOp>()) {
      rewriter.replaceOpWithNewOp<SubOp>(op, op.getLhs(), neg.getX());
      return success();
    }
    // The other way round only where the dims keep their order.
    auto neg = op.getLhs().getDefiningOp<NegOp>();
    if (!neg || op.getRhs().getType() != op.getType())
      return failure();
    rewriter.replaceOpWithNewOp<SubOp>(op, op.getRhs(), neg.getX());
    return success();
  }
};
struct SubOfNeg : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubOp op, PatternRewriter &rewriter) const override {
    auto neg = op.getRhs().getDefiningOp<NegOp>();
    if (!neg)
      return failure();
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getLhs(), neg.getX());
    return success();
  }
};

/// (-a) * b is -(a * b): the same bits, and the sign may vanish in a sum.
struct MulOfNeg : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      auto neg = op->getOperand(i).getDefiningOp<NegOp>();
      if (!neg)
        continue;
      SmallVector<Value> factors(op->getOperands());
      factors[i] = neg.getX();
      Value product = MulOp::create(rewriter, op.getLoc(), factors[0], factors[1]);
      rewriter.replaceOpWithNewOp<NegOp>(op, product);
      return success();
    }
    return failure();
  }
};

/// select(c, f(x), f(x)): only derivatives distinguish the two values, so they are one value once
/// no derivative is left.
struct SelectOfEqual : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    Operation *lhs = op.getLhs().getDefiningOp(), *rhs = op.getRhs().getDefiningOp();
    if (!lhs || !rhs || lhs->getNumResults() != 1 || op.getLhs().getType() != op.getType() ||
        !isPure(lhs) ||
        !OperationEquivalence::isEquivalentTo(lhs, rhs, OperationEquivalence::IgnoreLocations))
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

} // namespace

void xtensor::addConstantPatterns(RewritePatternSet &patterns) {
  patterns.add<AddOfNeg, FoldIsnan, FoldNumbers<AddOp>, FoldNumbers<DivOp>, FoldNumbers<MulOp>,
               FoldNumbers<NegOp>, FoldNumbers<SubOp>, FoldOr, MulOfNeg, SelectOfEqual, SubOfNeg>(
      patterns.getContext());
}
