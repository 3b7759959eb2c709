// Collectives that run while the program computes what does not need them.
#include "Buffers/Passes.h"

#include "XTensor/XTensor.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace xtensor {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// The memory that a collective uses until it has ended.
class Memory {
public:
  Memory(ValueRange values, const BufferViewFlowAnalysis &views) : views(views) {
    for (Value v : values) {
      auto all = views.resolveReverse(v);
      sources.insert(all.begin(), all.end());
    }
    isArgument = llvm::any_of(sources, isFunctionArgument);
  }
  /// Whether these may be the same elements. Two arguments may be one array of the caller.
  bool meets(Value other) const {
    auto all = views.resolveReverse(other);
    return llvm::any_of(
        all, [&](Value v) { return sources.contains(v) || (isArgument && isFunctionArgument(v)); });
  }

private:
  static bool isFunctionArgument(Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }

  const BufferViewFlowAnalysis &views;
  SmallPtrSet<Value, 16> sources;
  bool isArgument;
};

/// Whether `op` must not run before the collective has ended. `isWork`: whether it does something.
bool needsEnd(Operation *op, const Memory &read, const Memory &written, bool &isWork) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return true;
  auto effects = getEffectsRecursively(op);
  if (!effects)
    return true;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
    if (!isWrite && !isa<MemoryEffects::Read>(effect.getEffect())) {
      if (isa<MemoryEffects::Free>(effect.getEffect()))
        return true;
      continue;
    }
    isWork = true;
    Value memory = effect.getValue();
    if (!memory || written.meets(memory) || (isWrite && read.meets(memory)))
      return true;
  }
  return false;
}

struct OverlapCollectivesPass : xtensor::impl::OverlapCollectivesBase<OverlapCollectivesPass> {
  void runOnOperation() override {
    SmallVector<LibraryOp> ops;
    getOperation().walk([&](LibraryOp op) {
      if (llvm::is_contained({"xt_all_reduce", "xt_all_gather", "xt_all_to_all", "xt_halo"},
                             op.getRoutine()))
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    BufferViewFlowAnalysis views(getOperation());
    for (LibraryOp op : ops)
      overlap(op, views);
  }

  static void overlap(LibraryOp op, const BufferViewFlowAnalysis &views) {
    Memory read(op.getInputs(), views), written(op.getOuts(), views);
    bool isWork = false, hasWork = false;
    Operation *end = op->getNextNode();
    for (; !needsEnd(end, read, written, isWork); end = end->getNextNode())
      hasWork = isWork;
    if (!hasWork)
      return;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value number = memref::AllocOp::create(b, loc, MemRefType::get({}, b.getI64Type()));
    SmallVector<Value> outs(op.getOuts()), ins{number};
    llvm::append_range(ins, op.getInputs());
    outs.push_back(number);
    LibraryOp::create(b, loc, ("xt_start_" + op.getRoutine().drop_front(3)).str(), op.getInputs(),
                      outs, ArrayAttr(), op.getOptions());
    b.setInsertionPoint(end);
    LibraryOp::create(b, loc, "xt_wait", ins, op.getOuts(), ArrayAttr(),
                      static_cast<int64_t>(op.getInputs().size()));
    op.erase();
  }
};

} // namespace
