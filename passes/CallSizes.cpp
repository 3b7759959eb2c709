#include "CallSizes.h"

#include "Strides.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace xtensor;

namespace {
using Size = std::optional<int64_t>;

struct Shape {
  SmallVector<Size> sizes, strides;
};

/// The numbers of `ViewRules`: sizes alone.
class Sizes {
public:
  Shape of(Value memory) {
    Shape shape;
    for (int64_t axis = 0; axis < cast<ShapedType>(memory.getType()).getRank(); ++axis)
      shape.sizes.push_back(sizeInCall(memory, axis));
    shape.strides.resize(shape.sizes.size());
    return shape;
  }
  static Size number(OpFoldResult value) { return valueInCall(value); }
  static Size times(Size a, Size b) { return a && b ? Size(*a * *b) : Size(); }
  static bool isOne(Size size) { return size == 1; }
  static void advance(Shape &, OpFoldResult, Size) {}
  static void restart(Shape &, OpFoldResult) {}
};
} // namespace

static Size sizeOfArgument(BlockArgument argument, int64_t axis) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<FunctionOpInterface>(owner)) {
    auto sizes = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kSizesAttr);
    return sizes && axis < sizes.size() ? Size(sizes[axis]) : Size();
  }
  auto loop = dyn_cast<LoopLikeOpInterface>(owner);
  OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
  return init ? sizeInCall(init->get(), axis) : Size();
}

Size xtensor::sizeInCall(Value array, int64_t axis) {
  auto type = cast<ShapedType>(array.getType());
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  if (auto argument = dyn_cast<BlockArgument>(array))
    return sizeOfArgument(argument, axis);
  Operation *op = array.getDefiningOp();
  unsigned dynamic = type.getDynamicDimIndex(axis);
  if (isa<memref::AllocOp, memref::AllocaOp, tensor::EmptyOp>(op))
    return valueInCall(op->getOperand(dynamic));
  if (auto view = dyn_cast<memref::ViewOp>(op))
    return valueInCall(view.getSizes()[dynamic]);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    unsigned number = cast<OpResult>(array).getResultNumber();
    return number < loop.getInits().size() ? sizeInCall(loop.getInits()[number], axis) : Size();
  }
  Sizes numbers;
  std::optional<Shape> shape = ViewRules<Shape, Sizes>(numbers).through(op);
  return shape ? shape->sizes[axis] : Size();
}

using Step = llvm::DenseMap<Value, int64_t>; // the values of induction variables

static Attribute numberInCall(Value value, const Step &at = Step());

/// Folds a copy of `op`: folding changes ops in place, too.
static Attribute foldedInCall(OpResult result, const Step &at) {
  Operation *op = result.getOwner();
  if (op->getNumRegions() || !isPure(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(numberInCall(operand, at));
    if (!operands.back())
      return {};
  }
  Operation *copy = op->cloneWithoutRegions();
  SmallVector<OpFoldResult> folded;
  Attribute value;
  if (succeeded(copy->fold(operands, folded)) && !folded.empty()) {
    OpFoldResult mine = folded[result.getResultNumber()];
    auto other = dyn_cast<Value>(mine);
    value = other ? numberInCall(other, at) : cast<Attribute>(mine);
  }
  copy->destroy();
  return value;
}

/// An integer or a float, null if it is not known: sizes of memory are compared as floats, too.
static Attribute numberInCall(Value value, const Step &at) {
  if (auto known = at.find(value); known != at.end())
    return Builder(value.getContext()).getIndexAttr(known->second);
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return isa<IntegerAttr, FloatAttr>(constant) ? constant : Attribute();
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (!isa<memref::DimOp, tensor::DimOp>(op))
    return foldedInCall(cast<OpResult>(value), at);
  Size axis = valueInCall(op->getOperand(1));
  auto type = dyn_cast<ShapedType>(op->getOperand(0).getType());
  bool isThere = axis && type && type.hasRank() && *axis >= 0 && *axis < type.getRank();
  Size size = isThere ? sizeInCall(op->getOperand(0), *axis) : Size();
  return size ? Builder(op).getIndexAttr(*size) : Attribute();
}

Size xtensor::valueInCall(OpFoldResult value) {
  if (Size constant = getConstantIntValue(value))
    return constant;
  auto computed = dyn_cast_if_present<Value>(value);
  Attribute number = computed ? numberInCall(computed) : Attribute();
  return number ? getConstantIntValue(number) : Size();
}

Size xtensor::valueInStep(Value value, const Step &at) {
  Attribute number = numberInCall(value, at);
  return number ? getConstantIntValue(number) : Size();
}
