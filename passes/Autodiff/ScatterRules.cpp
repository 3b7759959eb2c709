// Updates by position. Derivatives keep the mode `raise`, because the primal op that would report
// an error may be removed as unused. If it is kept, the lowering still checks each index once.
#include "Autodiff/ScatterRules.h"

#include "Estimates.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

SmallVector<Value> xtensor::residuals(Transposer &t, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return t.residual(v); });
}

static Value zeroOf(ImplicitLocOpBuilder &b, Value like) {
  return scalar(b, b.getLoc(), arrayType(like).getElementType(), 0);
}

/// Reads what a scatter of this mode has written: what was dropped is read from anywhere.
static Value readBack(ImplicitLocOpBuilder &b, IndexMode mode, Value source, ValueRange indices,
                      ArrayAttr along) {
  IndexMode reads = mode == IndexMode::raise ? mode : IndexMode::clip;
  return GatherOp::create(b, reads, source, indices, along);
}

//===- which updates count -------------------------------------------------===//

/// Gives the size of a dynamic dim of the target.
using SizeFn = function_ref<Value(StringAttr)>;

/// Where all indices lie inside of the target; negative positions count from the end.
static Value areInside(ImplicitLocOpBuilder &b, ValueRange indices, ArrayAttr along,
                       ArrayType target, SizeFn sizeOf) {
  Type i64 = b.getI64Type();
  Value inside;
  for (auto [index, dim] : llvm::zip_equal(indices, along)) {
    Type element = arrayType(index).getElementType();
    // An index that cannot hold the dim's size is compared as i64.
    Value position = element.isInteger(64) ? index : CastOp::create(b, index, i64).getResult();
    Value size = target.isDynamic(dim)
                     ? sizeOf(cast<StringAttr>(dim))
                     : scalar(b, b.getLoc(), i64, static_cast<double>(target.getSize(dim)));
    size = b.createOrFold<CastOp>(size, arrayType(position).getElementType());
    Value here = CompareOp::create(b, ComparePredicate::lt, position, size);
    if (!element.isUnsignedInteger()) {
      Value least = NegOp::create(b, size);
      here = AndOp::create(b, here,
                           CompareOp::create(b, ComparePredicate::ge, position, least).getResult());
    }
    inside = inside ? AndOp::create(b, inside, here).getResult() : here;
  }
  return inside;
}

/// The positions are known, none is negative, and no two are the same.
static bool areKnownDistinct(ValueRange indices) {
  DenseElementsAttr known;
  if (indices.size() != 1 || !matchPattern(indices[0], m_Constant(&known)))
    return false;
  llvm::SmallDenseSet<int64_t> seen;
  return llvm::all_of(known.getValues<APInt>(), [&](const APInt &value) {
    int64_t position = value.getSExtValue();
    return position >= 0 && position < INT64_MAX - 1 && seen.insert(position).second;
  });
}

namespace {
/// For each position the number of its last update, or -1; and the numbers of the updates.
struct LastUpdates {
  Value last, numbers; // null: no two updates can meet
};
} // namespace

static LastUpdates lastUpdates(Transposer &t, ScatterOp op, ValueRange indices) {
  if (auto known = t.shared.find(op); known != t.shared.end())
    return {known->second.first, known->second.second};
  ArrayType target = arrayType(op.getTarget());
  auto types = llvm::map_to_vector(indices, [](Value v) { return arrayType(v); });
  ArrayType written = unionOf(types, t.b.getI64Type()),
            kept = minus(target, op.getAlong().getValue());
  // Updates along a dim that the target keeps never meet.
  ArrayType numbered = minus(written, dimsOf(kept));
  if (numbered.getRank() == 0 || areKnownDistinct(indices))
    return {};
  int64_t count = knownProduct(numbered.getShape());
  Type element =
      count != ArrayType::kDynamic && count <= INT32_MAX ? t.b.getI32Type() : t.b.getI64Type();
  // By name, so that the stored order of an index array changes nothing.
  SmallVector<Attribute> order = dimsOf(numbered);
  llvm::sort(order, [](Attribute a, Attribute b) {
    return cast<StringAttr>(a).getValue() < cast<StringAttr>(b).getValue();
  });
  Location loc = t.b.getLoc();
  Value numbers = t.rowMajor(reordered(numbered, order), element);
  // Dims that no index has are whole rows, which have one last update.
  ArrayType owners = minus(target.withElement(element), dimsOf(minus(kept, dimsOf(written))));
  Value nobody = conform(t.b, loc, scalar(t.b, loc, element, -1), owners, t.sizes(owners));
  Value last = ScatterOp::create(t.b, ScatterKind::set, op.getMode(), nobody, indices, numbers,
                                 op.getAlong());
  t.shared[op] = {last, numbers};
  return {last, numbers};
}

