// Linear ops and their transposes. The rows do not match dims. What a row returns is summed over
// the dims that the operand lacks, broadcast to the dims that it has in addition, and put in its
// order. So sum, broadcast, squeeze and add all transpose as `same`.
#include "Autodiff/ScatterRules.h"

using namespace mlir;
using namespace xtensor;

//===- elementwise ---------------------------------------------------------===//

static Value same(Transposer &, Operation *, unsigned, Value ct) { return ct; }

/// A tangent is not computed again: there is nothing to keep apart.
static Value passOn(Linearizer &, Operation *, ArrayRef<Value> tangents) { return tangents[0]; }

static Value negate(Transposer &t, Operation *, unsigned, Value ct) {
  return t.insideOfMask(ct, [&](Value v) { return NegOp::create(t.b, v); });
}

static Value negateSecond(Transposer &t, Operation *op, unsigned i, Value ct) {
  return i == 0 ? ct : negate(t, op, i, ct);
}

/// What is there of a sum.
static Value addPresent(Linearizer &l, Operation *, ArrayRef<Value> tangents) {
  if (!tangents[0] || !tangents[1])
    return tangents[0] ? tangents[0] : tangents[1];
  return AddOp::create(l.linear, tangents[0], tangents[1]);
}

static Value subPresent(Linearizer &l, Operation *, ArrayRef<Value> tangents) {
  if (!tangents[1])
    return tangents[0];
  if (!tangents[0])
    return NegOp::create(l.linear, tangents[1]);
  return SubOp::create(l.linear, tangents[0], tangents[1]);
}

/// Where nothing is summed, what masks the cotangent masks the product.
static Value productWithOthers(Transposer &t, Operation *op, unsigned i, Value ct) {
  ArrayType keep = arrayType(op->getOperand(i));
  SmallVector<Value> inputs{ct};
  for (OpOperand &other : op->getOpOperands())
    if (other.getOperandNumber() != i)
      inputs.push_back(t.residual(other.get()));
  // Behind a sum over dims of the mask, zeros and what they meet are one number.
  if (!lacking(arrayType(ct), keep).empty())
    return t.product(inputs, keep);
  return t.insideOfMask(ct, [&](Value v) {
    inputs[0] = v;
    return t.product(inputs, keep);
  });
}

/// A zero wins on either side: that of the cotangent over an infinite factor, too.
static Value scaleByOther(Transposer &t, Operation *op, unsigned i, Value ct) {
  return i == 1 ? t.scaled(cast<ScaleOp>(op), ct) : t.scaledBy(cast<ScaleOp>(op), ct);
}

static Value zeroLike(OpBuilder &b, Location loc, Value v) {
  return scalar(b, loc, arrayType(v).getElementType(), 0);
}

static Value selectPresent(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<SelectOp>(o);
  Value zero = zeroLike(l.linear, l.linear.getLoc(), op.getY());
  return SelectOp::create(l.linear, op.getCondition(), tangents[1] ? tangents[1] : zero,
                          tangents[2] ? tangents[2] : zero);
}

static Value selectCotangent(Transposer &t, Operation *op, unsigned i, Value ct) {
  Value zero = zeroLike(t.b, t.b.getLoc(), ct);
  return SelectOp::create(t.b, t.residual(op->getOperand(0)), i == 1 ? ct : zero,
                          i == 1 ? zero : ct);
}

static Value castBack(Transposer &t, Operation *o, unsigned, Value ct) {
  return CastOp::create(t.b, ct, arrayType(cast<CastOp>(o).getX()).getElementType());
}

//===- names, sizes and order ----------------------------------------------===//

static Value renameBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<RenameOp>(o);
  return RenameOp::create(t.b, ct, op.getTo(), op.getFrom());
}

static Value reverseBack(Transposer &t, Operation *o, unsigned, Value ct) {
  return ReverseOp::create(t.b, ct, cast<ReverseOp>(o).getDims());
}

static Value padBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<SliceOp>(o);
  ArrayType type = arrayType(op.getX());
  SmallVector<int64_t> high, interior;
  for (auto [dim, offset, size, stride] :
       llvm::zip_equal(op.getDims(), op.getOffsets(), op.getSizes(), op.getStrides())) {
    int64_t last = size == 0 ? offset : offset + (size - 1) * stride + 1;
    high.push_back(type.getSize(dim) - last);
    interior.push_back(stride - 1);
  }
  return PadOp::create(t.b, ct, zeroLike(t.b, t.b.getLoc(), ct), op.getDims(), op.getOffsets(),
                       high, interior);
}

/// An absent operand or value is a zero.
static Value padPresent(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<PadOp>(o);
  Value x = tangents[0] ? tangents[0] : l.zeroLike(op.getX());
  Value value = tangents[1] ? tangents[1] : zeroLike(l.linear, l.linear.getLoc(), op.getX());
  return PadOp::create(l.linear, x, value, op.getDims(), op.getLow(), op.getHigh(),
                       op.getInterior());
}

