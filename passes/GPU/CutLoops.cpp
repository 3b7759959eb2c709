// xtensor-cut-loops: cuts loops for devices that leave a loop after a number of steps.
#include "GPU/Launches.h"
#include "GPU/Passes.h"

#include "Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace xtensor {
#define GEN_PASS_DEF_CUTLOOPS
#include "GPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;
using namespace xtensor::gpu;

/// What an array operation of a size that only the call knows is taken to need.
constexpr int64_t kUnknownSteps = 256;
/// Beside the points of its share: loops around it, what threads combine.
constexpr int64_t kStepsAround = 8;
/// Parts of fewer steps than these are not worth a launch: the host goes around every one.
constexpr int64_t kLeastPart = 16;
/// The threads that share a small operation, at least.
constexpr int64_t kThreads = 32;

//===- what loops take -------------------------------------------------------===//

static int64_t trips(scf::ForOp loop) {
  auto first = getConstantIntValue(loop.getLowerBound());
  auto end = getConstantIntValue(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  return first && end && step ? stepsBetween(*first, *end, *step) : ShapedType::kDynamic;
}

int64_t xtensor::gpu::stepsOf(Block &block) {
  Amount total = 0;
  for (Operation &op : block) {
    int64_t steps = stepsOf(op);
    if (ShapedType::isDynamic(steps))
      return steps;
    total += steps;
  }
  return total.count();
}

int64_t xtensor::gpu::stepsOf(Operation &op) {
  if (isArrayOp(op)) {
    int64_t points = pointsOf(op);
    if (ShapedType::isDynamic(points))
      return kUnknownSteps;
    Amount reduced = 1;
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      for (auto [range, kind] :
           llvm::zip_equal(generic.getStaticLoopRanges(), generic.getIteratorTypesArray()))
        if (kind == utils::IteratorType::reduction)
          reduced *= range;
    if (points == 0)
      return 0;
    // Each result is taken to be one thread's, step by step, of nested loops.
    Amount each = divideUp(points / reduced, kThreads);
    return (each * (2 * reduced + 1) + kStepsAround).count();
  }
  Amount most = 0;
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      int64_t steps = stepsOf(block);
      if (ShapedType::isDynamic(steps))
        return steps;
      most += steps;
    }
  int64_t count = 1;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    count = trips(loop);
  else if (auto loop = dyn_cast<scf::ForallOp>(op))
    count = iterationsOf(loop);
  else if (isa<scf::WhileOp>(op))
    count = ShapedType::kDynamic;
  else
    return most.count();
  return ShapedType::isDynamic(count) ? count : (count * (most + 1)).count();
}

//===- cutting ---------------------------------------------------------------===//

static void cutFor(scf::ForOp loop, int64_t part) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value many = arith::ConstantIndexOp::create(b, loc, part);
  Value stride = b.createOrFold<arith::MulIOp>(loc, loop.getStep(), many);
  auto outer = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), stride,
                                  loop.getInitArgs());
  outer->setAttr(kHostAttr, b.getUnitAttr());
  b.setInsertionPointToStart(outer.getBody());
  Value end = arith::AddIOp::create(b, loc, outer.getInductionVar(), stride);
  end = arith::MinSIOp::create(b, loc, end, loop.getUpperBound());
  loop.replaceAllUsesWith(outer.getResults());
  loop->moveBefore(outer.getBody(), b.getInsertionPoint());
  loop.getLowerBoundMutable().assign(outer.getInductionVar());
  loop.getUpperBoundMutable().assign(end);
  loop.getInitArgsMutable().assign(outer.getRegionIterArgs());
  if (outer.getNumResults()) {
    b.setInsertionPointToEnd(outer.getBody());
    scf::YieldOp::create(b, loc, loop.getResults());
  }
}

