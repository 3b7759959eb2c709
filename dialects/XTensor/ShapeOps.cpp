// Result types, verifiers and folds of constants and of the ops that change names, sizes or
// order of dims.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace xtensor;

/// The operand's array type after checking `dims` against it.
static FailureOr<ArrayType> operandWith(StringRef op, MaybeLoc loc, Value x, ArrayAttr dims) {
  auto type = dyn_cast<ArrayType>(x.getType());
  if (!type)
    return emitOptionalError(loc, op, ": the operand must be an array");
  if (failed(checkDims(op, loc, type, dims.getValue())))
    return failure();
  return type;
}

/// `names` and `shape` as a type, or an error if a name comes twice.
static FailureOr<ArrayType> distinct(StringRef op, MaybeLoc loc, ArrayRef<StringAttr> names,
                                     ArrayRef<int64_t> shape, Type element) {
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (StringAttr name : names)
    if (!seen.insert(name).second)
      return emitOptionalError(loc, Fault::Dimension, op, ": the result would have dim ", name,
                               " twice");
  return ArrayType::get(element.getContext(), names, shape, element);
}

static LogicalResult sameCount(StringRef op, MaybeLoc loc, ArrayAttr dims,
                               ArrayRef<ArrayRef<int64_t>> lists) {
  for (ArrayRef<int64_t> list : lists)
    if (list.size() != dims.size())
      return emitOptionalError(loc, Fault::Dimension, op, ": ", list.size(), " amounts for ",
                               dims.size(), " dims");
  return success();
}

/// A dim whose size is `?` has one size in the whole function, so it must not change.
static LogicalResult checkStatic(StringRef op, MaybeLoc loc, ArrayType type, Attribute dim) {
  if (!type.isDynamic(dim))
    return success();
  return emitOptionalError(loc, Fault::Dimension, op, ": dim ", dim,
                           " has a dynamic size, which cannot change inside a function");
}

//===- constant, iota, size ------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  ArrayType type = getType();
  if (value.getElementType() != type.getElementType() || value.getShape() != type.getShape())
    return emitOpError() << "value of type " << value << " for an array of type " << type;
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  ArrayType type = getType();
  if (type.getRank() != 1)
    return emitOpError() << Fault::Dimension << "result must have one dim, has " << type.getRank();
  bool dynamic = type.getShape()[0] == ArrayType::kDynamic;
  if (dynamic != static_cast<bool>(getSize()))
    return emitOpError() << Fault::Dimension
                         << (dynamic ? "a dynamic dim needs a size" : "a static dim takes no size");
  return success();
}

LogicalResult SizeOp::inferReturnTypes(MLIRContext *context, MaybeLoc loc, Adaptor adaptor,
                                       Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "size: the operand must be an array");
  if (failed(checkDims("size", loc, type, {adaptor.getDimAttr()})))
    return failure();
  types.push_back(ArrayType::get(context, {}, {}, IntegerType::get(context, 64)));
  return success();
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  ArrayType type = arrayType(getX());
  if (type.isDynamic(getDimAttr()))
    return {};
  Builder b(getContext());
  return DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()),
                                b.getI64IntegerAttr(type.getSize(getDimAttr())).getValue());
}

//===- names and order -----------------------------------------------------===//

LogicalResult RenameOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  auto type = operandWith("rename", loc, adaptor.getX(), adaptor.getFrom());
  if (failed(type))
    return failure();
  if (adaptor.getFrom().size() != adaptor.getTo().size())
    return emitOptionalError(loc, Fault::Dimension, "rename: ", adaptor.getTo().size(),
                             " new names for ", adaptor.getFrom().size(), " dims");
  SmallVector<StringAttr> names(type->getDimNames());
  for (auto [from, to] : llvm::zip_equal(adaptor.getFrom(), adaptor.getTo()))
    names[type->find(from)] = cast<StringAttr>(to);
  auto result = distinct("rename", loc, names, type->getShape(), type->getElementType());
  if (failed(result))
    return failure();
  types.push_back(*result);
  return success();
}