/// The operand gets what lies where it was put, the value what lies elsewhere.
static Value sliceBack(Transposer &t, Operation *o, unsigned i, Value ct) {
  auto op = cast<PadOp>(o);
  ArrayType type = arrayType(op.getX());
  if (i == 0) {
    SmallVector<int64_t> sizes, strides;
    for (auto [dim, interior] : llvm::zip_equal(op.getDims(), op.getInterior())) {
      sizes.push_back(type.getSize(dim));
      strides.push_back(interior + 1);
    }
    return SliceOp::create(t.b, ct, op.getDims(), op.getLow(), sizes, strides);
  }
  // Only the padded dims matter, the others have static and dynamic sizes of their own.
  Type i1 = t.b.getI1Type();
  ArrayType padded = reordered(type, op.getDims().getValue()).withElement(i1);
  Value inside = conform(t.b, t.b.getLoc(), scalar(t.b, t.b.getLoc(), i1, 0), padded, {});
  Value outside = PadOp::create(t.b, inside, scalar(t.b, t.b.getLoc(), i1, 1), op.getDims(),
                                op.getLow(), op.getHigh(), op.getInterior());
  return SelectOp::create(t.b, outside, ct, zeroLike(t.b, t.b.getLoc(), ct));
}

static Value concatPresent(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<ConcatOp>(o);
  SmallVector<Value> inputs;
  for (auto [input, t] : llvm::zip_equal(op.getInputs(), tangents))
    inputs.push_back(t ? t : l.zeroLike(input));
  return ConcatOp::create(l.linear, inputs, op.getDim());
}

static Value sliceOwn(Transposer &t, Operation *o, unsigned i, Value ct) {
  auto op = cast<ConcatOp>(o);
  int64_t offset = 0;
  for (Value before : op.getInputs().take_front(i))
    offset += arrayType(before).getSize(op.getDimAttr());
  int64_t size = arrayType(op.getInputs()[i]).getSize(op.getDimAttr());
  return SliceOp::create(t.b, ct, t.b.getArrayAttr({op.getDimAttr()}), offset, size, int64_t(1));
}

static Value mergeBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<SplitOp>(o);
  return MergeOp::create(t.b, ct, op.getInto(), op.getDim());
}

/// split wants static sizes; elements of a merged dynamic dim are read by position.
static Value splitBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<MergeOp>(o);
  ArrayType type = reordered(arrayType(op.getX()), op.getDims().getValue());
  if (type.hasStaticShape())
    return SplitOp::create(t.b, ct, op.getIntoAttr(), op.getDims(),
                           t.b.getDenseI64ArrayAttr(type.getShape()));
  Value position = t.rowMajor(type);
  return GatherOp::create(t.b, IndexMode::clip, ct, position, t.b.getArrayAttr({op.getIntoAttr()}));
}

//===- Fourier transforms --------------------------------------------------===//

/// `ct` times `inside`, but where the position along `dim` is its own conjugate: first, and last if
/// there are `n` in all and n is even.
static Value weighInside(Transposer &t, Value ct, StringAttr dim, int64_t n, double inside) {
  ArrayType positions = ArrayType::get(t.b.getContext(), {dim}, {n / 2 + 1}, t.b.getI64Type());
  Value at = t.rowMajor(positions);
  auto isAt = [&](int64_t position) -> Value {
    Value number = scalar(t.b, t.b.getLoc(), t.b.getI64Type(), position);
    return CompareOp::create(t.b, ComparePredicate::eq, at, number);
  };
  Value ends = isAt(0);
  if (n % 2 == 0)
    ends = OrOp::create(t.b, ends, isAt(n / 2));
  Type element = arrayType(ct).getElementType();
  Value weight = SelectOp::create(t.b, ends, scalar(t.b, t.b.getLoc(), element, 1),
                                  scalar(t.b, t.b.getLoc(), element, inside));
  return MulOp::create(t.b, ct, weight);
}

static Value fourierBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<FourierOp>(o);
  FourierKind back = FourierKind::forward;
  IntegerAttr size;
  switch (op.getKind()) {
  case FourierKind::forward:
    back = FourierKind::backward;
    break;
  case FourierKind::backward:
    break;
  case FourierKind::real: {
    back = FourierKind::hermitian;
    int64_t n = arrayType(op.getX()).getSize(op.getLastDim());
    size = t.b.getI64IntegerAttr(n);
    ct = weighInside(t, ct, op.getLastDim(), n, 0.5);
    break;
  }
  case FourierKind::hermitian:
    back = FourierKind::real;
    break;
  }
  Value result = FourierOp::create(t.b, back, ct, op.getDims(), op.getPair(), size, op.getScale());
  if (op.getKind() == FourierKind::hermitian)
    result = weighInside(t, result, op.getLastDim(), *op.getSize(), 2);
  return result;
}

//===- windows -------------------------------------------------------------===//

static Value overlapAdd(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<WindowOp>(o);
  int64_t length = arrayType(op.getX()).getSize(op.getDimAttr());
  return OverlapAddOp::create(t.b, ct, op.getDim(), op.getInto(), length, op.getStride(),
                              op.getDilation());
}

