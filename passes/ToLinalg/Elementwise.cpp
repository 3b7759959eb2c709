// Elementwise ops: one linalg.generic whose loops are the result's dims. If all operands are known
// numbers or sizes, the op becomes scalar code. In the body of a loop or branch, so do ops on
// arrays without dims, because tensors would cost memory at every step.
#include "ToLinalg/Lowering.h"
#include "XTensor/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace xtensor;

/// The element of the result, from elements in memory form and in memory form.
static Value emit(OpBuilder &b, Location loc, Operation *op, ValueRange stored) {
  Type result = arrayType(op->getResult(0)).getElementType();
  SmallVector<Value> x;
  for (auto [element, operand] : llvm::zip_equal(stored, op->getOperands())) {
    // What select passes through needs no conversion.
    bool passed = isa<SelectOp>(op) && !x.empty();
    x.push_back(passed ? element : load(b, loc, element, arrayType(operand).getElementType()));
  }
  Type element = arrayType(op->getOperand(0)).getElementType();
  return store(b, loc, emitElement(b, op, x, element, result), result);
}

/// The factors of a fused product, and what else is in the sum.
static SmallVector<Value> fusedOperands(Operation *sum, MulOp product) {
  bool first = sum->getOperand(0) == product;
  return {product.getLhs(), product.getRhs(), sum->getOperand(first ? 1 : 0)};
}

/// x * y + z, x * y - z or z - x * y, of the elements of `fusedOperands`.
static Value emitFused(OpBuilder &b, Location loc, Operation *sum, MulOp product, ValueRange v) {
  Value x = v[0], z = v[2];
  if (isa<SubOp>(sum)) {
    Value &negative = sum->getOperand(0) == product ? z : x;
    negative = b.createOrFold<arith::NegFOp>(loc, negative);
  }
  return math::FmaOp::create(b, loc, x, v[1], z);
}

/// Whether a cast changes only whether integers have signs: the same numbers in memory.
static bool keepsBits(CastOp op) {
  Type from = arrayType(op.getX()).getElementType(), to = arrayType(op.getY()).getElementType();
  return from.isInteger() && to.isInteger() && !from.isInteger(1) && !to.isInteger(1) &&
         storageType(from) == storageType(to);
}

/// The order in which the result is stored: its type's, unless this comes from an operand with
/// fewer dims. A product of factors by channel and an array (batch, row, channel) has the type
/// (channel, batch, row): in that order, it would be stored as the transposed array.
static Names storageOrder(ArrayType type, ArrayRef<Value> operands) {
  Names order(type.getDimNames());
  auto hasOrder = [&](Value v) { return arrayType(v).getDimNames() == ArrayRef(order); };
  auto isWhole = [&](Value v) { return arrayType(v).getRank() == type.getRank(); };
  auto whole = llvm::find_if(operands, isWhole);
  if (whole == operands.end() || llvm::any_of(operands, hasOrder))
    return order;
  return Names(arrayType(*whole).getDimNames());
}

void xtensor::lowerElementwise(Operation *op, Lowering &to) {
  ArrayType type = arrayType(op->getResult(0));
  if (auto cast = dyn_cast<CastOp>(op); cast && keepsBits(cast))
    if (View view = to.view(cast.getX()); view.kind == View::Tensor) {
      view.element = type.getElementType();
      return to.set(cast.getY(), view);
    }
  auto takesFactors = [&](Operation *user) { return markedProduct(user) == op; };
  if (!op->use_empty() && llvm::all_of(op->getUsers(), takesFactors))
    return;
  MulOp product = markedProduct(op);
  SmallVector<Value> operands =
      product ? fusedOperands(op, product) : llvm::to_vector(op->getOperands());
  auto emitted = [&](OpBuilder &b, Location loc, ValueRange x) {
    return product ? emitFused(b, loc, op, product, x) : emit(b, loc, op, x);
  };
  SmallVector<View> inputs;
  for (Value operand : operands) {
    inputs.push_back(to.access(operand, type.getDimNames()));
    if (type.getRank() == 0 && to.insideRegion())
      inputs.back() = {View::Scalar, to.numberOf(operand), inputs.back().map,
                       inputs.back().element};
  }
  if (llvm::all_of(inputs, [](const View &view) { return view.kind == View::Scalar; })) {
    auto numbers = llvm::map_to_vector(inputs, [](const View &view) { return view.source; });
    return to.setScalar(op->getResult(0), emitted(to.b, to.loc(), numbers));
  }
  Names order = storageOrder(type, operands);
  if (type.getDimNames() == ArrayRef(order))
    return to.setTensor(op->getResult(0), to.elementwise(type, inputs, emitted));
  inputs = llvm::map_to_vector(operands, [&](Value v) { return to.access(v, order); });
  to.setStored(op->getResult(0), to.elementwise(reordered(type, order), inputs, emitted), order);
}
