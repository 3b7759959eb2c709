// while: in forward mode, one loop carries values and tangents. In reverse mode, the loop counts
// its steps, and the linear part is a scan over as many. A bounded loop is a scan from the start,
// in which steps after the end change nothing.
#include "Autodiff/ControlRules.h"
#include "XTensor/Endings.h"

using namespace mlir;
using namespace xtensor;

static void cloneBody(OpBuilder &b, Block &block, IRMapping &values) {
  for (Operation &op : block.without_terminator())
    b.clone(op, values);
}

static SmallVector<Value> lookedUp(IRMapping &values, Operation *yield) {
  return llvm::map_to_vector(yield->getOperands(),
                             [&](Value v) { return values.lookupOrDefault(v); });
}

StringAttr xtensor::nameOfSteps(Operation *op, ArrayRef<StringAttr> others) {
  DenseSet<StringAttr> taken(others.begin(), others.end());
  op->getParentOfType<ModuleOp>().walk([&](ScanOp scan) { taken.insert(scan.getDimAttr()); });
  for (unsigned i = 0;; ++i)
    if (auto name = StringAttr::get(op->getContext(), "step~" + Twine(i)); !taken.contains(name))
      return name;
}

/// The steps of `op`, as many as `length` or `size` tells. `mayEnd`: they may be more than `op`
/// takes: scan { switch (cond) { keep } { body } }, in which the carries stay what they are once
/// the condition fails, so it fails from then on.
static ScanOp asScan(WhileOp op, ImplicitLocOpBuilder &b, IntegerAttr length, Value size,
                     bool mayEnd) {
  SmallVector<StringAttr> dims; // of the carries
  for (Value init : op.getInit())
    llvm::append_range(dims, arrayType(init).getDimNames());
  auto scan = ScanOp::create(b, op.getResultTypes(), nameOfSteps(op, dims), UnitAttr(),
                             op.getInit(), ValueRange(), length, size);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&scan.getBodyRegion());
  for (Value argument : op.getBodyRegion().getArguments())
    body->addArgument(argument.getType(), argument.getLoc());
  IRMapping values;
  if (mayEnd) {
    scan->setAttr(kEndsEarly, DistinctAttr::create(b.getUnitAttr()));
    values.map(op.getCondRegion().getArguments(), body->getArguments());
    cloneBody(b, op.getCondRegion().front(), values);
    Value more = CastOp::create(b, lookedUp(values, op.getCondYield())[0], b.getI64Type());
    auto step = SwitchOp::create(b, op.getResultTypes(), more, 2u);
    YieldOp::create(b, step.getResults());
    b.createBlock(&step.getBranches()[0]);
    YieldOp::create(b, body->getArguments());
    b.createBlock(&step.getBranches()[1]);
  }
  values.map(op.getBodyRegion().getArguments(), body->getArguments());
  cloneBody(b, op.getBodyRegion().front(), values);
  YieldOp::create(b, lookedUp(values, op.getBodyYield()));
  return scan;
}

static bool boundedAsScan(Linearizer &l, Operation *o) {
  auto op = cast<WhileOp>(o);
  if (l.isForward() || !op.getMaxSteps())
    return false;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ScanOp scan = asScan(op, b, op.getMaxStepsAttr(), Value(), /*mayEnd=*/true);
  op->replaceAllUsesWith(scan.getResults());
  op->erase();
  return true;
}

/// A copy of `op` that counts its steps in one carry more.
static WhileOp counting(WhileOp op, ImplicitLocOpBuilder &b) {
  Type i64 = b.getI64Type();
  SmallVector<Value> inits(op.getInit());
  inits.push_back(scalar(b, op.getLoc(), i64, 0));
  auto loop = WhileOp::create(b, ValueRange(inits).getTypes(), inits, IntegerAttr());
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), loop->getRegions())) {
    IRMapping values;
    from.cloneInto(&to, values);
    to.addArgument(inits.back().getType(), op.getLoc());
  }
  YieldOp yield = loop.getBodyYield();
  b.setInsertionPoint(yield);
  Value next =
      AddOp::create(b, loop.getBodyRegion().getArguments().back(), scalar(b, op.getLoc(), i64, 1));
  yield->insertOperands(yield->getNumOperands(), next);
  return loop;
}

/// Whether all that a step does stands in a checkpoint.
static bool isCheckpointed(WhileOp op) {
  return llvm::any_of(op.getBodyRegion().front(), llvm::IsaPred<CheckpointOp>);
}

/// In reverse mode, the primal loop counts its steps. The linear part takes that many steps again,
/// in a checkpoint: so the residuals of all steps live only where they are read, and around a loop
/// in a loop nothing is kept whose size differs from step to step.
static LogicalResult linearizeCounted(Linearizer &l, WhileOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  WhileOp loop = counting(op, b);
  auto again = CheckpointOp::create(b, op.getResultTypes());
  b.createBlock(&again.getBodyRegion());
  bool mayEnd = op->getParentOfType<VectorizeOp>(); // instances take different numbers of steps
  ScanOp scan = asScan(op, b, IntegerAttr(), loop.getResults().back(), mayEnd);
  if (isCheckpointed(op))
    scan->setAttr(kReplayed, b.getUnitAttr());
  YieldOp::create(b, scan.getResults());
  op->replaceAllUsesWith(again.getResults());
  op.erase();
  if (failed(linearizeCheckpoint(l, again)))
    return failure();
  for (auto [v, known] : llvm::zip(again.getResults(), loop.getResults()))
    if (Value t = l.tangent(v)) {
      l.setKnownTangent(known, t);
      l.forget(v);
    }
  again->replaceAllUsesWith(loop.getResults().drop_back());
  again.erase();
  return success();
}

