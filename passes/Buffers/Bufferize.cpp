// Bufferization: upstream's one-shot analysis, told that arguments are read-only.
#include "Buffers/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace xtensor {
#define GEN_PASS_DEF_BUFFERIZE
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

/// The analysis looks at all uses of a value for each of them. Arguments are never written, so the
/// readers of one that has very many, a weight of an unrolled recurrence say, get it in portions,
/// which are values of their own.
void portionReaders(func::FuncOp func, int64_t portionSize) {
  for (BlockArgument argument : func.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    SmallVector<OpOperand *> readers;
    for (OpOperand &use : argument.getUses())
      if (auto op = dyn_cast<linalg::LinalgOp>(use.getOwner()); op && op.isDpsInput(&use))
        readers.push_back(&use);
    if (static_cast<int64_t>(readers.size()) <= portionSize)
      continue;
    auto b = OpBuilder::atBlockBegin(argument.getOwner());
    auto type = cast<RankedTensorType>(argument.getType());
    Value buffer = bufferization::ToBufferOp::create(
        b, argument.getLoc(), MemRefType::get(type.getShape(), type.getElementType()), argument,
        /*read_only=*/true);
    Value portion;
    for (auto [i, use] : llvm::enumerate(readers)) {
      if (i % portionSize == 0)
        portion = bufferization::ToTensorOp::create(b, argument.getLoc(), type, buffer,
                                                    /*restrict=*/true);
      use->set(portion);
    }
  }
}

/// Whether `v` is `other` and a constant that is not 0.
bool isMoved(OpFoldResult v, OpFoldResult other) {
  auto value = dyn_cast<Value>(v);
  auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  return sum && OpFoldResult(sum.getLhs()) == other && matchPattern(sum.getRhs(), m_NonZero());
}

/// Whether they are different positions of the first axis.
bool areApart(OffsetSizeAndStrideOpInterface a, OffsetSizeAndStrideOpInterface b) {
  if (!isOneInteger(a.getMixedSizes()[0]) || !isOneInteger(b.getMixedSizes()[0]))
    return false;
  OpFoldResult x = a.getMixedOffsets()[0], y = b.getMixedOffsets()[0];
  return isMoved(x, y) || isMoved(y, x);
}

/// A loop that makes each state from the one beside it in a stack. The analysis sees one tensor,
/// and would have a step read a copy of what it does not write. So that it need not know, the step
/// reads memory.
void readBeside(tensor::InsertSliceOp insert) {
  auto stack = dyn_cast<BlockArgument>(insert.getDest());
  if (!stack || stack.getOwner() != insert->getBlock() || !insert->hasOneUse() ||
      !isa<scf::YieldOp>(*insert->user_begin()))
    return;
  SmallVector<tensor::ExtractSliceOp> reads;
  for (Operation *user : stack.getUsers()) {
    if (user == insert)
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      return;
    if (areApart(slice, insert))
      reads.push_back(slice);
  }
  auto type = cast<RankedTensorType>(stack.getType());
  auto whole = MemRefType::get(type.getShape(), type.getElementType());
  for (tensor::ExtractSliceOp slice : reads) {
    OpBuilder b(slice);
    Location loc = slice.getLoc();
    Value buffer = bufferization::ToBufferOp::create(b, loc, whole, stack, /*read_only=*/true);
    auto part = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        slice.getType().getShape(), whole, slice.getMixedOffsets(), slice.getMixedSizes(),
        slice.getMixedStrides()));
    Value view = memref::SubViewOp::create(b, loc, part, buffer, slice.getMixedOffsets(),
                                           slice.getMixedSizes(), slice.getMixedStrides());
    slice.replaceAllUsesWith(
        bufferization::ToTensorOp::create(b, loc, slice.getType(), view, /*restrict=*/true)
            .getResult());
    slice.erase();
  }
}

/// Makes the dims that a view drops part of the program. Upstream finds them from strides, and of
/// two unit dims with unknown strides it may take the wrong one.
void stateDroppedDims(memref::SubViewOp view) {
  std::optional<llvm::SmallBitVector> dropped = xtensor::droppedBySizes(view);
  if (!dropped || xtensor::isDroppedUpstream(view, *dropped))
    return;
  // A dropped dim joins the dim before it; those in front join the first that stays.
  SmallVector<ReassociationIndices> groups(1);
  bool isFilled = false;
  for (unsigned dim = 0, rank = dropped->size(); dim < rank; ++dim) {
    if (isFilled && !dropped->test(dim))
      groups.emplace_back();
    isFilled |= !dropped->test(dim);
    groups.back().push_back(dim);
  }
  OpBuilder b(view);
  Location loc = view.getLoc();
  Value whole = memref::SubViewOp::create(b, loc, view.getSource(), view.getMixedOffsets(),
                                          view.getMixedSizes(), view.getMixedStrides());
  Value part = memref::CollapseShapeOp::create(b, loc, whole, groups);
  if (part.getType() != view.getType())
    part = memref::CastOp::create(b, loc, view.getType(), part);
  view.replaceAllUsesWith(part);
  view.erase();
}

struct BufferizePass : xtensor::impl::BufferizeBase<BufferizePass> {
  using BufferizeBase::BufferizeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder b(&getContext());
    for (auto func : module.getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (isa<TensorType>(func.getArgumentTypes()[i]))
          func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                          b.getBoolAttr(false));
      portionReaders(func, readers);
      func.walk(readBeside);
    }

    // The analysis that this needs is worth its time only where parts are inserted.
    bool inserts = module->walk([](tensor::InsertSliceOp) { return WalkResult::interrupt(); })
                       .wasInterrupted();
    IRRewriter rewriter(&getContext());
    if (inserts && failed(bufferization::eliminateEmptyTensors(rewriter, module)))
      return signalPassFailure();

    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    module->walk(stateDroppedDims);
    for (auto func : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        func.removeArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName);
  }
};

} // namespace
