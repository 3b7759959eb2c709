// A Fourier transform is a routine of the runtime, which sees the dims that are transformed as its
// last axes, and the pairs of complex numbers behind them.
#include "ToLinalg/Lowering.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace xtensor;

void xtensor::lowerFourier(FourierOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Stored x = to.stored(op.getX());
  Names batch, along(op.getDims().getAsRange<StringAttr>());
  for (StringAttr dim : type.getDimNames())
    if (dim != op.getPairAttr() && !llvm::is_contained(along, dim))
      batch.push_back(dim);
  auto seen = [&](ArrayRef<StringAttr> order, bool isComplex) {
    Names dims(batch);
    llvm::append_range(dims, along);
    if (isComplex)
      dims.push_back(op.getPairAttr());
    return to.axes(order, dims);
  };
  FourierKind kind = op.getKind();
  ArrayAttr axes = to.b.getArrayAttr({seen(x.order, kind != FourierKind::real),
                                      seen(type.getDimNames(), kind != FourierKind::hermitian)});
  int64_t options[] = {int64_t(kind), int64_t(along.size()),
                       llvm::bit_cast<int64_t>(op.getScale().convertToDouble())};
  auto call =
      LibraryOp::create(to.b, to.loc(), "xt_fourier", x.tensor, to.empty(type), axes, options);
  to.setTensor(op.getY(), call.getResult(0));
}
