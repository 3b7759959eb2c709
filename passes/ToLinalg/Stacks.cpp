#include "ToLinalg/Stacks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;

Value xtensor::carried(Value array, Lowering &to) {
  return isNumber(array) ? to.numberOf(array) : to.tensor(array);
}

void xtensor::setCarried(Value array, Value value, Lowering &to) {
  if (isNumber(array))
    to.setScalar(array, value);
  else
    to.setTensor(array, value);
}

/// What a region of a lowered loop or branch hands on: operand `i` of its last `End`. The ops that
/// were lowered, with their own terminators, still stand after it.
template <typename End>
static Value handedOn(Region &region, unsigned i) {
  for (Operation &op : llvm::reverse(region.front()))
    if (auto end = dyn_cast<End>(op))
      return end->getOperand(i);
  return {};
}

/// Whether `value` is `place` after updates of some of its elements, which need no copy to be in
/// its memory.
static bool isUpdateOf(Value value, Value place) {
  if (value == place)
    return true;
  auto result = dyn_cast_or_null<OpResult>(value);
  if (!result)
    return false;
  unsigned i = result.getResultNumber();
  return TypeSwitch<Operation *, bool>(result.getOwner())
      .Case<tensor::InsertOp, tensor::InsertSliceOp>(
          [&](auto op) { return isUpdateOf(op.getDest(), place); })
      .Case([&](scf::IfOp op) {
        return isUpdateOf(handedOn<scf::YieldOp>(op.getThenRegion(), i), place) &&
               isUpdateOf(handedOn<scf::YieldOp>(op.getElseRegion(), i), place);
      })
      .Case([&](scf::ForOp op) {
        return isUpdateOf(op.getInitArgs()[i], place) &&
               isUpdateOf(handedOn<scf::YieldOp>(op.getRegion(), i), op.getRegionIterArg(i));
      })
      .Case([&](scf::WhileOp op) {
        return isUpdateOf(op.getInits()[i], place) &&
               handedOn<scf::ConditionOp>(op.getBefore(), i + 1) == op.getBeforeArguments()[i] &&
               isUpdateOf(handedOn<scf::YieldOp>(op.getAfter(), i), op.getAfterArguments()[i]);
      })
      .Default(false);
}

Value xtensor::writtenTo(Value place, Value array, Lowering &to) {
  if (isNumber(array))
    return to.numberOf(array);
  ArrayType type = arrayType(array);
  View from = to.access(array, type.getDimNames());
  if (from.kind == View::Tensor && from.map.isIdentity() && isUpdateOf(from.source, place))
    return from.source;
  if (from.source == place) {
    // Another view of the place itself cannot be written into it element by element.
    from.source = to.tensor(array);
    from.map = to.b.getMultiDimIdentityMap(type.getRank());
  }
  return to
      .generic(from, place, to.b.getMultiDimIdentityMap(type.getRank()), /*reductions=*/0,
               [](OpBuilder &, Location, ValueRange x, ValueRange) {
                 return SmallVector<Value>{x.front()};
               })
      .front();
}

//===- positions of a stack ------------------------------------------------===//

/// Position `at` of the first axis of `stack`.
static Value read(Value stack, Value at, ArrayRef<OpFoldResult> sizes, Lowering &to) {
  OpBuilder &b = to.b;
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), lengths(sizes);
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  offsets[0] = at;
  lengths[0] = b.getIndexAttr(1);
  auto whole = cast<RankedTensorType>(stack.getType());
  return tensor::ExtractSliceOp::create(b, to.loc(), whole.clone(whole.getShape().drop_front()),
                                        stack, offsets, lengths, ones);
}

static Value write(Value source, Value stack, Value at, ArrayRef<OpFoldResult> sizes,
                   Lowering &to) {
  OpBuilder &b = to.b;
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), lengths(sizes);
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  offsets[0] = at;
  lengths[0] = b.getIndexAttr(1);
  return tensor::InsertSliceOp::create(b, to.loc(), source, stack, offsets, lengths, ones);
}

/// A copy of `source` in `place`, as an op that can share a loop with others.
static Value copyInto(OpBuilder &b, Location loc, Value source, Value place) {
  unsigned rank = cast<RankedTensorType>(source.getType()).getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, place.getType(), source, place, maps, loops,
                                   [](OpBuilder &body, Location loc, ValueRange arguments) {
                                     linalg::YieldOp::create(body, loc, arguments[0]);
                                   })
      .getResult(0);
}

/// `array` at position `at` of the first axis of `stack`. What a loop carries is copied there,
/// which what else reads it can do; another value is made there.
static Value stackedInto(Value stack, Value array, Value at, ArrayRef<OpFoldResult> sizes,
                         Lowering &to) {
  if (isNumber(array))
    return tensor::InsertOp::create(to.b, to.loc(), to.numberOf(array), stack, at);
  Value source = to.tensor(array);
  bool isMadeHere = !isa<BlockArgument>(source) && !source.getDefiningOp<tensor::ExtractSliceOp>();
  if (!isMadeHere && !to.isForDevice())
    source = copyInto(to.b, to.loc(), source, read(stack, at, sizes, to));
  return write(source, stack, at, sizes, to);
}

//===- stacks --------------------------------------------------------------===//

/// What `v` is a view of, element by element.
static Value unrenamed(Value v) {
  while (auto rename = v.getDefiningOp<RenameOp>())
    v = rename.getX();
  return v;
}

