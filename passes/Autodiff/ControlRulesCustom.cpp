// custom_derivative: the user's rule replaces ours. A pushforward rule is split into what depends
// on the tangents and what does not. A pullback rule is a linear map already, the transpose of the
// requested one.
#include "Autodiff/ControlRules.h"
#include "XTensor/Fault.h"

using namespace mlir;
using namespace xtensor;

/// What is captured would get no tangent, silently.
static LogicalResult checkCaptures(Linearizer &l, CustomDerivativeOp op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block) {
        bool any = false;
        forEachUse(&inner, [&](OpOperand &use) {
          any |= !isa<SizeOp>(use.getOwner()) && l.tangent(use.get()) != nullptr;
        });
        if (any)
          return emitError(inner.getLoc(), "this custom_derivative captures an array that is "
                                           "differentiated, of which its rule says nothing: make "
                                           "the array an argument")
                 << Fault::Rule;
      }
  return success();
}

/// The code of `rule` goes before the op, and the first values that it yields take the place of the
/// op's results. Returns all that it yields. Each result is a separate value, because only the rule
/// defines its tangent.
static SmallVector<Value> moveOut(Linearizer &l, CustomDerivativeOp op, Block &rule) {
  SmallVector<Value> values(rule.getTerminator()->getOperands());
  rule.getTerminator()->erase();
  l.primal.setInsertionPoint(op);
  DenseSet<Value> seen;
  for (Value &v : llvm::make_range(values.begin(), values.begin() + op->getNumResults())) {
    bool isOwn = v.getDefiningOp() && v.getParentBlock() == &rule && seen.insert(v).second;
    if (!isOwn)
      v = SizedOp::create(l.primal, v.getType(), v, l.sizes(v));
  }
  op->getBlock()->getOperations().splice(op->getIterator(), rule.getOperations());
  for (auto [result, v] : llvm::zip(op->getResults(), values))
    result.replaceAllUsesWith(v);
  return values;
}

static SmallVector<Value> floats(ValueRange values) {
  return llvm::filter_to_vector(values, isFloat);
}

//===- pushforward ---------------------------------------------------------===//

/// The rule must be linear in the tangents, which are its arguments after `first`.
static LogicalResult checkRule(CustomDerivativeOp op, Block &rule, unsigned first) {
  std::optional<Diagnostic> why;
  {
    ScopedDiagnosticHandler handler(op.getContext(), [&](Diagnostic &found) {
      if (!why)
        why.emplace(std::move(found));
      return success();
    });
    DenseSet<Value> linear;
    for (Value v : rule.getArguments().drop_front(first))
      linear.insert(v);
    auto yields = rule.getTerminator()->getOperands();
    if (succeeded(collectLinear(rule, linear)) &&
        succeeded(
            checkAllLinear(rule.getTerminator(), yields.drop_front(op->getNumResults()), linear))) {
      for (Value v : yields.take_front(op->getNumResults()))
        if (linear.contains(v))
          return emitError(op.getLoc(), "the pushforward rule's results depend on its tangents")
                 << Fault::Rule;
      return success();
    }
  }
  InFlightDiagnostic error =
      emitError(op.getLoc(), "the pushforward rule is not linear in the tangents") << Fault::Rule;
  if (why)
    error.attachNote(why->getLocation()) << why->str();
  return error;
}

