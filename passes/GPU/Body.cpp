#include "GPU/Body.h"

#include "Estimates.h"
#include "GPU/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;

Body::Body(Kernel &kernel, OpBuilder host, Value copies, Value copy)
    : kernel(kernel), b(kernel.b), host(host), copies(copies), copy(copy) {
  threads = Team::workgroup(kernel);
}

bool xtensor::gpu::isReport(Operation &op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && call.getCallee() == "xt_report_index";
}

bool xtensor::gpu::isCopyToItself(memref::CopyOp op) {
  auto from = op.getSource().getDefiningOp<memref::SubViewOp>();
  auto to = op.getTarget().getDefiningOp<memref::SubViewOp>();
  if (!from || !to)
    return op.getSource() == op.getTarget();
  return from.getSource() == to.getSource() &&
         llvm::equal(from.getMixedOffsets(), to.getMixedOffsets(), isEqualConstantIntOrValue) &&
         llvm::equal(from.getMixedSizes(), to.getMixedSizes(), isEqualConstantIntOrValue) &&
         llvm::equal(from.getMixedStrides(), to.getMixedStrides(), isEqualConstantIntOrValue);
}

constexpr llvm::StringLiteral kAbsorbedAttr = "xtensor.absorbed";

/// Whether an array operation or a group of them has nothing to do with this memory.
static bool isAboutOthers(Operation &op, Value memory) {
  if (!isa<linalg::LinalgOp, memref::CopyOp, scf::ForallOp>(op))
    return false;
  return !op.walk([&](Operation *inner) {
              for (Value operand : inner->getOperands())
                if (isa<MemRefType>(operand.getType()) && mayShareMemory(operand, memory))
                  return WalkResult::interrupt();
              return isa<CallOpInterface>(inner) ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

/// Whether an op accumulates into what `fill` fills and comes before all else that could look at
/// it.
static bool isStartOfNext(linalg::FillOp fill) {
  Value out = fill.getOutputs()[0];
  for (Operation *op = fill->getNextNode(); op; op = op->getNextNode()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && llvm::is_contained(generic.getDpsInits(), out)) {
      // Every element must be written, so the map has to reach all of them.
      for (OpOperand &operand : generic.getDpsInitsMutable())
        if (operand.get() == out &&
            !generic.getMatchingIndexingMap(&operand).isProjectedPermutation())
          return false;
      return !llvm::is_contained(generic.getDpsInputs(), out);
    }
    if (!isa<linalg::FillOp, memref::AllocOp, ViewLikeOpInterface>(op) && !isPure(op) &&
        !isAboutOthers(*op, out))
      return false;
  }
  return false;
}

void xtensor::gpu::markAbsorbedFills(Operation *root) {
  root->walk([](linalg::FillOp fill) {
    if (isStartOfNext(fill))
      fill->setAttr(kAbsorbedAttr, UnitAttr::get(fill.getContext()));
  });
}

bool xtensor::gpu::isAbsorbed(Operation &op) { return op.hasAttr(kAbsorbedAttr); }

SmallVector<linalg::FillOp> xtensor::gpu::fillsOf(Operation &op) {
  SmallVector<linalg::FillOp> fills;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return fills;
  for (Value out : generic.getDpsInits()) {
    linalg::FillOp nearest;
    for (Operation *user : out.getUsers())
      if (auto fill = dyn_cast<linalg::FillOp>(user);
          fill && isAbsorbed(*fill) && fill->getBlock() == op.getBlock() &&
          fill->isBeforeInBlock(&op) && (!nearest || nearest->isBeforeInBlock(fill)))
        nearest = fill;
    fills.push_back(nearest);
  }
  return fills;
}

SmallVector<Value> xtensor::gpu::startsOf(Kernel &kernel, Operation &op) {
  return llvm::map_to_vector(fillsOf(op), [&](linalg::FillOp fill) {
    return fill ? kernel.value(fill.getInputs()[0]) : Value();
  });
}

//===- ops -------------------------------------------------------------------===//

LogicalResult Body::emit(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emit(op)))
      return failure();
  return success();
}

