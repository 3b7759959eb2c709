#include "GPU/Launches.h"

#include "Estimates.h"
#include "GPU/Contraction.h"
#include "GPU/SharedReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor::gpu;

int64_t xtensor::gpu::pointsOf(Operation &op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return knownProduct(cast<MemRefType>(copy.getTarget().getType()).getShape());
  return knownProduct(cast<linalg::LinalgOp>(op).getStaticLoopRanges());
}

bool xtensor::gpu::isArrayOp(Operation &op) { return isa<linalg::LinalgOp, memref::CopyOp>(op); }

int64_t xtensor::gpu::mostPointsIn(Operation *op, int64_t otherwise) {
  int64_t most = 1;
  op->walk([&](Operation *inner) {
    if (!isArrayOp(*inner))
      return;
    int64_t points = pointsOf(*inner);
    most = std::max(most, ShapedType::isDynamic(points) ? otherwise : points);
  });
  return most;
}

void xtensor::gpu::eraseWithFills(Operation &op) {
  SmallVector<linalg::FillOp> fills = fillsOf(op);
  op.erase();
  for (linalg::FillOp fill : fills)
    if (fill)
      fill->erase();
}

Value xtensor::gpu::constant(OpBuilder &b, Location loc, int64_t v) {
  return arith::ConstantIndexOp::create(b, loc, v);
}

Value xtensor::gpu::outputPoints(OpBuilder &host, Operation &op) {
  Location loc = op.getLoc();
  Value n = constant(host, loc, 1);
  Value out = isa<memref::CopyOp>(op) ? cast<memref::CopyOp>(op).getTarget()
                                      : cast<linalg::LinalgOp>(op).getDpsInits().back();
  for (int64_t axis = 0; axis < cast<MemRefType>(out.getType()).getRank(); ++axis)
    n = arith::MulIOp::create(host, loc, n, memref::DimOp::create(host, loc, out, axis));
  return n;
}

Value xtensor::gpu::reductionSteps(OpBuilder &host, linalg::GenericOp op) {
  Location loc = op.getLoc();
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  Value n = constant(host, loc, 1);
  for (unsigned loop : loops) {
    Value size;
    for (OpOperand &operand : op->getOpOperands())
      for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop && !size)
          size = memref::DimOp::create(host, loc, operand.get(), axis);
    if (!size)
      return {};
    n = arith::MulIOp::create(host, loc, n, size);
  }
  return n;
}

void xtensor::gpu::launchIf(Kernel &kernel, OpBuilder &host, ModuleOp module, Value groups,
                            Value condition) {
  Location loc = kernel.loc;
  if (condition)
    groups = arith::SelectOp::create(host, loc, condition, groups, constant(host, loc, 0));
  kernel.launch(module, groups);
}

/// Elements of a row that a workgroup goes along rather than a thread, and as many rows as it takes
/// to make that worth a question to the call.
constexpr int64_t kLongRow = 64;

/// Rows of an open length, of which only the call knows whether they are long. If they are, each
/// row is launched as a workgroup. Returns whether they are not long; null if that is known.
static FailureOr<Value> launchLongRows(Operation &op, ModuleOp module, const KernelLimits &limits) {
  OpBuilder host(&op);
  Location loc = op.getLoc();
  Kernel kernel(host, loc, limits.threads, limits);
  Points points(kernel, &op, startsOf(kernel, op));
  bool many = ShapedType::isDynamic(points.parallelPoints()) || points.parallelPoints() >= kLongRow;
  if (!many || points.reductionPoints() >= 0 || !points.reducesRows())
    return Value();
  std::optional<SharedReduction> reduction = SharedReduction::of(points);
  if (!reduction)
    return Value();
  Value steps = reductionSteps(host, cast<linalg::GenericOp>(op));
  if (!steps)
    return Value();
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(host, loc, predicate, steps, constant(host, loc, kLongRow));
  };
  Value groups = outputPoints(host, op);
  groups = arith::MinUIOp::create(host, loc, groups, constant(host, loc, limits.maxGroups));
  reduction->emitRows(Team::workgroup(kernel), kernel.groupId(), kernel.value(groups));
  if (kernel.isBroken())
    return failure();
  launchIf(kernel, host, module, groups, compare(arith::CmpIPredicate::uge));
  return compare(arith::CmpIPredicate::ult);
}

/// The threads of a launch of that many workgroups.
static Team allThreads(Kernel &kernel, Value groups) {
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  Value first = arith::MulIOp::create(b, loc, kernel.groupId(), kernel.index(kernel.threads));
  Team team;
  team.id = arith::AddIOp::create(b, loc, first, kernel.threadId());
  auto known = getConstantIntValue(groups);
  team.known = known ? *known * kernel.threads : 0;
  team.count =
      known ? kernel.index(team.known)
            : arith::MulIOp::create(b, loc, kernel.value(groups), kernel.index(kernel.threads));
  return team;
}

