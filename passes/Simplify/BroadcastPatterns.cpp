#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// mul (broadcast %a), %b ==> mul %a, %b, wherever the result's dims and their order stay.
struct ImpliedBroadcast : OpTraitRewritePattern<trait::Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() < 2)
      return failure();
    auto type = cast<ArrayType>(op->getResult(0).getType());
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      if (!broadcast)
        continue;
      SmallVector<Value> values(op->getOperands());
      values[operand.getOperandNumber()] = broadcast.getX();
      if (dims(op, values) == type.getDimNames()) {
        rewriter.modifyOpInPlace(op, [&] { op->setOperands(values); });
        return success();
      }
      if (!op->hasTrait<OpTrait::IsCommutative>())
        continue;
      std::swap(values[0], values[1]);
      if (dims(op, values) == type.getDimNames()) {
        rewriter.modifyOpInPlace(op, [&] { op->setOperands(values); });
        return success();
      }
    }
    return failure();
  }

  /// The names of the result's dims, were these the operands.
  static SmallVector<StringAttr> dims(Operation *op, ArrayRef<Value> values) {
    SmallVector<ArrayType> types = llvm::map_to_vector(values, arrayType);
    ArrayType all = unionOf(types, types[0].getElementType());
    return all ? SmallVector<StringAttr>(all.getDimNames()) : SmallVector<StringAttr>();
  }
};

/// The sum of what was broadcast over the same dims is a multiple.
struct SumOfBroadcast : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getX().getDefiningOp<BroadcastOp>();
    if (!broadcast || op.getKind() != ReduceKind::sum)
      return failure();
    ArrayType from = arrayType(broadcast.getX()), to = broadcast.getType();
    Type element = to.getElementType();
    int64_t count = 1;
    SmallVector<Attribute> summed;
    for (Attribute dim : op.getDims()) {
      if (from.hasDim(dim))
        summed.push_back(dim);
      else if (to.isDynamic(dim) || llvm::MulOverflow(count, to.getSize(dim), count))
        return failure();
    }
    if (count == 0) // a sum of nothing is 0, and 0 times an infinity is not
      return failure();
    // A count that the element type cannot hold would overflow where the sum does not.
    int64_t largest =
        isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 32 ? 1 << 24 : 127;
    if (count > largest || summed.size() == op.getDims().size())
      return failure();
    Location loc = op.getLoc();
    Value x = broadcast.getX();
    if (!summed.empty())
      x = ReduceOp::create(rewriter, loc, ReduceKind::sum, x, rewriter.getArrayAttr(summed));
    x = MulOp::create(rewriter, loc, x, scalar(rewriter, loc, element, static_cast<double>(count)));
    SmallVector<Value> sizes; // of the new dims that are not summed over
    unsigned next = 0;
    for (StringAttr name : dynamicDims(to))
      if (!from.hasDim(name))
        sizes.push_back(broadcast.getSizes()[next++]);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), x, sizes);
    return success();
  }
};

} // namespace

void xtensor::addBroadcastPatterns(RewritePatternSet &patterns) {
  patterns.add<ImpliedBroadcast, SumOfBroadcast>(patterns.getContext());
}
