// Running values that the threads of a workgroup share (Leaf): a tile of elements at a time, a few
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
#include "GPU/Leaf.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;

//===- what kind of scan it is -----------------------------------------------===//

/// Whether the yielded `next` is linear in `running`, in steps that `coefficient` follows.
static bool isLinear(Block &body, Value running, Value next) {
  llvm::DenseSet<Value> follows = {running}, opaque;
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> from;
    bool unknown = false;
    for (Value v : op.getOperands()) {
      if (follows.contains(v))
        from.push_back(v);
      unknown |= opaque.contains(v);
    }
    if (from.empty() && !unknown)
      continue;
    bool known = !unknown && from.size() == 1 && isa<arith::AddFOp, arith::MulFOp>(op);
    if (auto choice = dyn_cast<arith::SelectOp>(op); choice && from.size() == 1 && !unknown)
      known = from[0] != choice.getCondition() &&
              matchPattern(from[0] == choice.getTrueValue() ? choice.getFalseValue()
                                                            : choice.getTrueValue(),
                           m_AnyZeroFloat());
    for (Value result : op.getResults())
      (known ? follows : opaque).insert(result);
  }
  return next != running && follows.contains(next);
}

std::optional<Leaf::Scan> Leaf::scan() const {
  linalg::GenericOp generic = this->generic;
  if (!generic || !generic->getAttrOfType<StringAttr>("xtensor.scan"))
    return std::nullopt;
  if (loops(IteratorType::reduction).size() != 1)
    return std::nullopt;
  Scan found;
  bool any = false;
  for (unsigned i = 0; i < outs.size(); ++i) {
    if (streams(i)) {
      // One that looks at what it overwrites.
      if (!generic.getRegionOutputArgs()[i].use_empty())
        return std::nullopt;
      continue;
    }
    if (std::exchange(any, true))
      return std::nullopt;
    found.running = i;
  }
  if (!any)
    return std::nullopt;
  Block &body = generic.getRegion().front();
  Value running = generic.getRegionOutputArgs()[found.running];
  Value next = body.getTerminator()->getOperand(found.running);
  SmallVector<Operation *> combiners;
  Value with = matchReduction(generic.getRegionOutputArgs(), found.running, combiners);
  // Others may look at the running value, but it goes on by the combiner alone.
  Operation *last = next.getDefiningOp();
  if (!with && last && last->getNumOperands() == 2 && last->getNumResults() == 1 &&
      llvm::count(last->getOperands(), running) == 1) {
    Value other = last->getOperand(last->getOperand(0) == running ? 1 : 0);
    llvm::SetVector<Operation *> slice;
    bool depends = other == running;
    if (other.getDefiningOp() && other.getDefiningOp()->getBlock() == &body) {
      BackwardSliceOptions options;
      options.inclusive = true;
      options.omitBlockArguments = true;
      options.filter = [&](Operation *op) { return op->getBlock() == &body; };
      (void)getBackwardSlice(other, &slice, options);
      for (Operation *op : slice)
        depends |= llvm::is_contained(op->getOperands(), running);
    }
    if (!depends)
      combiners.assign(1, last);
  }
  if (combiners.size() == 1 && combiners[0]->getNumOperands() == 2 &&
      isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
          arith::MinimumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(
          combiners[0])) {
    found.combiner = combiners[0];
    return found;
  }
  if (isa<FloatType>(running.getType()) && isLinear(body, running, next))
    return found;
  return std::nullopt;
}

bool Leaf::canScanInParts() const {
  std::optional<Scan> kind = scan();
  // What leaves the range is done in order, which several workgroups cannot.
  return kind && kind->combiner && !isa<arith::MulFOp>(kind->combiner);
}

//===- combining -------------------------------------------------------------===//

namespace {

/// What stretches of elements come to: one value, or (decay, value).
using State = SmallVector<Value>;

struct Arithmetic {
  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  Operation *combiner; // null: linear
  Type type;
  Value bad;   // whether a product became too large for a number
  Value small; // or too small for a normal one