template <typename Emit>
void Body::byFirstThread(Emit emit) {
  auto branch = scf::IfOp::create(b, kernel.loc, threads.isFirst(kernel), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emit();
}

LogicalResult Body::emit(Operation &op) {
  kernel.loc = op.getLoc();
  if (auto copy = dyn_cast<memref::CopyOp>(op); copy && isCopyToItself(copy))
    return success();
  if (isa<linalg::LinalgOp, memref::CopyOp>(op)) {
    if (isAbsorbed(op))
      return success();
    Points points(kernel, &op, startsOf(kernel, op));
    emitArrayOp(points, threads);
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    kernel.access(kernel.view(load.getMemref()).flat, {});
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    emitStore(store);
    return success();
  }
  if (isReport(op)) {
    emitReport(op);
    return success();
  }
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return emitAlloc(alloc);
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    return emitForall(forall);
  if (op.getNumRegions())
    return emitStructured(op);
  if (emitScalar(kernel, op))
    return success();
  return op.emitError("has no place in a kernel");
}

void Body::emitStore(memref::StoreOp op) {
  FlatView view = kernel.view(op.getMemref());
  kernel.access({}, view.flat);
  Value place = kernel.place(view, op.getIndices()), v = kernel.value(op.getValue());
  byFirstThread([&] { kernel.store(v, view, place); });
}

void Body::leave(Value number, Value memref, ValueRange at) {
  FlatView view = kernel.view(memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Value v = kernel.value(number);
  if (v.getType() != element)
    v = arith::IndexCastOp::create(b, kernel.loc, element, v);
  byFirstThread([&] { kernel.store(v, view, kernel.place(view, at)); });
}

/// The first report counts: words are site + 1, index (low, high), size (low, high).
void Body::emitReport(Operation &call) {
  Location loc = call.getLoc();
  Value words = kernel.report();
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value site = kernel.value(call.getOperand(0));
  SmallVector<Value> numbers = {
      arith::AddIOp::create(b, loc, site, arith::ConstantIntOp::create(b, loc, i32, 1))};
  for (Value v : {call.getOperand(1), call.getOperand(2)}) {
    Value wide = kernel.value(v);
    Value high =
        arith::ShRUIOp::create(b, loc, wide, arith::ConstantIntOp::create(b, loc, i64, 32));
    numbers.push_back(arith::TruncIOp::create(b, loc, i32, wide));
    numbers.push_back(arith::TruncIOp::create(b, loc, i32, high));
  }
  byFirstThread([&] {
    Value old = memref::LoadOp::create(b, loc, words, kernel.index(0));
    Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old,
                                       arith::ConstantIntOp::create(b, loc, i32, 0));
    auto branch = scf::IfOp::create(b, loc, none, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (auto [i, number] : llvm::enumerate(numbers))
      memref::StoreOp::create(b, loc, number, words, kernel.index(i));
  });
}

//===- control flow ----------------------------------------------------------===//

LogicalResult Body::emitStructured(Operation &op) {
  if (!isa<scf::IfOp, scf::ForOp, scf::IndexSwitchOp, scf::WhileOp>(op))
    return op.emitError("has no place in a kernel");
  kernel.meet();
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && emitSifted(loop))
    return success();
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
    FailureOr<SmallVector<Value>> results = emitSwitch(choice, 0);
    if (failed(results))
      return failure();
    for (auto [x, y] : llvm::zip_equal(op.getResults(), *results))
      kernel.set(x, y);
    return success();
  }
  return success(cloneInto(kernel, op, [&](Block &block) {
    if (failed(emit(block)))
      return false;
    // The next to read may come from anywhere.
    kernel.meet();
    Operation *terminator = block.getTerminator();
    IRMapping ends;
    for (Value operand : terminator->getOperands())
      ends.map(operand, kernel.value(operand));
    b.clone(*terminator, ends);
    return true;
  }));
}

