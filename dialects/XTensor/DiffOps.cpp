// Verifiers, result types and folds of the derivative ops.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

static LogicalResult checkArguments(Operation *op, Block &body, TypeRange types) {
  if (TypeRange(body.getArgumentTypes()) != types)
    return op->emitOpError() << "the body's arguments have types (" << body.getArgumentTypes()
                             << "), expected (" << types << ")";
  return checkBody(op, "the body", body);
}

static LogicalResult checkWrt(Operation *op, OperandRange args, ArrayRef<int64_t> wrt) {
  SmallVector<bool> seen(args.size());
  for (int64_t i : wrt) {
    if (i < 0 || i >= static_cast<int64_t>(args.size()))
      return op->emitOpError() << "wrt names argument " << i << " of " << args.size();
    if (std::exchange(seen[i], true))
      return op->emitOpError() << "wrt names argument " << i << " twice";
    if (!isFloat(args[i]))
      return op->emitOpError() << Fault::DType << "argument " << i << " has element type "
                               << arrayType(args[i]).getElementType()
                               << "; only floats have derivatives";
  }
  return success();
}

static SmallVector<Type> floatTypes(ValueRange values) {
  SmallVector<Type> types;
  for (Value v : values)
    if (isFloat(v))
      types.push_back(v.getType());
  return types;
}

static SmallVector<Type> typesAt(OperandRange args, ArrayRef<int64_t> wrt) {
  return llvm::map_to_vector(wrt, [&](int64_t i) { return args[i].getType(); });
}

LogicalResult PullbackOp::verify() {
  Block &body = *getBody();
  if (failed(checkArguments(*this, body, getArgs().getTypes())) ||
      failed(checkWrt(*this, getArgs(), getWrt())))
    return failure();
  OperandRange yielded = body.back().getOperands();
  if (yielded.getTypes() != getResults().getTypes())
    return emitOpError() << "the body yields (" << yielded.getTypes() << "), the results are ("
                         << getResults().getTypes() << ")";
  auto map = FunctionType::get(getContext(), floatTypes(yielded), typesAt(getArgs(), getWrt()));
  if (getBack().getType().getMap() != map)
    return emitOpError() << "the handle must be " << LinearType::get(getContext(), map);
  return success();
}

LogicalResult PushforwardOp::verify() {
  Block &body = *getBody();
  if (failed(checkArguments(*this, body, getArgs().getTypes())) ||
      failed(checkWrt(*this, getArgs(), getWrt())))
    return failure();
  if (TypeRange(getTangents().getTypes()) != TypeRange(typesAt(getArgs(), getWrt())))
    return emitOpError() << "tangents have types (" << getTangents().getTypes()
                         << "), those of the arguments wrt are (" << typesAt(getArgs(), getWrt())
                         << ")";
  OperandRange yielded = body.back().getOperands();
  SmallVector<Type> expected(yielded.getTypes());
  llvm::append_range(expected, floatTypes(yielded));
  if (TypeRange(getResults().getTypes()) != TypeRange(expected))
    return emitOpError() << "the results are (" << getResults().getTypes() << "), expected ("
                         << expected << ")";
  return success();
}

SmallVector<Value> LinearOp::getSizesOfInput(unsigned i) {
  FunctionType map = getMap().getType().getMap();
  auto count = [&](unsigned k) { return dynamicDims(cast<ArrayType>(map.getInput(k))).size(); };
  size_t first = 0;
  for (unsigned k = 0; k < i; ++k)
    first += count(k);
  return llvm::to_vector(ValueRange(getSizes()).slice(first, count(i)));
}

LogicalResult LinearOp::verify() {
  Block &body = *getBody();
  FunctionType map = getMap().getType().getMap();
  if (failed(checkArguments(*this, body, map.getInputs())))
    return failure();
  if (body.back().getOperandTypes() != TypeRange(map.getResults()))
    return emitOpError() << "the body yields (" << body.back().getOperandTypes()
                         << "), the map gives (" << map.getResults() << ")";
  size_t needed = 0;
  for (TypeRange side : {TypeRange(map.getInputs()), TypeRange(map.getResults())})
    for (Type type : side)
      needed += dynamicDims(cast<ArrayType>(type)).size();
  if (getSizes().size() != needed)
    return emitOpError() << Fault::Dimension << "expected " << needed
                         << " sizes, one per dynamic dim, got " << getSizes().size();
  return success();
}

LogicalResult TransposedOp::inferReturnTypes(MLIRContext *context, MaybeLoc loc, Adaptor adaptor,
                                             Types &types) {
  auto type = dyn_cast<LinearType>(adaptor.getMap().getType());
  if (!type)
    return emitOptionalError(loc, "transposed: the operand must be a linear map");
  FunctionType map = type.getMap();
  types.push_back(
      LinearType::get(context, FunctionType::get(context, map.getResults(), map.getInputs())));
  return success();
}

OpFoldResult TransposedOp::fold(FoldAdaptor) {
  if (auto inner = getMap().getDefiningOp<TransposedOp>())
    return inner.getMap();
  return {};
}

LogicalResult ApplyOp::verify() {
  FunctionType map = getMap().getType().getMap();
  if (getArgs().getTypes() != TypeRange(map.getInputs()))
    return emitOpError() << "the map takes (" << map.getInputs() << "), got ("
                         << getArgs().getTypes() << ")";
  if (getResults().getTypes() != TypeRange(map.getResults()))
    return emitOpError() << "the map gives (" << map.getResults() << "), the results are ("
                         << getResults().getTypes() << ")";
  return success();
}

OpFoldResult SizedOp::fold(FoldAdaptor) {
  // Inside of linear code the transpose still needs the sizes.
  if ((*this)->getParentOfType<LinearOp>())
    return {};
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}