  Value number(double v) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v)); }
  Value constant(const APFloat &v) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
  }
  const llvm::fltSemantics &semantics() { return cast<FloatType>(type).getFloatSemantics(); }
  Value compare(arith::CmpFPredicate p, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, p, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value choose(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  Value absolute(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value no() { return arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0); }
  bool isProduct() const { return isa_and_nonnull<arith::MulFOp>(combiner); }
  bool mayFail() const { return !combiner || isProduct(); }

  State neutral() {
    if (!combiner)
      return {number(1), number(0)};
    return {arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner))};
  }

  /// Decays one after the other. One that is too small to say still is not zero, which would
  /// forget infinities.
  Value decays(Value x, Value y) {
    Value product = arith::MulFOp::create(b, loc, x, y), zero = number(0);
    Value inf = constant(APFloat::getInf(semantics()));
    Value least = constant(APFloat::getSmallestNormalized(semantics()));
    Value forgets = either(compare(arith::CmpFPredicate::OEQ, x, zero),
                           compare(arith::CmpFPredicate::OEQ, y, zero));
    Value size = absolute(product);
    Value over = both(compare(arith::CmpFPredicate::OEQ, size, inf),
                      both(compare(arith::CmpFPredicate::OLT, absolute(x), inf),
                           compare(arith::CmpFPredicate::OLT, absolute(y), inf)));
    bad = either(bad, over);
    Value tiny = math::CopySignOp::create(b, loc, least, product);
    Value some = choose(compare(arith::CmpFPredicate::OLT, size, least), tiny, product);
    return choose(forgets, zero, some);
  }

  void checkProduct(Value product) {
    if (!isProduct())
      return;
    Value size = absolute(product);
    bad = either(
        bad, compare(arith::CmpFPredicate::UGT, size, constant(APFloat::getLargest(semantics()))));
    small = either(small, compare(arith::CmpFPredicate::ULT, size,
                                  constant(APFloat::getSmallestNormalized(semantics()))));
  }
  /// Whether elements after `carry` have to be done in order. Nothing is as small as 0 or as large
  /// as infinity, so that these need not.
  Value fails(Value carry) {
    if (!isProduct())
      return bad;
    Value inf = constant(APFloat::getInf(semantics())), zero = number(0);
    Value finite = compare(arith::CmpFPredicate::OLT, absolute(carry), inf);
    Value counts = compare(arith::CmpFPredicate::ONE, carry, zero);
    return either(both(bad, finite), both(small, counts));
  }

  /// First `x`, then `y`.
  State combine(const State &x, const State &y) {
    if (combiner) {
      IRMapping map;
      map.map(combiner->getOperand(0), x[0]);
      map.map(combiner->getOperand(1), y[0]);
      Value v = b.clone(*combiner, map)->getResult(0);
      checkProduct(v);
      return {v};
    }
    return {decays(x[0], y[0]), enter(x[1], y)};
  }
  /// The value after `y`, which was `from` before.
  Value enter(Value from, const State &y) {
    if (combiner) {
      IRMapping map;
      map.map(combiner->getOperand(0), from);
      map.map(combiner->getOperand(1), y[0]);
      return b.clone(*combiner, map)->getResult(0);
    }
    // 0 times what is too large to say is 0.
    Value zero = number(0);
    Value none = either(compare(arith::CmpFPredicate::OEQ, from, zero),
                        compare(arith::CmpFPredicate::OEQ, y[0], zero));
    Value decayed = arith::MulFOp::create(b, loc, y[0], from);
    return choose(none, y[1], arith::AddFOp::create(b, loc, decayed, y[1]));
  }
};

} // namespace

/// How the running value enters the next one, after `apply`: null is 1.
Value Leaf::coefficient(const Scan &kind) {
  Block &body = generic.getRegion().front();
  llvm::DenseMap<Value, Value> factor = {{generic.getRegionOutputArgs()[kind.running], Value()}};
  for (Operation &op : body.without_terminator()) {
    auto from = llvm::find_if(op.getOperands(), [&](Value v) { return factor.count(v); });
    if (from == op.operand_end() || !isa<arith::AddFOp, arith::MulFOp, arith::SelectOp>(op))
      continue;
    Value before = factor.lookup(*from), after = before;
    if (isa<arith::MulFOp>(op)) {
      Value other = kernel.value(op.getOperand(op.getOperand(0) == *from ? 1 : 0));
      after = before ? arith::MulFOp::create(b, loc, before, other).getResult() : other;
    } else if (auto choice = dyn_cast<arith::SelectOp>(op)) {
      Type type = choice.getType();
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      if (!before)
        before = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
      Value condition = kernel.value(choice.getCondition());
      bool first = *from == choice.getTrueValue();
      after =
          arith::SelectOp::create(b, loc, condition, first ? before : zero, first ? zero : before);
    }
    factor[op.getResult(0)] = after;
  }
  Value all = factor.lookup(body.getTerminator()->getOperand(kind.running));
  return all ? all
             : arith::ConstantOp::create(
                   b, loc, b.getFloatAttr(generic.getRegionOutputArgs()[kind.running].getType(), 1))
                   .getResult();
}

