// What is computed, element by element, of arrays that are padded with zeros or concatenated:
// stencils, and sums from the derivatives of slices. Each such array would be stored and read
// again. Instead, the result is written once, part by part.
#include "Simplify/PadTree.h"
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// Readers of an op that are looked at, to find the next op that needs all of them.
constexpr unsigned kMostBetween = 64;
/// Ops above a padded array, each of which the next one needs.
constexpr unsigned kMostAbove = 256;

/// The elementwise op in which all meets again that is computed of the result of `op`.
Operation *nextOf(Operation *op) {
  llvm::SmallPtrSet<Operation *, 8> open;
  for (unsigned i = 0; i < kMostBetween; ++i) {
    for (Operation *user : op->getUsers()) {
      if (user->getBlock() != op->getBlock() || !(isElementwiseArray(user) || isMover(user)))
        return nullptr;
      open.insert(user);
    }
    if (open.empty())
      return nullptr;
    op = *llvm::min_element(open, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    open.erase(op);
    if (open.empty() && isElementwiseArray(op))
      return op;
  }
  return nullptr;
}

/// The derivative of the padded arrays is simpler than that of their parts, and made of pads.
bool isDifferentiated(Operation *op) {
  return op->getParentOfType<PullbackOp>() || op->getParentOfType<PushforwardOp>() ||
         op->getParentOfType<LinearOp>();
}

/// Rewrites the largest tree above `op` that can be cut.
LogicalResult rewriteAbove(Operation *op, PatternRewriter &rewriter) {
  SmallVector<Operation *> roots{op};
  while (Operation *next = roots.size() < kMostAbove ? nextOf(roots.back()) : nullptr)
    roots.push_back(next);
  while (!roots.empty()) {
    Operation *root = roots.back();
    ArrayType type = arrayType(root->getResult(0));
    if (!type.isFloat() || llvm::is_contained(type.getShape(), 0)) {
      roots.pop_back();
      continue;
    }
    PadTree tree(root);
    if (tree.readsMargin())
      return failure();
    if (Value whole = tree.concatenated(rewriter)) {
      rewriter.replaceOp(root, whole);
      return success();
    }
    // What belongs to the tree is part of no better one.
    while (!roots.empty() && tree.contains(roots.back()))
      roots.pop_back();
  }
  return failure();
}

/// Rewrites a tree that reads the result of `op` through slices, or at once.
LogicalResult rewriteReaders(Operation *op, PatternRewriter &rewriter) {
  if (Operation *next = nextOf(op))
    return rewriteAbove(next, rewriter);
  if (!isFree(op))
    return failure(); // no tree has all of its readers
  llvm::SmallSetVector<Operation *, 8> readers;
  for (Operation *user : op->getUsers())
    if (user->getBlock() == op->getBlock() && isElementwiseArray(user))
      readers.insert(user);
  for (Operation *reader : readers)
    if (succeeded(rewriteAbove(reader, rewriter)))
      return success();
  return failure();
}

/// add (pad %a low [0] high [2]), (pad %b low [2] high [0]) ==> concat %a, %b, and where they
/// overlap, sums of slices; other elementwise ops likewise.
struct PadsBesideEachOther : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isFloat() || !isMover(op) || isDifferentiated(op))
      return failure();
    return rewriteReaders(op, rewriter);
  }
};

/// add (concat %a, %b), %c ==> concat (add %a, (slice %c)), (add %b, (slice %c))
struct ConcatsBesideEachOther : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    return isDifferentiated(op) ? failure() : rewriteReaders(op, rewriter);
  }
};

} // namespace

void xtensor::addPadPatterns(RewritePatternSet &patterns) {
  patterns.add<ConcatsBesideEachOther, PadsBesideEachOther>(patterns.getContext());
}
