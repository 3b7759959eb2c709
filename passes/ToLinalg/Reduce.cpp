// Reductions: linalg.fill with the neutral element, then one linalg.generic whose loops are the
// result's dims and then the reduced ones.
#include "Combiners.h"
#include "Estimates.h"
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace xtensor;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Whether `x` replaces the best so far: strictly better, or the first NaN.
static Value isBetter(OpBuilder &b, Location loc, bool larger, Value x, Value best,
                      bool isUnsigned) {
  if (!isa<FloatType>(x.getType())) {
    CmpIPredicate p = isUnsigned ? (larger ? CmpIPredicate::ugt : CmpIPredicate::ult)
                                 : (larger ? CmpIPredicate::sgt : CmpIPredicate::slt);
    return arith::CmpIOp::create(b, loc, p, x, best);
  }
  Value better =
      arith::CmpFOp::create(b, loc, larger ? CmpFPredicate::UGT : CmpFPredicate::ULT, x, best);
  Value isNumber = arith::CmpFOp::create(b, loc, CmpFPredicate::ORD, best, best);
  return arith::AndIOp::create(b, loc, better, isNumber);
}

namespace {
/// A reduction with its operand ready to be looped over.
struct Reduction {
  SmallVector<View, 2> inputs; // the operand; then what only tells the range of a loop
  AffineMap output;
  unsigned rank, reduced;
};
} // namespace

/// The dims of the operand in the order in which it is stored: memory is read forwards, whatever
/// order the dims have.
static Names storedOrder(ReduceOp op, Lowering &to) {
  Names names(arrayType(op.getX()).getDimNames()), order;
  auto add = [&](StringAttr name) {
    if (!llvm::is_contained(order, name))
      order.push_back(name);
  };
  if (View view = to.view(op.getX()); view.kind == View::Tensor)
    for (AffineExpr axis : view.map.getResults())
      for (auto [d, name] : llvm::enumerate(names))
        if (axis.isFunctionOfDim(d))
          add(name);
  llvm::for_each(names, add);
  return order;
}

static Reduction prepare(ReduceOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  Names loops(type.getDimNames());
  for (StringAttr name : storedOrder(op, to))
    if (!type.hasDim(name))
      loops.push_back(name);
  unsigned rank = type.getRank();
  SmallVector<View, 2> inputs{to.access(op.getX(), loops)};
  for (unsigned d = rank; d < loops.size(); ++d) {
    if (readsPlainly(inputs[0], d))
      continue;
    if (readsWindows(inputs[0])) {
      inputs.push_back(to.range(loops[d], from, loops));
      continue;
    }
    Stored stored = to.stored(op.getX());
    inputs = {
        View{View::Tensor, stored.tensor, to.mapTo(loops, stored.order), from.getElementType()}};
    break;
  }
  return {inputs, to.mapTo(loops, type.getDimNames()), rank,
          static_cast<unsigned>(loops.size()) - rank};
}

static void lowerArgReduce(ReduceOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Type element = arrayType(op.getX()).getElementType();
  bool larger = op.getKind() == ReduceKind::argmax;
  Reduction r = prepare(op, to);
  Value best = to.constant(startOf(op.getKind(), storageType(element), isUnsigned(element)));
  Value bests = to.filled(type.withElement(element), best);
  Value positions = to.filled(type, to.constant(to.b.getI64IntegerAttr(0)));
  SmallVector<Value> results = to.generic(
      r.inputs, {bests, positions}, {r.output, r.output}, r.reduced,
      [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
        Value better = isBetter(b, loc, larger, load(b, loc, x.front(), element),
                                load(b, loc, old[0], element), isUnsigned(element));
        Value here = linalg::IndexOp::create(b, loc, r.rank);
        here = arith::IndexCastOp::create(b, loc, b.getI64Type(), here);
        return SmallVector<Value>{arith::SelectOp::create(b, loc, better, x.front(), old[0]),
                                  arith::SelectOp::create(b, loc, better, here, old[1])};
      });
  to.setTensor(op.getY(), results[1]);
}

/// Reducing copies of one number needs no loop; null if it does.
static Value reducedScalar(ReduceOp op, Lowering &to) {
  View view = to.view(op.getX());
  ArrayType from = arrayType(op.getX());
  if (view.kind != View::Scalar)
    return {};
  switch (op.getKind()) {
  case ReduceKind::max:
  case ReduceKind::min:
    return view.source;
  case ReduceKind::sum:
    break;
  default:
    return {};
  }
  Value count = to.index(1);
  for (Attribute dim : op.getDims())
    count = to.b.createOrFold<arith::MulIOp>(to.loc(), count,
                                             to.sizeValue(cast<StringAttr>(dim), from));
  Type element = from.getElementType(), compute = computeType(element);
  Value x = load(to.b, to.loc(), view.source, element), y;
  count = to.b.createOrFold<arith::IndexCastOp>(to.loc(), to.b.getI64Type(), count);
  if (isa<FloatType>(compute)) {
    count = to.b.createOrFold<arith::SIToFPOp>(to.loc(), compute, count);
    y = to.b.createOrFold<arith::MulFOp>(to.loc(), x, count);
    // A sum of nothing is 0, and 0 times an infinity is not.
    Value zero = to.constant(to.b.getFloatAttr(compute, 0.0));
    Value isEmpty =
        to.b.createOrFold<arith::CmpFOp>(to.loc(), arith::CmpFPredicate::OEQ, count, zero);
    y = to.b.createOrFold<arith::SelectOp>(to.loc(), isEmpty, zero, y);
  } else {
    if (!compute.isInteger(64))
      count = to.b.createOrFold<arith::TruncIOp>(to.loc(), compute, count);
    y = to.b.createOrFold<arith::MulIOp>(to.loc(), x, count);
  }
  return store(to.b, to.loc(), y, element);
}