//===- a tile ----------------------------------------------------------------===//

/// A stretch that a workgroup goes along, tile by tile.
class Leaf::SharedScan {
public:
  SharedScan(Leaf &leaf, Point point, const Team &team, const Stretch &stretch);
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

  Leaf &leaf;
  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  const Point point;
  const Team &team;
  const Stretch &stretch;
  const Scan kind;
  const unsigned loop;
  const int64_t tile, width, subgroup;
  const unsigned parts; // of a state
  const bool backward;
  Type type;
  Arithmetic a;
  Value zero, size;
  bool whole; // every tile is full, and shown
  // Memory to meet in: what stretches come to, in turns, and what goes wrong.
  FlatView failed, done, meeting[2][2];
};

Leaf::SharedScan::SharedScan(Leaf &leaf, Point point, const Team &team, const Stretch &stretch)
    : leaf(leaf), kernel(leaf.kernel), b(leaf.b), loc(leaf.loc), point(std::move(point)),
      team(team), stretch(stretch), kind(*leaf.scan()),
      loop(leaf.loops(IteratorType::reduction)[0]), tile(team.known * kOwn),
      width(leaf.vectorWidth(loop)), subgroup(std::min(kernel.limits.subgroup, team.known)),
      parts(kind.combiner ? 1 : 2),
      backward(leaf.generic->getAttrOfType<StringAttr>("xtensor.scan").getValue() == "reverse"),
      type(leaf.generic.getRegionOutputArgs()[kind.running].getType()),
      a{kernel, b, loc, kind.combiner, type, {}, {}} {
  zero = kernel.index(0), size = kernel.index(leaf.ranges[loop]);
  auto knownSize = getConstantIntValue(leaf.ranges[loop]);
  whole = !stretch.isLast && !stretch.total && knownSize && *knownSize % tile == 0;
}

Value Leaf::SharedScan::placeOf(Value number, int64_t run) {
  if (!backward)
    return number;
  Value last = arith::SubIOp::create(b, loc, size, kernel.index(run));
  return arith::SubIOp::create(b, loc, last, number);
}

SmallVector<Value> Leaf::SharedScan::step(ValueRange values, Value place, Value running) {
  Point at = point;
  at[loop] = place;
  SmallVector<Value> old(leaf.outs.size());
  old[kind.running] = running;
  return leaf.apply(values, at, old);
}

void Leaf::SharedScan::show(ArrayRef<Value> results, Value place) {
  Point at = point;
  at[loop] = place;
  for (unsigned i = 0; i < leaf.outs.size(); ++i)
    if (i != kind.running)
      leaf.store(results[i], leaf.outs[i], at);
}

void Leaf::SharedScan::makeMemory() {
  if (a.mayFail()) {
    failed = kernel.cell(0, b.getI32Type());
    done = kernel.cell(1, type);
  }
  for (unsigned turn = 0; turn < 2 && subgroup < team.known; ++turn)
    for (unsigned i = 0; i < parts; ++i)
      meeting[turn][i] = kernel.exchange(2 * turn + i, type);
}

void Leaf::SharedScan::emit() {
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
    leaf.store(tiles.getResult(0), leaf.outs[kind.running], point);
}

