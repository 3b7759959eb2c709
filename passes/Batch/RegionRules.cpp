// Ops whose regions run once.
#include "Batch/Batcher.h"
#include "Batch/StandIns.h"

using namespace mlir;
using namespace xtensor;

static LogicalResult checkpoint(Batcher &t, Operation *o) {
  auto op = cast<CheckpointOp>(o);
  Region body;
  OpBuilder::InsertPoint here = t.b.saveInsertionPoint();
  auto yields = t.fill(body, *op.getBody(), {});
  if (failed(yields))
    return failure();
  YieldOp::create(t.b, *yields);
  t.b.restoreInsertionPoint(here);
  auto made = CheckpointOp::create(t.b, ValueRange(*yields).getTypes());
  made.getBodyRegion().takeBody(body);
  for (auto [result, batched] : llvm::zip_equal(op.getResults(), made.getResults()))
    t.set(result, batched);
  return success();
}

//===- custom_derivative ---------------------------------------------------===//

namespace {
/// Its regions must agree about types: results have all names that any region knows, arguments
/// and residuals those that they have.
class CustomDerivative {
public:
  CustomDerivative(Batcher &t, CustomDerivativeOp op)
      : t(t), op(op), args(t.valuesOf(op.getArgs())), all(t.namesUsed(op)) {}

  LogicalResult run() {
    for (Type type : op.getResultTypes())
      results.push_back(t.typeOf(type, all));
    auto made = CustomDerivativeOp::create(t.b, results, args);
    OpBuilder::InsertionGuard guard(t.b);
    SmallVector<Type> types(ValueRange(args).getTypes()), residuals, none;
    if (failed(region(op.getPrimal(), made.getPrimal(), types, none)))
      return failure();
    if (op.hasPullback()) {
      if (failed(region(op.getForward(), made.getForward(), types, residuals)) ||
          failed(backward(made, residuals)))
        return failure();
    }
    for (Value arg : args)
      if (isFloat(arg))
        types.push_back(arg.getType());
    if (op.hasPushforward() &&
        failed(region(op.getPushforward(), made.getPushforward(), types, none)))
      return failure();
    for (auto [result, batched] : llvm::zip_equal(op.getResults(), made.getResults()))
      t.set(result, batched);
    return success();
  }

private:
  /// Results and tangents get all names; what is kept beside the results stays as it is.
  LogicalResult region(Region &from, Region &to, TypeRange types, SmallVectorImpl<Type> &kept) {
    auto yields = t.fill(to, from.front(), types);
    if (failed(yields))
      return failure();
    bool keeps = &from == &op.getForward();
    for (auto [i, v] : llvm::enumerate(*yields)) {
      if (!keeps || i < results.size())
        v = t.spread(v, all);
      else
        kept.push_back(v.getType());
    }
    YieldOp::create(t.b, *yields);
    return success();
  }

  /// The cotangent of an argument that is shared is the sum of what the instances give.
  LogicalResult backward(CustomDerivativeOp made, SmallVectorImpl<Type> &types) {
    for (Type type : results)
      if (cast<ArrayType>(type).isFloat())
        types.push_back(type);
    auto yields = t.fill(made.getBackward(), op.getBackward().front(), types);
    if (failed(yields))
      return failure();
    auto moving = llvm::make_filter_range(args, isFloat);
    for (auto [ct, arg] : llvm::zip_equal(*yields, moving))
      ct = conform(t.b, t.b.getLoc(), t.spread(ct, all), arrayType(arg), {});
    YieldOp::create(t.b, *yields);
    return success();
  }

  Batcher &t;
  CustomDerivativeOp op;
  SmallVector<Value> args;
  BatchNames all;
  SmallVector<Type> results;
};
} // namespace

static LogicalResult customDerivative(Batcher &t, Operation *op) {
  return CustomDerivative(t, cast<CustomDerivativeOp>(op)).run();
}

//===- switch --------------------------------------------------------------===//

/// One selector for all: the branches give what they would, with the same names.
static LogicalResult switchTogether(Batcher &t, SwitchOp op) {
  unsigned count = op.getBranches().size();
  OpBuilder::InsertPoint here = t.b.saveInsertionPoint();
  auto regions = std::make_unique<Region[]>(count);
  SmallVector<SmallVector<Value>> yields;
  SmallVector<BatchNames> names(op.getNumResults());
  for (unsigned k = 0; k < count; ++k) {
    auto found = t.fill(regions[k], op.getBranches()[k].front(), {});
    if (failed(found))
      return failure();
    for (auto [i, v] : llvm::enumerate(*found))
      names[i] |= t.names(v);
    yields.push_back(std::move(*found));
  }
  SmallVector<Type> types;
  for (auto [type, some] : llvm::zip_equal(op.getResultTypes(), names))
    types.push_back(t.typeOf(type, some));
  for (unsigned k = 0; k < count; ++k) {
    t.b.setInsertionPointToEnd(&regions[k].front());
    for (auto [v, some] : llvm::zip_equal(yields[k], names))
      v = t.spread(v, some);
    YieldOp::create(t.b, yields[k]);
  }
  t.b.restoreInsertionPoint(here);
  auto made = SwitchOp::create(t.b, types, t.value(op.getSelector()), count);
  for (unsigned k = 0; k < count; ++k)
    made.getBranches()[k].takeBody(regions[k]);
  for (auto [result, batched] : llvm::zip_equal(op.getResults(), made.getResults()))
    t.set(result, batched);
  return success();
}

