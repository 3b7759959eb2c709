// Running values that the threads of a workgroup share: a tile of elements at a time, a few
// that follow each other per thread. Threads work out what their own come to, learn from the others
// what all before them come to, and go through theirs once more from there:
//
//   for tiles { t = own elements combined; before = t of the threads before, combined in pairs of
//               pairs; for own elements { show(before), before = combine(before, element) } }
//
// The order depends on the number of threads in a workgroup alone. Running sums, extrema and
// products are combined as they are, recurrences of first order as pairs (decay, value). Products
// that leave the range of normal numbers on the way may be inside of it element by element: such a
// tile is done once more by one thread, in order.
#include "GPU/SharedScan.h"

#include "Combiners.h"
#include "GPU/SharedReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;
using State = ScanArithmetic::State;

static constexpr int64_t kOwn = SharedScan::kOwn;

//===- a tile ----------------------------------------------------------------===//

namespace {

/// A stretch that a workgroup goes along, tile by tile.
class ScanTiles {
public:
  ScanTiles(Points &points, const ScanKind &kind, Points::Point point, const Team &team,
            const SharedScan::Stretch &stretch);
  void emit();

private:
  /// The elements of a thread in a tile: what is read of them, where they are, and whether they are
  /// there (null: they are).
  struct Own {
    SmallVector<SmallVector<Value>> values;
    SmallVector<Value> places, there;
  };

  /// Where the element with this number, from the end that the scan starts at, lies; `run` of them.
  Value placeOf(Value number, int64_t run);
  SmallVector<Value> step(ValueRange values, Value place, Value running);
  void show(ArrayRef<Value> results, Value place);
  Value isFirst() { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, team.id, zero); }
  void tell(int32_t word) {
    kernel.store(arith::ConstantIntOp::create(b, loc, b.getI32Type(), word), failed, zero);
  }

  void makeMemory();
  Value emitTile(Value first, Value carry);
  Own readOwn(Value first);
  State combineOwn(const Own &own);
  State meet(const State &total, int64_t bit, unsigned turn);
  State combineThreads(State &total);
  void showOwn(const Own &own, Value running);
  Value orInOrder(Value first, Value carry, Value next, llvm::function_ref<void()> inParallel);
  void showInOrder(Value first, Value carry);

  Points &p;
  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  const Points::Point point;
  const Team &team;
  const SharedScan::Stretch &stretch;
  const ScanKind &kind;
  const unsigned loop;
  const int64_t tile, width, subgroup;
  const bool backward;
  ScanArithmetic a;
  Value zero, size;
  bool whole; // every tile is full, and shown
  // Memory to meet in: what stretches come to, in turns, and what goes wrong.
  FlatView failed, done, meeting[2][2];
};

} // namespace

ScanTiles::ScanTiles(Points &points, const ScanKind &kind, Points::Point point, const Team &team,
                     const SharedScan::Stretch &stretch)
    : p(points), kernel(p.kernel), b(p.b), loc(p.loc), point(std::move(point)), team(team),
      stretch(stretch), kind(kind), loop(p.reductionLoops()[0]), tile(team.known * kOwn),
      width(p.vectorWidth(loop)), subgroup(std::min(kernel.limits.subgroup, team.known)),
      backward(p.generic->getAttrOfType<StringAttr>("xtensor.scan").getValue() == "reverse"),
      a(p, kind), zero(kernel.index(0)), size(kernel.index(p.ranges[loop])) {
  auto knownSize = getConstantIntValue(p.ranges[loop]);
  whole = !stretch.isLast && !stretch.total && knownSize && *knownSize % tile == 0;
}

Value ScanTiles::placeOf(Value number, int64_t run) {
  if (!backward)
    return number;
  Value last = arith::SubIOp::create(b, loc, size, kernel.index(run));
  return arith::SubIOp::create(b, loc, last, number);
}

SmallVector<Value> ScanTiles::step(ValueRange values, Value place, Value running) {
  Points::Point at = point;
  at[loop] = place;
  SmallVector<Value> old(p.outs.size());
  old[kind.running] = running;
  return p.apply(values, at, old);
}

void ScanTiles::show(ArrayRef<Value> results, Value place) {
  Points::Point at = point;
  at[loop] = place;
  for (unsigned i = 0; i < p.outs.size(); ++i)
    if (i != kind.running)
      p.store(results[i], p.outs[i], at);
}

void ScanTiles::makeMemory() {
  if (kind.mayFail()) {
    failed = kernel.cell(0, b.getI32Type());
    done = kernel.cell(1, a.type);
  }
  for (unsigned turn = 0; turn < 2 && subgroup < team.known; ++turn)
    for (unsigned i = 0; i < a.parts(); ++i)
      meeting[turn][i] = kernel.exchange(2 * turn + i, a.type);
}

