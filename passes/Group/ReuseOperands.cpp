// A group's result takes the place of an operand that dies in the group.

#include "Group/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xtensor {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "Group/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

/// Whether a tensor lies in memory of its own, which starts as a tensor.empty: not an argument's,
/// not a constant's, not a part of another.
bool hasMemoryOfItsOwn(Value tensor) {
  while (auto result = dyn_cast<OpResult>(tensor)) {
    Operation *op = result.getOwner();
    if (isa<tensor::EmptyOp>(op))
      return true;
    if (auto made = dyn_cast<linalg::LinalgOp>(op))
      tensor = made.getDpsInits()[result.getResultNumber()];
    else if (auto made = dyn_cast<scf::ForallOp>(op))
      tensor = made.getTiedOpOperand(result)->get();
    else
      return false;
  }
  return false;
}

bool isSamePart(OffsetSizeAndStrideOpInterface a, OffsetSizeAndStrideOpInterface b) {
  return a.getMixedOffsets() == b.getMixedOffsets() && a.getMixedSizes() == b.getMixedSizes() &&
         a.getMixedStrides() == b.getMixedStrides();
}

/// Whether an op reads this operand only at the place that it writes next.
bool readsWhereItWrites(OpOperand &read, OpResult written) {
  auto op = dyn_cast<linalg::GenericOp>(read.getOwner());
  if (!op || op != written.getOwner() || op.getNumParallelLoops() != op.getNumLoops() ||
      !op.isDpsInput(&read))
    return false;
  AffineMap place = op.getMatchingIndexingMap(op.getDpsInitOperand(written.getResultNumber()));
  return place.isPermutation() && op.getMatchingIndexingMap(&read) == place;
}

/// The slices of `operand` that an iteration reads. Null unless these slices are the only use of
/// the operand, are the part that the iteration overwrites, and are read before the iteration
/// writes.
std::optional<SmallVector<tensor::ExtractSliceOp>> slicesOf(Value operand, scf::ForallOp loop,
                                                            tensor::ParallelInsertSliceOp insert) {
  auto result = dyn_cast<OpResult>(insert.getSource());
  if (!result || result.getOwner()->getBlock() != loop.getBody())
    return std::nullopt;
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : operand.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice->getBlock() != loop.getBody() || !isSamePart(slice, insert) ||
        slice.getType() != insert.getSourceType())
      return std::nullopt;
    for (OpOperand &use : slice->getUses()) {
      Operation *reader = use.getOwner();
      if (!isa<linalg::LinalgOp>(reader) || reader->getBlock() != loop.getBody())
        return std::nullopt;
      bool before = reader->isBeforeInBlock(result.getOwner()) &&
                    cast<linalg::LinalgOp>(reader).isDpsInput(&use);
      if (!before && !readsWhereItWrites(use, result))
        return std::nullopt;
    }
    slices.push_back(slice);
  }
  return slices;
}

/// What is read and what is written is one value, or bufferization would read a copy.
void shareSlices(BlockArgument place) {
  SmallVector<tensor::ExtractSliceOp> found;
  auto body = place.getOwner()->getOps<tensor::ExtractSliceOp>();
  for (tensor::ExtractSliceOp slice : llvm::make_early_inc_range(body)) {
    if (slice.getSource() != place)
      continue;
    auto same = llvm::find_if(found, [&](tensor::ExtractSliceOp other) {
      return isSamePart(slice, other) && slice.getType() == other.getType();
    });
    if (same == found.end()) {
      found.push_back(slice);
      continue;
    }
    slice.replaceAllUsesWith(same->getResult());
    slice.erase();
  }
}

struct ReuseOperands : xtensor::impl::ReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForallOp loop) {
      for (OpOperand &init : loop.getOutputsMutable())
        reuseFor(loop, init);
    });
  }

  static void reuseFor(scf::ForallOp loop, OpOperand &init) {
    auto empty = init.get().getDefiningOp<tensor::EmptyOp>();
    BlockArgument place = loop.getTiedBlockArgument(&init);
    tensor::ParallelInsertSliceOp insert;
    for (Operation *user : place.getUsers())
      if (auto found = dyn_cast<tensor::ParallelInsertSliceOp>(user)) {
        if (insert)
          return;
        insert = found;
      } else if (!isa<tensor::ExtractSliceOp>(user)) {
        return;
      }
    if (!empty || !insert)
      return;
    llvm::SetVector<Value> read;
    for (auto slice : loop.getBody()->getOps<tensor::ExtractSliceOp>())
      if (slice.getSource().getType() == init.get().getType())
        read.insert(slice.getSource());
    for (Value operand : read) {
      if (operand.getParentBlock() != loop->getBlock() || !hasMemoryOfItsOwn(operand))
        continue;
      auto slices = slicesOf(operand, loop, insert);
      if (!slices)
        continue;
      init.set(operand);
      for (tensor::ExtractSliceOp slice : *slices)
        slice.getSourceMutable().set(place);
      shareSlices(place);
      if (empty->use_empty())
        empty->erase();
      return;
    }
  }
};

} // namespace