static LogicalResult usePushforward(Linearizer &l, CustomDerivativeOp op) {
  unsigned n = op.getArgs().size();
  Block &rule = op.getPushforward().front();
  if (failed(checkRule(op, rule, n)))
    return failure();
  SmallVector<Value> given = floats(op.getArgs());
  auto replaceByZero = [&](Value tangent, Value v) {
    if (tangent.use_empty())
      return;
    l.primal.setInsertionPointToStart(&rule);
    tangent.replaceAllUsesWith(
        xtensor::zeros(l.primal, l.primal.getLoc(), arrayType(v), l.sizes(v)));
  };
  // The rule's arguments have no tangents of their own here: only those it is given.
  for (auto [arg, v] : llvm::zip_equal(rule.getArguments().drop_front(n), given))
    if (Value t = l.tangent(v))
      l.setKnownTangent(arg, t);
    else
      replaceByZero(arg, v);
  Location primalLoc = l.primal.getLoc(), loc = l.linear.getLoc();
  if (failed(l.run(rule)))
    return failure();
  l.primal.setLoc(primalLoc);
  l.linear.setLoc(loc);

  SmallVector<Value> tangents;
  for (Value v : rule.getTerminator()->getOperands().drop_front(op->getNumResults()))
    tangents.push_back(l.tangent(v));
  for (auto [arg, v] : llvm::zip_equal(rule.getArguments().take_front(n), op.getArgs()))
    arg.replaceAllUsesWith(v);
  // Made last, and put first: the walk has put the sizes of the arguments first, too.
  for (auto [arg, v] : llvm::zip_equal(rule.getArguments().drop_front(n), given))
    replaceByZero(arg, v);
  SmallVector<Value> values = moveOut(l, op, rule);
  for (auto [y, t] :
       llvm::zip_equal(floats(ArrayRef(values).take_front(op->getNumResults())), tangents))
    if (t)
      l.setTangent(y, t);
  for (Value arg : rule.getArguments())
    l.forget(arg);
  op->erase();
  return success();
}

//===- pullback ------------------------------------------------------------===//

static LogicalResult usePullback(Linearizer &l, CustomDerivativeOp op) {
  Block &forward = op.getForward().front();
  for (auto [arg, v] : llvm::zip_equal(forward.getArguments(), op.getArgs()))
    arg.replaceAllUsesWith(v);
  SmallVector<Value> values = moveOut(l, op, forward);
  auto residuals = ArrayRef(values).drop_front(op->getNumResults());
  SmallVector<Value> results = floats(ArrayRef(values).take_front(op->getNumResults()));

  // The rule maps cotangents to cotangents; what it keeps is captured.
  Block &backward = op.getBackward().front();
  for (auto [arg, v] : llvm::zip(backward.getArguments(), residuals))
    arg.replaceAllUsesWith(v);
  backward.eraseArguments(0, residuals.size());
  SmallVector<Value> args = floats(op.getArgs()), sizes;
  auto types = [](ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [](Value v) { return v.getType(); });
  };
  for (Value v : results)
    llvm::append_range(sizes, l.sizes(v));
  for (Value v : args)
    llvm::append_range(sizes, l.sizes(v));
  auto kind = FunctionType::get(op.getContext(), types(results), types(args));
  auto map = LinearOp::create(l.linear, LinearType::get(op.getContext(), kind), sizes,
                              /*trusted=*/true);
  map->setLoc(op.getLoc());
  map.getBodyRegion().takeBody(op.getBackward());
  SmallVector<Value> tangents =
      llvm::map_to_vector(args, [&](Value v) { return l.tangentOrZero(v); });
  auto transposed = TransposedOp::create(l.linear, map);
  auto apply = ApplyOp::create(l.linear, types(results), transposed, tangents);
  for (auto [y, t] : llvm::zip_equal(results, apply.getResults()))
    l.setTangent(y, t);
  op->erase();
  return success();
}

static LogicalResult linearizeCustom(Linearizer &l, Operation *o) {
  auto op = cast<CustomDerivativeOp>(o);
  if (failed(checkCaptures(l, op)))
    return failure();
  bool pushes = op.hasPushforward() && (l.isForward() || !op.hasPullback());
  return pushes ? usePushforward(l, op) : usePullback(l, op);
}

void xtensor::dissolve(CustomDerivativeOp op) {
  Block &primal = op.getPrimal().front();
  for (auto [arg, v] : llvm::zip_equal(primal.getArguments(), op.getArgs()))
    arg.replaceAllUsesWith(v);
  SmallVector<Value> results(primal.getTerminator()->getOperands());
  primal.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), primal.getOperations());
  op->replaceAllUsesWith(results);
  op->erase();
}

Rule xtensor::customDerivativeRule() {
  Rule rule{Table::Control};
  rule.linearizeControl = linearizeCustom;
  rule.text = "the user's";
  return rule;
}
