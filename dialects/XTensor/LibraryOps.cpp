// The call of a routine of the runtime: what it reads and writes, and its constraints. The
// constraints of functions of numbers.
#include "XTensor/XTensor.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace xtensor;

void LibraryOp::build(OpBuilder &b, OperationState &state, StringRef routine, ValueRange inputs,
                      ValueRange outs, ArrayAttr axes, ArrayRef<int64_t> options, bool contiguous,
                      bool ordered) {
  SmallVector<Type> results;
  for (Value out : outs)
    if (isa<TensorType>(out.getType()))
      results.push_back(out.getType());
  build(b, state, results, b.getStringAttr(routine), inputs, outs, axes,
        b.getDenseI64ArrayAttr(options), contiguous ? b.getUnitAttr() : UnitAttr(),
        ordered ? b.getUnitAttr() : UnitAttr());
}

LogicalResult ElementaryOp::verify() {
  unsigned wanted = llvm::StringSwitch<unsigned>(getFunction())
#define XTENSOR_ELEMENTARY_FUNCTION(Op, name, arity, ...) .Case(name, arity)
#include "XTensor/XTensorElementwise.inc"
                        .Default(0);
  if (!wanted)
    return emitOpError() << "has no function \"" << getFunction() << '"';
  if (getNumOperands() != wanted)
    return emitOpError() << "of \"" << getFunction() << "\" takes " << wanted << " operand"
                         << (wanted > 1 ? "s" : "") << ", not " << getNumOperands();
  return success();
}

LogicalResult BitsOp::verify() {
  MemRefType from = getSource().getType(), to = getBits().getType();
  Type element = from.getElementType();
  if (!isa<FloatType>(element) ||
      to.getElementType() != IntegerType::get(getContext(), element.getIntOrFloatBitWidth()) ||
      to.getShape() != from.getShape() || to.getLayout() != from.getLayout() ||
      to.getMemorySpace() != from.getMemorySpace())
    return emitOpError() << "of " << from << " gives integers of the width of its floats, not "
                         << to;
  return success();
}

LogicalResult LibraryOp::verify() {
  if (getOuts().empty() && !getOrdered())
    return emitOpError("has no out to write to");
  SmallVector<Type> wanted;
  for (Value operand : getOperands())
    if (isa<TensorType>(operand.getType()) != isa<TensorType>(getOperand(0).getType()))
      return emitOpError("mixes tensors and memory");
  for (Value out : getOuts())
    if (isa<TensorType>(out.getType()))
      wanted.push_back(out.getType());
  if (getResultTypes() != TypeRange(wanted))
    return emitOpError() << "has results (" << getResultTypes() << "), expected those of its outs ("
                         << wanted << ")";
  if (!getAxes())
    return success();
  if (getAxes()->size() != getNumOperands())
    return emitOpError() << "has " << getAxes()->size() << " orders of axes for "
                         << getNumOperands() << " operands";
  for (auto [i, operand, order] :
       llvm::enumerate(getOperands(), getAxes()->getAsRange<DenseI64ArrayAttr>())) {
    int64_t rank = cast<ShapedType>(operand.getType()).getRank();
    SmallVector<bool> seen(rank);
    bool fits = true;
    for (int64_t axis : order.asArrayRef())
      if (axis != -1)
        fits &= axis >= 0 && axis < rank && !std::exchange(seen[axis], true);
    if (!fits || llvm::is_contained(seen, false))
      return emitOpError() << "order [" << order.asArrayRef() << "] of operand " << i
                           << " must have each of its " << rank
                           << " axes once, and -1 for axes that are not there";
  }
  return success();
}

void LibraryOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (getOrdered())
    effects.emplace_back(MemoryEffects::Write::get());
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    if (operand.getOperandNumber() >= getInputs().size())
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}