/// The windows that were added up: there may be room for more of them.
static Value windowsBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<OverlapAddOp>(o);
  ArrayType type = arrayType(op.getX());
  int64_t size = type.getSize(op.getFromAttr()), windows = type.getSize(op.getDimAttr());
  if (size == 0 || windows == 0)
    return t.zero(type);
  Value all =
      WindowOp::create(t.b, ct, op.getDim(), op.getFrom(), size, op.getStride(), op.getDilation());
  return t.b.createOrFold<SliceOp>(all, t.b.getArrayAttr({op.getDimAttr()}), ArrayRef<int64_t>(0),
                                   ArrayRef<int64_t>(windows), ArrayRef<int64_t>(1));
}

//===- index ---------------------------------------------------------------===//

static Value gatherTangent(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<GatherOp>(o);
  return GatherOp::create(l.linear, op.getMode(), tangents[0], op.getIndices(), op.getAlong());
}

static Value scatterBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<GatherOp>(o);
  return ScatterOp::create(t.b, ScatterKind::add, op.getMode(), t.zero(arrayType(op.getSource())),
                           residuals(t, op.getIndices()), ct, op.getAlong());
}

//===- the table -----------------------------------------------------------===//

#define TRANSPOSE(fn) fn, #fn

static Rule linear(Linearity how, SmallVector<unsigned, 2> operands, TransposeFn transpose,
                   StringRef text, ForwardFn forward = nullptr) {
  Rule rule{Table::Linear};
  rule.linearity = how;
  rule.operands = std::move(operands);
  rule.forward = forward;
  rule.transpose = transpose;
  rule.text = text;
  return rule;
}

void xtensor::addLinearRules(Rules &rules) {
  const Linearity jointly = Linearity::Jointly, each = Linearity::Each;
  rules.add<AddOp>(linear(jointly, {}, TRANSPOSE(same), addPresent));
  rules.add<BarrierOp>(linear(jointly, {}, TRANSPOSE(same), passOn));
  rules.add<BroadcastOp>(linear(jointly, {0}, TRANSPOSE(same)));
  rules.add<CastOp>(linear(jointly, {}, TRANSPOSE(castBack)));
  rules.add<ConcatOp>(linear(jointly, {}, TRANSPOSE(sliceOwn), concatPresent));
  rules.add<ContractOp>(linear(each, {}, TRANSPOSE(productWithOthers)));
  rules.add<FourierOp>(linear(jointly, {}, TRANSPOSE(fourierBack)));
  rules.add<GatherOp>(linear(jointly, {0}, TRANSPOSE(scatterBack), gatherTangent));
  rules.add<MergeOp>(linear(jointly, {}, TRANSPOSE(splitBack)));
  rules.add<MulOp>(linear(each, {}, TRANSPOSE(productWithOthers)));
  rules.add<NegOp>(linear(jointly, {}, TRANSPOSE(negate)));
  rules.add<OverlapAddOp>(linear(jointly, {}, TRANSPOSE(windowsBack)));
  rules.add<PadOp>(linear(jointly, {}, TRANSPOSE(sliceBack), padPresent));
  rules.add<ReduceOp>(ReduceKind::sum, "sum", linear(jointly, {}, TRANSPOSE(same)));
  rules.add<RenameOp>(linear(jointly, {}, TRANSPOSE(renameBack)));
  rules.add<ReverseOp>(linear(jointly, {}, TRANSPOSE(reverseBack)));
  rules.add<ScaleOp>(linear(each, {}, TRANSPOSE(scaleByOther)));
  rules.add<SelectOp>(linear(jointly, {1, 2}, TRANSPOSE(selectCotangent), selectPresent));
  rules.add<SizedOp>(linear(jointly, {0}, TRANSPOSE(same)));
  rules.add<SliceOp>(linear(jointly, {}, TRANSPOSE(padBack)));
  rules.add<SplitOp>(linear(jointly, {}, TRANSPOSE(mergeBack)));
  rules.add<SqueezeOp>(linear(jointly, {}, TRANSPOSE(same)));
  rules.add<SubOp>(linear(jointly, {}, TRANSPOSE(negateSecond), subPresent));
  rules.add<WindowOp>(linear(jointly, {}, TRANSPOSE(overlapAdd)));

  // Integer operands have no tangent, so of these the float operands are the linear ones: the
  // updates come after however many indices there are.
  rules.add<ScatterOp>(ScatterKind::add, "add",
                       linear(jointly, {}, TRANSPOSE(gatherBack), addTangents));
  rules.add<ScatterOp>(ScatterKind::set, "set",
                       linear(jointly, {}, TRANSPOSE(gatherByLast), setTangents));
  // Of factors, too, there are tangents; what they meet makes more terms.
  for (AccumulateKind kind : {AccumulateKind::last, AccumulateKind::states})
    rules.add<AccumulateOp>(kind, stringifyAccumulateKind(kind),
                            linear(jointly, {0, 1}, TRANSPOSE(recurBackwards), recurTangents));
}
