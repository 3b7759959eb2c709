// xtensor-branch-buffers: memory that a branch chooses gets one place, which each branch fills.
#include "GPU/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"

namespace xtensor {
#define GEN_PASS_DEF_BRANCHBUFFERS
#include "GPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

/// The memory that `result` is copied to at once and that is there before the branch, or null.
static memref::CopyOp onlyCopyOf(Value result, Operation *branch, DominanceInfo &dominance) {
  if (!result.hasOneUse())
    return {};
  auto copy = dyn_cast<memref::CopyOp>(*result.user_begin());
  // Nothing may look at it between the branch and the copy.
  return copy && copy.getSource() == result && copy->getPrevNode() == branch &&
                 dominance.properlyDominates(copy.getTarget(), branch)
             ? copy
             : memref::CopyOp();
}

/// Whether the sides do nothing with `place` that writing their own result to it could disturb.
static bool isFree(Value place, Operation *branch) {
  return !branch
              ->walk([&](Operation *op) {
                return llvm::is_contained(op->getOperands(), place) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
              })
              .wasInterrupted();
}

static void giveAPlace(Operation *branch, DominanceInfo &dominance) {
  for (OpResult result : branch->getResults()) {
    auto type = dyn_cast<MemRefType>(result.getType());
    if (!type || !type.hasStaticShape())
      continue;
    OpBuilder b(branch);
    memref::CopyOp copy = onlyCopyOf(result, branch, dominance);
    if (copy && !isFree(copy.getTarget(), branch))
      copy = {};
    Value place = copy ? copy.getTarget() : Value();
    if (!place)
      place = memref::AllocOp::create(b, branch->getLoc(),
                                      MemRefType::get(type.getShape(), type.getElementType()));
    for (Region &region : branch->getRegions()) {
      Operation *end = region.front().getTerminator();
      OpBuilder at(end);
      Value own = end->getOperand(result.getResultNumber());
      if (own != place)
        memref::CopyOp::create(at, end->getLoc(), own, place);
    }
    if (copy) {
      copy.erase();
    } else {
      Value seen = place;
      if (place.getType() != type)
        seen = memref::CastOp::create(b, branch->getLoc(), type, place);
      result.replaceAllUsesWith(seen);
    }
  }
}

/// The same op without the results that are memory with a place.
static void dropResults(Operation *branch) {
  SmallVector<unsigned> kept;
  for (OpResult result : branch->getResults())
    if (!isa<MemRefType>(result.getType()) || !result.use_empty())
      kept.push_back(result.getResultNumber());
  if (kept.size() == branch->getNumResults())
    return;
  OpBuilder b(branch);
  for (Region &region : branch->getRegions()) {
    Operation *end = region.front().getTerminator();
    SmallVector<Value> operands;
    for (unsigned i : kept)
      operands.push_back(end->getOperand(i));
    end->setOperands(operands);
  }
  OperationState state(branch->getLoc(), branch->getName());
  state.addOperands(branch->getOperands());
  for (unsigned i : kept)
    state.addTypes(branch->getResult(i).getType());
  state.addAttributes(branch->getAttrs());
  for (unsigned i = 0; i < branch->getNumRegions(); ++i)
    state.addRegion();
  Operation *smaller = b.create(state);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), smaller->getRegions()))
    to.takeBody(from);
  for (auto [i, number] : llvm::enumerate(kept))
    branch->getResult(number).replaceAllUsesWith(smaller->getResult(i));
  branch->erase();
}

namespace {
struct BranchBuffersPass : xtensor::impl::BranchBuffersBase<BranchBuffersPass> {
  void runOnOperation() override {
    SmallVector<Operation *> branches;
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op) &&
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>))
        branches.push_back(op);
    });
    DominanceInfo dominance(getOperation());
    for (Operation *op : branches) { // inner ones first
      giveAPlace(op, dominance);
      dropResults(op);
    }
  }
};
} // namespace
