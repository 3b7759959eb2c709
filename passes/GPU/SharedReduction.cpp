// Reductions that the threads of a workgroup share (Leaf). Each thread reduces a part. Then the
// threads combine their results pairwise, neighbours first. This order depends only on the number
// of threads in a workgroup, not on how many run at once.
#include "GPU/Leaf.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;

/// Elements of a column that several threads share rather than one takes.
static constexpr int64_t kLongColumn = 64, kLongOpenColumn = 512;
/// Values in memory that one thread combines.
static constexpr int64_t kFew = 16;

static Operation *combinerOf(linalg::GenericOp generic, unsigned out) {
  SmallVector<Operation *> combiners;
  Value reduced = matchReduction(generic.getRegionOutputArgs(), out, combiners);
  if (!reduced || combiners.size() != 1)
    return nullptr;
  Operation *combiner = combiners.front();
  return arith::getNeutralElement(combiner) ? combiner : nullptr;
}

bool Leaf::canCooperate() const {
  if (!generic || loops(IteratorType::reduction).empty())
    return false;
  for (unsigned out = 0; out < outs.size(); ++out)
    if (streams(out))
      return false;
  if (choice())
    return true;
  for (unsigned out = 0; out < outs.size(); ++out)
    if (!combinerOf(generic, out))
      return false;
  return true;
}

/// Whether a value of the body is made of these two alone.
static bool isMadeOf(Value v, ArrayRef<Value> leaves) {
  if (llvm::is_contained(leaves, v))
    return true;
  Operation *op = v.getDefiningOp();
  return op && !op->getNumRegions() && isMemoryEffectFree(op) && !isa<linalg::IndexOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value from) { return isMadeOf(from, leaves); });
}

std::optional<Leaf::Choice> Leaf::choice() const {
  linalg::GenericOp generic = this->generic;
  if (outs.size() != 2)
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

/// The body's question about two other values.
Value Leaf::isBetter(const Choice &choice, Value x, Value best) {
  IRMapping map;
  map.map(generic.getRegionOutputArgs()[0], best);
  map.map(choice.value, x);
  std::function<Value(Value)> made = [&](Value v) -> Value {
    if (Value known = map.lookupOrNull(v))
      return known;
    Operation *op = v.getDefiningOp();
    for (Value from : op->getOperands())
      made(from);
    b.clone(*op, map);
    return map.lookup(v);
  };
  return made(choice.better);
}

Value Leaf::combine(Operation *combiner, Value x, Value y) {
  IRMapping map;
  map.map(combiner->getOperand(0), x);
  map.map(combiner->getOperand(1), y);
  return b.clone(*combiner, map)->getResult(0);
}

/// What shares come to together. Of equals the one of the smaller number is kept, as in order.
SmallVector<Value> Leaf::combineAll(ArrayRef<Value> x, ArrayRef<Value> y) {
  SmallVector<Value> results;
  std::optional<Choice> chosen = choice();
  if (!chosen) {
    for (unsigned i = 0; i < outs.size(); ++i)
      results.push_back(combine(combinerOf(generic, i), x[i], y[i]));
    return results;
  }
  Value yes = isBetter(*chosen, y[0], x[0]), no = isBetter(*chosen, x[0], y[0]);
  Value earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y[1], x[1]);
  Value never = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  Value takes = arith::SelectOp::create(b, loc, no, never, earlier);
  takes = arith::OrIOp::create(b, loc, yes, takes);
  for (auto [p, q] : llvm::zip_equal(x, y))
    results.push_back(arith::SelectOp::create(b, loc, takes, q, p));
  return results;
}

SmallVector<Value> Leaf::inPairs(SmallVector<SmallVector<Value>> values) {
  while (values.size() > 1) {
    SmallVector<SmallVector<Value>> pairs;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      pairs.push_back(combineAll(values[i], values[i + 1]));
    if (values.size() % 2)
      pairs.push_back(values.back());
    values = pairs;
  }
  return values.front();
}

