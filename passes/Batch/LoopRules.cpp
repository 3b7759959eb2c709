// Loops. The batch names of a carry are known once the body adds no further names.
#include "Batch/Batcher.h"
#include "Batch/StandIns.h"
#include "XTensor/Endings.h"

using namespace mlir;
using namespace xtensor;

namespace {
/// The batch names of each carry of a loop.
struct Carries {
  Carries(Batcher &t, ValueRange init) : t(t), init(t.valuesOf(init)), instance(init.getTypes()) {
    for (Value v : this->init)
      names.push_back(t.names(v));
  }

  SmallVector<Type> types() const {
    SmallVector<Type> found;
    for (auto [type, some] : llvm::zip_equal(instance, names))
      found.push_back(t.typeOf(type, some));
    return found;
  }
  /// Adds names that the next carries have; whether there were any.
  bool grow(ValueRange next, BatchNames more = 0) {
    bool grown = false;
    for (auto [some, v] : llvm::zip(names, next)) {
      BatchNames old = std::exchange(some, some | t.names(v) | more);
      grown |= some != old;
    }
    return grown;
  }
  SmallVector<Value> spread(ValueRange values) const {
    SmallVector<Value> found;
    for (auto [v, some] : llvm::zip(values, names))
      found.push_back(t.spread(v, some));
    return found;
  }

  Batcher &t;
  SmallVector<Value> init;
  SmallVector<Type> instance;
  SmallVector<BatchNames> names;
};
} // namespace

/// The steps of the instance that takes most of them; those after an instance's own change nothing.
static Value mostSteps(Batcher &t, Value steps, BatchNames names) {
  Value none = scalar(t.b, t.b.getLoc(), t.b.getI64Type(), 0);
  if (!StandIns::exist(t, steps))
    return none;
  Value most = ReduceOp::create(t.b, ReduceKind::max, steps, t.b.getArrayAttr(t.list(names)));
  return MaximumOp::create(t.b, most, none); // there may be no instance
}

static LogicalResult scan(Batcher &t, Operation *o) {
  auto op = cast<ScanOp>(o);
  StringAttr dim = op.getDimAttr();
  Carries carries(t, op.getCarry());
  SmallVector<Value> over = t.valuesOf(op.getOver());
  unsigned count = carries.init.size();
  OpBuilder::InsertPoint here = t.b.saveInsertionPoint();
  while (true) {
    SmallVector<Type> types = carries.types();
    for (Value v : over)
      types.push_back(minus(arrayType(v), dim));
    Region body;
    auto yields = t.fill(body, *op.getBody(), types);
    if (failed(yields))
      return failure();
    bool grown = carries.grow(ValueRange(*yields).take_front(count));
    if (!grown) {
      types = carries.types();
      SmallVector<Value> values = carries.spread(*yields);
      for (Value v : ValueRange(*yields).drop_front(count)) {
        values.push_back(v);
        types.push_back(withLeading(arrayType(v), dim, op.getSteps()));
      }
      YieldOp::create(t.b, values);
      t.b.restoreInsertionPoint(here);
      Value size = op.getSize() ? t.value(op.getSize()) : Value();
      if (BatchNames names = size ? t.names(size) : 0) {
        if (!op->hasAttr(kEndsEarly))
          return op.emitOpError(
              "cannot be vectorized: its number of steps depends on the instance");
        size = mostSteps(t, size, names);
      }
      auto made = ScanOp::create(t.b, types, dim, op.getReverseAttr(), carries.spread(carries.init),
                                 over, op.getLengthAttr(), size);
      made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      made.getBodyRegion().takeBody(body);
      for (auto [result, batched] : llvm::zip_equal(op.getResults(), made.getResults()))
        t.set(result, batched);
      return success();
    }
    t.b.restoreInsertionPoint(here);
  }
}

//===- while ---------------------------------------------------------------===//

/// The names of what a condition gives where the carries have theirs.
static FailureOr<BatchNames> namesOfCondition(Batcher &t, WhileOp op, const Carries &carries) {
  OpBuilder::InsertionGuard guard(t.b);
  Region scratch;
  auto yields = t.fill(scratch, op.getCondRegion().front(), carries.types());
  if (failed(yields))
    return failure();
  return t.names(ValueRange(*yields));
}