/// Whether a stack is made in the caller's memory.
static bool isReturned(Value stack) {
  return llvm::any_of(stack.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
}

Stacks::Stacks(ScanOp op, Value steps) : op(op), steps(steps) {
  unsigned count = op.getNumCarries();
  BitVector isPlain(op.getNumResults());
  isPlain.set(count, op.getNumResults());
  for (unsigned i = 0; i < count; ++i) {
    Value before = op.getBody()->getArgument(i), after = unrenamed(op.getYieldedCarries()[i]);
    States found{i, {}, {}};
    for (unsigned r = count; r < op.getNumResults(); ++r) {
      Value v = unrenamed(op.getYield().getValues()[r]);
      if (!isReturned(op.getResult(r)) && (v == before || v == after))
        (v == before ? found.before : found.after).push_back(r);
    }
    // A number is carried as a number, of which only a second stack is worth saving.
    unsigned stacks = !found.before.empty() + !found.after.empty();
    bool isStacked = stacks > (isNumber(before) ? 1 : 0);
    if (!isStacked || isNumber(before))
      carries.push_back(i);
    if (!isStacked)
      continue;
    for (unsigned r : llvm::concat<unsigned>(found.before, found.after))
      isPlain.reset(r);
    states.push_back(std::move(found));
  }
  for (unsigned r : isPlain.set_bits())
    plain.push_back(r);
}

/// Whether the states before (else: after) the steps are one further on than the steps.
static bool isLater(ScanOp op, bool before) { return before == op.getReverse(); }

Value Stacks::place(bool before, Value at, Lowering &to) {
  return isLater(op, before) ? arith::AddIOp::create(to.b, to.loc(), at, to.index(1)) : at;
}

SmallVector<Value> Stacks::starts(Value taken, Lowering &to) {
  OpBuilder &b = to.b;
  SmallVector<Value> starts;
  for (unsigned i : carries)
    starts.push_back(carried(op.getCarry()[i], to));
  for (const States &s : states) {
    Value start = op.getCarry()[s.carry];
    ArrayType type = arrayType(start);
    OpFoldResult places = b.getIndexAttr(op.getSteps() + 1);
    if (op.getSteps() == ArrayType::kDynamic)
      places = arith::AddIOp::create(b, to.loc(), steps, to.index(1)).getResult();
    sizes.push_back({places});
    for (StringAttr name : type.getDimNames())
      sizes.back().push_back(to.sizeOf(name, type));
    Value whole =
        tensor::EmptyOp::create(b, to.loc(), sizes.back(), storageType(type.getElementType()));
    Value first = op.getReverse() ? taken : to.index(0);
    if (isNumber(start)) {
      starts.push_back(
          tensor::InsertOp::create(b, to.loc(), to.numberOf(start), whole, first).getResult());
      continue;
    }
    Value source = writtenTo(read(whole, first, sizes.back(), to), start, to);
    starts.push_back(write(source, whole, first, sizes.back(), to));
  }
  for (unsigned r : plain) {
    auto empty = to.empty(arrayType(op.getResult(r))).getDefiningOp<tensor::EmptyOp>();
    starts.push_back(empty);
    sizes.push_back(empty.getMixedSizes());
  }
  return starts;
}

void Stacks::enter(Block &body, ValueRange values, Value at, Lowering &to) {
  for (auto [i, value] : llvm::zip(carries, values))
    setCarried(body.getArgument(i), value, to);
  for (auto [s, stack, shape] : llvm::zip(states, values.drop_front(carries.size()), sizes))
    if (Value arg = body.getArgument(s.carry); !isNumber(arg))
      to.setTensor(arg, read(stack, place(/*before=*/true, at, to), shape, to));
}

SmallVector<Value> Stacks::next(YieldOp yield, ValueRange values, Value at, Lowering &to) {
  SmallVector<unsigned> stacked;
  for (const States &s : states)
    stacked.push_back(s.carry);
  llvm::append_range(stacked, plain);
  SmallVector<Value> next(values.size());
  for (auto [k, r] : llvm::enumerate(stacked)) {
    Value position = k < states.size() ? place(/*before=*/false, at, to) : at;
    unsigned i = carries.size() + k;
    next[i] = stackedInto(values[i], yield.getValues()[r], position, sizes[k], to);
  }
  for (auto [k, i] : llvm::enumerate(carries))
    next[k] = writtenTo(values[k], yield.getValues()[i], to);
  return next;
}

void Stacks::leave(ValueRange values, Value taken, Lowering &to) {
  OpBuilder &b = to.b;
  for (auto [i, value] : llvm::zip(carries, values))
    setCarried(op.getResult(i), value, to);
  values = values.drop_front(carries.size());
  Value last = op.getReverse() ? to.index(0) : taken;
  for (auto [s, stack, shape] : llvm::zip(states, values, sizes)) {
    if (Value final = op.getResult(s.carry); !isNumber(final))
      to.setTensor(final, read(stack, last, shape, to));
    SmallVector<OpFoldResult> ones(shape.size(), b.getIndexAttr(1)), lengths(shape);
    lengths[0] =
        op.getSteps() == ArrayType::kDynamic ? OpFoldResult(steps) : b.getIndexAttr(op.getSteps());
    for (bool before : {true, false})
      for (unsigned r : before ? s.before : s.after) {
        SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
        offsets[0] = b.getIndexAttr(isLater(op, before));
        auto type = RankedTensorType::get(arrayType(op.getResult(r)).getShape(),
                                          cast<RankedTensorType>(stack.getType()).getElementType());
        to.setTensor(op.getResult(r), tensor::ExtractSliceOp::create(b, to.loc(), type, stack,
                                                                     offsets, lengths, ones));
      }
  }
  for (auto [r, stack] : llvm::zip(plain, values.drop_front(states.size())))
    to.setTensor(op.getResult(r), stack);
}
