// xtensor-estimate-work: estimates how long a call takes, and which loops must stop when the user
// interrupts.
#include "CPU/Passes.h"

#include "Estimates.h"
#include "Routines.h"
#include "XTensor/XTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace xtensor {
#define GEN_PASS_DEF_ESTIMATEWORK
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

// Nanoseconds, roughly: a factor of three does not matter to what they decide.
constexpr double kLongCall = 20e3;    // the interpreter's lock is worth giving away, for 30 ns
constexpr double kPolledLoop = 4e6;   // shorter loops are over before anybody waits
constexpr double kBetweenPolls = 6e4; // a poll takes about 10 ns
constexpr double kOp = 1, kVectorOp = 0.25, kFunction = 5, kVectorFunction = kMathCost * kVectorOp;

double elementsOf(Value memref) {
  double elements = 1;
  for (int64_t size : cast<ShapedType>(memref.getType()).getShape())
    elements *= ShapedType::isDynamic(size) ? kOpenSteps : size;
  return elements;
}

struct EstimateWorkPass : xtensor::impl::EstimateWorkBase<EstimateWorkPass> {
  void runOnOperation() override {
    isOpen = false;
    double work = 0;
    for (auto func : getOperation().getOps<func::FuncOp>())
      work += workOf(func.getBody());
    if (isOpen || work >= kLongCall)
      getOperation()->setAttr(kLongAttr, UnitAttr::get(&getContext()));
  }

private:
  double workOf(Region &region) {
    double work = 0;
    for (Operation &op : region.getOps())
      work += workOf(op);
    return work;
  }

  double workOf(Operation &op) {
    if (auto loops = dyn_cast<linalg::LinalgOp>(op))
      return workOfLoops(loops);
    if (auto routine = dyn_cast<LibraryOp>(op))
      return workOfRoutine(routine);
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return kVectorOp * elementsOf(copy.getTarget());
    double inside = 0;
    for (Region &region : op.getRegions())
      inside += workOf(region);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return workOfFor(loop, inside + kOp);
    if (isa<scf::WhileOp>(op)) {
      isOpen = true;
      poll(op, inside + kOp);
      return kOpenSteps * inside;
    }
    if (auto loop = dyn_cast<scf::ForallOp>(op)) {
      for (auto [from, to, step] :
           llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep()))
        inside *= stepsOf(from, to, step).value_or(kOpenSteps);
      return inside;
    }
    if (isFunction(&op))
      return kFunction;
    bool counts = isa<memref::LoadOp, memref::StoreOp>(op) ||
                  (isa<arith::ArithDialect>(op.getDialect()) && !isa<arith::ConstantOp>(op));
    return inside + (counts ? kOp : 0);
  }

  double workOfFor(scf::ForOp loop, double step) {
    std::optional<double> steps =
        stepsOf(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    if (!steps)
      isOpen = true;
    if (!steps || *steps * step >= kPolledLoop)
      poll(*loop, step);
    return steps.value_or(kOpenSteps) * step;
  }

  static std::optional<double> stepsOf(OpFoldResult from, OpFoldResult to, OpFoldResult step) {
    auto begin = getConstantIntValue(from), end = getConstantIntValue(to),
         by = getConstantIntValue(step);
    if (!begin || !end || !by || *by <= 0)
      return std::nullopt;
    return std::max(0.0, std::ceil((double(*end) - double(*begin)) / double(*by)));
  }

  static double workOfLoops(linalg::LinalgOp op) {
    double elements = 1, each = kVectorOp;
    for (int64_t range : op.getStaticLoopRanges())
      elements *= ShapedType::isDynamic(range) ? kOpenSteps : range;
    op->getRegion(0).walk(
        [&](Operation *inner) { each += isFunction(inner) ? kVectorFunction : kVectorOp; });
    return elements * each;
  }

  static double workOfRoutine(LibraryOp op) {
    const Routine *routine = routineNamed(op.getRoutine());
    RoutineWork work = routine ? routine->work : RoutineWork::Side;
    if (work == RoutineWork::Waits)
      return kLongCall;
    double elements = 0, side = 1;
    for (Value operand : op.getOperands())
      elements += elementsOf(operand);
    for (int64_t size : cast<ShapedType>(op.getOperand(0).getType()).getShape())
      side = std::max<double>(side, ShapedType::isDynamic(size) ? kOpenSteps : size);
    return 100 + elements * (work == RoutineWork::Elements ? 16 : side);
  }

  /// Steps between polls are a power of two.
  static void poll(Operation &loop, double step) {
    auto steps = llvm::bit_floor(static_cast<uint64_t>(std::max(1.0, kBetweenPolls / step)));
    loop.setAttr(kPollAttr, Builder(loop.getContext()).getI64IntegerAttr(steps));
  }

  bool isOpen = false; // a loop's steps are known when it runs
};

} // namespace
