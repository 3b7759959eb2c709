#include "Autodiff/Regions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace xtensor;

Draft::Draft(ImplicitLocOpBuilder &b)
    : standIn(CheckpointOp::create(b, TypeRange())), block(standIn.getBodyRegion().emplaceBlock()) {
}

void Draft::moveTo(Region &region) {
  region.takeBody(standIn.getBodyRegion());
  standIn.erase();
}

//===- activity ------------------------------------------------------------===//

SmallVector<bool> xtensor::activeCarries(Block &body, unsigned carries, DenseSet<Value> &active,
                                         function_ref<bool(Value)> isActive) {
  Operation *yield = body.getTerminator();
  for (bool changed = true; changed;) {
    changed = false;
    spreadActivity(body, active, isActive);
    for (unsigned i = 0; i < carries; ++i) {
      Value next = yield->getOperand(i);
      if (isFloat(next) && (active.contains(next) || isActive(next)))
        changed |= active.insert(body.getArgument(i)).second;
    }
  }
  return llvm::map_to_vector(body.getArguments().take_front(carries),
                             [&](Value v) { return active.contains(v); });
}

void xtensor::spreadActivity(Block &block, DenseSet<Value> &active,
                             function_ref<bool(Value)> isActive) {
  auto moves = [&](Value v) { return isFloat(v) && (active.contains(v) || isActive(v)); };
  auto follow = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (moves(source))
        active.insert(target);
  };
  for (Operation &op : block.without_terminator()) {
    if (auto scan = dyn_cast<ScanOp>(op)) {
      follow(op.getOperands(), scan.getBody()->getArguments());
      SmallVector<bool> carried =
          activeCarries(*scan.getBody(), scan.getNumCarries(), active, isActive);
      for (auto [result, is] : llvm::zip(op.getResults(), carried))
        if (is)
          active.insert(result);
      follow(scan.getYieldedStacked(), scan.getStacked());
    } else if (auto loop = dyn_cast<WhileOp>(op)) {
      Block &body = loop.getBodyRegion().front();
      follow(op.getOperands(), body.getArguments());
      for (auto [result, is] :
           llvm::zip(op.getResults(), activeCarries(body, op.getNumResults(), active, isActive)))
        if (is)
          active.insert(result);
    } else if (isa<SwitchOp, CheckpointOp>(op)) {
      for (Region &region : op.getRegions()) {
        spreadActivity(region.front(), active, isActive);
        follow(region.front().getTerminator()->getOperands(), op.getResults());
      }
    } else {
      const Rule *rule = Rules::get().lookup(&op);
      bool any = false;
      forEachUse(&op, [&](OpOperand &operand) {
        bool isPassed = !rule || rule->partials.empty() || operand.getOwner() != &op ||
                        rule->partials[operand.getOperandNumber()].text != "0";
        any |= isPassed && moves(operand.get());
      });
      if (any && !(rule && rule->table == Table::NoTangent))
        for (Value v : op.getResults())
          if (isFloat(v))
            active.insert(v);
    }
  }
}

/// Adds to `linear` what depends on the tangents that enter the body in `carries`.
static LogicalResult collectFromCarries(Block &body, ArrayRef<bool> carries,
                                        DenseSet<Value> &linear) {
  Operation *yield = body.getTerminator();
  SmallVector<Value> nexts;
  for (auto [i, is] : llvm::enumerate(carries))
    if (is) {
      linear.insert(body.getArgument(i));
      nexts.push_back(yield->getOperand(i));
    }
  return success(succeeded(collectLinear(body, linear)) &&
                 succeeded(checkAllLinear(yield, nexts, linear)));
}

