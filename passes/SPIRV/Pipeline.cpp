// The phase "spirv" as a pipeline.
#include "SPIRV/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void xtensor::addBfloat16Words(OpPassManager &kernels) {
  kernels.addPass(createTruncateInSteps());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  kernels.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
}

void xtensor::buildSPIRVPipeline(OpPassManager &pm) {
  // The conversion of scf.for writes its results inside of the loop only: none for zero steps.
  pm.addNestedPass<gpu::GPUModuleOp>(createForToWhileLoopPass());
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  addBfloat16Words(kernels);
  kernels.addPass(createNarrowComparisons());
  pm.addPass(createConvertToSPIRV());
  auto &code = pm.nest<mlir::spirv::ModuleOp>();
  code.addPass(mlir::spirv::createSPIRVLowerABIAttributesPass());
  code.addPass(createCanonicalizerPass());
  code.addPass(createCSEPass());
  code.addPass(mlir::spirv::createSPIRVUpdateVCEPass());
  code.addPass(createDeclareCapabilities());
}