/// SPIR-V has a switch, but upstream's conversion to SPIR-V does not emit it: one test per case.
FailureOr<SmallVector<Value>> Body::emitSwitch(scf::IndexSwitchOp op, unsigned number) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> cases = op.getCases();
  auto yield = [&](Block &block) -> LogicalResult {
    if (failed(emit(block)))
      return failure();
    kernel.meet();
    return success();
  };
  auto valuesOf = [&](Block &block) {
    SmallVector<Value> values;
    for (Value v : block.getTerminator()->getOperands())
      values.push_back(kernel.value(v));
    return values;
  };
  if (number == cases.size()) {
    if (failed(yield(op.getDefaultBlock())))
      return failure();
    return valuesOf(op.getDefaultBlock());
  }
  Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, kernel.value(op.getArg()),
                                     kernel.index(cases[number]));
  auto branch = scf::IfOp::create(b, loc, op.getResultTypes(), here, /*withElseRegion=*/true);
  bool yields = op.getNumResults() > 0; // else the terminators are there
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(yield(op.getCaseBlock(number))))
    return failure();
  if (yields)
    scf::YieldOp::create(b, loc, valuesOf(op.getCaseBlock(number)));
  b.setInsertionPointToStart(branch.elseBlock());
  FailureOr<SmallVector<Value>> others = emitSwitch(op, number + 1);
  if (failed(others))
    return failure();
  if (yields)
    scf::YieldOp::create(b, loc, *others);
  return SmallVector<Value>(branch.getResults());
}

/// What stands before the test may hold loops and branches, which the header of a loop in SPIR-V
/// cannot. So the test comes first, of a flag that the step before has set:
///
///   while (before(x) -> (c, y)) do after(y) -> x
///   ==>  go = true; while (go) { (go, y) = before(x); if (go) x = after(y) }
LogicalResult Body::emitWhile(scf::WhileOp op) {
  Location loc = op.getLoc();
  size_t inputs = op.getInits().size();
  SmallVector<Value> start = {arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1)};
  for (Value init : op.getInits())
    start.push_back(kernel.value(init));
  for (Type type : op.getResultTypes())
    start.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  SmallVector<Type> types = llvm::map_to_vector(start, [](Value v) { return v.getType(); });
  SmallVector<Location> locs(types.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, start);
  OpBuilder::InsertionGuard guard(b);
  Block *test = b.createBlock(&loop.getBefore(), {}, types, locs);
  scf::ConditionOp::create(b, loc, test->getArgument(0), test->getArguments());
  Block *step = b.createBlock(&loop.getAfter(), {}, types, locs);
  auto state = step->getArguments();
  for (auto [x, y] : llvm::zip_equal(op.getBeforeArguments(), state.slice(1, inputs)))
    kernel.set(x, y);
  if (failed(emit(*op.getBeforeBody())))
    return failure();
  kernel.meet();
  scf::ConditionOp condition = op.getConditionOp();
  Value go = kernel.value(condition.getCondition());
  SmallVector<Value> passed;
  for (Value v : condition.getArgs())
    passed.push_back(kernel.value(v));
  auto branch = scf::IfOp::create(b, loc, TypeRange(types).slice(1, inputs), go, true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (auto [x, y] : llvm::zip_equal(op.getAfterArguments(), passed))
      kernel.set(x, y);
    if (failed(emit(*op.getAfterBody())))
      return failure();
    kernel.meet();
    SmallVector<Value> next;
    for (Value v : op.getYieldOp().getOperands())
      next.push_back(kernel.value(v));
    if (inputs || branch.thenBlock()->empty() || !branch.thenBlock()->mightHaveTerminator())
      scf::YieldOp::create(b, loc, next);
    b.setInsertionPointToStart(branch.elseBlock());
    if (inputs || !branch.elseBlock()->mightHaveTerminator())
      scf::YieldOp::create(b, loc, state.slice(1, inputs));
  }
  SmallVector<Value> next = {go};
  llvm::append_range(next, branch.getResults());
  llvm::append_range(next, passed);
  scf::YieldOp::create(b, loc, next);
  b.setInsertionPointAfter(loop);
  for (auto [x, y] : llvm::zip_equal(op.getResults(), loop.getResults().drop_front(1 + inputs)))
    kernel.set(x, y);
  return success();
}

