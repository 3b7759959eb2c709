// A Fourier transform is a routine of the runtime, which sees the dims that are transformed as its
// last axes, and the pairs of complex numbers behind them. A transform of real numbers takes half
// of the steps; the other half of the result mirrors the first one.
#include "ToLinalg/Lowering.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace xtensor;

/// The number of the kind that the runtime adds: all numbers of a forward transform of real ones.
static constexpr int64_t kWhole = 4;

/// The real parts of a complex array whose imaginary parts are all zero; null if that is not known.
static Value realPart(Value x, StringAttr pair) {
  ArrayType type = arrayType(x);
  while (auto same = x.getDefiningOp<BroadcastOp>()) {
    if (arrayType(same.getX()).getRank() != type.getRank())
      return {};
    x = same.getX();
  }
  auto select = x.getDefiningOp<SelectOp>();
  DenseElementsAttr isReal, zero;
  if (!select || !matchPattern(select.getCondition(), m_Constant(&isReal)) ||
      !matchPattern(select.getRhs(), m_Constant(&zero)) || !zero.isSplat() ||
      !zero.getSplatValue<APFloat>().isPosZero() || isReal.isSplat() ||
      isReal.getNumElements() != 2 || !*isReal.getValues<bool>().begin())
    return {};
  Value real = select.getLhs();
  bool hasAll = arrayType(real).getRank() + 1 == type.getRank() && !arrayType(real).hasDim(pair);
  return hasAll ? real : Value();
}

void xtensor::lowerFourier(FourierOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Value real =
      op.getKind() == FourierKind::forward ? realPart(op.getX(), op.getPairAttr()) : Value();
  bool fromReal = real || op.getKind() == FourierKind::real;
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
  Stored x = to.stored(real ? real : op.getX());
  if (!fromReal && x.order.back() != op.getPairAttr()) {
    x.order.assign(batch);
    llvm::append_range(x.order, along);
    x.order.push_back(op.getPairAttr());
    x.tensor = to.packed(op.getX(), x.order);
  }
  ArrayAttr axes = to.b.getArrayAttr(
      {seen(x.order, !fromReal), seen(type.getDimNames(), op.getKind() != FourierKind::hermitian)});
  int64_t options[] = {real ? kWhole : int64_t(op.getKind()), int64_t(along.size()),
                       llvm::bit_cast<int64_t>(op.getScale().convertToDouble())};
  auto call =
      LibraryOp::create(to.b, to.loc(), "xt_fourier", x.tensor, to.empty(type), axes, options);
  to.setTensor(op.getY(), call.getResult(0));
}
