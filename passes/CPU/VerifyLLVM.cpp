// The contract of the llvm phase (see Passes.td).
#include "CPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace xtensor {
#define GEN_PASS_DEF_VERIFYLLVM
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {
struct VerifyLLVMPass : xtensor::impl::VerifyLLVMBase<VerifyLLVMPass> {
  void runOnOperation() override {
    llvm::DenseSet<Type> known;
    auto isKnown = [&](Type type) {
      if (known.contains(type))
        return true;
      bool compatible = LLVM::isCompatibleType(type);
      if (compatible)
        known.insert(type);
      return compatible;
    };
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ModuleOp>(op))
        return WalkResult::advance();
      if (!isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect())) {
        op->emitError() << "'" << op->getName() << "' is left in the llvm phase: no pass converts "
                        << "it, or a value of a type that LLVM does not have went into it";
        return WalkResult::interrupt();
      }
      auto check = [&](Type type) {
        if (isKnown(type))
          return true;
        op->emitError() << "'" << op->getName() << "' has a type in the llvm phase that LLVM does "
                        << "not have: " << type;
        return false;
      };
      bool whole = llvm::all_of(op->getResultTypes(), check);
      // What lies in memory.
      if (auto alloca = dyn_cast<LLVM::AllocaOp>(op))
        whole &= check(alloca.getElemType());
      else if (auto gep = dyn_cast<LLVM::GEPOp>(op))
        whole &= check(gep.getElemType());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          whole = whole && llvm::all_of(block.getArgumentTypes(), check);
      return whole ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