/// The running value after the tile whose first element has the number `first`.
Value Leaf::SharedScan::emitTile(Value first, Value carry) {
  if (a.mayFail()) {
    a.bad = a.small = a.no();
    auto branch = scf::IfOp::create(b, loc, isFirst(), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    tell(0);
  }
  if (a.mayFail() && subgroup == team.known)
    mlir::gpu::BarrierOp::create(b, loc);

  Own own = readOwn(first);
  State total = combineOwn(own);
  State before = combineThreads(total);
  auto showFromThere = [&] { showOwn(own, a.enter(carry, before)); };
  Value next = a.enter(carry, total);
  if (a.mayFail())
    next = orInOrder(first, carry, next, showFromThere);
  else
    showFromThere();
  mlir::gpu::BarrierOp::create(b, loc);
  return next;
}

Leaf::SharedScan::Own Leaf::SharedScan::readOwn(Value first) {
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
    Point at = point;
    at[loop] = place;
    SmallVector<SmallVector<Value>> loaded = leaf.loadRun(leaf.ins, at, loop, width);
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
State Leaf::SharedScan::combineOwn(const Own &own) {
  auto onlyIf = [&](Value inside, Value x, Value y) { return inside ? a.choose(inside, x, y) : x; };
  State total = a.neutral();
  for (int64_t i = 0; i < kOwn; ++i) {
    Value next = step(own.values[i], own.places[i], total.back())[kind.running];
    State after = {next};
    if (!kind.combiner)
      after = {a.decays(total[0], onlyIf(own.there[i], leaf.coefficient(kind), a.number(1))), next};
    after.back() = onlyIf(own.there[i], next, total.back());
    a.checkProduct(after.back());
    total = after;
  }
  return total;
}

/// The `total` of the threads whose number differs in `bit`.
State Leaf::SharedScan::meet(const State &total, int64_t bit, unsigned turn) {
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
  for (unsigned i = 0; i < parts; ++i)
    other.push_back(kernel.load(meeting[turn][i], theirs));
  return other;
}

/// What the elements of the threads before this one come to. `total` becomes that of all threads.
State Leaf::SharedScan::combineThreads(State &total) {
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
void Leaf::SharedScan::showOwn(const Own &own, Value running) {
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
Value Leaf::SharedScan::orInOrder(Value first, Value carry, Value next,
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

void Leaf::SharedScan::showInOrder(Value first, Value carry) {
  Value end = arith::AddIOp::create(b, loc, first, kernel.index(tile));
  end = arith::MinUIOp::create(b, loc, end, stretch.to);
  auto all = scf::ForOp::create(b, loc, first, end, kernel.index(1), ValueRange{carry});
  b.setInsertionPointToStart(all.getBody());
  Point at = point;
  at[loop] = placeOf(all.getInductionVar(), 1);
  SmallVector<Value> read;
  for (auto [i, access] : llvm::enumerate(leaf.ins))
    read.push_back(leaf.isRead(i) ? leaf.load(access, at) : Value());
  SmallVector<Value> results = step(read, at[loop], all.getRegionIterArgs()[0]);
  show(results, at[loop]);
  scf::YieldOp::create(b, loc, results[kind.running]);
  b.setInsertionPointAfter(all);
  kernel.store(all.getResult(0), done, zero);
}

void Leaf::scanWhole(Point point, const Team &team) {
  const unsigned running = scan()->running;
  Stretch stretch;
  stretch.from = kernel.index(0);
  stretch.to = kernel.index(reductionSize());
  stretch.carry = init[running] ? init[running] : load(outs[running], point);
  SharedScan(*this, point, team, stretch).emit();
}

void Leaf::emitScans(const Team &team, Value first, Value step) {
  Point point(kinds.size());
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, loc, first, kernel.index(parallelSize()), step);
  b.setInsertionPointToStart(loop.getBody());
  unflatten(loop.getInductionVar(), loops(IteratorType::parallel), point);
  scanWhole(point, team);
}

void Leaf::emitStretch(const Team &team, Value row, Stretch stretch,
                       llvm::function_ref<Value(Value)> before) {
  const Scan kind = *scan();
  Point point(kinds.size());
  unflatten(row, loops(IteratorType::parallel), point);
  if (stretch.total) {
    stretch.carry = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(kind.combiner));
  } else {
    Value start = init[kind.running] ? init[kind.running] : load(outs[kind.running], point);
    stretch.carry = before(start);
  }
  SharedScan(*this, point, team, stretch).emit();
}
