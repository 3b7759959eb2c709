// while: in forward mode, one loop carries values and tangents. In reverse mode, a bounded loop is
// a scan, in which steps after the end change nothing.
#include "Autodiff/ControlRules.h"
#include "XTensor/Endings.h"
#include "XTensor/Fault.h"

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

/// scan over max_steps { switch (cond) { keep } { body } }: the carries stay what they are once
/// the condition fails, so it fails from then on.
static ScanOp asScan(WhileOp op, ImplicitLocOpBuilder &b) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  SmallVector<ArrayType> types = llvm::map_to_vector(op.getInit(), arrayType);
  auto scan = ScanOp::create(b, op.getResultTypes(), freshName(b.getStringAttr("step"), types),
                             UnitAttr(), op.getInit(), ValueRange(), op.getMaxStepsAttr(), Value());
  scan->setAttr(kEndsEarly, DistinctAttr::create(b.getUnitAttr()));
  Block *body = b.createBlock(&scan.getBodyRegion());
  for (Value init : op.getInit())
    body->addArgument(init.getType(), init.getLoc());
  IRMapping values;
  values.map(op.getCondRegion().getArguments(), body->getArguments());
  cloneBody(b, op.getCondRegion().front(), values);
  Value more = CastOp::create(b, lookedUp(values, op.getCondYield())[0], b.getI64Type());
  auto step = SwitchOp::create(b, op.getResultTypes(), more, 2u);
  YieldOp::create(b, step.getResults());
  b.createBlock(&step.getBranches()[0]);
  YieldOp::create(b, body->getArguments());
  b.createBlock(&step.getBranches()[1]);
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
  ScanOp scan = asScan(op, b);
  op->replaceAllUsesWith(scan.getResults());
  op->erase();
  return true;
}

/// The linear part runs the whole loop: nothing else knows how many steps there are. It is one
/// loop with the primal one after fuse-loops.
static LogicalResult linearizeWhile(Linearizer &l, Operation *o) {
  auto op = cast<WhileOp>(o);
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
  SmallVector<Location> locs(types.size(), loc);
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

static LogicalResult transposeWhile(Transposer &, Operation *op) {
  return emitError(op->getLoc(), "this loop has no reverse derivative, since nothing bounds its "
                                 "steps: give while_loop max_steps=, fori_loop Python ints as "
                                 "bounds; write xt.implicit where it finds a root or a "
                                 "fixed point; write the derivative yourself "
                                 "(xt.custom_derivative); or differentiate forwards (xt.jvp)")
         << Fault::Unsupported;
}

Rule xtensor::whileRule() {
  Rule rule{Table::Control};
  rule.rewrite = boundedAsScan;
  rule.linearizeControl = linearizeWhile;
  rule.transposeControl = transposeWhile;
  rule.verifyControl = verifyWhile;
  rule.text = "one loop forwards; transpose: as a scan over max_steps";
  return rule;
}
