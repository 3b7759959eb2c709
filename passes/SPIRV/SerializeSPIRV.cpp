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
    auto binary = [](mlir::spirv::ModuleOp code, gpu::GPUModuleOp) -> FailureOr<std::string> {
      SmallVector<uint32_t> words;
      if (failed(mlir::spirv::serialize(code, words)))
        return failure();
      return std::string(reinterpret_cast<const char *>(words.data()), 4 * words.size());
    };
    if (failed(xtensor::gpu::replaceByText<mlir::spirv::ModuleOp>(getOperation(), binary)))
      signalPassFailure();
  }
};
} // namespace
