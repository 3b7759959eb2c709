// Windows are a view: an axis is read at a sum of two loops, and nothing moves. Their transpose
// adds one slice per place inside of a window, each a vector operation of its own.
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

void xtensor::lowerWindow(WindowOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> exprs;
  for (unsigned d = 0; d < from.getRank(); ++d)
    exprs.push_back(getAffineDimExpr(d, context));
  AffineExpr &along = exprs[from.find(op.getDimAttr())];
  along = along * static_cast<int64_t>(op.getStride()) +
          getAffineDimExpr(from.getRank(), context) * static_cast<int64_t>(op.getDilation());
  auto access = AffineMap::get(type.getRank(), 0, exprs, context);
  to.set(op.getY(), to.view(op.getX()).at(access));
}

void xtensor::lowerOverlapAdd(OverlapAddOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  Type element = type.getElementType(), memory = computeType(element);
  ArrayType part = minus(from, {op.getFromAttr()});
  if (llvm::is_contained(from.getShape(), 0))
    return to.setScalar(op.getY(), to.number(element, 0));

  Value whole = to.filled(type.withElement(memory), to.number(memory, 0));
  OpBuilder &b = to.b;
  Location loc = to.loc();
  Stored windows = to.stored(op.getX());
  auto loop = scf::ForOp::create(b, loc, to.index(0), to.index(from.getSize(op.getFromAttr())),
                                 to.index(1), whole);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value place = loop.getInductionVar(), sum = loop.getRegionIterArgs().front();
    // All windows, at one place inside.
    SmallVector<OpFoldResult> offsets, sizes, ones(windows.order.size(), b.getIndexAttr(1));
    SmallVector<int64_t> shape;
    Names order;
    for (StringAttr dim : windows.order) {
      bool isPlace = dim == op.getFromAttr();
      offsets.push_back(isPlace ? OpFoldResult(place) : OpFoldResult(b.getIndexAttr(0)));
      sizes.push_back(isPlace ? OpFoldResult(b.getIndexAttr(1)) : to.sizeOf(dim, from));
      if (isPlace)
        continue;
      shape.push_back(from.getSize(dim));
      order.push_back(dim);
    }
    Value slice =
        tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, storageType(element)),
                                       windows.tensor, offsets, sizes, ones);
    // Where they lie.
    SmallVector<OpFoldResult> starts, lengths, steps;
    for (StringAttr dim : type.getDimNames()) {
      bool isAlong = dim == op.getDimAttr();
      Value start = arith::MulIOp::create(b, loc, place, to.index(op.getDilation()));
      starts.push_back(isAlong ? OpFoldResult(start) : OpFoldResult(b.getIndexAttr(0)));
      lengths.push_back(to.sizeOf(dim, part));
      steps.push_back(b.getIndexAttr(isAlong ? op.getStride() : 1));
    }
    auto partType = RankedTensorType::get(part.getShape(), memory);
    Value old = tensor::ExtractSliceOp::create(b, loc, partType, sum, starts, lengths, steps);
    View input{View::Tensor, slice, to.mapTo(part.getDimNames(), order), element};
    Value added =
        to.generic(input, old, b.getMultiDimIdentityMap(part.getRank()), /*reductions=*/0,
                   [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                     return SmallVector<Value>{combine(b, loc, ReduceKind::sum, old[0],
                                                       load(b, loc, x[0], element), false)};
                   })
            .front();
    Value next =
        tensor::InsertSliceOp::create(b, loc, added, sum, starts, lengths, steps).getResult();
    scf::YieldOp::create(b, loc, next);
  }
  Value result = loop.getResult(0);
  if (memory != storageType(element)) {
    View sum{View::Tensor, result, b.getMultiDimIdentityMap(type.getRank()), element};
    result = to.elementwise(type, sum, [&](OpBuilder &b, Location loc, ValueRange x) {
      return store(b, loc, x.front(), element);
    });
  }
  to.setTensor(op.getY(), result);
}