/// A branch for the instances that take it. Ops that may fail, loop forever or spread a NaN see
/// only values of instances that take the branch. They do not run if no instance takes it.
static FailureOr<SmallVector<Value>> runWhereTaken(Batcher &t, Region &branch, Value mask) {
  Block &body = branch.front();
  if (StandIns::isTotal(branch) || !StandIns::exist(t, mask))
    return t.inlined(body, {});
  OpBuilder::InsertPoint here = t.b.saveInsertionPoint();
  Region taken, skipped;
  t.b.createBlock(&taken);
  FailureOr<SmallVector<Value>> yields = failure();
  {
    StandIns standIns(t, mask, branch);
    Batcher::Masked masked(t, mask);
    yields = t.inlined(body, {});
  }
  if (failed(yields))
    return failure();
  YieldOp::create(t.b, *yields);
  t.b.createBlock(&skipped);
  SmallVector<Value> zero;
  for (Value v : *yields) {
    SmallVector<Value> sizes;
    for (StringAttr dim : dynamicDims(arrayType(v)))
      sizes.push_back(t.sizeOf(dim));
    if (llvm::is_contained(sizes, Value()))
      break;
    zero.push_back(zeros(t.b, t.b.getLoc(), arrayType(v), sizes));
  }
  YieldOp::create(t.b, zero);
  t.b.restoreInsertionPoint(here);
  if (zero.size() != yields->size()) {
    // A size that only the branch knows: it runs in any case.
    Block *block = t.b.getInsertionBlock();
    taken.front().back().erase();
    block->getOperations().splice(t.b.getInsertionPoint(), taken.front().getOperations());
    return yields;
  }
  Value any = ReduceOp::create(t.b, ReduceKind::any, mask, t.b.getArrayAttr(t.list(t.names(mask))));
  Value selector = CastOp::create(t.b, any, t.b.getI64Type());
  auto made = SwitchOp::create(t.b, ValueRange(*yields).getTypes(), selector, 2);
  made.getBranches()[0].takeBody(skipped);
  made.getBranches()[1].takeBody(taken);
  return SmallVector<Value>(made.getResults());
}

/// Each instance chooses for itself.
static LogicalResult switchEach(Batcher &t, SwitchOp op) {
  int64_t last = op.getBranches().size() - 1;
  Value selector = t.value(op.getSelector());
  Type i64 = t.b.getI64Type();
  if (arrayType(selector).getElementType() != i64) // ui64
    selector = CastOp::create(t.b, selector, i64);
  auto number = [&](int64_t n) { return scalar(t.b, t.b.getLoc(), i64, static_cast<double>(n)); };
  SmallVector<Value> chosen;
  for (auto [k, branch] : llvm::enumerate(op.getBranches())) {
    // What lies outside of the range takes the first or the last.
    int64_t i = k;
    auto predicate = i == 0      ? ComparePredicate::le
                     : i == last ? ComparePredicate::ge
                                 : ComparePredicate::eq;
    Value mask = CompareOp::create(t.b, predicate, selector, number(i));
    auto yields = runWhereTaken(t, branch, mask);
    if (failed(yields))
      return failure();
    if (chosen.empty())
      chosen = *yields;
    else
      for (auto [y, v] : llvm::zip_equal(chosen, *yields))
        y = t.choose(mask, v, y);
  }
  for (auto [result, y] : llvm::zip_equal(op.getResults(), chosen))
    t.set(result, y);
  return success();
}

static LogicalResult switchRule(Batcher &t, Operation *o) {
  auto op = cast<SwitchOp>(o);
  return t.names(t.value(op.getSelector())) ? switchEach(t, op) : switchTogether(t, op);
}

//===- the table -----------------------------------------------------------===//

void xtensor::addRegionBatchRules(BatchRules &rules) {
  rules.add<CheckpointOp>(checkpoint, "its region");
  rules.add<CustomDerivativeOp>(customDerivative, "its regions; results get all names");
  rules.add<SwitchOp>(switchRule, "its regions; all run where the selector has names");
}
