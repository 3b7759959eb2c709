// Reductions that the threads of a workgroup share. Each thread reduces a part. Then the threads
// combine their results pairwise, neighbours first. This order depends only on the number of
// threads in a workgroup, not on how many run at once.
#include "GPU/SharedReduction.h"

#include "Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::gpu;

/// Elements of a column that several threads share rather than one takes.
static constexpr int64_t kLongColumn = 64, kLongOpenColumn = 512;
/// Values in memory that one thread combines.
static constexpr int64_t kFew = 16;

//===- what the reduction is -------------------------------------------------===//

/// Whether a value of the body is made of these two alone.
static bool isMadeOf(Value v, ArrayRef<Value> leaves) {
  if (llvm::is_contained(leaves, v))
    return true;
  Operation *op = v.getDefiningOp();
  return op && !op->getNumRegions() && isMemoryEffectFree(op) && !isa<linalg::IndexOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value from) { return isMadeOf(from, leaves); });
}

std::optional<SharedReduction::Choice> SharedReduction::choiceOf(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 2)
    return std::nullopt;
  auto yields = generic.getRegion().front().getTerminator()->getOperands();
  auto value = yields[0].getDefiningOp<arith::SelectOp>();
  auto number = yields[1].getDefiningOp<arith::SelectOp>();
  auto best = generic.getRegionOutputArgs();
  if (!value || !number || value.getCondition() != number.getCondition() ||
      value.getFalseValue() != best[0] || number.getFalseValue() != best[1] ||
      !number.getType().isInteger())
    return std::nullopt;
  Choice found{value.getCondition(), value.getTrueValue()};
  if (!isMadeOf(found.better, {found.value, best[0]}))
    return std::nullopt;
  return found;
}

std::optional<SharedReduction> SharedReduction::of(Points &points) {
  if (!points.generic || points.reductionLoops().empty())
    return std::nullopt;
  const unsigned outs = points.outs.size();
  for (unsigned out = 0; out < outs; ++out)
    if (points.streams(out))
      return std::nullopt;
  SharedReduction result(points);
  result.choice = choiceOf(points.generic);
  for (unsigned out = 0; out < outs && !result.choice; ++out) {
    Operation *combiner = combinerOf(points.generic, out);
    if (!combiner || !startOf(combiner))
      return std::nullopt;
    result.combiners.push_back(combiner);
  }
  return result;
}

int64_t SharedReduction::columnsOfWorkgroup(int64_t threads) const {
  constexpr int64_t kSideBySide = 32; // elements that one access of a subgroup brings
  int64_t points = p.parallelPoints(), each = p.reductionPoints(), longest = kLongColumn;
  // Nobody knows whether they are few: the longer they are, the more there is to lose.
  if (ShapedType::isDynamic(points)) {
    points = kSideBySide;
    longest = kLongOpenColumn;
  }
  int64_t columns = std::min({points, kSideBySide, threads / 2});
  bool pays = points > 1 && columns > 1 && (each < 0 || each >= longest) && !p.reducesRows();
  return pays ? columns : 0;
}

//===- combining -------------------------------------------------------------===//

/// The body's question about two other values.
Value SharedReduction::isBetter(Value x, Value best) {
  IRMapping map;
  map.map(p.generic.getRegionOutputArgs()[0], best);
  map.map(choice->value, x);
  std::function<Value(Value)> made = [&](Value v) -> Value {
    if (Value known = map.lookupOrNull(v))
      return known;
    Operation *op = v.getDefiningOp();
    for (Value from : op->getOperands())
      made(from);
    b.clone(*op, map);
    return map.lookup(v);
  };
  return made(choice->better);
}

/// What shares come to together. Of equals the one of the smaller number is kept, as in order.
SharedReduction::Values SharedReduction::combineAll(ArrayRef<Value> x, ArrayRef<Value> y) {
  Values results;
  for (auto [i, combiner] : llvm::enumerate(combiners))
    results.push_back(combined(b, combiner, x[i], y[i]));
  if (!choice)
    return results;
  Value yes = isBetter(y[0], x[0]), no = isBetter(x[0], y[0]);
  Value earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y[1], x[1]);
  Value never = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  Value takes = arith::SelectOp::create(b, loc, no, never, earlier);
  takes = arith::OrIOp::create(b, loc, yes, takes);
  for (auto [p, q] : llvm::zip_equal(x, y))
    results.push_back(arith::SelectOp::create(b, loc, takes, q, p));
  return results;
}

SharedReduction::Values SharedReduction::inPairs(SmallVector<Values> values) {
  while (values.size() > 1) {
    SmallVector<Values> pairs;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      pairs.push_back(combineAll(values[i], values[i + 1]));
    if (values.size() % 2)
      pairs.push_back(values.back());
    values = pairs;
  }
  return values.front();
}

