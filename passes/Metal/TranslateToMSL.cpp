// xtensor-translate-to-msl: the text of each kernel, as an attribute of its gpu.module.
#include "GPU/KernelCode.h"
#include "Metal/Passes.h"
#include "Metal/SPIRVCross.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"

namespace xtensor {
#define GEN_PASS_DEF_TRANSLATETOMSL
#include "Metal/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

/// Sums and products are what is written: not contracted, infinities and NaN kept. The last line is
/// for compilers that know the second one by this name only.
constexpr llvm::StringLiteral kArithmetic = "#pragma METAL fp math_mode(safe)\n"
                                            "#pragma METAL fp contract(off)\n"
                                            "#pragma STDC FP_CONTRACT OFF\n";

struct TranslateToMSLPass : xtensor::impl::TranslateToMSLBase<TranslateToMSLPass> {
  void runOnOperation() override {
    if (failed(xtensor::gpu::replaceByText<mlir::spirv::ModuleOp>(getOperation(), textOf)))
      signalPassFailure();
  }

  static FailureOr<std::string> textOf(mlir::spirv::ModuleOp code, gpu::GPUModuleOp kernel) {
    leaveArithmeticToPragmas(code);
    SmallVector<uint32_t> words;
    if (failed(mlir::spirv::serialize(code, words)))
      return failure();
    llvm::Expected<std::string> text = xtensor::metal::translate(words, buffersOf(kernel));
    if (!text)
      return kernel.emitError() << llvm::toString(text.takeError());
    return kArithmetic.str() + *text;
  }

  /// SPIRV-Cross writes a product that must not be contracted as fma(x, y, 0.0), which is 0.0 where
  /// the product is -0.0.
  static void leaveArithmeticToPragmas(mlir::spirv::ModuleOp code) {
    code.walk([](Operation *op) { op->removeAttr("no_contraction"); });
  }

  static unsigned buffersOf(gpu::GPUModuleOp kernel) {
    unsigned count = 0;
    for (auto func : kernel.getOps<gpu::GPUFuncOp>())
      if (func.isKernel())
        count = llvm::count_if(func.getArgumentTypes(), llvm::IsaPred<MemRefType>);
    return count;
  }
};

} // namespace
