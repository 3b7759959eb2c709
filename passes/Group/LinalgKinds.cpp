// Sizes, costs and kinds of linalg ops (see LinalgKinds.h).

#include "Group/LinalgKinds.h"
#include "Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xtensor {

bool isElementwise(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumLoops() != op.getNumParallelLoops())
    return false;
  OpOperand *init = op.getDpsInitOperand(0);
  return op.getMatchingBlockArgument(init).use_empty() &&
         op.getMatchingIndexingMap(init).isPermutation();
}

/// Skips the widening of operands.
static Value skipExtensions(Value value) {
  while (Operation *widen = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(widen))
      break;
    value = widen->getOperand(0);
  }
  return value;
}

/// The body is out + left * right, up to conversions, and nothing else.
static bool isMultiplyAccumulate(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value sum = body->getTerminator()->getOperand(0);
  if (auto truncate = sum.getDefiningOp<arith::TruncFOp>())
    sum = truncate.getIn();
  Operation *add = sum.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value accumulator = body->getArgument(2);
  Value left = skipExtensions(add->getOperand(0)), right = skipExtensions(add->getOperand(1));
  if (left != accumulator && right != accumulator)
    return false;
  Operation *multiply = (left == accumulator ? right : left).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
    return false;
  Value a = skipExtensions(multiply->getOperand(0)), b = skipExtensions(multiply->getOperand(1));
  Value first = body->getArgument(0), second = body->getArgument(1);
  return (a == first && b == second) || (a == second && b == first);
}

bool isGemm(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1 || op.getNumReductionLoops() == 0 ||
      !isMultiplyAccumulate(op))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[2].isProjectedPermutation())
    return false;
  bool left = false, right = false, contracted = false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned d = 0, e = op.getNumLoops(); d < e; ++d) {
    bool inA = maps[0].isFunctionOfDim(d), inB = maps[1].isFunctionOfDim(d);
    bool inC = maps[2].isFunctionOfDim(d);
    if (!inA && !inB)
      return false;
    left |= inA && !inB && inC && ranges[d] != 1;
    right |= inB && !inA && inC && ranges[d] != 1;
    contracted |= inA && inB && !inC;
  }
  return left && right && contracted;
}

OpFoldResult splatOf(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<Attribute>();
  return {};
}

Operation *reductionCombiner(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics())
    return nullptr;
  return combinerOf(op, 0);
}

void forEachBlock(Operation *root, llvm::function_ref<void(Block &)> action) {
  for (Region &region : root->getRegions())
    for (Block &block : region) {
      SmallVector<Operation *> loops;
      for (Operation &op : block)
        if (op.getNumRegions() && !isa<linalg::LinalgOp, scf::ForallOp, tensor::GenerateOp>(op))
          loops.push_back(&op);
      for (Operation *loop : loops)
        forEachBlock(loop, action);
      action(block);
    }
}

} // namespace xtensor