/// What short windows hold at each of their places, over the dims of the result; nothing if `op`
/// reduces anything else.
static SmallVector<View> placesOfShortWindows(ReduceOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  View windows = to.view(op.getX());
  if (!readsWindows(windows))
    return {};
  bool isSum = op.getKind() != ReduceKind::max && op.getKind() != ReduceKind::min;
  int64_t most = isSum ? kShortWindow : kShortExtremum, count = 1;
  SmallVector<unsigned> reduced;
  for (auto [d, dim] : llvm::enumerate(from.getDimNames())) {
    if (type.hasDim(dim))
      continue;
    int64_t size = from.getSize(dim);
    if (ShapedType::isDynamic(size) || size > most || readsPlainly(windows, d))
      return {};
    reduced.push_back(d);
    count *= size;
    if (count > most)
      return {};
  }
  SmallVector<View> places;
  for (int64_t place = 0; place < count; ++place) {
    SmallVector<AffineExpr> exprs(from.getRank());
    int64_t rest = place;
    for (unsigned d : llvm::reverse(reduced)) {
      exprs[d] = to.b.getAffineConstantExpr(rest % from.getShape()[d]);
      rest /= from.getShape()[d];
    }
    for (auto [d, dim] : llvm::enumerate(from.getDimNames()))
      if (type.hasDim(dim))
        exprs[d] = to.b.getAffineDimExpr(type.find(dim));
    View view = windows.at(AffineMap::get(type.getRank(), 0, exprs, op.getContext()));
    view.source = cutOff(view, windows.map, type, to);
    places.push_back(view);
  }
  return places;
}

/// Elementwise in loops over the windows. Unlike a loop inside of them, this fuses with what reads
/// the result, and vectors of neighbouring windows need no sums in memory.
static bool lowerShortWindows(ReduceOp op, Lowering &to) {
  SmallVector<View> places = placesOfShortWindows(op, to);
  if (places.empty())
    return false;
  Type element = arrayType(op.getY()).getElementType();
  bool isBool = element.isInteger(1);
  Value result =
      to.elementwise(arrayType(op.getY()), places, [&](OpBuilder &b, Location loc, ValueRange x) {
        Value all;
        for (Value stored : x) {
          Value value = isBool ? stored : load(b, loc, stored, element);
          all = all ? combine(b, loc, op.getKind(), all, value, isUnsigned(element)) : value;
        }
        return store(b, loc, all, element);
      });
  to.setTensor(op.getY(), result);
  return true;
}

void xtensor::lowerReduce(ReduceOp op, Lowering &to) {
  ReduceKind kind = op.getKind();
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin)
    return lowerArgReduce(op, to);
  if (Value scalar = reducedScalar(op, to))
    return to.setScalar(op.getY(), scalar);
  if (lowerShortWindows(op, to))
    return;

  ArrayType type = arrayType(op.getY());
  Type element = type.getElementType();
  // Sums in half precision would stop growing at 2048 and 256; of extrema, each step would round
  // what is a number of half precision already.
  bool wide = isHalf(element);
  Type memory = wide ? computeType(element) : storageType(element);
  bool isBool = element.isInteger(1);
  Reduction r = prepare(op, to);
  Value init = to.constant(startOf(kind, memory, isUnsigned(element)));
  Value result =
      to.generic(r.inputs, to.filled(type, init), r.output, r.reduced,
                 [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                   // 0 and 1 combine as they are.
                   Value value = isBool ? x.front() : load(b, loc, x.front(), element);
                   Value acc = isBool || wide ? old[0] : load(b, loc, old[0], element);
                   value = combine(b, loc, kind, acc, value, isUnsigned(element));
                   return SmallVector<Value>{wide ? value : store(b, loc, value, element)};
                 })
          .front();
  if (wide)
    result = to.elementwise(
        type, View{View::Tensor, result, to.b.getMultiDimIdentityMap(type.getRank()), element},
        [&](OpBuilder &b, Location loc, ValueRange x) {
          return store(b, loc, x.front(), element);
        });
  to.setTensor(op.getY(), result);
}