FailureOr<SmallVector<bool>> xtensor::linearCarries(Operation *op, Block &body, ValueRange inits,
                                                    DenseSet<Value> &linear) {
  DenseSet<Value> moving;
  auto isLinear = [&](Value v) { return linear.contains(v); };
  for (auto [init, arg] : llvm::zip(inits, body.getArguments()))
    if (isLinear(init))
      moving.insert(arg);
  SmallVector<bool> active = activeCarries(body, inits.size(), moving, isLinear);
  SmallVector<bool> withZeros(active);
  for (auto [i, init] : llvm::enumerate(inits)) {
    bool zero = isZero(init);
    if (active[i] && !isLinear(init) && !zero)
      return op->emitOpError() << "adds tangents to carry " << i << ", which starts from a value "
                               << "that is neither a tangent nor zero";
    withZeros[i] |= zero;
  }
  if (withZeros != active) {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    DenseSet<Value> trial(linear);
    if (succeeded(collectFromCarries(body, withZeros, trial))) {
      linear = std::move(trial);
      return withZeros;
    }
  }
  if (failed(collectFromCarries(body, active, linear)))
    return failure();
  return active;
}

//===- loops ---------------------------------------------------------------===//

void xtensor::hoistInvariants(Block &body, Operation *loop, Region *other) {
  Region *region = body.getParent();
  moveLoopInvariantCode(
      region,
      [&](Value v, Region *region) {
        Region *home = v.getParentRegion();
        return !region->isAncestor(home) && !(other && other->isAncestor(home));
      },
      [](Operation *op, Region *) { return isMemoryEffectFree(op) && isSpeculatable(op); },
      [&](Operation *op, Region *) { op->moveBefore(loop); });
}

//===- uses ----------------------------------------------------------------===//

SmallVector<Value> xtensor::capturedLinear(Transposer &t, Operation *op) {
  llvm::SetVector<Value> values;
  op->walk([&](Operation *inner) {
    for (Value v : inner->getOperands())
      if (inner != op && t.isLinear(v) && !op->isAncestor(v.getParentRegion()->getParentOp()))
        values.insert(v);
  });
  return values.takeVector();
}

void xtensor::replaceUsesInside(Region &region, Value from, Value to) {
  from.replaceUsesWithIf(
      to, [&](OpOperand &use) { return region.isAncestor(use.getOwner()->getParentRegion()); });
}

void xtensor::eraseUnused(Linearizer &l, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isOpTriviallyDead(&op))
      continue;
    op.walk([&](Operation *inner) {
      for (Value v : inner->getResults())
        l.forget(v);
      for (Region &region : inner->getRegions())
        for (Value v : region.getArguments())
          l.forget(v);
    });
    op.erase();
  }
}

//===- calls ---------------------------------------------------------------===//

namespace {
struct Call {
  func::CallOp op;
  unsigned depth; ///< how many calls it came out of
};
} // namespace

/// The code of `callee` in place of the call; the calls in it are added to `calls`.
static void inlineCall(Call found, func::FuncOp callee, SmallVectorImpl<Call> &calls) {
  func::CallOp call = found.op;
  IRMapping values;
  values.map(callee.getArguments(), call.getOperands());
  OpBuilder b(call);
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator())
    b.clone(op, values)->walk([&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc()));
      if (auto nested = dyn_cast<func::CallOp>(inner))
        calls.push_back({nested, found.depth + 1});
    });
  for (auto [result, v] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(v));
  call.erase();
}

LogicalResult xtensor::inlineCalls(Operation *request, Block &body) {
  SmallVector<Call> calls;
  body.walk([&](func::CallOp call) { calls.push_back({call, 0}); });
  if (calls.empty())
    return success();
  // A chain longer than there are functions meets one of them twice.
  auto functions = request->getParentOfType<ModuleOp>().getOps<func::FuncOp>();
  auto most = static_cast<unsigned>(std::distance(functions.begin(), functions.end()));
  while (!calls.empty()) {
    Call found = calls.pop_back_val();
    func::CallOp call = found.op;
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    StringRef why = !callee || callee.isExternal()    ? "calls a function without a body"
                    : !callee.getBody().hasOneBlock() ? "calls a function of several blocks"
                    : found.depth > most              ? "calls a function that calls itself"
                                                      : "";
    if (!why.empty()) {
      InFlightDiagnostic error = call.emitOpError("has no derivative: it ") << why;
      error.attachNote(request->getLoc()) << "needed by this " << request->getName();
      return error;
    }
    inlineCall(found, callee, calls);
  }
  return success();
}
