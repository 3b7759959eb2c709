// xtensor-poll-loops: loops regularly ask the runtime whether the call must end.
#include "CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {
#define GEN_PASS_DEF_POLLLOOPS
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

struct PollLoopsPass : xtensor::impl::PollLoopsBase<PollLoopsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> loops; // the inner ones first
    getOperation().walk([&](Operation *op) {
      if (op->hasAttr(kPollAttr))
        loops.push_back(op);
    });
    if (loops.empty())
      return;
    ImplicitLocOpBuilder b(getOperation().getLoc(), &getContext());
    b.setInsertionPointToStart(getOperation().getBody());
    func::FuncOp::create(b, kPollFunction, b.getFunctionType({}, b.getI32Type())).setPrivate();
    for (Operation *op : loops) {
      int64_t steps = cast<IntegerAttr>(op->removeAttr(kPollAttr)).getInt();
      if (auto loop = dyn_cast<scf::ForOp>(op))
        pollFor(loop, steps);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        pollWhile(loop, steps);
    }
  }

private:
  /// Whether the call is to end.
  static Value asked(ImplicitLocOpBuilder &b) {
    Value answer = func::CallOp::create(b, kPollFunction, TypeRange{b.getI32Type()}, ValueRange())
                       .getResult(0);
    Value no = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, answer, no);
  }

  /// A loop over blocks of steps, which are empty from then on. The loop inside is as it was.
  static void pollFor(scf::ForOp loop, int64_t steps) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type type = loop.getStep().getType();
    Value count = arith::ConstantOp::create(b, b.getIntegerAttr(type, steps));
    Value stride = arith::MulIOp::create(b, loop.getStep(), count);
    auto blocks = scf::ForOp::create(b, loop.getLowerBound(), loop.getUpperBound(), stride,
                                     loop.getInitArgs());
    loop.replaceAllUsesWith(blocks.getResults());
    b.setInsertionPointToStart(blocks.getBody());
    Value begin = blocks.getInductionVar();
    Value left = arith::SubIOp::create(b, loop.getUpperBound(), begin);
    Value length = arith::MinSIOp::create(b, left, stride);
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
    length = arith::SelectOp::create(b, asked(b), zero, length);
    Value end = arith::AddIOp::create(b, begin, length);
    loop->moveAfter(end.getDefiningOp());
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
    loop.getInitArgsMutable().assign(blocks.getRegionIterArgs());
    if (loop->getNumResults()) { // else the builder wrote the terminator
      b.setInsertionPointAfter(loop);
      scf::YieldOp::create(b, loop.getResults());
    }
  }

  /// One more number is carried, which counts the steps.
  static void pollWhile(scf::WhileOp loop, int64_t steps) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type i64 = b.getI64Type();
    auto number = [&](int64_t n) -> Value { return arith::ConstantIntOp::create(b, i64, n); };
    SmallVector<Value> inits(loop.getInits());
    inits.push_back(number(0));
    SmallVector<Type> types(loop.getResultTypes());
    types.push_back(i64);
    auto counted = scf::WhileOp::create(b, types, inits);
    counted.getBefore().takeBody(loop.getBefore());
    counted.getAfter().takeBody(loop.getAfter());
    loop.replaceAllUsesWith(counted.getResults().drop_back());
    loop.erase();

    Value taken = counted.getBefore().addArgument(i64, b.getLoc());
    scf::ConditionOp condition = counted.getConditionOp();
    b.setInsertionPoint(condition);
    Value last = arith::AndIOp::create(b, taken, number(steps - 1));
    Value due = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, last, number(steps - 1));
    Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    auto poll = scf::IfOp::create(b, TypeRange{b.getI1Type()}, due, /*withElseRegion=*/true);
    b.setInsertionPointToStart(poll.thenBlock());
    scf::YieldOp::create(b, ValueRange{arith::XOrIOp::create(b, asked(b), yes)});
    b.setInsertionPointToStart(poll.elseBlock());
    scf::YieldOp::create(b, ValueRange{yes});
    b.setInsertionPoint(condition);
    Value goes = arith::AndIOp::create(b, condition.getCondition(), poll.getResult(0));
    condition.getConditionMutable().assign(goes);
    condition.getArgsMutable().append(taken);

    taken = counted.getAfter().addArgument(i64, b.getLoc());
    scf::YieldOp yield = counted.getYieldOp();
    b.setInsertionPoint(yield);
    Value next = arith::AddIOp::create(b, taken, number(1));
    yield.getResultsMutable().append(next);
  }
};

} // namespace