/// In forward mode, the linear part runs the whole loop: nothing else knows how many steps there
/// are. It is one loop with the primal one after fuse-loops.
static LogicalResult linearizeWhile(Linearizer &l, Operation *o) {
  auto op = cast<WhileOp>(o);
  if (llvm::none_of(op.getResults(), [](Value v) { return isFloat(v) && !v.use_empty(); }))
    return success();
  if (!l.isForward())
    return linearizeCounted(l, op);
  Location loc = l.linear.getLoc(), primalLoc = l.primal.getLoc();
  Block &body = op.getBodyRegion().front();
  unsigned carries = op.getInit().size();
  DenseSet<Value> moving;
  for (auto [init, arg] : llvm::zip_equal(op.getInit(), body.getArguments()))
    if (isFloat(init) && l.tangent(init))
      moving.insert(arg);
  SmallVector<bool> active =
      activeCarries(body, carries, moving, [&](Value v) { return l.tangent(v) != nullptr; });

  OpBuilder::InsertPoint after = l.linear.saveInsertionPoint();
  SmallVector<Value> inits(op.getInit());
  for (unsigned i = 0; i < carries; ++i)
    if (active[i])
      inits.push_back(l.tangentOrZero(op.getInit()[i]));
  SmallVector<Type> types = llvm::map_to_vector(inits, [](Value v) { return v.getType(); });
  auto locs = llvm::map_to_vector(body.getArguments(), [](Value v) { return v.getLoc(); });
  for (unsigned i = 0; i < carries; ++i)
    if (active[i])
      locs.push_back(locOfArgument("tangent", body.getArgument(i), loc));
  auto loop = WhileOp::create(l.linear, types, inits, op.getMaxStepsAttr());
  IRMapping values;
  Block *cond = l.linear.createBlock(&loop.getCondRegion(), {}, types, locs);
  values.map(op.getCondRegion().getArguments(), cond->getArguments().take_front(carries));
  cloneBody(l.linear, op.getCondRegion().front(), values);
  YieldOp::create(l.linear, lookedUp(values, op.getCondYield()));

  // The body's own ops first, then the linear ones.
  Block *again = l.linear.createBlock(&loop.getBodyRegion(), {}, types, locs);
  values.map(body.getArguments(), again->getArguments().take_front(carries));
  cloneBody(l.linear, body, values);
  Operation *yield = YieldOp::create(l.linear, lookedUp(values, op.getBodyYield()));
  l.linear.restoreInsertionPoint(after);
  l.linear.setInsertionPoint(loop);
  Draft draft(l.linear);
  l.linear.setInsertionPointToEnd(&*draft);
  unsigned next = carries;
  for (unsigned i = 0; i < carries; ++i)
    if (active[i])
      l.setTangent(again->getArgument(i), again->getArgument(next++));
  if (failed(l.runInside(*again)))
    return failure();
  l.linear.setLoc(loc);
  l.primal.setLoc(primalLoc);
  SmallVector<Value> yields(yield->getOperands());
  for (unsigned i = 0; i < carries; ++i)
    if (active[i])
      yields.push_back(l.tangentOrZero(yields[i]));
  again->getOperations().splice(yield->getIterator(), draft->getOperations());
  yield->setOperands(yields);
  draft->getParentOp()->erase();
  l.linear.restoreInsertionPoint(after);
  l.primal.setInsertionPointAfter(op);
  next = carries;
  for (unsigned i = 0; i < carries; ++i)
    if (active[i])
      l.setTangent(op.getResult(i), loop.getResult(next++));
  return success();
}

static LogicalResult verifyWhile(Operation *o, DenseSet<Value> &linear) {
  auto op = cast<WhileOp>(o);
  Block &body = op.getBodyRegion().front(), &cond = op.getCondRegion().front();
  FailureOr<SmallVector<bool>> carried = linearCarries(op, body, op.getInit(), linear);
  if (failed(carried))
    return failure();
  for (auto [i, is] : llvm::enumerate(*carried))
    if (is) {
      linear.insert(cond.getArgument(i));
      linear.insert(op.getResult(i));
    }
  bool decides = false;
  for (Operation &inner : cond)
    forEachUse(&inner, [&](OpOperand &use) { decides |= linear.contains(use.get()); });
  if (decides)
    return op.emitOpError("goes on by a tangent");
  return success();
}

/// A map with such a loop is linearised once more before it is transposed, which makes a scan of
/// it.
static LogicalResult transposeWhile(Transposer &, Operation *op) {
  return op->emitOpError("has no transpose before its steps are counted");
}

Rule xtensor::whileRule() {
  Rule rule{Table::Control};
  rule.rewrite = boundedAsScan;
  rule.linearizeControl = linearizeWhile;
  rule.transposeControl = transposeWhile;
  rule.verifyControl = verifyWhile;
  rule.text =
      "one loop forwards; in reverse, a scan over the steps that the loop counts, or max_steps";
  return rule;
}
