// Scatter: loops over the index elements that carry the target along. The dims no index array has
// are added as one slice, so that each step is a vector operation. Steps run one after another:
// updates at one position accumulate in index order, the same in every run.
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

namespace {

class ScatterLoops {
public:
  ScatterLoops(ScatterOp op, Lowering &to)
      : op(op), to(to), target(arrayType(op.getTarget())), element(target.getElementType()),
        memory(computeType(element)) {
    SmallVector<Attribute> along(op.getAlong().begin(), op.getAlong().end());
    auto types = llvm::map_to_vector(op.getIndices(), [](Value v) { return arrayType(v); });
    indices = unionOf(types, element);
    for (StringAttr dim : minus(target, along).getDimNames())
      if (!indices.hasDim(dim))
        sliced.push_back(dim);
  }

  Value run() {
    for (auto [index, dim] : llvm::zip_equal(op.getIndices(), op.getAlong())) {
      auto along = cast<StringAttr>(dim);
      if (op.getMode() == IndexMode::raise)
        checkIndex(index, along, target, to);
      sizes.push_back(to.b.createOrFold<arith::IndexCastOp>(to.loc(), to.b.getI64Type(),
                                                            to.sizeValue(along, target)));
    }
    // Half precision accumulates in f32.
    View start = to.view(op.getTarget());
    Value carried;
    if (start.kind == View::Scalar)
      carried = to.filled(target.withElement(memory), load(to.b, to.loc(), start.source, element));
    else
      carried = isHalf(element) ? to.packed(op.getTarget(), target.getDimNames(), memory)
                                : to.tensor(op.getTarget());
    if (!sliced.empty() && to.view(op.getUpdates()).kind != View::Scalar)
      updates = to.stored(op.getUpdates());
    Value result = loop(0, carried);
    if (!isHalf(element))
      return result;
    View sum{View::Tensor, result, to.b.getMultiDimIdentityMap(target.getRank()), element};
    return to.elementwise(target, sum, [&](OpBuilder &b, Location loc, ValueRange x) {
      return store(b, loc, x.front(), element);
    });
  }

private:
  /// Loops over the dims of the index arrays from the `depth`th on.
  Value loop(unsigned depth, Value carried) {
    if (depth == indices.getRank())
      return step(carried);
    OpBuilder &b = to.b;
    Value end = to.sizeValue(indices.getDimNames()[depth], indices);
    if (depth == 0)
      for (auto [size, dim] : llvm::zip_equal(sizes, op.getAlong()))
        if (target.isDynamic(dim)) {
          // Nothing fits into an empty target.
          Value zero = to.constant(b.getI64IntegerAttr(0));
          Value isEmpty = arith::CmpIOp::create(b, to.loc(), arith::CmpIPredicate::eq, size, zero);
          end = arith::SelectOp::create(b, to.loc(), isEmpty, to.index(0), end);
        }
    auto loop = scf::ForOp::create(b, to.loc(), to.index(0), end, to.index(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    position.push_back(loop.getInductionVar());
    Value next = this->loop(depth + 1, loop.getRegionIterArgs().front());
    position.pop_back();
    scf::YieldOp::create(b, to.loc(), next);
    return loop.getResult(0);
  }

  /// Adds one update; where it is dropped, what changes nothing.
  Value sum(OpBuilder &b, Location loc, Value old, Value update, Value inside) const {
    if (isa<FloatType>(memory)) {
      Value none = arith::ConstantOp::create(b, loc, b.getFloatAttr(memory, -0.0));
      update = inside ? arith::SelectOp::create(b, loc, inside, update, none) : update;
      return arith::AddFOp::create(b, loc, old, update);
    }
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(memory));
    update = inside ? arith::SelectOp::create(b, loc, inside, update, none) : update;
    return arith::AddIOp::create(b, loc, old, update);
  }

  Value step(Value carried) {
    OpBuilder &b = to.b;
    Location loc = to.loc();
    Value inside;
    SmallVector<Value> along;
    for (auto [index, size] : llvm::zip_equal(op.getIndices(), sizes)) {
      Type type = arrayType(index).getElementType();
      View view = to.access(index, indices.getDimNames());
      Value written = Lowering::elementAt(b, loc, view, position);
      Value counted = fromEnd(b, loc, toI64(b, loc, written, type), size, type);
      along.push_back(clampedIndex(b, loc, counted, size));
      if (op.getMode() == IndexMode::drop) {
        Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, counted, size);
        inside = inside ? arith::AndIOp::create(b, loc, inside, fits) : fits;
      }
    }
    SmallVector<Value> at;
    for (StringAttr dim : target.getDimNames()) {
      unsigned i = llvm::find(op.getAlong(), dim) - op.getAlong().begin();
      if (i < op.getAlong().size())
        at.push_back(along[i]);
      else
        at.push_back(indices.hasDim(dim) ? position[indices.find(dim)] : to.index(0));
    }
    return sliced.empty() ? addNumber(carried, at, inside) : addSlice(carried, at, inside);
  }

