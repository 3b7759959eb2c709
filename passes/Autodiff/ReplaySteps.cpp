// Loops whose body is a checkpoint keep few of their carries. A loop back, which would read the
// carries of all steps, keeps those at positions that halve the way to the step at hand, and takes
// the steps from the last of them again: n steps cost about n log2(n) / 2 steps more, and memory
// for log2(n) carries.
#include "Autodiff/Regions.h"
#include "XTensor/Endings.h"

using namespace mlir;
using namespace xtensor;

/// The stack that `array` is, with its dims in another order.
static Value reordered(Value array) {
  auto view = array.getDefiningOp<BroadcastOp>();
  bool isReordered = view && arrayType(view.getX()).getRank() == arrayType(array).getRank();
  return isReordered ? view.getX() : array;
}

/// The scan back that reads the carries which `op` stacked, and that alone; null if there is none.
static ScanOp readerOf(ScanOp op) {
  if (!op->hasAttr(kReplayed) || op.getReverse() || !op.getSize())
    return {};
  ScanOp reader;
  for (auto [value, stack] : llvm::zip_equal(op.getYieldedStacked(), op.getStacked())) {
    auto carry = dyn_cast<BlockArgument>(value);
    if (!stack.use_empty() && (!carry || carry.getOwner() != op.getBody()))
      return {};
    SmallVector<Value> work{stack};
    while (!work.empty())
      for (OpOperand &use : work.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        if (user->getNumResults() == 1 && reordered(user->getResult(0)) == use.get()) {
          work.push_back(user->getResult(0));
          continue;
        }
        auto scan = dyn_cast<ScanOp>(user);
        bool isRead = scan && scan->getBlock() == op->getBlock() && scan.getReverse() &&
                      scan.getDimAttr() == op.getDimAttr() && (!reader || scan == reader) &&
                      use.getOperandNumber() >= scan.getNumCarries();
        if (!isRead)
          return {};
        reader = scan;
      }
  }
  return reader;
}

namespace {

/// The loop back, which takes steps again.
class Replay {
public:
  Replay(ScanOp forward, ScanOp back)
      : forward(forward), back(back), b(back.getLoc(), back), i64(b.getI64Type()),
        // As the steps, so the slots of two loops have two names.
        slot(b.getStringAttr("slot of " + forward.getDim())) {}

  void run() {
    Value steps = forward.getSize();
    // Where a carry of each slot is kept, the slots, the last one in use, the step at hand.
    SmallVector<Value> inits(back.getCarry());
    unsigned own = inits.size();
    Value slots = add(CastOp::create(b, log2(steps), i64), number(3));
    inits.push_back(repeated(number(0), slots));
    for (Value carry : forward.getCarry())
      inits.push_back(repeated(carry, slots));
    inits.push_back(number(0));
    inits.push_back(SubOp::create(b, steps, number(1)));

    SmallVector<Value> over;
    Region region;
    Block &body = region.emplaceBlock();
    SmallVector<Value> state;
    for (auto [i, init] : llvm::enumerate(inits)) {
      Location of = i < own ? back.getCarryArguments()[i].getLoc() : b.getLoc();
      state.push_back(body.addArgument(init.getType(), of));
    }
    IRMapping values;
    values.map(back.getCarryArguments(), ArrayRef(state).take_front(own));
    SmallVector<std::pair<Value, Value>> replayed; // argument, carry of the forward body
    for (auto [array, argument] : llvm::zip_equal(back.getOver(), back.getOverArguments())) {
      Value stack = reordered(array);
      if (stack.getDefiningOp() == forward) {
        replayed.push_back(
            {argument, forward.getYield().getValues()[cast<OpResult>(stack).getResultNumber()]});
        continue;
      }
      over.push_back(array);
      values.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
    }
    b.setInsertionPointToEnd(&body);
    SmallVector<Value> carries = restore(MutableArrayRef(state).drop_front(own));
    for (auto [argument, carry] : replayed)
      values.map(argument,
                 conform(b, b.getLoc(), carries[cast<BlockArgument>(carry).getArgNumber()],
                         arrayType(argument), {}));
    for (Operation &op : back.getBody()->without_terminator())
      b.clone(op, values);
    SmallVector<Value> yields;
    for (Value v : back.getYield().getValues())
      yields.push_back(values.lookupOrDefault(v));
    state.back() = SubOp::create(b, state.back(), number(1));
    yields.insert(yields.begin() + own, state.begin() + own, state.end());
    YieldOp::create(b, yields);

    b.setInsertionPoint(back);
    SmallVector<Type> types(back.getFinals().getTypes());
    llvm::append_range(types, ValueRange(inits).drop_front(own).getTypes());
    llvm::append_range(types, back.getStacked().getTypes());
    auto made = ScanOp::create(b, types, back.getDimAttr(), back.getReverseAttr(), inits, over,
                               IntegerAttr(), over.empty() ? steps : Value());
    made.getBodyRegion().takeBody(region);
    SmallVector<Value> results(made.getFinals().take_front(own));
    llvm::append_range(results, made.getStacked());
    back->replaceAllUsesWith(results);
    back.erase();
  }

private:
  Value number(int64_t v) { return scalar(b, b.getLoc(), i64, static_cast<double>(v)); }
  Value add(Value x, Value y) { return AddOp::create(b, x, y); }
  Value flag(Value v) { return CastOp::create(b, v, i64); }
  Value compare(ComparePredicate predicate, Value x, Value y) {
    return CompareOp::create(b, predicate, x, y);
  }
  Value log2(Value steps) {
    Value some = MaximumOp::create(b, steps, number(1));
    return Log2Op::create(b, CastOp::create(b, some, b.getF32Type()));
  }
  Value repeated(Value v, Value slots) {
    ArrayType type = withLeading(arrayType(v), slot, ArrayType::kDynamic);
    return BroadcastOp::create(b, type, v, slots);
  }
  Value at(Value slots, Value i) {
    return GatherOp::create(b, IndexMode::clip, slots, i, b.getArrayAttr({slot}));
  }
  Value put(Value slots, Value i, Value v) {
    return ScatterOp::create(b, ScatterKind::set, IndexMode::clip, slots, i, v,
                             b.getArrayAttr({slot}));
  }

