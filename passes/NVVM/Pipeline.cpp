// The phase "nvvm" as a pipeline.
#include "NVVM/Passes.h"
#include "SPIRV/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void xtensor::buildNVVMPipeline(OpPassManager &pm) {
  // As on other devices: chips before sm_90 have products of bfloat16 only, and results are the
  // same everywhere.
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  addBfloat16Words(kernels);
  pm.addPass(createConvertToNVVM());
  auto &code = pm.nest<ModuleOp>();
  code.addPass(createCanonicalizerPass());
  code.addPass(createCSEPass());
}
