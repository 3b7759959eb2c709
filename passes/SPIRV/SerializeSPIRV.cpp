// xtensor-serialize-spirv: the binary of each kernel, as an attribute of its gpu.module.
#include "GPU/KernelCode.h"
#include "SPIRV/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"

namespace xtensor {
#define GEN_PASS_DEF_SERIALIZESPIRV
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {
struct SerializeSPIRVPass : xtensor::impl::SerializeSPIRVBase<SerializeSPIRVPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto code : llvm::make_early_inc_range(module.getOps<mlir::spirv::ModuleOp>())) {
      FailureOr<gpu::GPUModuleOp> kernel = xtensor::gpu::kernelOf(code);
      if (failed(kernel))
        return signalPassFailure();
      SmallVector<uint32_t> words;
      if (failed(mlir::spirv::serialize(code, words)))
        return signalPassFailure();
      StringRef bytes(reinterpret_cast<const char *>(words.data()), 4 * words.size());
      (*kernel)->setAttr(xtensor::gpu::kCodeAttr, StringAttr::get(&getContext(), bytes));
      code.erase();
    }
  }
};
} // namespace
