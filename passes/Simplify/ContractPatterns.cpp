#include "Estimates.h"
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// A factor is taken as it was before it was broadcast: summing over a dim that no other factor
/// has multiplies by its size, a dim that is kept is broadcast afterwards.
struct ContractOfBroadcast : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      auto broadcast = input.getDefiningOp<BroadcastOp>();
      if (!broadcast || lacking(broadcast.getType(), arrayType(broadcast.getX())).empty())
        continue;
      SmallVector<Value> inputs(op.getInputs());
      inputs[i] = broadcast.getX();
      return rewrite(op, inputs, broadcast, rewriter);
    }
    return failure();
  }

  static LogicalResult rewrite(ContractOp op, ArrayRef<Value> inputs, BroadcastOp broadcast,
                               PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    ArrayType wide = broadcast.getType();
    Type element = wide.getElementType();
    SmallVector<ArrayType> types = llvm::map_to_vector(inputs, arrayType);
    ArrayType all = unionOf(types, element);
    double count = 1;
    SmallVector<Attribute> over, order;
    for (Attribute dim : op.getOver()) {
      if (all.hasDim(dim)) {
        over.push_back(dim);
        continue;
      }
      if (wide.isDynamic(dim))
        return failure();
      count *= static_cast<double>(wide.getSize(dim));
    }
    if (count == 0) // a sum of nothing is 0, and 0 times an infinity is not
      return failure();
    // A count that the element type cannot hold would overflow where the sum does not.
    if (count > (element.getIntOrFloatBitWidth() < 32 || isa<IntegerType>(element) ? 127 : 1e15))
      return failure();
    // The sizes of new dims that are kept, by name: the result may have them in another order.
    llvm::SmallDenseMap<StringAttr, Value> sizeOf;
    unsigned next = 0;
    for (StringAttr name : dynamicDims(wide))
      if (!arrayType(broadcast.getX()).hasDim(name))
        sizeOf[name] = broadcast.getSizes()[next++];
    SmallVector<Value> sizes;
    for (StringAttr name : op.getType().getDimNames()) {
      if (all.hasDim(name))
        order.push_back(name);
      else if (Value size = sizeOf.lookup(name))
        sizes.push_back(size);
    }
    Value y = ContractOp::create(rewriter, loc, inputs, rewriter.getArrayAttr(over),
                                 rewriter.getArrayAttr(order));
    if (count != 1)
      y = MulOp::create(rewriter, loc, y, scalar(rewriter, loc, element, count));
    if (y.getType() != op.getType())
      y = BroadcastOp::create(rewriter, loc, op.getType(), y, sizes);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// A factor that is 1 everywhere and adds no dim.
struct ContractWithOne : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() < 2)
      return failure();
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      if (arrayType(input).getRank() != 0 || !isSplat(input, 1))
        continue;
      SmallVector<Value> inputs(op.getInputs());
      inputs.erase(inputs.begin() + i);
      rewriter.replaceOpWithNewOp<ContractOp>(op, inputs, op.getOver(),
                                              rewriter.getArrayAttr(dimsOf(op.getType())));
      return success();
    }
    return failure();
  }
};

/// The sign of a factor is set on the result, which is not larger. This may change the sign of a
/// sum that is zero.
struct ContractOfNeg : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      auto neg = input.getDefiningOp<NegOp>();
      if (!neg || op.getOver().empty() || !isFloat(input))
        continue;
      SmallVector<Value> inputs(op.getInputs());
      inputs[i] = neg.getX();
      Value y =
          ContractOp::create(rewriter, op.getLoc(), inputs, op.getOverAttr(), op.getOrderAttr());
      rewriter.replaceOpWithNewOp<NegOp>(op, y);
      return success();
    }
    return failure();
  }
};