int64_t xtensor::gpu::stepsBetween(int64_t from, int64_t to, int64_t step) {
  return step < 1 ? ShapedType::kDynamic : from < to ? llvm::divideCeilSigned(to - from, step) : 0;
}

int64_t xtensor::gpu::iterationsOf(scf::ForallOp loop) {
  SmallVector<int64_t> counts;
  for (auto [from, to, step] :
       llvm::zip_equal(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep())) {
    auto x = getConstantIntValue(from), y = getConstantIntValue(to), z = getConstantIntValue(step);
    counts.push_back(x && y && z ? stepsBetween(*x, *y, *z) : ShapedType::kDynamic);
  }
  return knownProduct(counts);
}

/// ceil((to - from) / step), on the host or in a kernel.
static Value extent(OpBuilder &b, Location loc, Value from, Value to, Value step) {
  Value span = arith::SubIOp::create(b, loc, to, from);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value up = arith::AddIOp::create(b, loc, span, arith::SubIOp::create(b, loc, step, one));
  return arith::DivSIOp::create(b, loc, up, step);
}

static Value asValue(OpBuilder &b, Location loc, OpFoldResult v) {
  if (auto known = getConstantIntValue(v))
    return arith::ConstantIndexOp::create(b, loc, *known);
  return cast<Value>(v);
}

Value xtensor::gpu::iterationsOf(scf::ForallOp loop, OpBuilder &host) {
  Location loc = loop.getLoc();
  if (int64_t known = iterationsOf(loop); !ShapedType::isDynamic(known))
    return arith::ConstantIndexOp::create(host, loc, known);
  Value total;
  for (auto [from, to, step] :
       llvm::zip_equal(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep())) {
    Value n = extent(host, loc, asValue(host, loc, from), asValue(host, loc, to),
                     asValue(host, loc, step));
    total = total ? arith::MulIOp::create(host, loc, total, n).getResult() : n;
  }
  return total;
}

LogicalResult Body::emitIteration(scf::ForallOp loop, Value number) {
  Location loc = loop.getLoc();
  SmallVector<OpFoldResult> lower = loop.getMixedLowerBound(), upper = loop.getMixedUpperBound(),
                            steps = loop.getMixedStep();
  for (int64_t i = lower.size() - 1; i >= 0; --i) {
    OpFoldResult from = kernel.value(lower[i]), step = kernel.value(steps[i]);
    Value n = number;
    if (i > 0) {
      Value size = extent(b, loc, kernel.index(from), kernel.index(kernel.value(upper[i])),
                          kernel.index(step));
      n = arith::RemUIOp::create(b, loc, number, size);
      number = arith::DivUIOp::create(b, loc, number, size);
    }
    kernel.set(loop.getInductionVar(i), kernel.index(kernel.add(from, kernel.mul(n, step))));
  }
  return emit(*loop.getBody());
}

/// A small parallel loop inside of sequential code: one iteration after another.
LogicalResult Body::emitForall(scf::ForallOp loop) {
  kernel.meet();
  Value count;
  for (auto [from, to, step] :
       llvm::zip_equal(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep())) {
    Value n = extent(b, loop.getLoc(), kernel.index(kernel.value(from)),
                     kernel.index(kernel.value(to)), kernel.index(kernel.value(step)));
    count = count ? arith::MulIOp::create(b, loop.getLoc(), count, n).getResult() : n;
  }
  auto steps = scf::ForOp::create(b, loop.getLoc(), kernel.index(0), count, kernel.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(steps.getBody());
  if (failed(emitIteration(loop, steps.getInductionVar())))
    return failure();
  kernel.meet();
  return success();
}
