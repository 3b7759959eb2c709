// Launches of long scans. One workgroup handles each scan. If there are few scans, several
// workgroups share one: a first launch combines each part. In a second launch, every part starts
// from the combination of the parts before it.
#include "Combiners.h"
#include "GPU/Launches.h"
#include "GPU/SharedScan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor::gpu;

/// Shorter ones are a thread's.
constexpr int64_t kLeastSteps = 256;
/// Where neighbours of a scan lie apart, threads side by side read what lies side by side: they are
/// better off with a scan each if there are as many.
constexpr int64_t kManyScans = 1024;
/// Parts of a scan. Every workgroup combines what those before it come to.
constexpr int64_t kMostParts = 64;
/// Elements that are worth a part of their own.
constexpr int64_t kLeastPart = 4096;

namespace {

/// Scans in parts: workgroup row * parts + part.
class Parts {
public:
  Parts(linalg::GenericOp op, ModuleOp module, const KernelLimits &limits, int64_t rows,
        int64_t parts)
      : op(op), module(module), limits(limits), host(op), rows(rows), parts(parts) {}

  LogicalResult launch();

private:
  LogicalResult launchOne(Value totals, bool second);

  linalg::GenericOp op;
  ModuleOp module;
  const KernelLimits &limits;
  OpBuilder host;
  int64_t rows, parts;
};

} // namespace

LogicalResult Parts::launchOne(Value totals, bool second) {
  Location loc = op.getLoc();
  Kernel kernel(host, loc, limits.threads, limits);
  Points points(kernel, op, startsOf(kernel, *op));
  const ScanKind kind = *ScanKind::of(points);
  OpBuilder &b = kernel.b;
  FlatView left = kernel.view(totals);
  Value count = kernel.index(parts), group = kernel.groupId();
  Value row = arith::DivUIOp::create(b, loc, group, count);
  Value part = arith::RemUIOp::create(b, loc, group, count);
  Value firstOfRow = arith::SubIOp::create(b, loc, group, part);
  // Parts are whole tiles, so that elements lie in them as they do in the whole.
  const int64_t tile = kernel.threads * SharedScan::kOwn;
  Value size = kernel.index(points.reductionSize());
  // Where there are no elements, the first part is the last: it stores the value at the start.
  Value atLeastOne = arith::MaxUIOp::create(b, loc, size, kernel.index(1));
  Value perPart = arith::AddIOp::create(b, loc, atLeastOne, kernel.index(parts * tile - 1));
  perPart = arith::DivUIOp::create(b, loc, perPart, kernel.index(parts * tile));
  perPart = arith::MulIOp::create(b, loc, perPart, kernel.index(tile));
  SharedScan::Stretch stretch;
  stretch.from = arith::MulIOp::create(b, loc, part, perPart);
  stretch.to = arith::AddIOp::create(b, loc, stretch.from, perPart);
  stretch.isLast = arith::AndIOp::create(
      b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, stretch.to, size),
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, stretch.from, atLeastOne));
  stretch.to = arith::MinUIOp::create(b, loc, stretch.to, size);
  if (!second) {
    stretch.isLast = {};
    stretch.total = &left;
    stretch.at = group;
  }
  SharedScan(points, kind)
      .emitStretch(Team::workgroup(kernel), row, stretch, [&](Value start) -> Value {
        auto loop = scf::ForOp::create(b, loc, kernel.index(0), part, kernel.index(1), start);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value at = arith::AddIOp::create(b, loc, firstOfRow, loop.getInductionVar());
        scf::YieldOp::create(b, loc,
                             xtensor::combined(b, kind.combiner, loop.getRegionIterArgs()[0],
                                               kernel.load(left, at)));
        return loop.getResult(0);
      });
  if (kernel.isBroken())
    return failure();
  kernel.launch(module, constant(host, loc, rows * parts));
  return success();
}

LogicalResult Parts::launch() {
  Type type = op.getRegionOutputArgs().back().getType();
  Value totals = memref::AllocOp::create(host, op.getLoc(), MemRefType::get({rows * parts}, type));
  if (failed(launchOne(totals, false)) || failed(launchOne(totals, true)))
    return failure();
  eraseWithFills(*op);
  return success();
}

