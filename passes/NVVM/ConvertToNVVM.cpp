// xtensor-convert-to-nvvm: converts kernels to the LLVM dialect, next to their gpu.module.
#include "GPU/Passes.h"
#include "NVVM/KernelPatterns.h"
#include "NVVM/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace xtensor {
#define GEN_PASS_DEF_CONVERTTONVVM
#include "NVVM/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

struct ConvertToNVVMPass : xtensor::impl::ConvertToNVVMBase<ConvertToNVVMPass> {
  LogicalResult initialize(MLIRContext *context) override {
    LowerToLLVMOptions options(context);
    // Arrays may have more than 2^31 elements, and the index arrays of a gather are int64. LLVM
    // narrows what it sees to be small, and divides in 32 bits where both numbers fit.
    options.overrideIndexBitwidth(64);
    types = std::make_shared<LLVMTypeConverter>(context, options);
    configureGpuToNVVMTypeConverter(*types);
    xtensor::nvvm::addFlatMemory(*types);
    RewritePatternSet flow(context), all(context);
    populateSCFToControlFlowConversionPatterns(flow);
    flowPatterns = std::make_shared<FrozenRewritePatternSet>(std::move(flow));
    populateGpuToNVVMConversionPatterns(*types, all);
    arith::populateCeilFloorDivExpandOpsPatterns(all);
    arith::populateArithToLLVMConversionPatterns(*types, all);
    // Of functions there is left what the hardware has: passes/GPU wrote the others out.
    populateMathToLLVMConversionPatterns(*types, all, /*approximateLog1p=*/false);
    populateVectorToLLVMConversionPatterns(*types, all);
    cf::populateControlFlowToLLVMConversionPatterns(*types, all);
    populateFuncToLLVMConversionPatterns(*types, all);
    index::populateIndexToLLVMConversionPatterns(*types, all);
    ub::populateUBToLLVMConversionPatterns(*types, all);
    xtensor::nvvm::populateKernelPatterns(*types, all);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(all));
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b(&getContext());
    SmallVector<gpu::GPUModuleOp> kernels(module.getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp original : kernels) {
      // The launch still names the original.
      b.setInsertionPointAfter(original);
      if (failed(checkFunctions(original)))
        return signalPassFailure();
      auto copy = cast<gpu::GPUModuleOp>(b.clone(*original));
      if (failed(convert(copy)))
        return signalPassFailure();
      auto code = ModuleOp::create(b, original.getLoc(), (original.getName() + "_code").str());
      Block &from = *copy.getBody();
      code.getBody()->getOperations().splice(code.getBody()->end(), from.getOperations());
      copy.erase();
      // Only the kernel is seen from outside.
      for (auto func : code.getOps<LLVM::LLVMFuncOp>())
        if (!func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) && !func.isExternal())
          func.setLinkage(LLVM::Linkage::Internal);
    }
  }

  /// LLVM ends the process where the hardware has no such instruction.
  static LogicalResult checkFunctions(gpu::GPUModuleOp kernel) {
    auto check = [](Operation *op) {
      if (!xtensor::isWrittenOut(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' is left in the gpu phase: run "
                      << "--xtensor-expand-scalar-math first";
      return WalkResult::interrupt();
    };
    return failure(kernel.walk(check).wasInterrupted());
  }

  LogicalResult convert(gpu::GPUModuleOp kernel) {
    ConversionTarget flow(getContext());
    flow.addIllegalDialect<scf::SCFDialect>();
    flow.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(kernel, flow, *flowPatterns)))
      return failure();
    LLVMConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    return applyFullConversion(kernel, target, *patterns);
  }

  std::shared_ptr<LLVMTypeConverter> types;
  std::shared_ptr<FrozenRewritePatternSet> flowPatterns, patterns;
};

} // namespace
