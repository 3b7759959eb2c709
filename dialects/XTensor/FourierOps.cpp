// The result type and the folds of Fourier transforms.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

LogicalResult FourierOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "fourier: the operand must be an array");
  ArrayAttr dims = adaptor.getDims();
  StringAttr pair = adaptor.getPairAttr();
  if (dims.empty() || llvm::is_contained(dims.getValue(), pair))
    return emitOptionalError(loc, Fault::Dimension,
                             "fourier: expected dims to transform along, and ", pair,
                             " is none of them");
  if (failed(checkDims("fourier", loc, type, dims.getValue())))
    return failure();
  for (Attribute dim : dims)
    if (type.getSize(dim) == 0)
      return emitOptionalError(loc, Fault::Size, "fourier: dim ", dim,
                               " has size 0; a transform needs at least one element");
  bool isReal = adaptor.getKind() == FourierKind::real;
  bool isHermitian = adaptor.getKind() == FourierKind::hermitian;
  if (type.hasDim(pair) == isReal || (!isReal && type.getSize(pair) != 2))
    return emitOptionalError(loc, "fourier: expected ", isReal ? "no dim " : "two elements along ",
                             pair, "; the array has (", describeDims(type), ")");
  if (adaptor.getSize().has_value() != isHermitian)
    return emitOptionalError(loc, "fourier: only hermitian takes a size, and needs one");
  Attribute last = dims[dims.size() - 1];
  SmallVector<StringAttr> names(type.getDimNames());
  SmallVector<int64_t> shape(type.getShape());
  if (isReal || isHermitian) {
    int64_t &size = shape[type.find(last)];
    if (type.isDynamic(last))
      return emitOptionalError(loc, Fault::Dimension, "fourier: dim ", last,
                               " has a dynamic size; a transform from or to real numbers needs a "
                               "static one");
    int64_t n = isReal ? size : *adaptor.getSize();
    if (isHermitian && (n < 1 || n / 2 + 1 != size))
      return emitOptionalError(loc, Fault::Size, "fourier: ", n, " real numbers along ", last,
                               " come from ", n / 2 + 1, " complex ones, not from ", size);
    size = isReal ? n / 2 + 1 : n;
  }
  if (isReal) {
    names.push_back(pair);
    shape.push_back(2);
  } else if (isHermitian) {
    int64_t at = type.find(pair);
    names.erase(names.begin() + at);
    shape.erase(shape.begin() + at);
  }
  types.push_back(ArrayType::get(type.getContext(), names, shape, type.getElementType()));
  return success();
}

OpFoldResult FourierOp::fold(FoldAdaptor) {
  ArrayType type = getX().getType();
  bool isComplex = getKind() == FourierKind::forward || getKind() == FourierKind::backward;
  bool isOne =
      llvm::all_of(getDims().getValue(), [&](Attribute dim) { return type.getSize(dim) == 1; });
  return isComplex && isOne && getScale().isExactlyValue(1) ? OpFoldResult(getX()) : OpFoldResult();
}