Value xtensor::gpu::exchanged(Kernel &kernel, Value v, int64_t bit) {
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  Type i32 = b.getI32Type(), type = v.getType();
  auto shuffle = [&](Value word) -> Value {
    return mlir::gpu::ShuffleOp::create(b, loc, word, static_cast<int32_t>(bit),
                                        static_cast<int32_t>(kernel.limits.subgroup),
                                        mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 32)
    return shuffle(v);
  if (width == 64) {
    // Every device exchanges words of 32 bits.
    auto words = VectorType::get({2}, i32);
    auto one = VectorType::get({1}, type);
    Value both = vector::BitCastOp::create(
        b, loc, words, vector::FromElementsOp::create(b, loc, one, ValueRange{v}));
    SmallVector<Value> parts;
    for (int64_t i : {0, 1})
      parts.push_back(shuffle(vector::ExtractOp::create(b, loc, both, i)));
    Value again = vector::FromElementsOp::create(b, loc, words, parts);
    return vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, one, again), 0);
  }
  Type bits = b.getIntegerType(width);
  bool isFloat = !type.isInteger();
  Value narrow = isFloat ? arith::BitcastOp::create(b, loc, bits, v).getResult() : v;
  Value back =
      arith::TruncIOp::create(b, loc, bits, shuffle(arith::ExtUIOp::create(b, loc, i32, narrow)));
  return isFloat ? arith::BitcastOp::create(b, loc, type, back).getResult() : back;
}

SharedReduction::Values SharedReduction::startsAt(const Points::Point &point) {
  // What is better than all others may be met several times: each starts from what was there.
  if (choice)
    return p.initial(point);
  Values starts;
  for (Operation *combiner : combiners)
    starts.push_back(arith::ConstantOp::create(b, loc, startOf(combiner)));
  return starts;
}

/// What the threads' shares come to in each thread: elements `team.id`, `team.id + team.count` and
/// so on, runs of as many as one load brings.
SharedReduction::Values SharedReduction::shareOf(const Team &team, Points::Point point) {
  Values starts = startsAt(point);
  SmallVector<unsigned> over = p.reductionLoops();
  int64_t width = p.vectorWidth(over.back());
  OpFoldResult total = kernel.fixed(1);
  for (unsigned i : over)
    total = kernel.mul(total, i == over.back() && width > 1
                                  ? kernel.fixed(*getConstantIntValue(p.ranges[i]) / width)
                                  : p.ranges[i]);
  auto loop = scf::ForOp::create(b, loc, team.id, kernel.index(total), team.count, starts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  p.unflatten(loop.getInductionVar(), over, point, width);
  Values sums(loop.getRegionIterArgs());
  for (auto [i, values] : llvm::enumerate(p.loadRun(p.ins, point, over.back(), width)))
    sums = p.apply(values, p.pointOfRun(point, over.back(), static_cast<int64_t>(i)), sums);
  scf::YieldOp::create(b, loc, sums);
  return loop.getResults();
}

void SharedReduction::finish(const Points::Point &point, ArrayRef<Value> shares) {
  Values before = choice ? Values(p.outs.size()) : p.initial(point);
  for (unsigned i = 0; i < p.outs.size(); ++i)
    p.store(before[i] ? combined(b, combiners[i], before[i], shares[i]) : shares[i], p.outs[i],
            point);
}

//===- memory to meet in -----------------------------------------------------===//

FlatView SharedReduction::memoryFor(unsigned out, Value share) {
  FlatView view = kernel.exchange(out, share.getType());
  kernel.access({}, view.flat);
  return view;
}

SharedReduction::Values SharedReduction::loadFurther(const Team &team, int64_t distance) {
  Value place = arith::AddIOp::create(b, loc, team.id, kernel.index(distance));
  Values values;
  for (const FlatView &m : memory)
    values.push_back(kernel.load(m, place));
  return values;
}

void SharedReduction::storeAt(Value place, ValueRange values) {
  for (auto [v, m] : llvm::zip_equal(values, memory))
    kernel.store(v, m, place);
}

void SharedReduction::leaveShares(const Team &team, int64_t subgroup, ValueRange shares) {
  OpBuilder::InsertionGuard guard(b);
  Value place = team.id;
  if (subgroup > 1) {
    Value size = kernel.index(subgroup);
    Value lane = arith::RemUIOp::create(b, loc, team.id, size);
    Value leads = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, kernel.index(0));
    place = arith::DivUIOp::create(b, loc, team.id, size);
    auto branch = scf::IfOp::create(b, loc, leads, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  storeAt(place, shares);
}

int64_t SharedReduction::joinPairs(const Team &team, int64_t count) {
  // Many values: pairs of them by many threads. A few: all by the first.
  int64_t distance = 1;
  for (; count / distance > kFew; distance *= 2) {
    mlir::gpu::BarrierOp::create(b, loc);
    Value pair = arith::MulIOp::create(b, loc, team.id, kernel.index(2 * distance));
    Value mine =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, pair, kernel.index(count));
    auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value other = arith::AddIOp::create(b, loc, pair, kernel.index(distance));
    Values x, y;
    for (const FlatView &m : memory) {
      x.push_back(kernel.load(m, pair));
      y.push_back(kernel.load(m, other));
    }
    storeAt(pair, combineAll(x, y));
  }
  return distance;
}

//===- by a workgroup --------------------------------------------------------===//

void SharedReduction::emitPoint(const Points::Point &point, const Team &team) {
  Values shares = shareOf(team, point);
  // Threads of a subgroup have each other's registers; subgroups meet in memory.
  int64_t subgroup = std::min(kernel.limits.subgroup, team.known);
  for (int64_t bit = 1; bit < subgroup; bit *= 2) {
    Values others;
    for (Value v : shares)
      others.push_back(exchanged(kernel, v, bit));
    shares = combineAll(shares, others);
  }
  OpBuilder::InsertionGuard guard(b);
  if (subgroup == team.known) {
    auto branch = scf::IfOp::create(b, loc, team.isFirst(kernel), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    return finish(point, shares);
  }
  memory.clear();
  for (auto [i, v] : llvm::enumerate(shares))
    memory.push_back(memoryFor(i, v));
  leaveShares(team, subgroup, shares);
  const int64_t count = team.known / subgroup, distance = joinPairs(team, count);
  mlir::gpu::BarrierOp::create(b, loc);
  auto branch = scf::IfOp::create(b, loc, team.isFirst(kernel), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Values> values;
  for (int64_t at = 0; at < count; at += distance) {
    values.emplace_back();
    for (const FlatView &m : memory)
      values.back().push_back(kernel.load(m, kernel.index(at)));
  }
  finish(point, inPairs(values));
}

void SharedReduction::emitPoints(const Team &team, Value first, Value end, Value step) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, loc, first, end, step);
  b.setInsertionPointToStart(loop.getBody());
  emitPoint(p.parallelPoint(loop.getInductionVar()), team);
  mlir::gpu::BarrierOp::create(b, loc);
}

void SharedReduction::emitRows(const Team &team, Value first, Value step) {
  emitPoints(team, first, kernel.index(p.parallelSize()), step);
}

//===- columns ---------------------------------------------------------------===//

/// After a wait, a branch for the first `end` threads.
static scf::IfOp ifBefore(Kernel &kernel, Location loc, const Team &team, int64_t end) {
  OpBuilder &b = kernel.b;
  mlir::gpu::BarrierOp::create(b, loc);
  Value before =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, team.id, kernel.index(end));
  return scf::IfOp::create(b, loc, before, /*withElseRegion=*/false);
}

