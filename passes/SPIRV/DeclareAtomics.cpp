// xtensor-declare-atomics: atomics of 64 bits need a capability, which their ops do not ask for.
#include "SPIRV/Passes.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace xtensor {
#define GEN_PASS_DEF_DECLAREATOMICS
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

bool isWideAtomic(Operation *op) {
  return op->getName().stripDialect().starts_with("Atomic") && op->getNumResults() == 1 &&
         op->getResult(0).getType().isInteger(64);
}

struct DeclareAtomics : xtensor::impl::DeclareAtomicsBase<DeclareAtomics> {
  void runOnOperation() override {
    mlir::spirv::ModuleOp code = getOperation();
    auto triple = code.getVceTripleAttr();
    if (!triple || !code.walk([](Operation *op) {
                          return isWideAtomic(op) ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted())
      return;
    llvm::SetVector<mlir::spirv::Capability> capabilities(triple.getCapabilities().begin(),
                                                          triple.getCapabilities().end());
    capabilities.insert(mlir::spirv::Capability::Int64Atomics);
    SmallVector<mlir::spirv::Extension> extensions(triple.getExtensions());
    code.setVceTripleAttr(mlir::spirv::VerCapExtAttr::get(
        triple.getVersion(), capabilities.getArrayRef(), extensions, &getContext()));
  }
};

} // namespace
