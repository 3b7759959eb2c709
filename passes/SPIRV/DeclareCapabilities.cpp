// xtensor-declare-capabilities: declares capabilities that ops need and do not request themselves.
#include "SPIRV/Passes.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace xtensor {
#define GEN_PASS_DEF_DECLARECAPABILITIES
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

bool isWideAtomic(Operation *op) {
  return op->getName().stripDialect().starts_with("Atomic") && op->getNumResults() == 1 &&
         op->getResult(0).getType().isInteger(64);
}

bool isSubgroupNumber(Operation *op) {
  auto variable = dyn_cast<mlir::spirv::GlobalVariableOp>(op);
  if (!variable)
    return false;
  auto name = variable->getAttrOfType<StringAttr>("built_in");
  return name && name.getValue() == "SubgroupId";
}

struct DeclareCapabilities : xtensor::impl::DeclareCapabilitiesBase<DeclareCapabilities> {
  void runOnOperation() override {
    mlir::spirv::ModuleOp code = getOperation();
    auto triple = code.getVceTripleAttr();
    if (!triple)
      return;
    llvm::SetVector<mlir::spirv::Capability> capabilities(triple.getCapabilities().begin(),
                                                          triple.getCapabilities().end());
    const size_t known = capabilities.size();
    code.walk([&](Operation *op) {
      if (isWideAtomic(op))
        capabilities.insert(mlir::spirv::Capability::Int64Atomics);
      else if (isSubgroupNumber(op))
        capabilities.insert(mlir::spirv::Capability::GroupNonUniform);
    });
    if (capabilities.size() == known)
      return;
    SmallVector<mlir::spirv::Extension> extensions(triple.getExtensions());
    code.setVceTripleAttr(mlir::spirv::VerCapExtAttr::get(
        triple.getVersion(), capabilities.getArrayRef(), extensions, &getContext()));
  }
};

} // namespace
