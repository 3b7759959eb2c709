// What a view of memory shows of the memory under it: an offset, and a size and a stride for each
// axis, in elements. The CPU counts in products of sizes (CPU/Strided.h), a kernel in values that
// it computes (GPU/Kernel.h). The rules for views are the same.
#ifndef XTENSOR_PASSES_STRIDES_H
#define XTENSOR_PASSES_STRIDES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

#include <optional>

namespace xtensor {

/// The rules for views. `Numbers` says how to count:
///
///   View of(Value memref)                             what a memref shows; a copy
///   Number number(OpFoldResult)                       a size or a stride of the program
///   Number times(const Number &, const Number &)
///   bool isOne(const Number &)
///   void advance(View &, OpFoldResult by, const Number &stride)   moves the offset
///   void restart(View &, OpFoldResult at)             sets it, counted from the memory's start
///
/// A View has `sizes` and `strides`, lists of numbers.
template <typename View, typename Numbers>
class ViewRules {
public:
  explicit ViewRules(Numbers &numbers) : n(numbers) {}

  /// What the result of `op` shows; none if `op` is not a view of these kinds.
  std::optional<View> through(mlir::Operation *op) {
    return llvm::TypeSwitch<mlir::Operation *, std::optional<View>>(op)
        .Case([&](mlir::memref::CastOp cast) { return n.of(cast.getSource()); })
        .Case([&](mlir::memref::SubViewOp view) { return part(view); })
        .Case([&](mlir::memref::ExpandShapeOp view) { return expanded(view); })
        .Case([&](mlir::memref::CollapseShapeOp view) { return collapsed(view); })
        .Case([&](mlir::memref::ReinterpretCastOp view) { return reinterpreted(view); })
        .Default([](mlir::Operation *) { return std::nullopt; });
  }

private:
  /// The same memory from the same offset on, without axes.
  static View startOf(const View &from) {
    View to = from;
    to.sizes.clear(), to.strides.clear();
    return to;
  }

  View part(mlir::memref::SubViewOp op) {
    View from = n.of(op.getSource()), to = startOf(from);
    llvm::SmallBitVector dropped = op.getDroppedDims();
    for (auto [axis, offset, size, stride] :
         llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
      n.advance(to, offset, from.strides[axis]);
      if (dropped[axis])
        continue;
      to.sizes.push_back(n.number(size));
      to.strides.push_back(n.times(n.number(stride), from.strides[axis]));
    }
    return to;
  }

  View expanded(mlir::memref::ExpandShapeOp op) {
    View from = n.of(op.getSrc()), to = startOf(from);
    llvm::SmallVector<mlir::OpFoldResult> shape = op.getMixedOutputShape();
    to.sizes.resize(shape.size()), to.strides.resize(shape.size());
    for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
      auto stride = from.strides[axis];
      for (int64_t i : llvm::reverse(group)) {
        to.sizes[i] = n.number(shape[i]);
        to.strides[i] = stride;
        stride = n.times(stride, to.sizes[i]);
      }
    }
    return to;
  }

  View collapsed(mlir::memref::CollapseShapeOp op) {
    View from = n.of(op.getSrc()), to = startOf(from);
    mlir::OpFoldResult one = mlir::Builder(op.getContext()).getIndexAttr(1);
    for (const mlir::ReassociationIndices &group : op.getReassociationIndices()) {
      auto size = n.number(one), stride = n.number(one);
      bool found = false;
      for (int64_t i : llvm::reverse(group)) {
        size = n.times(size, from.sizes[i]);
        // An axis of size 1 may have any stride: the innermost other one counts.
        if (!found && !n.isOne(from.sizes[i])) {
          stride = from.strides[i];
          found = true;
        }
      }
      to.sizes.push_back(size);
      to.strides.push_back(stride);
    }
    return to;
  }

  View reinterpreted(mlir::memref::ReinterpretCastOp op) {
    View to = startOf(n.of(op.getSource()));
    // The offset counts from the start of the memory, whatever view of it the source is.
    n.restart(to, op.getMixedOffsets().front());
    for (auto [size, stride] : llvm::zip_equal(op.getMixedSizes(), op.getMixedStrides())) {
      to.sizes.push_back(n.number(size));
      to.strides.push_back(n.number(stride));
    }
    return to;
  }

  Numbers &n;
};

} // namespace xtensor

#endif // XTENSOR_PASSES_STRIDES_H
