// Positions along a dim, and the halos of one array together.
#include "Distribute/Halos.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xtensor;

//===- positions -----------------------------------------------------------===//

bool Rows::isWithin(int64_t n) const {
  int64_t last = start + (along->processes - 1) * step;
  return std::min(start, last) >= 0 && std::max(start, last) + size <= n;
}

bool Rows::meets(int64_t n) const {
  for (int64_t i = 0; i < along->processes; ++i)
    if (int64_t first = start + i * step; first < n && first + size > 0)
      return true;
  return false;
}

int64_t Rows::received(int64_t each) const {
  auto common = [](int64_t first, int64_t end, int64_t otherFirst, int64_t otherEnd) {
    return std::max<int64_t>(0, std::min(end, otherEnd) - std::max(first, otherFirst));
  };
  int64_t most = 0;
  for (int64_t i = 0; i < along->processes; ++i) {
    int64_t first = start + i * step;
    int64_t all = common(first, first + size, 0, each * along->processes);
    most = std::max(most, all - common(first, first + size, i * each, (i + 1) * each));
  }
  return most;
}

Value xtensor::positions(OpBuilder &b, Location loc, const Rows &rows) {
  Type i64 = b.getI64Type();
  auto number = [&](int64_t n) { return scalar(b, loc, i64, static_cast<double>(n)); };
  Value here =
      ProcessIndexOp::create(b, loc, rows.along->name.getValue(), rows.along->communicator);
  Value first =
      AddOp::create(b, loc, MulOp::create(b, loc, here, number(rows.step)), number(rows.start));
  auto type = ArrayType::get(b.getContext(), {rows.dim}, {rows.size}, i64);
  return AddOp::create(b, loc, IotaOp::create(b, loc, type, {}), first);
}

Value xtensor::localRows(OpBuilder &b, Location loc, Value whole, const Rows &rows) {
  Value at = positions(b, loc, rows);
  return GatherOp::create(b, loc, IndexMode::clip, whole, at, b.getArrayAttr({rows.dim}));
}

Value xtensor::inside(OpBuilder &b, Location loc, Value x, const Rows &rows, int64_t n,
                      Value outside) {
  Value at = positions(b, loc, rows);
  auto bound = [&](ComparePredicate predicate, int64_t limit) -> Value {
    Value number = scalar(b, loc, b.getI64Type(), static_cast<double>(limit));
    return CompareOp::create(b, loc, predicate, at, number);
  };
  Value isThere = bound(ComparePredicate::ge, 0);
  if (n != std::numeric_limits<int64_t>::max())
    isThere = AndOp::create(b, loc, isThere, bound(ComparePredicate::lt, n));
  // In the order of x.
  isThere = conform(b, loc, isThere, arrayType(x).withElement(b.getI1Type()), {});
  return SelectOp::create(b, loc, isThere, x, outside);
}

//===- halos ---------------------------------------------------------------===//

Value xtensor::halo(OpBuilder &b, Location loc, Value x, const Rows &rows) {
  int64_t each = arrayType(x).getSize(rows.dim);
  if (rows.start == 0 && rows.size == each && (rows.step == each || rows.along->processes == 1))
    return x;
  return HaloOp::create(b, loc, x, rows.dim.getValue(), rows.start, rows.step, rows.size,
                        rows.along->name.getValue(), rows.along->communicator,
                        rows.along->processes);
}

namespace {

/// Halos of one array along one dim.
class Group {
public:
  Group(OpBuilder &b, ArrayRef<HaloOp> halos) : b(b), halos(halos) {
    HaloOp one = halos.front();
    along = {one.getAxisAttr(), static_cast<int64_t>(one.getProcesses()),
             static_cast<int64_t>(one.getCommunicator())};
    each = arrayType(one.getX()).getSize(one.getDimAttr());
  }

  void settle() {
    join();
    int64_t received = 0;
    for (const Rows &rows : joined)
      received += rows.received(each);
    AllGatherOp all = gathered();
    if (all || received > each * (along.processes - 1))
      readGathered(all);
    else
      readJoined();
  }

private:
  Rows rowsOf(HaloOp op) const {
    return {&along, op.getDimAttr(), static_cast<int64_t>(op.getStart()),
            static_cast<int64_t>(op.getStep()), static_cast<int64_t>(op.getSize())};
  }

