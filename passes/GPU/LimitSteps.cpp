// Devices that leave loops after a number of steps of a thread (library/devices.def): the number
// of steps that loops need, and kernels that report an early exit.
#include "GPU/Body.h"

#include "Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace xtensor::gpu;

/// No more than anybody counts.

int64_t xtensor::gpu::stepsOfLoops(Block &block) {
  Amount total = 0;
  for (Operation &op : block) {
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        int64_t steps = stepsOfLoops(inner);
        if (auto loop = dyn_cast<scf::ForOp>(op)) {
          // Loops begin at 0, a thread's number or an element's.
          auto first = getConstantIntValue(loop.getLowerBound());
          auto end = getConstantIntValue(loop.getUpperBound());
          auto step = getConstantIntValue(loop.getStep());
          int64_t count =
              end && step ? stepsBetween(first.value_or(0), *end, *step) : ShapedType::kDynamic;
          if (ShapedType::isDynamic(count))
            return count;
          if (!ShapedType::isDynamic(steps))
            steps = (count * (Amount(steps) + 1)).count();
        } else if (isa<scf::WhileOp>(op)) {
          return ShapedType::kDynamic;
        }
        if (ShapedType::isDynamic(steps))
          return steps;
        total += steps;
      }
  }
  return total.count();
}

/// The first report counts.
static void tell(OpBuilder &b, Location loc, Value left, Value words, int64_t steps) {
  Type i32 = b.getI32Type();
  auto number = [&](int64_t v) { return arith::ConstantIntOp::create(b, loc, i32, v).getResult(); };
  auto place = [&](int64_t v) { return arith::ConstantIndexOp::create(b, loc, v).getResult(); };
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, loc, left, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value old = memref::LoadOp::create(b, loc, words, place(0));
  Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old, number(0));
  auto first = scf::IfOp::create(b, loc, none, /*withElseRegion=*/false);
  b.setInsertionPointToStart(first.thenBlock());
  // runtime/Reports.h: kTooManySteps instead of a site, the limit as a size.
  const int64_t report[] = {0x7fffffff, 0, 0, steps, 0};
  for (auto [i, v] : llvm::enumerate(report))
    memref::StoreOp::create(b, loc, number(v), words, place(static_cast<int64_t>(i)));
}

void xtensor::gpu::reportLeftLoops(mlir::gpu::GPUFuncOp kernel, Value words, int64_t steps) {
  SmallVector<Operation *> loops;
  kernel.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      loops.push_back(op);
  });
  IRRewriter b(kernel.getContext());
  for (Operation *op : loops) {
    Location loc = op->getLoc();
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // Its first value says whether it goes on (Body::emitWhile).
      b.setInsertionPointAfter(loop);
      tell(b, loc, loop.getResult(0), words, steps);
      continue;
    }
    auto loop = cast<scf::ForOp>(op);
    // A few steps in a row end before anything does, or after: what is around them tells.
    auto first = getConstantIntValue(loop.getLowerBound()),
         end = getConstantIntValue(loop.getUpperBound());
    if (first && end && *end - *first <= 2)
      continue;
    // Where it would go on, if it did.
    Value step = loop.getStep();
    b.setInsertionPoint(loop);
    auto next = [&](OpBuilder &inner, Location at, ArrayRef<BlockArgument>) {
      Value induction =
          cast<scf::ForOp>(inner.getInsertionBlock()->getParentOp()).getInductionVar();
      return SmallVector<Value>{arith::AddIOp::create(inner, at, induction, step)};
    };
    auto told = cast<scf::ForOp>(
        *loop.replaceWithAdditionalYields(b, loop.getLowerBound(),
                                          /*replaceInitOperandUsesInLoop=*/false, next)
             .value()
             .getOperation());
    b.setInsertionPointAfter(told);
    Value left = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, told.getResults().back(),
                                       told.getUpperBound());
    tell(b, loc, left, words, steps);
  }
}