OpFoldResult RenameOp::fold(FoldAdaptor) {
  return getFrom() == getTo() ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult BroadcastOp::verify() {
  ArrayType from = arrayType(getX()), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << Fault::DType << "element types differ: " << from.getElementType()
                         << " and " << to.getElementType();
  for (auto [name, size] : llvm::zip_equal(from.getDimNames(), from.getShape())) {
    if (!to.hasDim(name))
      return emitOpError() << Fault::Dimension << "the result lacks dim " << name
                           << " of the operand";
    if (to.getSize(name) != size)
      return emitOpError() << Fault::Dimension << "dim " << name << " changes its size";
  }
  unsigned needed = llvm::count_if(dynamicDims(to), [&](StringAttr d) { return !from.hasDim(d); });
  if (getSizes().size() != needed)
    return emitOpError() << Fault::Dimension << "expected " << needed
                         << " sizes, one per new dynamic dim, got " << getSizes().size();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<BroadcastOp>();
  if (!inner || !inner.getSizes().empty())
    return {};
  getXMutable().assign(inner.getX());
  return getResult();
}

LogicalResult SqueezeOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  auto type = operandWith("squeeze", loc, adaptor.getX(), adaptor.getDims());
  if (failed(type))
    return failure();
  for (Attribute dim : adaptor.getDims())
    if (type->getSize(dim) != 1)
      return emitOptionalError(
          loc, Fault::Size, "squeeze: dim ", dim, " has size ",
          type->isDynamic(dim) ? std::string("?") : std::to_string(type->getSize(dim)), ", not 1");
  types.push_back(minus(*type, adaptor.getDims().getValue()));
  return success();
}

OpFoldResult SqueezeOp::fold(FoldAdaptor) {
  return getDims().empty() ? OpFoldResult(getX()) : OpFoldResult();
}

//===- selection and extension ---------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                        Types &types) {
  auto type = operandWith("slice", loc, adaptor.getX(), adaptor.getDims());
  if (failed(type) ||
      failed(sameCount("slice", loc, adaptor.getDims(),
                       {adaptor.getOffsets(), adaptor.getSizes(), adaptor.getStrides()})))
    return failure();
  SmallVector<int64_t> shape(type->getShape());
  for (auto [dim, offset, size, stride] : llvm::zip_equal(
           adaptor.getDims(), adaptor.getOffsets(), adaptor.getSizes(), adaptor.getStrides())) {
    if (failed(checkStatic("slice", loc, *type, dim)))
      return failure();
    if (offset < 0 || size < 0 || stride < 1)
      return emitOptionalError(loc, Fault::Size, "slice: along dim ", dim, " offset ", offset,
                               ", size ", size, ", stride ", stride,
                               "; expected an offset and a size of at least 0, a stride of at "
                               "least 1");
    int64_t have = type->getSize(dim);
    // Compared by division: the products of hostile numbers could overflow.
    if (offset > have || (size > 0 && (offset >= have || size - 1 > (have - 1 - offset) / stride)))
      return emitOptionalError(loc, Fault::Size, "slice: along dim ", dim, " ", size,
                               " elements from ", offset, " by ", stride, " do not fit into size ",
                               have);
    shape[type->find(dim)] = size;
  }
  types.push_back(withShape(*type, shape));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool strided = llvm::any_of(getStrides(), [](int64_t s) { return s != 1; });
  return getX().getType() == getType() && !strided ? OpFoldResult(getX()) : OpFoldResult();
}