  Value addNumber(Value carried, ValueRange at, Value inside) {
    OpBuilder &b = to.b;
    Location loc = to.loc();
    View view = to.access(op.getUpdates(), indices.getDimNames());
    Value update = load(b, loc, Lowering::elementAt(b, loc, view, position), element);
    Value old = tensor::ExtractOp::create(b, loc, carried, at);
    return tensor::InsertOp::create(b, loc, sum(b, loc, old, update, inside), carried, at);
  }

  /// The axes of `order` that are sliced dims whole, the others at one place.
  struct Box {
    SmallVector<OpFoldResult> offsets, lengths, strides;
    SmallVector<int64_t> shape;
    Names dims;
  };
  Box box(ArrayRef<StringAttr> order, ArrayType type,
          llvm::function_ref<Value(unsigned, StringAttr)> place) {
    Box result;
    for (auto [axis, dim] : llvm::enumerate(order)) {
      bool whole = llvm::is_contained(sliced, dim);
      result.offsets.push_back(whole ? OpFoldResult(to.b.getIndexAttr(0))
                                     : OpFoldResult(place(axis, dim)));
      result.lengths.push_back(whole ? to.sizeOf(dim, type) : OpFoldResult(to.b.getIndexAttr(1)));
      result.strides.push_back(to.b.getIndexAttr(1));
      if (whole) {
        result.shape.push_back(type.getSize(dim));
        result.dims.push_back(dim);
      }
    }
    return result;
  }
  Value extract(Value tensor, const Box &box) {
    auto type =
        RankedTensorType::get(box.shape, cast<RankedTensorType>(tensor.getType()).getElementType());
    return tensor::ExtractSliceOp::create(to.b, to.loc(), type, tensor, box.offsets, box.lengths,
                                          box.strides);
  }

  Value addSlice(Value carried, ArrayRef<Value> at, Value inside) {
    OpBuilder &b = to.b;
    Location loc = to.loc();
    Box place =
        box(target.getDimNames(), target, [&](unsigned axis, StringAttr) { return at[axis]; });
    View update = to.view(op.getUpdates());
    if (update.kind != View::Scalar) {
      Box part = box(updates.order, arrayType(op.getUpdates()),
                     [&](unsigned, StringAttr dim) { return position[indices.find(dim)]; });
      update = {View::Tensor, extract(updates.tensor, part), to.mapTo(sliced, part.dims), element};
    } else {
      update.map = AffineMap::get(sliced.size(), 0, b.getContext());
    }
    Value old = extract(carried, place);
    Value row = to.generic(update, old, b.getMultiDimIdentityMap(sliced.size()), /*reductions=*/0,
                           [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                             Value value = load(b, loc, x.front(), element);
                             return SmallVector<Value>{sum(b, loc, old.front(), value, inside)};
                           })
                    .front();
    return tensor::InsertSliceOp::create(b, loc, row, carried, place.offsets, place.lengths,
                                         place.strides);
  }

  ScatterOp op;
  Lowering &to;
  ArrayType target;
  Type element, memory;
  ArrayType indices; // the loops
  Names sliced;
  Stored updates;
  SmallVector<Value> sizes, position;
};

} // namespace

void xtensor::lowerScatter(ScatterOp op, Lowering &to) {
  ArrayType target = arrayType(op.getTarget());
  // Nothing fits into an empty target.
  if (llvm::is_contained(target.getShape(), 0))
    return to.set(op.getY(), to.view(op.getTarget()));
  to.setTensor(op.getY(), ScatterLoops(op, to).run());
}
