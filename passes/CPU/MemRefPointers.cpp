#include "CPU/MemRefPointers.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

/// Calls `f(isStride, position)` for every field that `type` leaves open; -1: the offset.
template <typename F>
static void forEachOpenField(MemRefType type, F f) {
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      f(false, d);
  if (type.getLayout().isIdentity())
    return;
  auto [strides, offset] = type.getStridesAndOffset();
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (ShapedType::isDynamic(strides[d]))
      f(true, d);
  if (ShapedType::isDynamic(offset))
    f(true, -1);
}

SmallVector<Value> xtensor::cpu::takeApart(OpBuilder &b, Location loc,
                                           const LLVMTypeConverter &types, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value whole =
      UnrealizedConversionCastOp::create(b, loc, types.convertType(type), memref).getResult(0);
  MemRefDescriptor descriptor(whole);
  SmallVector<Value> parts = {descriptor.alignedPtr(b, loc)};
  forEachOpenField(type, [&](bool stride, int64_t d) {
    parts.push_back(!stride ? descriptor.size(b, loc, d)
                    : d < 0 ? descriptor.offset(b, loc)
                            : descriptor.stride(b, loc, d));
  });
  return parts;
}

Value xtensor::cpu::memrefFrom(OpBuilder &b, Location loc, const LLVMTypeConverter &types,
                               MemRefType type, ValueRange parts) {
  auto descriptor = MemRefDescriptor::poison(b, loc, types.convertType(type));
  descriptor.setAllocatedPtr(b, loc, parts[0]);
  descriptor.setAlignedPtr(b, loc, parts[0]);
  SmallVector<Value> sizes(type.getRank()), strides(type.getRank());
  Value offset;
  unsigned next = 1;
  forEachOpenField(type, [&](bool stride, int64_t d) {
    (!stride ? sizes[d] : d < 0 ? offset : strides[d]) = parts[next++];
  });
  auto constant = [&](int64_t v) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(v));
  };
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  descriptor.setOffset(b, loc, offset ? offset : constant(staticOffset));
  Value running = constant(1);
  for (int64_t d = type.getRank(); d-- > 0;) {
    if (!sizes[d])
      sizes[d] = constant(type.getDimSize(d));
    if (!strides[d])
      strides[d] = ShapedType::isDynamic(staticStrides[d]) ? running : constant(staticStrides[d]);
    descriptor.setSize(b, loc, d, sizes[d]);
    descriptor.setStride(b, loc, d, strides[d]);
    if (d && !type.hasStaticShape())
      running = LLVM::MulOp::create(b, loc, strides[d], sizes[d]);
  }
  Value whole = descriptor;
  return UnrealizedConversionCastOp::create(b, loc, type, whole).getResult(0);
}

/// Lane numbers and what is worked out from them by integers: making them again costs less than
/// passing whole registers.
static bool isMadeAgain(Value v) {
  Operation *op = v.getDefiningOp();
  auto type = dyn_cast<VectorType>(v.getType());
  return op && type && type.getElementType().isIndex() && !op->getNumRegions() && isPure(op);
}

xtensor::cpu::Capture::Capture(OpBuilder &b, Location loc, const LLVMTypeConverter &types,
                               ValueRange captured)
    : loc(loc), types(types) {
  for (Value v : captured)
    add(b, v);
  firstPart.push_back(allParts.size());
}

void xtensor::cpu::Capture::add(OpBuilder &b, Value v) {
  if (!seen.insert(v).second)
    return;
  Operation *op = v.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>()) {
    again.push_back(v);
    return;
  }
  if (isMadeAgain(v)) {
    for (Value operand : op->getOperands())
      add(b, operand);
    again.push_back(v);
    return;
  }
  passed.push_back(v);
  firstPart.push_back(allParts.size());
  if (isa<MemRefType>(v.getType()))
    allParts.append(takeApart(b, loc, types, v));
  else if (getElementTypeOrSelf(v.getType()).isIndex())
    allParts.push_back(arith::IndexCastOp::create(b, loc, types.convertType(v.getType()), v));
  else
    allParts.push_back(v);
}

void xtensor::cpu::Capture::restore(OpBuilder &b, ValueRange parts, IRMapping &map) const {
  for (auto [i, v] : llvm::enumerate(passed)) {
    ValueRange own = parts.slice(firstPart[i], firstPart[i + 1] - firstPart[i]);
    if (auto type = dyn_cast<MemRefType>(v.getType()))
      map.map(v, memrefFrom(b, loc, types, type, own));
    else if (getElementTypeOrSelf(v.getType()).isIndex())
      map.map(v, arith::IndexCastOp::create(b, loc, v.getType(), own[0]).getResult());
    else
      map.map(v, own[0]);
  }
  for (Value v : again)
    b.clone(*v.getDefiningOp(), map);
}
