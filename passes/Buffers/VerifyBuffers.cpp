// The contract of the buffers phase (see Passes.td).
#include "Buffers/Passes.h"

#include "XTensor/XTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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

std::optional<llvm::SmallBitVector> xtensor::droppedBySizes(memref::SubViewOp view) {
  MemRefType type = view.getType();
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  llvm::SmallBitVector dropped(sizes.size());
  int64_t kept = 0;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t known = isa<Attribute>(size) ? *getConstantIntValue(size) : ShapedType::kDynamic;
    if (kept < type.getRank() && type.getDimSize(kept) == known)
      ++kept;
    else if (known == 1)
      dropped.set(dim);
    else
      return std::nullopt;
  }
  if (kept != type.getRank())
    return std::nullopt;
  return dropped;
}

bool xtensor::isDroppedUpstream(memref::SubViewOp view, const llvm::SmallBitVector &dropped) {
  SmallVector<OpFoldResult> sizes = view.getMixedSizes(), steps = view.getMixedStrides();
  auto isOne = [](OpFoldResult value) {
    return isa<Attribute>(value) && getConstantIntValue(value) == 1;
  };
  if (dropped.none() || size_t(llvm::count_if(sizes, isOne)) == dropped.count())
    return true; // nothing to choose from
  return llvm::all_of(steps, isOne) && dropped == view.getDroppedDims();
}

/// The same of an op; empty: nothing.
static StringRef problemOf(Operation *op) {
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    auto memory = dyn_cast<MemRefType>(dim.getSource().getType());
    if (axis && memory && (*axis < 0 || *axis >= memory.getRank()))
      return "asks for the size of an axis that its memory does not have";
  }
  if (auto view = dyn_cast<memref::SubViewOp>(op)) {
    std::optional<llvm::SmallBitVector> dropped = droppedBySizes(view);
    if (!dropped || !isDroppedUpstream(view, *dropped))
      return "drops dims of size 1 that its type does not determine: use memref.collapse_shape";
  }
  auto func = dyn_cast<func::FuncOp>(op);
  for (unsigned i = 0, n = func ? func.getNumArguments() : 0; i < n; ++i)
    if (Attribute named = func.getArgAttr(i, "xtensor.type")) {
      auto attribute = dyn_cast<TypeAttr>(named);
      auto array = attribute ? dyn_cast<ArrayType>(attribute.getValue()) : ArrayType();
      auto memory = dyn_cast<MemRefType>(func.getArgumentTypes()[i]);
      if (!array || (memory && array.getRank() != memory.getRank()))
        return "has an xtensor.type that is not the array of its argument";
    }
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
    if (StringRef problem = problemOf(op); !problem.empty()) {
      op->emitError() << "'" << op->getName() << "' " << problem;
      return WalkResult::interrupt();
    }
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
