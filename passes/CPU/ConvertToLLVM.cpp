// xtensor-to-llvm: converts all remaining ops to the LLVM dialect.
#include "Buffers/Passes.h"
#include "CPU/BFloat16.h"
#include "CPU/MemRefPointers.h"
#include "CPU/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace xtensor {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

namespace {

/// bfloat16 to f64 by way of f32: upstream's pattern writes the first step.
struct ExtendInSteps : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType(), single = rewriter.getF32Type();
    if (!getElementTypeOrSelf(op.getIn()).isBF16() || !getElementTypeOrSelf(type).isF64())
      return failure();
    if (auto vector = dyn_cast<VectorType>(type))
      single = vector.clone(single);
    Value first = arith::ExtFOp::create(rewriter, op.getLoc(), single, op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, type, first);
    return success();
  }
};

struct ConvertToLLVMPass : xtensor::impl::ConvertToLLVMBase<ConvertToLLVMPass> {
  LogicalResult initialize(MLIRContext *context) override {
    LowerToLLVMOptions options(context);
    types = std::make_shared<LLVMTypeConverter>(context, options);
    RewritePatternSet views(context), flow(context), all(context);
    memref::populateExpandStridedMetadataPatterns(views);
    viewPatterns = std::make_shared<FrozenRewritePatternSet>(std::move(views));
    // Views with dynamic strides compute their offsets by affine maps.
    populateAffineToStdConversionPatterns(flow);
    populateSCFToControlFlowConversionPatterns(flow);
    populateMathToLibmConversionPatterns(flow);
    arith::populateExpandBFloat16Patterns(flow);
    populateBFloat16RoundingPatterns(flow);
    flow.add<ExtendInSteps>(context);
    flowPatterns = std::make_shared<FrozenRewritePatternSet>(std::move(flow));
    arith::populateCeilFloorDivExpandOpsPatterns(all);
    arith::populateArithToLLVMConversionPatterns(*types, all);
    // Else log1p(x) becomes log(1 + x), which is 0 where x is small.
    populateMathToLLVMConversionPatterns(*types, all, /*approximateLog1p=*/false);
    populateMathToLibmConversionPatterns(all, /*benefit=*/0);
    populateFinalizeMemRefToLLVMConversionPatterns(*types, all);
    populateVectorToLLVMConversionPatterns(*types, all, /*reassociateFPReductions=*/true);
    cf::populateControlFlowToLLVMConversionPatterns(*types, all);
    populateFuncToLLVMConversionPatterns(*types, all);
    llvmPatterns = std::make_shared<FrozenRewritePatternSet>(std::move(all));
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkBuffers(module)) || failed(checkHost(module)))
      return signalPassFailure();
    SmallVector<func::CallOp> acquires = acquireArenas(module);
    SmallVector<Operation *> views;
    module.walk([&](Operation *op) {
      if (isa<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
              memref::ExtractStridedMetadataOp>(op))
        views.push_back(op);
    });
    if (!views.empty()) {
      GreedyRewriteConfig config;
      config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
      (void)applyOpPatternsGreedily(views, *viewPatterns, config);
    }
    ConversionTarget flow(getContext());
    flow.addIllegalDialect<affine::AffineDialect, scf::SCFDialect>();
    // Else expm1(x) becomes exp(x) - 1, which has no digits left where x is small.
    flow.addIllegalOp<math::ExpM1Op>();
    // If processors have an instruction for it, it takes subnormal numbers for 0 (CPU/BFloat16.h).
    flow.addDynamicallyLegalOp<arith::TruncFOp>([](arith::TruncFOp op) {
      return !getElementTypeOrSelf(op.getType()).isBF16() ||
             !getElementTypeOrSelf(op.getIn().getType()).isF32();
    });
    // Else LLVM's back end takes the bits for a number of bfloat16 (CPU/BFloat16.h).
    flow.addDynamicallyLegalOp<arith::ExtFOp>(
        [](arith::ExtFOp op) { return !getElementTypeOrSelf(op.getIn().getType()).isBF16(); });
    flow.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, flow, *flowPatterns)))
      return signalPassFailure();
    leaveWithoutArena(acquires);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
    if (failed(applyFullConversion(module, target, *llvmPatterns)))
      return signalPassFailure();
    // Else a loop that asks would read its invariants again at every step.
    if (auto poll = module.lookupSymbol<LLVM::LLVMFuncOp>(kPollFunction)) {
      SmallVector<LLVM::ModRefInfo, 6> effects(6, LLVM::ModRefInfo::NoModRef);
      effects[2] = LLVM::ModRefInfo::ModRef; // memory that the code does not see
      poll.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(&getContext(), effects));
      poll.setNoUnwind(true);
      poll.setWillReturn(true);
    }
    SmallVector<UnrealizedConversionCastOp> casts;
    module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
    reconcileUnrealizedCasts(casts);
    holdBFloat16AsBits(module);
  }

  /// No code of a device is left, and what is allocated are arenas (xtensor-arena), in functions
  /// whose results are out parameters.
  static LogicalResult checkHost(ModuleOp module) {
    for (Operation &op : *module.getBody())
      if (op.hasTrait<OpTrait::SymbolTable>())
        return op.emitError() << "'" << op.getName() << "' is not code of the host: run "
                              << "--xtensor-launch-kernels first";
    WalkResult result = module.walk([](memref::AllocOp alloc) {
      auto func = alloc->getParentOfType<func::FuncOp>();
      MemRefType type = alloc.getType();
      if (func && func.getNumResults() == 0 && type.getRank() == 1 && type.isDynamicDim(0) &&
          type.getElementType().isInteger(8) && type.getLayout().isIdentity())
        return WalkResult::advance();
      alloc.emitError() << "'memref.alloc' is not the arena of a function without results: run "
                        << "--xtensor-out-params and --xtensor-arena first";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// memref.alloc and memref.dealloc of arenas become calls of the runtime.
  SmallVector<func::CallOp> acquireArenas(ModuleOp module) {
    SmallVector<func::CallOp> acquires;
    SmallVector<memref::AllocOp> allocs;
    SmallVector<memref::DeallocOp> deallocs;
    module.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        allocs.push_back(alloc);
      else if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
        deallocs.push_back(dealloc);
    });
    if (allocs.empty())
      return acquires;
    OpBuilder b(module.getBodyRegion());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = b.getI64Type();
    auto declare = [&](StringRef name, FunctionType type) {
      auto callee = func::FuncOp::create(b, module.getLoc(), name, type);
      callee.setPrivate();
      return callee;
    };
    // A device's arena is there for the next call as well.
    bool onDevice = module->hasAttr(kDeviceAttr);
    auto acquire = declare(onDevice ? "xt_call_arena" : "xt_arena_acquire",
                           b.getFunctionType({i64}, {pointer}));
    func::FuncOp release;
    if (!onDevice)
      release = declare("xt_arena_release", b.getFunctionType({pointer}, {}));
    for (memref::DeallocOp dealloc : deallocs) {
      b.setInsertionPoint(dealloc);
      if (release) {
        Value p = takeApart(b, dealloc.getLoc(), *types, dealloc.getMemref())[0];
        func::CallOp::create(b, dealloc.getLoc(), release, p);
      }
      dealloc.erase();
    }
    for (memref::AllocOp alloc : allocs) {
      b.setInsertionPoint(alloc);
      Location loc = alloc.getLoc();
      Value bytes = arith::IndexCastOp::create(b, loc, i64, alloc.getDynamicSizes()[0]);
      acquires.push_back(func::CallOp::create(b, loc, acquire, bytes));
      Value p = acquires.back().getResult(0);
      alloc.replaceAllUsesWith(memrefFrom(b, loc, *types, alloc.getType(), {p, bytes}));
      alloc.erase();
    }
    return acquires;
  }

  /// A function whose arena could not be had returns at once: the runtime has reported it.
  static void leaveWithoutArena(ArrayRef<func::CallOp> acquires) {
    for (func::CallOp call : acquires) {
      auto func = call->getParentOfType<func::FuncOp>();
      OpBuilder b(func);
      Block *rest = call->getBlock()->splitBlock(std::next(call->getIterator()));
      Block *leave = b.createBlock(&func.getBody(), func.getBody().end());
      func::ReturnOp::create(b, call.getLoc());
      b.setInsertionPointAfter(call);
      auto null = LLVM::ZeroOp::create(b, call.getLoc(), call.getResult(0).getType());
      auto isNull =
          LLVM::ICmpOp::create(b, call.getLoc(), LLVM::ICmpPredicate::eq, call.getResult(0), null);
      cf::CondBranchOp::create(b, call.getLoc(), isNull, leave, rest);
    }
  }

  std::shared_ptr<FrozenRewritePatternSet> viewPatterns, flowPatterns, llvmPatterns;
  std::shared_ptr<LLVMTypeConverter> types;
};

} // namespace
