#include "ToLinalg/TypeConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor;

Type xtensor::storageType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return element;
  return IntegerType::get(element.getContext(), std::max(8u, integer.getWidth()));
}

Type xtensor::computeType(Type element) {
  if (isHalf(element))
    return Float32Type::get(element.getContext());
  if (element.isInteger(1))
    return element;
  return storageType(element);
}

RankedTensorType xtensor::tensorType(ArrayType type) {
  return RankedTensorType::get(type.getShape(), storageType(type.getElementType()));
}

Type xtensor::convertType(Type type) {
  if (auto array = dyn_cast<ArrayType>(type))
    return tensorType(array);
  return type;
}

SmallVector<Type> xtensor::convertTypes(TypeRange types) {
  return llvm::map_to_vector(types, convertType);
}

Value xtensor::load(OpBuilder &b, Location loc, Value stored, Type element) {
  Type type = computeType(element);
  if (stored.getType() == type)
    return stored;
  if (isHalf(element))
    return b.createOrFold<arith::ExtFOp>(loc, type, stored);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored.getType()));
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, stored, zero);
}

Value xtensor::store(OpBuilder &b, Location loc, Value value, Type element) {
  Type type = storageType(element);
  if (value.getType() == type)
    return value;
  if (isHalf(element))
    return b.createOrFold<arith::TruncFOp>(loc, type, value);
  return b.createOrFold<arith::ExtUIOp>(loc, type, value);
}

Value xtensor::toI64(OpBuilder &b, Location loc, Value stored, Type element) {
  if (stored.getType().isInteger(64))
    return stored;
  if (isUnsigned(element))
    return b.createOrFold<arith::ExtUIOp>(loc, b.getI64Type(), stored);
  return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), stored);
}

void xtensor::convertSignature(func::FuncOp func) {
  FunctionType type = func.getFunctionType();
  auto name = StringAttr::get(func.getContext(), "xtensor.type");
  auto writable = StringAttr::get(func.getContext(), "bufferization.writable");
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    if (isa<ArrayType>(input)) {
      func.setArgAttr(i, name, TypeAttr::get(input));
      // What the caller passes stays as it is: an update in place works on a copy.
      func.setArgAttr(i, writable, BoolAttr::get(func.getContext(), false));
    }
  for (auto [i, result] : llvm::enumerate(type.getResults()))
    if (isa<ArrayType>(result))
      func.setResultAttr(i, name, TypeAttr::get(result));
  SmallVector<Type> inputs = convertTypes(type.getInputs());
  func.setFunctionType(
      FunctionType::get(func.getContext(), inputs, convertTypes(type.getResults())));
  if (func.isExternal())
    return;
  Block &body = func.getBody().front();
  SmallVector<Location> locs =
      llvm::map_to_vector(body.getArguments(), [](BlockArgument a) { return a.getLoc(); });
  for (auto [i, input, loc] : llvm::enumerate(inputs, locs))
    body.insertArgument(i, input, loc);
}

void xtensor::dropOldArguments(func::FuncOp func) {
  Block &body = func.getBody().front();
  unsigned count = func.getFunctionType().getNumInputs();
  body.eraseArguments(count, body.getNumArguments() - count);
}