/// Which updates of `op` are the last of their position. Null: all that are not dropped.
static Value areLast(Transposer &t, ScatterOp op, ValueRange indices) {
  LastUpdates found = lastUpdates(t, op, indices);
  if (!found.last)
    return {};
  return CompareOp::create(t.b, ComparePredicate::eq,
                           readBack(t.b, op.getMode(), found.last, indices, op.getAlong()),
                           found.numbers);
}

//===- add, set ------------------------------------------------------------===//

Value xtensor::addTangents(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<ScatterOp>(o);
  Value updates = tangents[1 + op.getIndices().size()];
  if (!updates)
    return tangents[0]; // the op itself looks at the positions
  Value target = tangents[0] ? tangents[0] : l.zeroLike(op.getTarget());
  return ScatterOp::create(l.linear, op.getKind(), op.getMode(), target, op.getIndices(), updates,
                           op.getAlong());
}

Value xtensor::setTangents(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<ScatterOp>(o);
  Value updates = tangents[1 + op.getIndices().size()];
  Value target = tangents[0] ? tangents[0] : l.zeroLike(op.getTarget());
  if (!updates)
    updates = zeroOf(l.linear, target);
  return ScatterOp::create(l.linear, op.getKind(), op.getMode(), target, op.getIndices(), updates,
                           op.getAlong());
}

/// What lies where the updates went; nothing for those that were dropped.
static Value readWhere(Transposer &t, ScatterOp op, ValueRange indices, Value ct, Value counts) {
  Value read = readBack(t.b, op.getMode(), ct, indices, op.getAlong());
  if (!counts && op.getMode() == IndexMode::drop)
    counts = areInside(t.b, indices, op.getAlong(), arrayType(op.getTarget()), [&](StringAttr dim) {
      ArrayType along =
          ArrayType::get(t.b.getContext(), {dim}, {ArrayType::kDynamic}, t.b.getI64Type());
      return t.sizes(along)[0];
    });
  return counts ? SelectOp::create(t.b, counts, read, zeroOf(t.b, read)).getResult() : read;
}

Value xtensor::gatherBack(Transposer &t, Operation *o, unsigned i, Value ct) {
  auto op = cast<ScatterOp>(o);
  if (i == 0)
    return ct;
  return readWhere(t, op, residuals(t, op.getIndices()), ct, Value());
}

Value xtensor::gatherByLast(Transposer &t, Operation *o, unsigned i, Value ct) {
  auto op = cast<ScatterOp>(o);
  SmallVector<Value> indices = residuals(t, op.getIndices());
  if (i == 0) {
    // Where the updates ask for the last ones, too, it is known what was written.
    LastUpdates found = t.isLinear(op.getUpdates()) ? lastUpdates(t, op, indices) : LastUpdates();
    Value zero = zeroOf(t.b, ct);
    if (!found.last)
      return ScatterOp::create(t.b, ScatterKind::set, op.getMode(), ct, indices, zero,
                               op.getAlong());
    Value none = scalar(t.b, t.b.getLoc(), arrayType(found.last).getElementType(), 0);
    Value kept = CompareOp::create(t.b, ComparePredicate::lt, found.last, none);
    return SelectOp::create(t.b, kept, ct, zero);
  }
  return readWhere(t, op, indices, ct, areLast(t, op, indices));
}

//===- max, min ------------------------------------------------------------===//

Value xtensor::owns(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value chosen = CompareOp::create(b, ComparePredicate::eq, x, y);
  return OrOp::create(b, chosen, IsnanOp::create(b, x).getResult());
}

