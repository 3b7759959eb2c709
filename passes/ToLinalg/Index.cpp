// Gather: a loop over the result whose body reads the source at computed positions. Every position
// is clamped, whatever the mode, so that no access is ever outside; `raise` reports on the side.
// Positions of lanes that several rows of the result use are clamped in a loop before.
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace xtensor;

Value xtensor::fromEnd(OpBuilder &b, Location loc, Value index64, Value size, Type element) {
  if (isUnsigned(element))
    return index64;
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value negative = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index64, zero);
  Value counted = b.createOrFold<arith::AddIOp>(loc, index64, size);
  return b.createOrFold<arith::SelectOp>(loc, negative, counted, index64);
}

Value xtensor::clampedIndex(OpBuilder &b, Location loc, Value index64, Value size, Type element,
                            IndexMode mode) {
  APInt known;
  if (mode == IndexMode::raise && matchPattern(size, m_ConstantInt(&known)) && !known.isZero()) {
    Value last = arith::ConstantIntOp::create(b, loc, known.getSExtValue() - 1, 64);
    Value index = b.createOrFold<arith::MinUIOp>(loc, index64, last);
    return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), index);
  }
  if (isUnsigned(element) && element.getIntOrFloatBitWidth() == 64) {
    Value most = arith::ConstantIntOp::create(b, loc, INT64_MAX, 64);
    index64 = b.createOrFold<arith::MinUIOp>(loc, index64, most);
  }
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
  Value last = b.createOrFold<arith::SubIOp>(loc, size, one);
  Value index = b.createOrFold<arith::MinSIOp>(loc, index64, last);
  index = b.createOrFold<arith::MaxSIOp>(loc, index, zero);
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), index);
}

/// Reads `source` at `indices`, or gives 0 where a size that is only known at run time is 0.
static Value readGuarded(OpBuilder &b, Location loc, const View &source, ValueRange indices,
                         ArrayRef<Value> dynamicSizes) {
  if (dynamicSizes.empty() || source.kind != View::Tensor)
    return Lowering::elementAt(b, loc, source, indices);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64), filled;
  for (Value size : dynamicSizes) {
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, size, zero);
    filled = filled ? arith::AndIOp::create(b, loc, filled, some) : some;
  }
  auto guard = scf::IfOp::create(
      b, loc, filled,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, Lowering::elementAt(b, loc, source, indices));
      },
      [&](OpBuilder &b, Location loc) {
        Type type = storageType(source.element);
        scf::YieldOp::create(b, loc,
                             ValueRange{arith::ConstantOp::create(b, loc, b.getZeroAttr(type))});
      });
  return guard.getResult(0);
}

/// Whether lanes of vectors along the last dim of `result` have positions that `index` gives, and
/// each of these is used often enough to be clamped once, before the loop.
static bool givesLanesOften(ArrayType index, ArrayType result) {
  constexpr int64_t kOften = 4;
  if (result.getRank() == 0 || !index.hasDim(result.getDimNames().back()))
    return false;
  int64_t uses = 1;
  for (auto [name, size] : llvm::zip_equal(result.getDimNames(), result.getShape()))
    if (!index.hasDim(name) && uses < kOften)
      uses *= ShapedType::isDynamic(size) ? kOften : size;
  return uses >= kOften;
}

void xtensor::lowerGather(GatherOp op, Lowering &to) {
  ArrayType source = arrayType(op.getSource()), type = arrayType(op.getY());
  if (op.getMode() == IndexMode::raise)
    for (auto [index, dim] : llvm::zip_equal(op.getIndices(), op.getAlong()))
      checkIndex(index, cast<StringAttr>(dim), source, to);
  View from = to.view(op.getSource());
  if (from.kind == View::Scalar) // the same wherever it is read
    return to.setScalar(op.getY(), from.source);
  bool isEmpty = llvm::any_of(
      op.getAlong(), [&](Attribute dim) { return source.getSize(cast<StringAttr>(dim)) == 0; });
  if (isEmpty)
    return to.setScalar(op.getY(), to.number(type.getElementType(), 0));

  SmallVector<View> inputs;
  SmallVector<Value> sizes, dynamicSizes;
  auto positionIn = [&](unsigned i, OpBuilder &b, Location loc, Value x) {
    Type element = arrayType(op.getIndices()[i]).getElementType();
    Value position = fromEnd(b, loc, toI64(b, loc, x, element), sizes[i], element);
    return clampedIndex(b, loc, position, sizes[i], element, op.getMode());
  };
  llvm::SmallBitVector areClamped(op.getIndices().size());
  for (auto [i, index, dim] : llvm::enumerate(op.getIndices(), op.getAlong())) {
    auto along = cast<StringAttr>(dim);
    sizes.push_back(to.b.createOrFold<arith::IndexCastOp>(to.loc(), to.b.getI64Type(),
                                                          to.sizeValue(along, source)));
    if (source.isDynamic(along))
      dynamicSizes.push_back(sizes.back());
    ArrayType given = arrayType(index);
    areClamped[i] =
        !to.isForDevice() && to.view(index).kind == View::Tensor && givesLanesOften(given, type);
    if (!areClamped[i]) {
      inputs.push_back(to.access(index, type.getDimNames()));
      continue;
    }
    bool isNarrow = !source.isDynamic(along) && source.getSize(along) <= INT32_MAX;
    Type element = to.b.getIntegerType(isNarrow ? 32 : 64);
    Value positions = to.elementwise(
        given.withElement(element), to.access(index, given.getDimNames()),
        [&, i = i](OpBuilder &b, Location loc, ValueRange x) -> Value {
          return arith::IndexCastOp::create(b, loc, element, positionIn(i, b, loc, x.front()));
        });
    inputs.push_back(
        {View::Tensor, positions, to.mapTo(type.getDimNames(), given.getDimNames()), element});
  }
  Value result = to.elementwise(type, inputs, [&](OpBuilder &b, Location loc, ValueRange x) {
    SmallVector<Value> indices;
    for (StringAttr dim : source.getDimNames()) {
      unsigned i = llvm::find(op.getAlong(), dim) - op.getAlong().begin();
      if (i == op.getAlong().size()) {
        indices.push_back(linalg::IndexOp::create(b, loc, type.find(dim)));
        continue;
      }
      indices.push_back(areClamped[i] ? arith::IndexCastOp::create(b, loc, b.getIndexType(), x[i])
                                      : positionIn(i, b, loc, x[i]));
    }
    return readGuarded(b, loc, from, indices, dynamicSizes);
  });
  to.setTensor(op.getY(), result);
}