void ScanTiles::emit() {
  makeMemory();
  mlir::gpu::BarrierOp::create(b, loc);
  auto tiles = scf::ForOp::create(b, loc, stretch.from, stretch.to, kernel.index(tile),
                                  ValueRange{stretch.carry});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(tiles.getBody());
    Value next = emitTile(tiles.getInductionVar(), tiles.getRegionIterArgs()[0]);
    scf::YieldOp::create(b, loc, next);
  }
  Value stores = isFirst();
  if (stretch.isLast)
    stores = a.both(stores, stretch.isLast);
  auto branch = scf::IfOp::create(b, loc, stores, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (stretch.total)
    kernel.store(tiles.getResult(0), *stretch.total, stretch.at);
  else
    p.store(tiles.getResult(0), p.outs[kind.running], point);
}

/// The running value after the tile whose first element has the number `first`.
Value ScanTiles::emitTile(Value first, Value carry) {
  if (kind.mayFail()) {
    a.restart();
    auto branch = scf::IfOp::create(b, loc, isFirst(), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    tell(0);
  }
  if (kind.mayFail() && subgroup == team.known)
    mlir::gpu::BarrierOp::create(b, loc);

  Own own = readOwn(first);
  State total = combineOwn(own);
  State before = combineThreads(total);
  auto showFromThere = [&] { showOwn(own, a.enter(carry, before)); };
  Value next = a.enter(carry, total);
  if (kind.mayFail())
    next = orInOrder(first, carry, next, showFromThere);
  else
    showFromThere();
  mlir::gpu::BarrierOp::create(b, loc);
  return next;
}

ScanTiles::Own ScanTiles::readOwn(Value first) {
  Value start = arith::MulIOp::create(b, loc, team.id, kernel.index(kOwn));
  start = arith::AddIOp::create(b, loc, first, start);
  Own own;
  for (int64_t run = 0; run < kOwn; run += width) {
    Value number = kernel.index(kernel.add(start, kernel.fixed(run)));
    Value inside;
    Value place = placeOf(number, width);
    if (!whole) {
      inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, stretch.to);
      place = arith::SelectOp::create(b, loc, inside, place, zero);
    }
    Points::Point at = point;
    at[loop] = place;
    SmallVector<SmallVector<Value>> loaded = p.loadRun(p.ins, at, loop, width);
    for (int64_t i = 0; i < width; ++i) {
      int64_t n = backward ? width - 1 - i : i;
      own.values.push_back(loaded[n]);
      own.places.push_back(kernel.index(kernel.add(place, kernel.fixed(n))));
      own.there.push_back(inside);
    }
  }
  return own;
}

/// What the elements of a thread come to.
State ScanTiles::combineOwn(const Own &own) {
  auto onlyIf = [&](Value inside, Value x, Value y) { return inside ? a.choose(inside, x, y) : x; };
  State total = a.neutral();
  for (int64_t i = 0; i < kOwn; ++i) {
    Value next = step(own.values[i], own.places[i], total.back())[kind.running];
    State after = {next};
    if (!kind.combiner)
      after = {a.decays(total[0], onlyIf(own.there[i], kind.coefficient(p), a.number(1))), next};
    after.back() = onlyIf(own.there[i], next, total.back());
    a.checkProduct(after.back());
    total = after;
  }
  return total;
}

/// The `total` of the threads whose number differs in `bit`.
State ScanTiles::meet(const State &total, int64_t bit, unsigned turn) {
  State other;
  if (bit < subgroup) {
    for (Value v : total)
      other.push_back(exchanged(kernel, v, bit));
    return other;
  }
  Value place = team.id;
  Value lanes = kernel.index(subgroup);
  if (subgroup > 1)
    place = arith::DivUIOp::create(b, loc, team.id, lanes);
  {
    OpBuilder::InsertionGuard inner(b);
    if (subgroup > 1) {
      Value lane = arith::RemUIOp::create(b, loc, team.id, lanes);
      Value leads = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, zero);
      auto branch = scf::IfOp::create(b, loc, leads, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [i, v] : llvm::enumerate(total))
      kernel.store(v, meeting[turn][i], place);
  }
  mlir::gpu::BarrierOp::create(b, loc);
  Value theirs = arith::XOrIOp::create(b, loc, place, kernel.index(bit / subgroup));
  for (unsigned i = 0; i < a.parts(); ++i)
    other.push_back(kernel.load(meeting[turn][i], theirs));
  return other;
}

