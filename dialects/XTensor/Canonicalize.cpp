// Rewrites that make a program simpler whatever comes after.
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// A factor that is broadcast only to dims which the contraction has anyway is taken as it
/// was before: contract (broadcast %a), %b ==> contract %a, %b.
struct ContractBroadcast : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs(op.getInputs());
    bool changed = false;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      auto broadcast = inputs[i].getDefiningOp<BroadcastOp>();
      if (!broadcast)
        continue;
      bool covered = llvm::all_of(lacking(arrayType(broadcast), arrayType(broadcast.getX())),
                                  [&](Attribute dim) {
                                    for (unsigned k = 0; k < inputs.size(); ++k)
                                      if (k != i && arrayType(inputs[k]).hasDim(dim))
                                        return true;
                                    return false;
                                  });
      if (!covered)
        continue;
      inputs[i] = broadcast.getX();
      changed = true;
    }
    if (!changed)
      return failure();
    ArrayAttr order = rewriter.getArrayAttr(dimsOf(op.getType()));
    rewriter.replaceOpWithNewOp<ContractOp>(op, inputs, op.getOver(), order);
    return success();
  }
};

/// A reordering of a contraction's result is asked of the contraction itself.
struct ReorderedContract : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getX().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse() ||
        arrayType(contract).getRank() != op.getType().getRank())
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, contract.getInputs(), contract.getOver(),
                                            rewriter.getArrayAttr(dimsOf(op.getType())));
    return success();
  }
};

} // namespace

void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ContractBroadcast>(context);
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReorderedContract>(context);
}
