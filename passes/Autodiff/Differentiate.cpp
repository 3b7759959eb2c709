#include "Autodiff/Passes.h"
#include "Autodiff/Regions.h"
#include "Autodiff/Rules.h"
#include "Batch/Passes.h"
#include "Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

/// A map that a function returns waits for split-pullbacks.
static bool isKept(Operation *op) {
  return isa<LinearOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
}

static int64_t countRequests(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *op) { count += isRequest(op) && !isKept(op); });
  return count;
}

namespace {
struct Differentiate : xtensor::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() final {
    OpPassManager round(getOperation()->getName());
    round.addPass(createBatch());
    round.addPass(createLinearize());
    if (guards)
      round.addPass(createGuardSelects());
    round.addPass(createTranspose());
    round.addPass(createVerifyLinear());
    round.addPass(createInlineDerivatives());
    round.addPass(createFuseLoops());
    round.addPass(createCSEPass());
    for (int64_t left = countRequests(getOperation()); left != 0;) {
      if (failed(runPipeline(round, getOperation())))
        return signalPassFailure();
      int64_t now = countRequests(getOperation());
      if (now >= left) {
        reportStuck();
        return signalPassFailure();
      }
      left = now;
    }
    dropMarks();
  }

  /// Ops that only derivatives look at become the identity once no derivative is left.
  void dropMarks() {
    getOperation()->walk([](Operation *op) {
      if (auto checkpoint = dyn_cast<CheckpointOp>(op))
        return dissolve(checkpoint);
      if (auto custom = dyn_cast<CustomDerivativeOp>(op))
        return dissolve(custom);
      if (!isa<StopGradientOp>(op) && !(isa<SizedOp>(op) && !op->getParentOfType<LinearOp>()))
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
    replaySteps(getOperation());
  }

  /// A handle that goes anywhere but into an apply cannot be followed.
  void reportStuck() {
    getOperation()->walk([&](Operation *op) {
      if (!isRequest(op) || isKept(op))
        return WalkResult::advance();
      op->emitOpError("cannot be expanded: its handle may only be applied, transposed or returned");
      return WalkResult::interrupt();
    });
  }
};
} // namespace

void xtensor::buildDifferentiatePipeline(OpPassManager &pm) {
  pm.addPass(createDifferentiate());
  pm.addPass(createSplitPullbacks());
  pm.addPass(createSimplify());
  pm.addPass(createVerifyDifferentiated());
}
