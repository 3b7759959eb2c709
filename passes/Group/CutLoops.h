// One loop of a generic as two: over parts, then inside of a part.
#ifndef XTENSOR_PASSES_GROUP_CUTLOOPS_H
#define XTENSOR_PASSES_GROUP_CUTLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xtensor {

/// `input` with axes cut in two, for an op behind it: the same for all that read it so, which may
/// then share a loop.
mlir::Value expandedFor(mlir::Operation *op, mlir::Value input, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<mlir::ReassociationIndices> groups);

class LoopCut {
public:
  /// Cuts `loop` into parts of `block`, which divides its range.
  LoopCut(mlir::linalg::GenericOp op, unsigned loop, int64_t block)
      : op(op), loop(loop), block(block) {}

  /// Whether every operand is read, and written, at plain loops, each of a known range, and no
  /// number of a loop is read.
  bool isPossible();
  unsigned numLoops() { return op.getNumLoops() + 1; }
  /// The loop that takes the place of the old one; of `loop` that over parts.
  mlir::AffineExpr newLoop(unsigned old);
  /// Loops of the kinds that the old ones were of; that over parts is parallel.
  llvm::SmallVector<mlir::utils::IteratorType> iterators();

  struct Operand {
    mlir::Value value;
    mlir::AffineMap map;
  };
  /// An input, of which an axis may become two. An elementwise op that makes it in this block has
  /// its loop cut as well, so that the two may share the loop over parts.
  Operand cutInput(mlir::OpOperand &operand);

private:
  mlir::Value cutProducer(mlir::linalg::GenericOp producer, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<mlir::ReassociationIndices> groups, unsigned axis);

  mlir::linalg::GenericOp op;
  unsigned loop;
  int64_t block;
};

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_CUTLOOPS_H