Value xtensor::shareAmongWriters(Linearizer &l, Operation *o) {
  auto op = cast<ScatterOp>(o);
  ImplicitLocOpBuilder &b = l.primal;
  Value target = op.getTarget(), updates = op.getUpdates(), y = op.getY();
  Value read = readBack(b, op.getMode(), y, op.getIndices(), op.getAlong());
  Value isKept = owns(b, target, y), isWritten = owns(b, updates, read);
  if (op.getMode() == IndexMode::drop)
    isWritten = AndOp::create(b, isWritten,
                              areInside(b, op.getIndices(), op.getAlong(), arrayType(target),
                                        [&](StringAttr dim) { return l.sizeOf(target, dim); }));
  auto scatterAdd = [&](ImplicitLocOpBuilder &b, Value target, Value updates) -> Value {
    return ScatterOp::create(b, ScatterKind::add, op.getMode(), target, op.getIndices(), updates,
                             op.getAlong());
  };
  Value zero = zeroOf(b, y), one = scalar(b, b.getLoc(), arrayType(y).getElementType(), 1);
  Value count = scatterAdd(b, SelectOp::create(b, isKept, one, zero),
                           SelectOp::create(b, isWritten, one, zero));
  Value share = DivOp::create(b, one, count);

  Value kept = l.tangent(target), written = l.tangent(updates), sum;
  if (kept)
    sum = SelectOp::create(l.linear, isKept, kept, zero);
  if (written) {
    Value own = SelectOp::create(l.linear, isWritten, written, zero);
    sum = scatterAdd(l.linear, sum ? sum : l.zeroLike(target), own);
  }
  return MulOp::create(l.linear, share, sum);
}

//===- mul, accumulate -----------------------------------------------------===//

/// d state <- factor * d state + (state * d factor + d term).
static Value recur(Linearizer &l, AccumulateKind kind, IndexMode mode, Value start, Value terms,
                   Value factors, ValueRange indices, ArrayAttr along, bool reverse,
                   Value startTangent, Value termsTangent) {
  if (Value t = l.tangent(factors)) {
    Value states = AccumulateOp::create(l.primal, AccumulateKind::states, mode, start, terms,
                                        factors, indices, along, reverse);
    Value product = MulOp::create(l.linear, states, t);
    termsTangent =
        termsTangent ? AddOp::create(l.linear, termsTangent, product).getResult() : product;
  }
  if (!startTangent)
    startTangent = l.zeroLike(start);
  if (!termsTangent)
    termsTangent = zeroOf(l.linear, factors);
  return AccumulateOp::create(l.linear, kind, mode, startTangent, termsTangent, factors, indices,
                              along, reverse);
}

Value xtensor::recurProducts(Linearizer &l, Operation *o) {
  auto op = cast<ScatterOp>(o);
  return recur(l, AccumulateKind::last, op.getMode(), op.getTarget(),
               zeroOf(l.primal, op.getUpdates()), op.getUpdates(), op.getIndices(), op.getAlong(),
               /*reverse=*/false, l.tangent(op.getTarget()), Value());
}

Value xtensor::recurTangents(Linearizer &l, Operation *o, ArrayRef<Value> tangents) {
  auto op = cast<AccumulateOp>(o);
  return recur(l, op.getKind(), op.getMode(), op.getStart(), op.getTerms(), op.getFactors(),
               op.getIndices(), op.getAlong(), op.getReverse(), tangents[0], tangents[1]);
}

/// The same recurrence in the other direction: what arrives at the end is its start, what
/// arrives at the states its terms; the start receives its last states, the terms its states.
Value xtensor::recurBackwards(Transposer &t, Operation *o, unsigned i, Value ct) {
  auto op = cast<AccumulateOp>(o);
  bool fromEnd = op.getKind() == AccumulateKind::last;
  Value start = fromEnd ? ct : t.zero(arrayType(op.getStart()));
  Value terms = fromEnd ? zeroOf(t.b, ct) : ct;
  return AccumulateOp::create(t.b, i == 0 ? AccumulateKind::last : AccumulateKind::states,
                              op.getMode(), start, terms, t.residual(op.getFactors()),
                              residuals(t, op.getIndices()), op.getAlong(), !op.getReverse());
}
