// Windows are a view: an axis is read at a sum of two loops, and nothing moves. So is their
// transpose, read at a difference, once there are zeros where no window starts.
#include "Combiners.h"
#include "ToLinalg/Lowering.h"

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
  StringAttr dim = op.getDimAttr(), place = op.getFromAttr();
  if (llvm::is_contained(from.getShape(), 0))
    return to.setScalar(op.getY(), to.number(element, 0));

  // The windows at their starts, with zeros before, between and behind.
  int64_t reach = (from.getSize(place) - 1) * static_cast<int64_t>(op.getDilation());
  unsigned axis = from.find(dim);
  SmallVector<int64_t> shape(from.getShape()), offsets(from.getRank(), 0),
      strides(from.getRank(), 1);
  shape[axis] = type.getSize(dim) + reach;
  offsets[axis] = reach;
  strides[axis] = op.getStride();
  auto padded = ArrayType::get(op.getContext(), from.getDimNames(), shape, element);
  Value whole =
      inserted(op.getX(), to.filled(padded, to.number(element, 0)), offsets, strides, from, to);

  // Element t is place w of the window that starts w * dilation before it.
  Names loops(type.getDimNames());
  loops.push_back(place);
  AffineMap access = to.mapTo(loops, padded.getDimNames());
  SmallVector<AffineExpr> exprs(access.getResults());
  exprs[axis] =
      exprs[axis] + reach -
      getAffineDimExpr(loops.size() - 1, op.getContext()) * static_cast<int64_t>(op.getDilation());
  View windows{View::Tensor, whole, AffineMap::get(loops.size(), 0, exprs, op.getContext()),
               element};
  Value zero = to.filled(type.withElement(memory), to.number(memory, 0));
  Value result = to.generic(windows, zero, to.mapTo(loops, type.getDimNames()), /*reductions=*/1,
                            [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                              return SmallVector<Value>{combine(b, loc, ReduceKind::sum, old[0],
                                                                load(b, loc, x[0], element),
                                                                /*isUnsigned=*/false)};
                            })
                     .front();
  if (memory != storageType(element)) {
    View sum{View::Tensor, result, to.b.getMultiDimIdentityMap(type.getRank()), element};
    result = to.elementwise(type, sum, [&](OpBuilder &b, Location loc, ValueRange x) {
      return store(b, loc, x.front(), element);
    });
  }
  to.setTensor(op.getY(), result);
}