/// Workgroups for the points of the outputs of `op`.
static Value groupsFor(Operation &op, OpBuilder &host, int64_t points, int64_t perGroup,
                       const KernelLimits &limits) {
  Location loc = op.getLoc();
  if (!ShapedType::isDynamic(points))
    return constant(host, loc,
                    std::min(llvm::divideCeil(points, perGroup), uint64_t(limits.maxGroups)));
  Value n = outputPoints(host, op);
  Value up = arith::AddIOp::create(host, loc, n, constant(host, loc, perGroup - 1));
  n = arith::DivUIOp::create(host, loc, up, constant(host, loc, perGroup));
  return arith::MinUIOp::create(host, loc, n, constant(host, loc, limits.maxGroups));
}

/// With `condition`, only where that holds.
static LogicalResult launchArrayOp(Operation &op, ModuleOp module, const KernelLimits &limits,
                                   Value condition) {
  if (!condition) {
    FailureOr<Value> areShort = launchLongRows(op, module, limits);
    if (failed(areShort))
      return failure();
    condition = *areShort;
  }
  OpBuilder host(&op);
  Kernel kernel(host, op.getLoc(), limits.threads, limits);
  Points points(kernel, &op, startsOf(kernel, op));
  int64_t count = points.parallelPoints(), each = points.reductionPoints();
  if (count == 0) {
    eraseWithFills(op);
    return success();
  }
  std::optional<SharedReduction> reduction = SharedReduction::of(points);
  bool together = !condition && reduction && points.reducesRows() &&
                  (each < 0 || each >= kLongRow) &&
                  !(reduction->chooses() && limits.areThreads(count, each));
  // Columns that leave most of the device idle are shared by threads.
  bool isIdle = ShapedType::isDynamic(count) || count <= limits.groups * kernel.threads / 2;
  int64_t columns = reduction && isIdle ? reduction->columnsOfWorkgroup(kernel.threads) : 0;
  int64_t perGroup = together ? 1 : columns ? columns : kernel.threads * points.pointsAtOnce();
  Value groups = groupsFor(op, host, count, perGroup, limits);
  Team workgroup = Team::workgroup(kernel);
  if (together)
    reduction->emitRows(workgroup, kernel.groupId(), kernel.value(groups));
  else if (columns)
    reduction->emitAllColumns(columns, workgroup, kernel.groupId(), kernel.value(groups));
  else
    emitArrayOp(points, allThreads(kernel, groups));
  if (kernel.isBroken())
    return failure();
  launchIf(kernel, host, module, groups, condition);
  eraseWithFills(op);
  return success();
}

static LogicalResult launchForall(scf::ForallOp op, ModuleOp module, const KernelLimits &limits) {
  OpBuilder host(op);
  Location loc = op.getLoc();
  int64_t count = iterationsOf(op), points = mostPointsIn(op, 4 * limits.threads);
  if (count == 0) {
    op.erase();
    return success();
  }
  Value iterations = iterationsOf(op, host);
  // A thread takes four elements of a row at once where they lie side by side.
  Kernel kernel(host, loc, limits.threadsFor(llvm::divideCeil(points, 4)), limits);
  bool loops = ShapedType::isDynamic(count) || count > limits.maxGroups;
  Value groups = iterations;
  if (loops)
    groups = arith::MinUIOp::create(host, loc, iterations, constant(host, loc, limits.maxGroups));
  Body body(kernel, host, groups, kernel.groupId());
  body.planScratch(*op);
  OpBuilder &b = kernel.b;
  if (!loops) {
    if (failed(body.emitIteration(op, kernel.groupId())))
      return failure();
  } else {
    auto loop = scf::ForOp::create(b, loc, kernel.groupId(), kernel.value(iterations),
                                   kernel.value(groups));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (failed(body.emitIteration(op, loop.getInductionVar())))
      return failure();
    kernel.meet();
  }
  if (kernel.isBroken())
    return failure();
  kernel.launch(module, groups);
  op.erase();
  return success();
}

LogicalResult xtensor::gpu::launchOperation(Operation &op, ModuleOp module,
                                            const KernelLimits &limits) {
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return launchForall(loop, module, limits);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return launchUpdates(loop, module, limits);
  if (linalg::GenericOp product = Contraction::match(op)) {
    Contraction::Shape shape = Contraction::shapeOf(product);
    if (const Tile *tile = Contraction::tileFor(shape, limits))
      return launchContraction(product, *tile, module, limits);
  }
  Value otherwise;
  if (FailureOr<bool> done = launchScan(op, module, limits, otherwise); failed(done) || *done)
    return success(succeeded(done));
  return launchArrayOp(op, module, limits, otherwise);
}
