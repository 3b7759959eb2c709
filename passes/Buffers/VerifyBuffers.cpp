// The contract of the buffers phase (see Passes.td).
#include "Buffers/Passes.h"

#include "XTensor/XTensor.h"

namespace xtensor {
#define GEN_PASS_DEF_VERIFYBUFFERS
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

/// What makes `type` none of this phase; empty: nothing.
static StringRef problemOf(Type type) {
  if (isa<TensorType>(type))
    return "a tensor where only memory may be left: run the phases up to `buffers` first";
  if (isa<ArrayType, LinearType>(type))
    return "an array with names where only memory may be left: run the phases up to `buffers` "
           "first";
  if (isa<UnrankedMemRefType>(type))
    return "memory without a number of axes";
  auto memory = dyn_cast<MemRefType>(type);
  if (!memory)
    return "";
  if (!memory.getElementType().isIntOrIndexOrFloat())
    return "memory that holds no numbers";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return "memory whose layout is not an offset and strides";
  return "";
}

LogicalResult xtensor::checkBuffers(Operation *root) {
  llvm::DenseSet<Type> good;
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto check = [&](Type type) {
      if (good.contains(type))
        return true;
      StringRef problem = problemOf(type);
      if (problem.empty())
        good.insert(type);
      else
        op->emitError() << "'" << op->getName() << "' has " << type << ", " << problem;
      return problem.empty();
    };
    bool whole =
        llvm::all_of(op->getOperandTypes(), check) && llvm::all_of(op->getResultTypes(), check);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        whole = whole && llvm::all_of(block.getArgumentTypes(), check);
    return whole ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyBuffersPass : xtensor::impl::VerifyBuffersBase<VerifyBuffersPass> {
  void runOnOperation() override {
    if (failed(checkBuffers(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
