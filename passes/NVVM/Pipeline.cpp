// The phase "nvvm" as a pipeline.
#include "NVVM/Passes.h"
#include "SPIRV/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void xtensor::buildNVVMPipeline(OpPassManager &pm) {
  // As on other devices, bfloat16 is words of 16 bits, and computed in float32: chips before sm_90
  // have products of it only, and results are the same everywhere.
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createTruncateInSteps());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  kernels.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertToNVVM());
  auto &code = pm.nest<ModuleOp>();
  code.addPass(createCanonicalizerPass());
  code.addPass(createCSEPass());
}