/// What the threads' shares come to in each thread: elements `team.id`, `team.id + team.count` and
/// so on, runs of as many as one load brings.
SmallVector<Value> Leaf::shareOf(const Team &team, Point point, ValueRange neutral) {
  SmallVector<unsigned> over = loops(IteratorType::reduction);
  int64_t width = vectorWidth(over.back());
  OpFoldResult total = kernel.fixed(1);
  for (unsigned i : over)
    total = kernel.mul(total, i == over.back() && width > 1
                                  ? kernel.fixed(*getConstantIntValue(ranges[i]) / width)
                                  : ranges[i]);
  auto loop = scf::ForOp::create(b, loc, team.id, kernel.index(total), team.count, neutral);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  unflatten(loop.getInductionVar(), over, point, width);
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (auto [i, values] : llvm::enumerate(loadRun(ins, point, over.back(), width)))
    sums = apply(values, pointOfRun(point, over.back(), static_cast<int64_t>(i)), sums);
  scf::YieldOp::create(b, loc, sums);
  return loop.getResults();
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

SmallVector<Value> Leaf::neutralOf(const Point &point) {
  // What is better than all others may be met several times: each starts from what was there.
  if (choice())
    return initial(point);
  SmallVector<Value> neutral;
  for (unsigned i = 0; i < outs.size(); ++i)
    neutral.push_back(
        arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combinerOf(generic, i))));
  return neutral;
}

void Leaf::finish(const Point &point, ArrayRef<Value> shares) {
  SmallVector<Value> before = choice() ? SmallVector<Value>(outs.size()) : initial(point);
  for (unsigned i = 0; i < outs.size(); ++i)
    store(before[i] ? combine(combinerOf(generic, i), before[i], shares[i]) : shares[i], outs[i],
          point);
}

/// One point of the outputs.
void Leaf::together(Point point, const Team &team) {
  SmallVector<Value> shares = shareOf(team, point, neutralOf(point));
  // Threads of a subgroup have each other's registers; subgroups meet in memory.
  int64_t subgroup = std::min(kernel.limits.subgroup, team.known);
  for (int64_t bit = 1; bit < subgroup; bit *= 2) {
    SmallVector<Value> others;
    for (Value v : shares)
      others.push_back(exchanged(kernel, v, bit));
    shares = combineAll(shares, others);
  }
  auto isFirst = [&] {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, team.id, kernel.index(0));
  };
  OpBuilder::InsertionGuard guard(b);
  if (subgroup == team.known) {
    auto branch = scf::IfOp::create(b, loc, isFirst(), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    return finish(point, shares);
  }
  SmallVector<FlatView> memory;
  for (auto [i, v] : llvm::enumerate(shares)) {
    memory.push_back(kernel.exchange(i, v.getType()));
    kernel.access({}, memory.back().flat);
  }
  const int64_t left = team.known / subgroup; // values in memory
  {
    OpBuilder::InsertionGuard inner(b);
    Value place = team.id;
    if (subgroup > 1) {
      Value size = kernel.index(subgroup);
      Value lane = arith::RemUIOp::create(b, loc, team.id, size);
      Value leads = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, kernel.index(0));
      place = arith::DivUIOp::create(b, loc, team.id, size);
      auto branch = scf::IfOp::create(b, loc, leads, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [m, v] : llvm::zip_equal(memory, shares))
      kernel.store(v, m, place);
  }
  // Many values: pairs of them by many threads. A few: all by the first.
  int64_t distance = 1;
  for (; left / distance > kFew; distance *= 2) {
    mlir::gpu::BarrierOp::create(b, loc);
    Value pair = arith::MulIOp::create(b, loc, team.id, kernel.index(2 * distance));
    Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, pair, kernel.index(left));
    auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value other = arith::AddIOp::create(b, loc, pair, kernel.index(distance));
    SmallVector<Value> x, y;
    for (const FlatView &m : memory) {
      x.push_back(kernel.load(m, pair));
      y.push_back(kernel.load(m, other));
    }
    for (auto [v, m] : llvm::zip_equal(combineAll(x, y), memory))
      kernel.store(v, m, pair);
  }
  mlir::gpu::BarrierOp::create(b, loc);
  auto branch = scf::IfOp::create(b, loc, isFirst(), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<SmallVector<Value>> values;
  for (int64_t at = 0; at < left; at += distance) {
    values.emplace_back();
    for (const FlatView &m : memory)
      values.back().push_back(kernel.load(m, kernel.index(at)));
  }
  finish(point, inPairs(values));
}