/// The names of all carries: what a step adds, and those of the condition, which decides which
/// instances go on.
static LogicalResult settle(Batcher &t, WhileOp op, Carries &carries, BatchNames &condition) {
  for (bool grown = true; grown;) {
    auto found = namesOfCondition(t, op, carries);
    if (failed(found))
      return failure();
    condition = *found;
    OpBuilder::InsertionGuard guard(t.b);
    Region scratch;
    auto yields = t.fill(scratch, op.getBodyRegion().front(), carries.types());
    if (failed(yields))
      return failure();
    grown = carries.grow(*yields, condition);
  }
  return success();
}

static LogicalResult whileTogether(Batcher &t, WhileOp op, const Carries &carries) {
  SmallVector<Type> types = carries.types();
  auto made = WhileOp::create(t.b, types, carries.spread(carries.init), op.getMaxStepsAttr());
  OpBuilder::InsertionGuard guard(t.b);
  auto more = t.fill(made.getCondRegion(), op.getCondRegion().front(), types);
  if (failed(more))
    return failure();
  YieldOp::create(t.b, *more);
  auto next = t.fill(made.getBodyRegion(), op.getBodyRegion().front(), types);
  if (failed(next))
    return failure();
  YieldOp::create(t.b, carries.spread(*next));
  t.b.setInsertionPointAfter(made);
  for (auto [result, batched] : llvm::zip_equal(op.getResults(), made.getResults()))
    t.set(result, batched);
  return success();
}

/// Goes on until the last instance is done. Which ones go on is the first carry; those that are
/// done keep what they have.
static LogicalResult whileEach(Batcher &t, WhileOp op, const Carries &carries) {
  Block &condition = op.getCondRegion().front(), &body = op.getBodyRegion().front();
  SmallVector<Value> init = carries.spread(carries.init);
  auto going = t.inlined(condition, init);
  if (failed(going))
    return failure();
  init.insert(init.begin(), going->front());
  BatchNames names = t.names(init.front());
  SmallVector<Type> types(ValueRange(init).getTypes());
  SmallVector<Location> locs{t.b.getLoc()};
  for (Value argument : body.getArguments())
    locs.push_back(argument.getLoc());
  auto made = WhileOp::create(t.b, types, init, op.getMaxStepsAttr());

  OpBuilder::InsertionGuard guard(t.b);
  Block *cond = t.b.createBlock(&made.getCondRegion(), {}, types, locs);
  Value any =
      ReduceOp::create(t.b, ReduceKind::any, cond->getArgument(0), t.b.getArrayAttr(t.list(names)));
  YieldOp::create(t.b, any);

  Block *step = t.b.createBlock(&made.getBodyRegion(), {}, types, locs);
  Value mask = step->getArgument(0);
  SmallVector<Value> current(step->getArguments().drop_front());
  FailureOr<SmallVector<Value>> next = failure();
  if (StandIns::isTotal(op.getBodyRegion()) || !StandIns::exist(t, mask)) {
    next = t.inlined(body, current);
  } else {
    StandIns standIns(t, mask, op.getBodyRegion());
    Batcher::Masked masked(t, mask);
    next = t.inlined(body, llvm::map_to_vector(current, [&](Value v) { return standIns.of(v); }));
  }
  if (failed(next))
    return failure();
  SmallVector<Value> yields;
  for (auto [some, then, now] : llvm::zip_equal(carries.names, *next, current))
    yields.push_back(t.choose(mask, t.spread(then, some), now));
  FailureOr<SmallVector<Value>> more = failure();
  {
    Batcher::Masked masked(t, mask);
    more = t.inlined(condition, yields);
  }
  if (failed(more))
    return failure();
  yields.insert(yields.begin(), AndOp::create(t.b, mask, more->front()));
  YieldOp::create(t.b, yields);

  t.b.setInsertionPointAfter(made);
  for (auto [result, batched] : llvm::zip_equal(op.getResults(), made.getResults().drop_front()))
    t.set(result, batched);
  return success();
}

static LogicalResult whileRule(Batcher &t, Operation *o) {
  auto op = cast<WhileOp>(o);
  Carries carries(t, op.getInit());
  BatchNames condition = 0;
  if (failed(settle(t, op, carries, condition)))
    return failure();
  return condition ? whileEach(t, op, carries) : whileTogether(t, op, carries);
}

//===- the table -----------------------------------------------------------===//

void xtensor::addLoopBatchRules(BatchRules &rules) {
  rules.add<ScanOp>(scan, "carries get the names of what they become");
  rules.add<WhileOp>(whileRule, "until the last instance is done, the others kept as they are");
}