/// while (before(x) -> (c, y)) do after(y) -> x
///   ==>  go = true; while (go) { n = 0; while (go and n < part) {
///          (go, y) = before(x); if (go) x = after(y); ++n } }
static void cutWhile(scf::WhileOp loop, int64_t part) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  const size_t inputs = loop.getInits().size();
  SmallVector<Value> start = {arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1)};
  llvm::append_range(start, loop.getInits());
  for (Type type : loop.getResultTypes())
    start.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  SmallVector<Type> types = llvm::map_to_vector(start, [](Value v) { return v.getType(); });
  auto make = [&](ValueRange from) {
    auto made = scf::WhileOp::create(b, loc, TypeRange(ValueRange(from)), from);
    SmallVector<Type> all(from.getTypes());
    SmallVector<Location> locs(all.size(), loc);
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&made.getBefore(), {}, all, locs);
    b.createBlock(&made.getAfter(), {}, all, locs);
    return made;
  };
  scf::WhileOp outer = make(start);
  outer->setAttr(kHostAttr, b.getUnitAttr());
  b.setInsertionPointToStart(outer.getBeforeBody());
  scf::ConditionOp::create(b, loc, outer.getBeforeArguments()[0], outer.getBeforeArguments());
  b.setInsertionPointToStart(outer.getAfterBody());
  SmallVector<Value> state(outer.getAfterArguments());
  Type i32 = b.getI32Type();
  auto number = [&](int64_t v) { return arith::ConstantIntOp::create(b, loc, i32, v).getResult(); };
  state.push_back(number(0));
  scf::WhileOp inner = make(state);
  scf::YieldOp::create(b, loc, inner.getResults().drop_back());
  b.setInsertionPointToStart(inner.getBeforeBody());
  Value few = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                    inner.getBeforeArguments().back(), number(part));
  Value more = arith::AndIOp::create(b, loc, inner.getBeforeArguments()[0], few);
  scf::ConditionOp::create(b, loc, more, inner.getBeforeArguments());

  Block *body = inner.getAfterBody();
  auto arguments = body->getArguments();
  scf::ConditionOp condition = loop.getConditionOp();
  for (auto [x, y] : llvm::zip_equal(loop.getBeforeArguments(), arguments.slice(1, inputs)))
    x.replaceAllUsesWith(y);
  Value go = condition.getCondition();
  SmallVector<Value> passed(condition.getArgs());
  body->getOperations().splice(body->end(), loop.getBeforeBody()->getOperations(),
                               loop.getBeforeBody()->begin(), condition->getIterator());
  b.setInsertionPointToEnd(body);
  // What comes from before the loop's own arguments is known here by now.
  for (Value &v : passed)
    if (auto argument = dyn_cast<BlockArgument>(v);
        argument && argument.getOwner() == loop.getBeforeBody())
      v = arguments[1 + argument.getArgNumber()];
  auto branch = scf::IfOp::create(b, loc, TypeRange(types).slice(1, inputs), go, true);
  for (auto [x, y] : llvm::zip_equal(loop.getAfterArguments(), passed))
    x.replaceAllUsesWith(y);
  SmallVector<Value> next(loop.getYieldOp().getOperands());
  Block *then = branch.thenBlock();
  Operation *yield = loop.getYieldOp();
  then->getOperations().splice(then->begin(), loop.getAfterBody()->getOperations(),
                               loop.getAfterBody()->begin(), yield->getIterator());
  if (inputs) {
    b.setInsertionPointToEnd(then);
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, ValueRange(arguments).slice(1, inputs));
  }
  b.setInsertionPointToEnd(body);
  SmallVector<Value> again = {go};
  llvm::append_range(again, branch.getResults());
  llvm::append_range(again, passed);
  again.push_back(arith::AddIOp::create(b, loc, arguments.back(), number(1)));
  scf::YieldOp::create(b, loc, again);
  loop.replaceAllUsesWith(outer.getResults().drop_front(1 + inputs));
  loop.erase();
}

namespace {
class Cutter {
public:
  explicit Cutter(int64_t most) : most(most) {}

  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isArrayOp(op) || isa<scf::ForallOp>(op) || isUnordered(op) || !op.getNumRegions())
        continue;
      // Loops of large operations are the host's anyway.
      bool isLoop = isa<scf::ForOp, scf::WhileOp>(op);
      if (!fitsInWorkgroup(op)) {
        visitRegions(op);
        continue;
      }
      if (int64_t all = stepsOf(op); !ShapedType::isDynamic(all) && all <= most)
        continue;
      int64_t each = 0;
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          int64_t steps = stepsOf(inner);
          each = ShapedType::isDynamic(steps) || each < 0 ? -1 : each + steps;
        }
      // A step of a loop whose test is worked out, and one of what is around it.
      int64_t part = each < 0 ? 0 : most / (each + 2);
      if (!isLoop || part < kLeastPart) {
        op.setAttr(kHostAttr, UnitAttr::get(op.getContext()));
        visitRegions(op);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        cutFor(loop, part);
      } else {
        cutWhile(cast<scf::WhileOp>(op), part);
      }
    }
  }

private:
  void visitRegions(Operation &op) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        visit(inner);
  }

  int64_t most;
};

struct CutLoopsPass : xtensor::impl::CutLoopsBase<CutLoopsPass> {
  void runOnOperation() override {
    KernelLimits limits = KernelLimits::of(Profile::of(getOperation()));
    if (!limits.steps)
      return;
    // What a kernel does around a loop takes steps as well.
    Cutter cutter(limits.steps * 15 / 16);
    for (auto func : getOperation().getOps<FunctionOpInterface>())
      for (Block &block : func.getFunctionBody())
        cutter.visit(block);
  }
};
} // namespace