/// Contractions that are really a sum, a reordering or a product.
struct TrivialContract : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    OperandRange inputs = op.getInputs();
    if (inputs.size() == 1) {
      rewriter.replaceOp(op, conform(rewriter, op.getLoc(), inputs[0], op.getType(), {}));
      return success();
    }
    if (inputs.size() != 2 || !op.getOver().empty())
      return failure();
    Type element = op.getType().getElementType();
    ArrayType lhs = arrayType(inputs[0]), rhs = arrayType(inputs[1]);
    if (unionOf({lhs, rhs}, element) == op.getType())
      rewriter.replaceOpWithNewOp<MulOp>(op, inputs[0], inputs[1]);
    else if (unionOf({rhs, lhs}, element) == op.getType())
      rewriter.replaceOpWithNewOp<MulOp>(op, inputs[1], inputs[0]);
    else
      return failure();
    return success();
  }
};

/// The sum of a product in which each factor lacks dims of the other is a contraction: written
/// out, the product is larger than everything else.
struct SumOfOuterProduct : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto mul = op.getX().getDefiningOp<MulOp>();
    if (!mul || !mul->hasOneUse() || op.getKind() != ReduceKind::sum)
      return failure();
    ArrayType lhs = arrayType(mul.getLhs()), rhs = arrayType(mul.getRhs());
    if (lacking(lhs, rhs).empty() || lacking(rhs, lhs).empty())
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, ValueRange{mul.getLhs(), mul.getRhs()},
                                            op.getDims(),
                                            rewriter.getArrayAttr(dimsOf(op.getType())));
    return success();
  }
};

/// Summing along parts that were put one after another is summing along each: where the result is
/// small, the array of all parts (as of a scan's carries, its first one in front) is never made.
struct ContractOfConcat : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    // In narrow floats each sum would be rounded once more.
    if (!isFloat(op.getY()) || op.getType().getElementType().getIntOrFloatBitWidth() < 32)
      return failure();
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      auto concat = input.getDefiningOp<ConcatOp>();
      if (concat && concat->hasOneUse() && isSummed(op, concat.getDimAttr()) && pays(op, concat)) {
        rewrite(op, i, concat, rewriter);
        return success();
      }
    }
    return failure();
  }

  static bool isSummed(ContractOp op, StringAttr dim) {
    return llvm::is_contained(op.getOver().getValue(), dim);
  }

  /// Every part costs a read and a write of the result.
  static bool pays(ContractOp op, ConcatOp concat) {
    ArrayType whole = concat.getType(), result = op.getType();
    return whole.hasStaticShape() && result.hasStaticShape() &&
           Amount::ofSizes(result.getShape()) * (8 * concat.getInputs().size()) <=
               Amount::ofSizes(whole.getShape());
  }

  static void rewrite(ContractOp op, size_t i, ConcatOp concat, PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    StringAttr dim = concat.getDimAttr();
    int64_t begin = 0;
    Value sum;
    for (Value part : concat.getInputs()) {
      int64_t size = arrayType(part).getSize(dim);
      SmallVector<Value> inputs(op.getInputs());
      inputs[i] = part;
      for (auto [j, input] : llvm::enumerate(inputs))
        if (j != i && arrayType(input).hasDim(dim))
          input = SliceOp::create(rewriter, loc, input, rewriter.getArrayAttr({dim}),
                                  rewriter.getDenseI64ArrayAttr({begin}),
                                  rewriter.getDenseI64ArrayAttr({size}),
                                  rewriter.getDenseI64ArrayAttr({1}));
      Value y = ContractOp::create(rewriter, loc, inputs, op.getOverAttr(), op.getOrderAttr());
      sum = sum ? AddOp::create(rewriter, loc, sum, y).getResult() : y;
      begin += size;
    }
    rewriter.replaceOp(op, sum);
  }
};

} // namespace

void xtensor::addContractPatterns(RewritePatternSet &patterns) {
  patterns.add<ContractOfBroadcast, ContractOfConcat, ContractOfNeg, ContractWithOne,
               SumOfOuterProduct, TrivialContract>(patterns.getContext());
}