int64_t SharedReduction::joinHalves(const Team &team, int64_t columns, int64_t count) {
  while (count > kFew) {
    const int64_t half = llvm::divideCeil(count, 2);
    auto branch = ifBefore(kernel, loc, team, (count - half) * columns);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Values mine = loadFurther(team, 0), other = loadFurther(team, half * columns);
    storeAt(team.id, combineAll(mine, other));
    count = half;
  }
  return count;
}

/// Several points whose elements lie across: neighbours have neighbouring points, so that what they
/// load lies side by side, and as many threads as there are share each.
void SharedReduction::emitColumns(int64_t columns, const Team &team, Value first) {
  const int64_t shares = team.known / columns, all = p.parallelPoints();
  const bool open = ShapedType::isDynamic(all);
  Value count = kernel.index(columns), isThere;
  Value number = arith::RemUIOp::create(b, loc, team.id, count);
  if (first)
    number = arith::AddIOp::create(b, loc, first, number);
  // Threads that are left over repeat the work of the last ones, and their results are not read.
  if (open || all % columns) {
    Value last = arith::SubIOp::create(b, loc, kernel.index(p.parallelSize()), kernel.index(1));
    isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, number, last);
    number = arith::MinUIOp::create(b, loc, number, last);
  }
  Points::Point point = p.parallelPoint(number);
  Value share = arith::MinUIOp::create(b, loc, arith::DivUIOp::create(b, loc, team.id, count),
                                       kernel.index(shares - 1));
  Team sharers{share, kernel.index(shares), shares, false};
  memory.clear();
  for (auto [i, v] : llvm::enumerate(shareOf(sharers, point))) {
    memory.push_back(memoryFor(i, v));
    kernel.store(v, memory.back(), team.id);
  }
  const int64_t left = joinHalves(team, columns, shares);
  auto branch = ifBefore(kernel, loc, team, columns);
  if (isThere) {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPoint(branch);
    branch.getConditionMutable().assign(
        arith::AndIOp::create(b, loc, branch.getCondition(), isThere));
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Values> values;
  for (int64_t at = 0; at < left; ++at)
    values.push_back(loadFurther(team, at * columns));
  finish(point, inPairs(values));
}

void SharedReduction::emitAllColumns(int64_t columns, const Team &team, Value group, Value groups) {
  Value size = kernel.index(columns);
  Value first = arith::MulIOp::create(b, loc, group, size);
  if (!ShapedType::isDynamic(p.parallelPoints()))
    return emitColumns(columns, team, first);
  // There may be more than workgroups take at once.
  Value step = arith::MulIOp::create(b, loc, groups, size);
  auto loop = scf::ForOp::create(b, loc, first, kernel.index(p.parallelSize()), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emitColumns(columns, team, loop.getInductionVar());
  b.setInsertionPoint(loop.getBody()->getTerminator());
  mlir::gpu::BarrierOp::create(b, loc);
}
