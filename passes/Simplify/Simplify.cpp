#include "Simplify/Passes.h"
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_SIMPLIFY
#include "Simplify/Passes.h.inc"
} // namespace xtensor

namespace {
struct Simplify : xtensor::impl::SimplifyBase<Simplify> {
  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet list(context);
    for (RegisteredOperationName op : context->getRegisteredOperationsByDialect("xtensor"))
      op.getCanonicalizationPatterns(list, context);
    addBroadcastPatterns(list);
    addConstantPatterns(list);
    addContractPatterns(list);
    addPadPatterns(list);
    addRenamePatterns(list);
    addShiftPatterns(list);
    addSplitPatterns(list);
    addStridedOverlapPatterns(list);
    addWindowPatterns(list);
    patterns = std::move(list);
    return success();
  }

  void runOnOperation() final {
    // Every pattern brings its own end. How many rounds it takes depends on the program's depth.
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    (void)applyPatternsGreedily(getOperation(), patterns, config);
    hoistInvariants(getOperation());
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }

  FrozenRewritePatternSet patterns;
};
} // namespace

void xtensor::buildSimplifyPipeline(OpPassManager &pm) { pm.addPass(createSimplify()); }
