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

  /// while (begin < end, and the call goes on) { the loop, over a block of steps }. The loop inside
  /// is as it was. The loop outside ends at once, as there may be 10^10 blocks left.
  static void pollFor(scf::ForOp loop, int64_t steps) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type type = loop.getStep().getType();
    Value count = arith::ConstantOp::create(b, b.getIntegerAttr(type, steps));
    Value stride = arith::MulIOp::create(b, loop.getStep(), count);
    Value last = loop.getUpperBound();
    SmallVector<Value> inits{loop.getLowerBound()};
    llvm::append_range(inits, loop.getInitArgs());
    auto before = [&](OpBuilder &inner, Location, ValueRange values) {
      ImplicitLocOpBuilder b(loop.getLoc(), inner);
      Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, values[0], last);
      Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
      auto goesOn = scf::IfOp::create(b, TypeRange{b.getI1Type()}, more, /*withElseRegion=*/true);
      b.setInsertionPointToStart(goesOn.thenBlock());
      scf::YieldOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, asked(b), no).getResult());
      b.setInsertionPointToStart(goesOn.elseBlock());
      scf::YieldOp::create(b, no);
      b.setInsertionPointAfter(goesOn);
      scf::ConditionOp::create(b, goesOn.getResult(0), values);
    };
    auto after = [&](OpBuilder &inner, Location, ValueRange values) {
      ImplicitLocOpBuilder b(loop.getLoc(), inner);
      Value left = arith::SubIOp::create(b, last, values[0]);
      Value length = arith::MinSIOp::create(b, left, stride);
      Value end = arith::AddIOp::create(b, values[0], length);
      scf::YieldOp::create(b, end); // and the results of the loop, below
    };
    auto blocks = scf::WhileOp::create(b, ValueRange(inits).getTypes(), inits, before, after);
    loop.replaceAllUsesWith(blocks.getResults().drop_front());
    scf::YieldOp yield = blocks.getYieldOp();
    loop->moveBefore(yield);
    loop.setLowerBound(blocks.getAfterArguments()[0]);
    loop.setUpperBound(yield.getOperand(0));
    loop.getInitArgsMutable().assign(blocks.getAfterArguments().drop_front());
    yield.getResultsMutable().append(loop.getResults());
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
