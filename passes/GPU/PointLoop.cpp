// Points of an array operation that each belong to one thread (ArrayOp.h), which takes several at
// once where they lie side by side.
#include "GPU/ArrayOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;
using Point = Points::Point;

namespace {

class PointLoop {
public:
  explicit PointLoop(Points &points)
      : p(points), kernel(p.kernel), b(p.b), loc(p.loc), over(p.parallelLoops()),
        reduced(p.reductionLoops()), width(p.pointsAtOnce()) {}

  void emit(const Team &team);

private:
  /// The point, or run of points, with this number.
  void emitPoint(Value number);
  void emitRun(const Point &point);
  void emitReduction(Point point);
  SmallVector<Value> reduce(unsigned depth, Point &point, ValueRange accumulators);
  SmallVector<Value> step(const Point &point, ValueRange accumulators);

  Points &p;
  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  const SmallVector<unsigned> over, reduced; // loops
  const int64_t width;                       // points at once
  SmallVector<unsigned> carried;             // outputs whose values go around in registers
};

} // namespace

/// The reduction at one point, in order. A scan's outputs are written as they come.
void PointLoop::emitReduction(Point point) {
  SmallVector<Value> start;
  for (auto [i, v] : llvm::enumerate(p.initial(point)))
    if (v) {
      carried.push_back(i);
      start.push_back(v);
    }
  for (auto [i, v] : llvm::zip_equal(carried, reduce(0, point, start)))
    p.store(v, p.outs[i], point);
}

/// The loops that are reduced, from the `depth`-th on; returns the accumulators after them.
SmallVector<Value> PointLoop::reduce(unsigned depth, Point &point, ValueRange accumulators) {
  if (depth == reduced.size())
    return step(point, accumulators);
  auto order = p.generic->getAttrOfType<StringAttr>("xtensor.scan");
  Value zero = kernel.index(0), one = kernel.index(1),
        size = kernel.index(p.ranges[reduced[depth]]);
  auto loop = scf::ForOp::create(b, loc, zero, size, one, accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  point[reduced[depth]] = loop.getInductionVar();
  if (order && order.getValue() == "reverse") {
    Value last = arith::SubIOp::create(b, loc, size, one);
    point[reduced[depth]] = arith::SubIOp::create(b, loc, last, loop.getInductionVar());
  }
  SmallVector<Value> next = reduce(depth + 1, point, loop.getRegionIterArgs());
  if (!next.empty())
    scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}

/// One point of the reduction; returns the accumulators after it.
SmallVector<Value> PointLoop::step(const Point &point, ValueRange accumulators) {
  SmallVector<Value> old(p.outs.size());
  for (auto [i, v] : llvm::zip_equal(carried, accumulators))
    old[i] = v;
  for (unsigned i = 0; i < p.outs.size(); ++i)
    if (p.streams(i) && !p.generic.getRegionOutputArgs()[i].use_empty())
      old[i] = p.load(p.outs[i], point);
  SmallVector<Value> results = p.apply(p.loadInputs(point), point, old), next;
  for (unsigned i = 0; i < p.outs.size(); ++i)
    if (p.streams(i) || !old[i])
      p.store(results[i], p.outs[i], point);
  for (unsigned i : carried)
    next.push_back(results[i]);
  return next;
}

void PointLoop::emitRun(const Point &point) {
  const unsigned loop = over.back();
  SmallVector<SmallVector<Value>> values = p.loadRun(p.ins, point, loop, width);
  SmallVector<SmallVector<Value>> old = p.loadRun(p.outs, point, loop, width), results;
  for (int64_t i = 0; i < width; ++i) {
    for (unsigned n = 0; n < p.outs.size(); ++n)
      if (p.init[n] && p.generic && !p.generic.getRegionOutputArgs()[n].use_empty())
        old[i][n] = p.init[n];
    results.push_back(p.apply(values[i], p.pointOfRun(point, loop, i), old[i]));
  }
  p.storeRun(results, point);
}

void PointLoop::emitPoint(Value number) {
  Point point = p.parallelPoint(number, width);
  if (width > 1)
    return emitRun(point);
  if (!reduced.empty())
    return emitReduction(point);
  SmallVector<Value> before = p.initial(point);
  for (auto [v, access] : llvm::zip_equal(p.apply(p.loadInputs(point), point, before), p.outs))
    p.store(v, access, point);
}

void PointLoop::emit(const Team &team) {
  OpBuilder::InsertionGuard guard(b);
  int64_t points = p.parallelPoints();
  if (points > 0)
    points /= width;
  OpFoldResult items = kernel.fixed(1);
  for (unsigned i : over)
    items = kernel.mul(items, width > 1 && i == over.back()
                                  ? kernel.fixed(*getConstantIntValue(p.ranges[i]) / width)
                                  : p.ranges[i]);
  Value size = kernel.index(items);
  if (team.known && points > 0 && points <= team.known) {
    if (points < team.known) {
      Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, team.id, size);
      auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    return emitPoint(team.id);
  }
  auto loop = scf::ForOp::create(b, loc, team.id, size, team.count);
  b.setInsertionPointToStart(loop.getBody());
  emitPoint(loop.getInductionVar());
}

void xtensor::gpu::emitPointLoop(Points &points, const Team &team) { PointLoop(points).emit(team); }