  /// The carries before the step at hand. `state`: places, slots, the last slot, the step.
  SmallVector<Value> restore(MutableArrayRef<Value> state) {
    unsigned count = forward.getNumCarries();
    Value step = state.back();
    Value &last = state[count + 1];
    // The one after it was for the step that is done.
    last = SubOp::create(b, last, flag(compare(ComparePredicate::gt, at(state[0], last), step)));
    // The place of the last slot, that slot, the places, the slots, the carries there.
    SmallVector<Value> inits{at(state[0], last), last};
    llvm::append_range(inits, state.take_front(count + 1));
    for (Value slots : state.slice(1, count))
      inits.push_back(at(slots, last));
    ResultRange results = loop(inits, step, [&](ValueRange now) { return advance(now, step); });
    last = results[1];
    llvm::copy(results.slice(2, count + 1), state.begin());
    return SmallVector<Value>(results.take_back(count));
  }

  /// A loop while the first carry is below `end`.
  ResultRange loop(ValueRange inits, Value end,
                   function_ref<SmallVector<Value>(ValueRange now)> body) {
    SmallVector<Type> types(inits.getTypes());
    SmallVector<Location> locs(types.size(), b.getLoc());
    auto made = WhileOp::create(b, types, inits, IntegerAttr());
    OpBuilder::InsertionGuard guard(b);
    Block *cond = b.createBlock(&made.getCondRegion(), {}, types, locs);
    YieldOp::create(b, compare(ComparePredicate::lt, cond->getArgument(0), end));
    Block *step = b.createBlock(&made.getBodyRegion(), {}, types, locs);
    YieldOp::create(b, body(step->getArguments()));
    return made.getResults();
  }

  /// Half of the way on. The carries there are written to the slot after the last one, which is in
  /// use from then on if the way goes on. An update may copy all slots: there is one per half, not
  /// one per step.
  SmallVector<Value> advance(ValueRange now, Value step) {
    unsigned count = forward.getNumCarries();
    Value from = now[0], last = now[1];
    Value way = add(SubOp::create(b, step, from), number(1));
    Value half = add(from, FloorDivOp::create(b, way, number(2)));
    SmallVector<Value> inits{from};
    llvm::append_range(inits, now.take_back(count));
    ValueRange carries =
        loop(inits, half, [&](ValueRange now) { return oneStep(now); }).drop_front();
    Value next = add(last, number(1));
    Value goesOn = compare(ComparePredicate::lt, half, step);
    SmallVector<Value> nexts{half, add(last, flag(goesOn)), put(now[2], next, half)};
    for (auto [slots, carry] : llvm::zip_equal(now.slice(3, count), carries))
      nexts.push_back(put(slots, next, carry));
    llvm::append_range(nexts, carries);
    return nexts;
  }

  SmallVector<Value> oneStep(ValueRange now) {
    IRMapping values;
    values.map(forward.getCarryArguments(), now.drop_front());
    for (Operation &op : forward.getBody()->without_terminator())
      b.clone(op, values);
    SmallVector<Value> nexts{add(now.front(), number(1))};
    for (Value v : forward.getYieldedCarries())
      nexts.push_back(values.lookupOrDefault(v));
    return nexts;
  }

  ScanOp forward, back;
  ImplicitLocOpBuilder b;
  Type i64;
  StringAttr slot;
};

} // namespace

void xtensor::replaySteps(Operation *root) {
  // A scan back is erased with the scans in its body, which its copy has again.
  auto replayOne = [](ScanOp op) {
    ScanOp reader = readerOf(op);
    if (!reader)
      return WalkResult::advance();
    Replay(op, reader).run();
    return WalkResult::interrupt();
  };
  while (root->walk(replayOne).wasInterrupted())
    ;
}
