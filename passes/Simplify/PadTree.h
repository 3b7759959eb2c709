// The elementwise ops of a program that are computed part by part: PadPatterns.cpp says why.
#ifndef XTENSOR_SIMPLIFY_PADTREE_H
#define XTENSOR_SIMPLIFY_PADTREE_H

#include "XTensor/XTensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace xtensor {

/// Where along a dim the elements of an array lie.
struct Extent {
  int64_t from, to;

  Extent movedBy(int64_t n) const { return {from + n, to + n}; }
  /// Not positive if there are none.
  int64_t size() const { return to - from; }
  /// What lies in `other`, too.
  Extent in(Extent other) const { return {std::max(from, other.from), std::min(to, other.to)}; }
};

/// Whether `op` computes an array of known sizes element by element.
bool isElementwiseArray(mlir::Operation *op);
/// Whether `op` only moves elements: a slice of neighbours, a pad with zeros, or a concatenation of
/// few.
bool isMover(mlir::Operation *op);
/// Whether such an op need not be stored, whatever else reads it: slices and pads take no time, and
/// what is concatenated of slices is there already.
bool isFree(mlir::Operation *mover);

/// An elementwise op, and the ops that only it needs: elementwise ops, and what moves elements
/// between them. A part of an array is computed of parts of the terms.
class PadTree {
public:
  explicit PadTree(mlir::Operation *root);

  bool contains(mlir::Operation *op) const { return inner.contains(op); }
  /// Whether terms become slices of one array (ShiftPatterns.cpp), which is less work.
  bool readsMargin() const;
  /// The result as a concatenation of parts; null if that is more work.
  mlir::Value concatenated(mlir::PatternRewriter &rewriter);

private:
  /// What the tree reads along a dim.
  struct Cuts;
  struct Work;
  /// A part of an array that is concatenated, which begins at `from` of the concatenation.
  struct Piece {
    mlir::Value input;
    int64_t from;
    Extent part;
  };

  void grow();
  /// The op that computes `v`, if it belongs to the tree. Else `v` is a term.
  mlir::Operation *innerOf(mlir::Value v) const {
    mlir::Operation *op = v.getDefiningOp();
    return op && contains(op) ? op : nullptr;
  }
  bool isStored(mlir::Operation *op, unsigned cost) const;
  llvm::SmallVector<Piece> piecesOf(ConcatOp concat, Extent part) const;
  void collect(mlir::Value v, int64_t shift, Extent window, Cuts &cuts) const;
  llvm::SmallVector<int64_t> endsOfParts();
  /// The elements of `v` in `part`; null: they are zeros.
  mlir::Value partOf(mlir::OpBuilder &b, mlir::Value v, Extent part);
  mlir::Value partOfOperand(mlir::OpBuilder &b, mlir::Value v, Extent part);
  mlir::Value makePart(mlir::OpBuilder &b, mlir::Value v, Extent part);
  mlir::Value partOfTerm(mlir::OpBuilder &b, mlir::Value v, Extent part) const;
  mlir::Value partOfInner(mlir::OpBuilder &b, mlir::Operation *op, Extent part);
  mlir::Value partOfSlice(mlir::OpBuilder &b, SliceOp slice, Extent part);
  mlir::Value partOfPad(mlir::OpBuilder &b, PadOp pad, Extent part);
  mlir::Value partOfConcat(mlir::OpBuilder &b, ConcatOp concat, Extent part);

  mlir::Operation *root;
  ArrayType type;
  mlir::StringAttr dim;
  llvm::SetVector<mlir::Operation *> inner;
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, int64_t>, mlir::Value> parts;
};

} // namespace xtensor

#endif // XTENSOR_SIMPLIFY_PADTREE_H