/// What the elements of the threads before this one come to. `total` becomes that of all threads.
State ScanTiles::combineThreads(State &total) {
  // Neighbours first: with the number of a thread in bits, those whose upper bits are the same.
  State before = a.neutral();
  unsigned turn = 0;
  for (int64_t bit = 1; bit < team.known; bit *= 2) {
    State other = meet(total, bit, turn);
    if (bit >= subgroup)
      turn ^= 1;
    Value masked = arith::AndIOp::create(b, loc, team.id, kernel.index(bit));
    Value later = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked, zero);
    State left, right;
    for (auto [x, y] : llvm::zip_equal(other, total)) {
      left.push_back(a.choose(later, x, y));
      right.push_back(a.choose(later, y, x));
    }
    State behind = a.combine(other, before);
    for (auto [x, y] : llvm::zip_equal(before, behind))
      x = a.choose(later, y, x);
    total = a.combine(left, right);
  }
  return before;
}

/// Goes through the elements of a thread once more; `running` is the value before them.
void ScanTiles::showOwn(const Own &own, Value running) {
  for (int64_t i = 0; i < kOwn && !stretch.total; ++i) {
    SmallVector<Value> results = step(own.values[i], own.places[i], running);
    running = results[kind.running];
    if (!own.there[i]) {
      show(results, own.places[i]);
      continue;
    }
    auto branch = scf::IfOp::create(b, loc, own.there[i], /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    show(results, own.places[i]);
  }
}

/// Shows the tile by `inParallel`, after which the running value is `next`. If a product left the
/// range in any thread, one thread does the tile in order instead. The running value after it.
Value ScanTiles::orInOrder(Value first, Value carry, Value next,
                           llvm::function_ref<void()> inParallel) {
  auto fails = scf::IfOp::create(b, loc, a.fails(carry), /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(fails.thenBlock());
    tell(1);
  }
  mlir::gpu::BarrierOp::create(b, loc);
  Value word = kernel.load(failed, zero);
  Value fine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, word,
                                     arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0));
  auto branch = scf::IfOp::create(b, loc, fine, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    inParallel();
    b.setInsertionPointToStart(branch.elseBlock());
    auto alone = scf::IfOp::create(b, loc, isFirst(), /*withElseRegion=*/false);
    b.setInsertionPointToStart(alone.thenBlock());
    showInOrder(first, carry);
  }
  mlir::gpu::BarrierOp::create(b, loc);
  return a.choose(fine, next, kernel.load(done, zero));
}

void ScanTiles::showInOrder(Value first, Value carry) {
  Value end = arith::AddIOp::create(b, loc, first, kernel.index(tile));
  end = arith::MinUIOp::create(b, loc, end, stretch.to);
  auto all = scf::ForOp::create(b, loc, first, end, kernel.index(1), ValueRange{carry});
  b.setInsertionPointToStart(all.getBody());
  Points::Point at = point;
  at[loop] = placeOf(all.getInductionVar(), 1);
  SmallVector<Value> results = step(p.loadInputs(at), at[loop], all.getRegionIterArgs()[0]);
  show(results, at[loop]);
  scf::YieldOp::create(b, loc, results[kind.running]);
  b.setInsertionPointAfter(all);
  kernel.store(all.getResult(0), done, zero);
}

//===- by a workgroup --------------------------------------------------------===//

Value SharedScan::startAt(const Points::Point &point) {
  Value known = p.init[kind.running];
  return known ? known : p.load(p.outs[kind.running], point);
}

void SharedScan::emitPoints(const Team &team, Value first, Value end, Value step) {
  OpBuilder &b = p.b;
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, p.loc, first, end, step);
  b.setInsertionPointToStart(loop.getBody());
  Points::Point point = p.parallelPoint(loop.getInductionVar());
  Stretch stretch;
  stretch.from = p.kernel.index(0);
  stretch.to = p.kernel.index(p.reductionSize());
  stretch.carry = startAt(point);
  ScanTiles(p, kind, point, team, stretch).emit();
}

void SharedScan::emitRows(const Team &team, Value first, Value step) {
  emitPoints(team, first, p.kernel.index(p.parallelSize()), step);
}

void SharedScan::emitStretch(const Team &team, Value row, Stretch stretch,
                             llvm::function_ref<Value(Value)> before) {
  Points::Point point = p.parallelPoint(row);
  if (stretch.total)
    stretch.carry = arith::ConstantOp::create(p.b, p.loc, xtensor::startOf(kind.combiner));
  else
    stretch.carry = before(startAt(point));
  ScanTiles(p, kind, point, team, stretch).emit();
}
