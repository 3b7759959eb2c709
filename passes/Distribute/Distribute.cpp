#include "Distribute/Distributor.h"
#include "Distribute/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_DISTRIBUTE
#include "Distribute/Passes.h.inc"
} // namespace xtensor

namespace {
struct Distribute : xtensor::impl::DistributeBase<Distribute> {
  LogicalResult initialize(MLIRContext *context) final {
    cleanup = OpPassManager(ModuleOp::getOperationName());
    cleanup.addPass(createCanonicalizerPass());
    cleanup.addPass(createCSEPass());
    return success();
  }

  void runOnOperation() final {
    bool changed = false;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (!func->hasAttr(kMeshAttr) || func.isDeclaration())
        continue;
      changed = true;
      if (failed(Distributor(func).run()))
        return signalPassFailure();
    }
    // A program without a mesh pays nothing.
    if (!changed)
      return markAllAnalysesPreserved();
    if (failed(runPipeline(cleanup, getOperation())))
      signalPassFailure();
  }

  OpPassManager cleanup;
};
} // namespace

void xtensor::buildDistributePipeline(OpPassManager &pm) { pm.addPass(createDistribute()); }
