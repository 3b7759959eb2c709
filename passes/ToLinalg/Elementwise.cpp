// Elementwise ops: one linalg.generic whose loops are the result's dims. Where all operands are
// known numbers or sizes there is no loop at all; in the body of a loop or branch the same goes for
// arrays without dims, which would cost memory at every step.
#include "ToLinalg/Lowering.h"

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

void xtensor::lowerElementwise(Operation *op, Lowering &to) {
  ArrayType type = arrayType(op->getResult(0));
  SmallVector<View> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(to.access(operand, type.getDimNames()));
    if (type.getRank() == 0 && to.insideRegion())
      inputs.back() = {View::Scalar, to.numberOf(operand), inputs.back().map,
                       inputs.back().element};
  }
  if (llvm::all_of(inputs, [](const View &view) { return view.kind == View::Scalar; })) {
    auto numbers = llvm::map_to_vector(inputs, [](const View &view) { return view.source; });
    return to.setScalar(op->getResult(0), emit(to.b, to.loc(), op, numbers));
  }
  to.setTensor(op->getResult(0),
               to.elementwise(type, inputs, [&](OpBuilder &b, Location loc, ValueRange x) {
                 return emit(b, loc, op, x);
               }));
}