/// Several points whose elements lie across: neighbours have neighbouring points, so that what they
/// load lies side by side, and as many threads as there are share each.
void Leaf::sideBySide(int64_t points, const Team &team, Value first) {
  const int64_t shares = team.known / points, all = parallelPoints();
  const bool open = ShapedType::isDynamic(all);
  Point point(kinds.size());
  Value count = kernel.index(points), isThere;
  Value number = arith::RemUIOp::create(b, loc, team.id, count);
  if (first)
    number = arith::AddIOp::create(b, loc, first, number);
  // Threads that are left over repeat the work of the last ones, and their results are not read.
  if (open || all % points) {
    Value last = arith::SubIOp::create(b, loc, kernel.index(parallelSize()), kernel.index(1));
    isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, number, last);
    number = arith::MinUIOp::create(b, loc, number, last);
  }
  unflatten(number, loops(IteratorType::parallel), point);
  Value share = arith::MinUIOp::create(b, loc, arith::DivUIOp::create(b, loc, team.id, count),
                                       kernel.index(shares - 1));
  Team sharers{share, kernel.index(shares), shares, false};
  SmallVector<Value> mine = shareOf(sharers, point, neutralOf(point));
  SmallVector<FlatView> memory;
  for (auto [i, v] : llvm::enumerate(mine)) {
    memory.push_back(kernel.exchange(i, v.getType()));
    kernel.access({}, memory.back().flat);
    kernel.store(v, memory.back(), team.id);
  }
  auto loadAt = [&](int64_t distance) {
    SmallVector<Value> values;
    Value place = arith::AddIOp::create(b, loc, team.id, kernel.index(distance * points));
    for (const FlatView &m : memory)
      values.push_back(kernel.load(m, place));
    return values;
  };
  auto ifBefore = [&](int64_t end) {
    mlir::gpu::BarrierOp::create(b, loc);
    Value before =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, team.id, kernel.index(end));
    return scf::IfOp::create(b, loc, before, /*withElseRegion=*/false);
  };
  int64_t left = shares;
  while (left > kFew) {
    const int64_t half = llvm::divideCeil(left, 2);
    auto branch = ifBefore((left - half) * points);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (auto [v, m] : llvm::zip_equal(combineAll(loadAt(0), loadAt(half)), memory))
      kernel.store(v, m, team.id);
    left = half;
  }
  auto branch = ifBefore(points);
  if (isThere) {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPoint(branch);
    branch.getConditionMutable().assign(
        arith::AndIOp::create(b, loc, branch.getCondition(), isThere));
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<SmallVector<Value>> values;
  for (int64_t at = 0; at < left; ++at)
    values.push_back(loadAt(at));
  finish(point, inPairs(values));
}

int64_t Leaf::columnsOfWorkgroup(int64_t threads) {
  constexpr int64_t kSideBySide = 32; // elements that one access of a subgroup brings
  int64_t points = parallelPoints(), each = reductionPoints(), longest = kLongColumn;
  // Nobody knows whether they are few: the longer they are, the more there is to lose.
  if (ShapedType::isDynamic(points)) {
    points = kSideBySide;
    longest = kLongOpenColumn;
  }
  int64_t columns = std::min({points, kSideBySide, threads / 2});
  bool pays = points > 1 && columns > 1 && (each < 0 || each >= longest) && canCooperate() &&
              !reducesRows();
  return pays ? columns : 0;
}

void Leaf::emitColumns(const Team &team, int64_t columns, Value group, Value groups) {
  Value size = kernel.index(columns);
  Value first = arith::MulIOp::create(b, loc, group, size);
  if (!ShapedType::isDynamic(parallelPoints()))
    return sideBySide(columns, team, first);
  // There may be more than workgroups take at once.
  Value step = arith::MulIOp::create(b, loc, groups, size);
  auto loop = scf::ForOp::create(b, loc, first, kernel.index(parallelSize()), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  sideBySide(columns, team, loop.getInductionVar());
  b.setInsertionPoint(loop.getBody()->getTerminator());
  mlir::gpu::BarrierOp::create(b, loc);
}

void Leaf::emitCooperative(const Team &team, Value first, Value step) {
  Point point(kinds.size());
  SmallVector<unsigned> over = loops(IteratorType::parallel);
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, loc, first, kernel.index(parallelSize()), step);
  b.setInsertionPointToStart(loop.getBody());
  unflatten(loop.getInductionVar(), over, point);
  together(point, team);
  mlir::gpu::BarrierOp::create(b, loc);
}