static LogicalResult tooLarge(StringRef op, MaybeLoc loc, Attribute dim) {
  return emitOptionalError(loc, Fault::Size, op, ": dim ", dim,
                           " would become larger than 2^63 - 1. Give smaller numbers");
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  auto type = operandWith("pad", loc, adaptor.getX(), adaptor.getDims());
  if (failed(type) ||
      failed(sameCount("pad", loc, adaptor.getDims(),
                       {adaptor.getLow(), adaptor.getHigh(), adaptor.getInterior()})))
    return failure();
  auto value = dyn_cast<ArrayType>(adaptor.getValue().getType());
  if (!value || value.getRank() != 0 || value.getElementType() != type->getElementType())
    return emitOptionalError(loc, Fault::Dimension, "pad: the value must be one ",
                             type->getElementType(), " without dims");
  SmallVector<int64_t> shape(type->getShape());
  for (auto [dim, low, high, interior] : llvm::zip_equal(
           adaptor.getDims(), adaptor.getLow(), adaptor.getHigh(), adaptor.getInterior())) {
    if (failed(checkStatic("pad", loc, *type, dim)))
      return failure();
    if (low < 0 || high < 0 || interior < 0)
      return emitOptionalError(loc, Fault::Dimension, "pad: along dim ", dim,
                               " a negative amount: low ", low, ", high ", high, ", interior ",
                               interior);
    int64_t &size = shape[type->find(dim)];
    int64_t between, total;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior, between) ||
        llvm::AddOverflow(size, between, total) || llvm::AddOverflow(total, low, total) ||
        llvm::AddOverflow(total, high, total))
      return tooLarge("pad", loc, dim);
    size = total;
  }
  types.push_back(withShape(*type, shape));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "concat: expected at least one operand");
  auto first = dyn_cast<ArrayType>(adaptor.getInputs()[0].getType());
  StringAttr dim = adaptor.getDimAttr();
  int64_t total = 0;
  SmallVector<ArrayType> others;
  for (Value input : adaptor.getInputs()) {
    auto type = dyn_cast<ArrayType>(input.getType());
    if (!type || type.getElementType() != first.getElementType())
      return emitOptionalError(loc, Fault::DType,
                               "concat: element types differ: ", first.getElementType(), " and ",
                               type.getElementType());
    if (failed(checkDims("concat", loc, type, {dim})) ||
        failed(checkStatic("concat", loc, type, dim)))
      return failure();
    if (type.getRank() != first.getRank() || !lacking(type, first).empty())
      return emitOptionalError(loc, Fault::Dimension,
                               "concat: all operands need the same dims, got (",
                               describeDims(first), ") and (", describeDims(type), ")");
    if (llvm::AddOverflow(total, type.getSize(dim), total))
      return tooLarge("concat", loc, dim);
    others.push_back(minus(type, {dim}));
  }
  if (failed(inferUnion("concat", loc, others, first.getElementType())))
    return failure();
  types.push_back(withSize(first, dim, total));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs()[0]) : OpFoldResult();
}

//===- merging and splitting -----------------------------------------------===//

LogicalResult MergeOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                        Types &types) {
  auto type = operandWith("merge", loc, adaptor.getX(), adaptor.getDims());
  if (failed(type))
    return failure();
  if (adaptor.getDims().empty())
    return emitOptionalError(loc, Fault::Dimension, "merge: expected at least one dim");
  ArrayType kept = minus(*type, adaptor.getDims().getValue());
  SmallVector<StringAttr> names(kept.getDimNames());
  SmallVector<int64_t> shape(kept.getShape());
  int64_t product = 1;
  for (Attribute dim : adaptor.getDims()) {
    if (dim == adaptor.getIntoAttr() && adaptor.getDims().size() > 1 &&
        failed(checkStatic("merge", loc, *type, dim)))
      return failure();
    if (type->isDynamic(dim))
      product = ArrayType::kDynamic;
    else if (product != ArrayType::kDynamic &&
             llvm::MulOverflow(product, type->getSize(dim), product))
      return tooLarge("merge", loc, adaptor.getIntoAttr());
  }
  names.push_back(adaptor.getIntoAttr());
  shape.push_back(product);
  auto result = distinct("merge", loc, names, shape, type->getElementType());
  if (failed(result))
    return failure();
  types.push_back(*result);
  return success();
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                        Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "split: the operand must be an array");
  StringAttr dim = adaptor.getDimAttr();
  if (failed(checkDims("split", loc, type, {dim})) ||
      failed(checkStatic("split", loc, type, dim)) ||
      failed(sameCount("split", loc, adaptor.getInto(), {adaptor.getSizes()})))
    return failure();
  ArrayType kept = minus(type, {dim});
  SmallVector<StringAttr> names(kept.getDimNames());
  SmallVector<int64_t> shape(kept.getShape());
  int64_t product = 1;
  for (auto [name, size] : llvm::zip_equal(adaptor.getInto(), adaptor.getSizes())) {
    if (size < 0 || llvm::MulOverflow(product, size, product))
      return emitOptionalError(loc, Fault::Size, "split: size ", size, " for dim ", name);
    names.push_back(cast<StringAttr>(name));
    shape.push_back(size);
  }
  if (product != type.getSize(dim))
    return emitOptionalError(loc, Fault::Size, "split: the sizes' product is ", product,
                             ", but dim ", dim, " has size ", type.getSize(dim));
  auto result = distinct("split", loc, names, shape, type.getElementType());
  if (failed(result))
    return failure();
  types.push_back(*result);
  return success();
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  auto type = operandWith("reverse", loc, adaptor.getX(), adaptor.getDims());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  if (getDims().empty())
    return getX();
  if (auto inner = getX().getDefiningOp<ReverseOp>(); inner && inner.getDims() == getDims())
    return inner.getX();
  return {};
}