/// How many workgroups share a scan.
static int64_t partsOf(int64_t rows, int64_t steps, const KernelLimits &limits) {
  if (ShapedType::isDynamic(rows) || rows == 0)
    return 1;
  int64_t parts = std::min(kMostParts, limits.groups / rows);
  if (!ShapedType::isDynamic(steps))
    parts = std::min(parts, steps / kLeastPart);
  return std::max<int64_t>(parts, 1);
}

/// Whether scans are workgroups' rather than threads', where only the call knows how many there are
/// or how long they are.
static Value areWorkgroups(OpBuilder &host, linalg::GenericOp op, Value rows, bool reducesRows,
                           const KernelLimits &limits) {
  Location loc = op.getLoc();
  Value steps = reductionSteps(host, op);
  auto compare = [&](arith::CmpIPredicate predicate, Value v, int64_t bound) -> Value {
    return arith::CmpIOp::create(host, loc, predicate, v, constant(host, loc, bound));
  };
  Value suits = compare(arith::CmpIPredicate::uge, steps, kLeastSteps);
  if (int64_t few = limits.rows ? limits.rows : reducesRows ? 0 : kManyScans) {
    Value isWanted = compare(arith::CmpIPredicate::ult, rows, few);
    if (limits.steps) {
      Value isTooLong = compare(arith::CmpIPredicate::uge, steps, limits.steps / 2);
      isWanted = arith::OrIOp::create(host, loc, isWanted, isTooLong);
    }
    suits = arith::AndIOp::create(host, loc, suits, isWanted);
  }
  return suits;
}

FailureOr<bool> xtensor::gpu::launchScan(Operation &op, ModuleOp module, const KernelLimits &limits,
                                         Value &otherwise) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic->getAttrOfType<StringAttr>("xtensor.scan"))
    return false;
  OpBuilder host(&op);
  Location loc = op.getLoc();
  Kernel kernel(host, loc, limits.threads, limits);
  Points points(kernel, &op, startsOf(kernel, op));
  int64_t rows = points.parallelPoints(), steps = points.reductionPoints();
  std::optional<ScanKind> kind = ScanKind::of(points);
  bool isOpen = ShapedType::isDynamic(rows) || ShapedType::isDynamic(steps);
  bool isLong = ShapedType::isDynamic(steps) || steps >= kLeastSteps;
  bool areFew = !ShapedType::isDynamic(rows) && rows < (limits.rows ? limits.rows : kManyScans);
  bool suits = isOpen || points.reducesRows() || rows < kManyScans ||
               (limits.steps && steps >= limits.steps / 2);
  if (!kind || rows == 0 || !isLong || !suits || limits.areThreads(rows, steps))
    return false;
  // What leaves the range is done in order, which several workgroups cannot.
  if (!kind->mayFail() && kind->running + 1 == generic.getDpsInits().size())
    if (int64_t parts = partsOf(rows, steps, limits); parts > 1) {
      if (failed(Parts(generic, module, limits, rows, parts).launch()))
        return failure();
      return true;
    }
  Value groups = constant(host, loc, std::min(rows, limits.maxGroups)), chosen;
  if (isOpen && !areFew) {
    Value n = outputPoints(host, op);
    groups = arith::MaxUIOp::create(host, loc, n, constant(host, loc, 1));
    groups = arith::MinUIOp::create(host, loc, groups, constant(host, loc, limits.maxGroups));
    chosen = areWorkgroups(host, generic, n, points.reducesRows(), limits);
    otherwise = arith::XOrIOp::create(
        host, loc, chosen, arith::ConstantIntOp::create(host, loc, /*value=*/1, /*width=*/1));
  }
  SharedScan(points, *kind)
      .emitRows(Team::workgroup(kernel), kernel.groupId(), kernel.value(groups));
  if (kernel.isBroken())
    return failure();
  launchIf(kernel, host, module, groups, chosen);
  if (otherwise)
    return false;
  eraseWithFills(op);
  return true;
}