  /// Ranges that overlap or touch become one: then no element is sent twice.
  void join() {
    llvm::sort(halos, [&](HaloOp l, HaloOp r) {
      Rows x = rowsOf(l), y = rowsOf(r);
      return std::tie(x.step, x.start, x.size) < std::tie(y.step, y.start, y.size);
    });
    for (HaloOp op : halos) {
      Rows next = rowsOf(op);
      bool overlaps = !joined.empty() && joined.back().step == next.step &&
                      next.start <= joined.back().start + joined.back().size;
      if (overlaps)
        joined.back().size =
            std::max(joined.back().size, next.start + next.size - joined.back().start);
      else
        joined.push_back(next);
      places.push_back(joined.size() - 1);
    }
  }

  /// All of the array, where it is needed anyway.
  AllGatherOp gathered() {
    HaloOp one = halos.front();
    for (Operation *user : one.getX().getUsers()) {
      auto op = dyn_cast<AllGatherOp>(user);
      if (op && op->getBlock() == one->getBlock() && op.getDimAttr() == one.getDimAttr())
        return op;
    }
    return {};
  }

  HaloOp first() {
    return *llvm::min_element(halos, [](HaloOp l, HaloOp r) { return l->isBeforeInBlock(r); });
  }

  void readGathered(AllGatherOp all) {
    HaloOp before = first();
    b.setInsertionPoint(before);
    if (!all)
      all = AllGatherOp::create(b, before.getLoc(), before.getX(), before.getDim(),
                                along.name.getValue(), along.communicator, along.processes);
    else if (before->isBeforeInBlock(all))
      all->moveBefore(before);
    int64_t n = each * along.processes;
    for (HaloOp op : halos) {
      b.setInsertionPoint(op);
      Rows rows = rowsOf(op);
      Value x = localRows(b, op.getLoc(), all, rows);
      if (!rows.isWithin(n)) {
        Type element = arrayType(x).getElementType();
        x = inside(b, op.getLoc(), x, rows, n, scalar(b, op.getLoc(), element, 0));
      }
      replace(op, x);
    }
  }

  void readJoined() {
    SmallVector<Value> made(joined.size());
    SmallVector<bool> isShared(joined.size(), false);
    for (auto [i, op] : llvm::enumerate(halos))
      isShared[places[i]] |= static_cast<int64_t>(op.getSize()) != joined[places[i]].size;
    b.setInsertionPoint(first());
    Location loc = first().getLoc();
    for (auto [i, rows] : llvm::enumerate(joined))
      if (isShared[i])
        made[i] = halo(b, loc, halos.front().getX(), rows);
    for (auto [i, op] : llvm::enumerate(halos)) {
      Value all = made[places[i]];
      if (!all)
        continue;
      Rows rows = rowsOf(op);
      b.setInsertionPoint(op);
      if (all.getType() != op.getY().getType())
        all = SliceOp::create(b, op.getLoc(), all, b.getArrayAttr({rows.dim}),
                              rows.start - joined[places[i]].start, rows.size, int64_t(1));
      replace(op, all);
    }
  }

  static void replace(HaloOp op, Value by) {
    op.getY().replaceAllUsesWith(by);
    op.erase();
  }

  OpBuilder &b;
  SmallVector<HaloOp> halos;
  MeshDim along;
  int64_t each;
  SmallVector<Rows> joined;
  SmallVector<size_t> places; ///< of each halo, among those that are joined
};

} // namespace

void xtensor::settleHalos(OpBuilder &b, func::FuncOp func, bool keepsOwn) {
  func.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  // What several neighbours read may have been computed for each of them.
  IRRewriter rewriter(func.getContext());
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
  llvm::MapVector<std::tuple<Value, Attribute, Block *>, SmallVector<HaloOp>> groups;
  func.walk([&](HaloOp op) {
    int64_t each = arrayType(op.getX()).getSize(op.getDimAttr());
    auto start = static_cast<int64_t>(op.getStart()), size = static_cast<int64_t>(op.getSize());
    if (keepsOwn && static_cast<int64_t>(op.getStep()) == each && start >= 0 &&
        start + size <= each)
      return;
    groups[{op.getX(), op.getDimAttr(), op->getBlock()}].push_back(op);
  });
  for (auto &[key, halos] : groups)
    Group(b, halos).settle();
}
