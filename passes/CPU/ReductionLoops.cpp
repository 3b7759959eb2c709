// Reductions along the vector loop: each accumulator is a few vectors, which are joined at the end.
#include "CPU/LoopNest.h"
#include "Estimates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor::cpu;

/// Steps of a search per lane from which a branch costs less than what it skips. With n steps,
/// about 1 + ln n of each lane find something, and those that the processor does not foresee take
/// 15 cycles.
static constexpr int64_t kStepsPerLane = 16;
/// The same of rows, in which all lanes compare with one element: vectors of places that the branch
/// skips (measured).
static constexpr int64_t kStepsOfRow = 256;
/// Elements of a long row.
static constexpr int64_t kLongRow = 512;
/// Ops of a point of them, at most: more of them than a processor has in flight gain nothing.
static constexpr int64_t kMostJammed = 64;

arith::FastMathFlags Accumulator::flags() const {
  auto op = dyn_cast<arith::ArithFastMathInterface>(combiner->op);
  return op ? op.getFastMathFlagsAttr().getValue() : arith::FastMathFlags::none;
}

/// Whether it is an extremum of floats.
static bool isExtremum(const Accumulator &a) {
  return a.combiner->kind == vector::CombiningKind::MAXIMUMF ||
         a.combiner->kind == vector::CombiningKind::MINIMUMF;
}

/// One value of them all, by joining pairs.
static Value inPairs(ArrayRef<Value> values, llvm::function_ref<Value(Value, Value)> join) {
  SmallVector<Value> joined(values);
  while (joined.size() > 1) {
    SmallVector<Value> half;
    for (unsigned k = 0; k + 1 < joined.size(); k += 2)
      half.push_back(join(joined[k], joined[k + 1]));
    if (joined.size() % 2)
      half.push_back(joined.back());
    joined = std::move(half);
  }
  return joined[0];
}

/// Whether the vector that ends at the last element does what is left after the whole vectors: it
/// combines only the lanes that are left. What is written may be read, so nothing may be written.
bool LoopEmitter::overlapsRest(Bound end) const {
  return !end.value && end.constant > width &&
         llvm::all_of(kernel.stages, [](const Stage &s) { return s.isReduction(); });
}

/// Why rows are summed several at a time.
LoopEmitter::Together LoopEmitter::whyTogether() const {
  if (vectorLoop < 0 || !kernel.isReduced(vectorLoop) || kernel.scan() || tile || outer.empty() ||
      kernel.ranges[outer.back()].is(1) ||
      !llvm::all_of(accumulators, [](const Accumulator &a) { return bool(a.combiner); }))
    return Together::None;
  const Extent &length = kernel.ranges[vectorLoop];
  bool isLong = !length.isConstant() || length.constant >= kLongRow;
  bool hasRows = false, hasShared = false, hasNeighbours = false;
  for (const Stage &stage : kernel.stages)
    for (const Access &access : stage.operands)
      if (access.base && access.strides[vectorLoop].is(1)) {
        bool isShared = access.isInvariant(outer.back());
        hasShared |= isShared;
        hasRows |= !isShared;
        hasNeighbours |= access.strides[outer.back()] == length;
      }
  // The extrema of floats look for NaN: this takes longer than memory, but for the shortest rows.
  bool extrema = llvm::any_of(accumulators, isExtremum);
  if (!isLong)
    return hasNeighbours && !reduced.empty() && (!extrema || length.constant <= 2 * width)
               ? Together::Neighbours
               : Together::None;
  bool adds = llvm::all_of(accumulators, [](const Accumulator &a) {
    return a.combiner->kind == vector::CombiningKind::ADD;
  });
  return hasRows && hasShared && adds ? Together::Shared : Together::None;
}

/// How many rows are reduced at once. Each has the same sums in the same order as alone.
int64_t LoopEmitter::rowsTogether() const {
  Together why = whyTogether();
  if (why == Together::None)
    return 1;
  int64_t rows = why == Together::Shared ? kSharingRows : kNeighbours, unroll = chooseUnroll();
  int64_t registers = target.bits >= 512 ? 16 : 8; // half of them
  while (rows > 1 && (rows * unroll * costOfPoint() > kMostJammed ||
                      rows * unroll * registersOfPoint() > registers))
    rows /= 2;
  return rows;
}

/// Calls `body` for the rows of the last outer loop, for a few at once.
void LoopEmitter::inRows(llvm::function_ref<void()> body) {
  unsigned row = outer.back();
  int64_t together = rowsTogether();
  Bound done, end = rangeOf(row);
  for (int64_t count : {together, int64_t(1)}) {
    Bound to = wholeSteps(done, end, count);
    if (isEmpty(done, to))
      continue;
    loop(row, done, to, count, {}, [&](ValueRange) {
      rows = count;
      lanes.rowLoop = count > 1 ? int(row) : -1;
      body();
      rows = 1;
      lanes.rowLoop = -1;
      return Values();
    });
    done = to;
    if (count == 1)
      break;
  }
}

/// The vector loop is reduced: `unroll` vectors per accumulator and row, joined at the end.
void LoopEmitter::reducedInnermost() {
  int64_t unroll = chooseUnroll(), copies = rows * unroll;
  Bound end = rangeOf(vectorLoop);
  bool aligned = !end.value && end.constant % width == 0;
  bool overlaps = !masksRest(end) && !aligned && overlapsRest(end);
  bool scalarTail = !masksRest(end) && !aligned && !overlaps;
  // Vectors first, then, for a scalar tail, the elements.
  Values starts;
  for (const Accumulator &a : accumulators)
    starts.append(copies, a.combiner ? neutral(a, true) : start(a, 0));
  if (scalarTail) {
    lanes.width = 1;
    lanes.beginPoint();
    for (const Accumulator &a : accumulators)
      starts.append(rows, a.combiner ? neutral(a, false) : start(a, 0));
    lanes.width = width;
  }
  unsigned numVectors = accumulators.size() * copies;

  Values ends = nestReduced(0, starts, [&](ValueRange args) {
    lanes.perRow = unroll;
    lanes.preload(static_cast<unsigned>(vectorLoop), copies);
    Values vectors(args.take_front(numVectors)), elements(args.drop_front(numVectors));
    Bound done, to = wholeSteps({}, end, unroll * width);
    vectors = loop(vectorLoop, done, to, unroll * width, vectors,
                   [&](ValueRange in) { return point(copies, in); });
    lanes.perRow = 1;
    done = to;
    // One vector of each row at a time: the first of each accumulator's.
    Values firsts;
    for (unsigned i = 0; i < numVectors; i += unroll)
      firsts.push_back(vectors[i]);
    bool masked = masksRest(end) && !aligned;
    to = masked ? end : wholeSteps(done, end, width);
    if (unroll > 1 || masked)
      firsts = loop(vectorLoop, done, to, width, firsts, [&](ValueRange in) {
        if (masked)
          lanes.mask = maskFor(end, lanes.ivOf(vectorLoop));
        Values out = point(rows, in);
        lanes.mask = {};
        return out;
      });
    if (overlaps)
      firsts = loop(vectorLoop, {end.constant - width, {}}, end, width, firsts, [&](ValueRange in) {
        fresh = maskOfLanes(b, loc, width, width - end.constant % width, width);
        Values out = point(rows, in);
        fresh = {};
        return out;
      });
    for (auto [i, first] : llvm::enumerate(firsts))
      vectors[i * unroll] = first;
    if (scalarTail) {
      if (unroll > 1)
        done = to;
      lanes.width = 1;
      elements =
          loop(vectorLoop, done, end, 1, elements, [&](ValueRange in) { return point(rows, in); });
      lanes.width = width;
    }
    vectors.append(elements);
    return vectors;
  });

  for (unsigned i = 0; i < accumulators.size(); ++i) {
    if (accumulators[i].stage->search) {
      finishSearch(i, unroll, ends);
      ++i;
      continue;
    }
    for (int64_t row = 0; row < rows; ++row) {
      unsigned copy = i * rows + row;
      finishRow(accumulators[i], row, ArrayRef(ends).slice(copy * unroll, unroll),
                scalarTail ? ends[numVectors + copy] : Value());
    }
  }
}

/// Writes what the accumulators i and i + 1 have found in all their lanes.
void LoopEmitter::finishSearch(unsigned i, int64_t unroll, ArrayRef<Value> ends) {
  Stage &stage = *accumulators[i].stage;
  SmallVector<Found> found;
  for (unsigned u = 0; u < unroll; ++u)
    found.push_back({ends[i * unroll + u], ends[(i + 1) * unroll + u]});
  Found first = joinFound(stage, found);
  lanes.width = 1;
  if (unsigned numVectors = accumulators.size() * unroll; ends.size() > numVectors)
    first = better(stage, first, {ends[numVectors + i], ends[numVectors + i + 1]});
  lanes.beginPoint();
  finish(accumulators[i], 0, first.element);
  finish(accumulators[i + 1], 0, first.at);
  lanes.width = width;
}

/// What all lanes of `vectors` combine to.
Value LoopEmitter::joinLanes(const Accumulator &a, ArrayRef<Value> vectors) {
  auto flags = a.flags();
  if (isa<FloatType>(a.type))
    flags = flags | arith::FastMathFlags::reassoc;
  if (isExtremum(a) && bitEnumContainsAll(flags, arith::FastMathFlags::nsz))
    return joinExtrema(a, vectors, flags);
  Value joined = inPairs(vectors, [&](Value x, Value y) { return combine(a, x, y); });
  return vector::ReductionOp::create(b, loc, a.combiner->kind, joined, flags);
}

/// An extremum of floats takes three instructions, because NaN wins. Here, extrema are of numbers,
/// and NaN is looked for in two vectors at once.
Value LoopEmitter::joinExtrema(const Accumulator &a, ArrayRef<Value> vectors,
                               arith::FastMathFlags flags) {
  using vector::CombiningKind;
  flags = flags | arith::FastMathFlags::nnan;
  Values marks;
  for (unsigned k = 0; k < vectors.size(); k += 2)
    marks.push_back(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, vectors[k],
                                          k + 1 < vectors.size() ? vectors[k + 1] : vectors[k]));
  Value mark =
      inPairs(marks, [&](Value x, Value y) -> Value { return arith::OrIOp::create(b, loc, x, y); });
  Value hasNaN = vector::ReductionOp::create(b, loc, CombiningKind::OR, mark);
  bool isMax = a.combiner->kind == CombiningKind::MAXIMUMF;
  CombiningKind kind = isMax ? CombiningKind::MAXNUMF : CombiningKind::MINNUMF;
  auto fast = arith::FastMathFlagsAttr::get(b.getContext(), flags);
  Value best = inPairs(vectors, [&](Value x, Value y) {
    return vector::makeArithReduction(b, loc, kind, x, y, fast);
  });
  best = vector::ReductionOp::create(b, loc, kind, best, flags);
  auto type = cast<FloatType>(a.type);
  Value notNumber = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  return arith::SelectOp::create(b, loc, hasNaN, notNumber, best);
}

/// Writes what `vectors`, and `element` if there is one, have accumulated of a row.
void LoopEmitter::finishRow(const Accumulator &a, int64_t row, ArrayRef<Value> vectors,
                            Value element) {
  Value sum = joinLanes(a, vectors);
  lanes.width = 1;
  if (element)
    sum = combine(a, sum, element);
  lanes.beginPoint();
  finish(a, row, combine(a, start(a, row), sum));
  lanes.width = width;
}

/// Where a search replaces `best` by `element`.
Value LoopEmitter::replaces(Stage &stage, Value element, Value best) {
  Lane::Kind kind = lanes.isWide() ? Lane::Vector : Lane::Uniform;
  llvm::DenseMap<Value, Lane> values;
  values[stage.search->element] = {element, kind};
  values[stage.outputArgument(0)] = {best, kind};
  return lanes.evaluateSome(stage, 0, stage.search->better, values)[0].value;
}

/// What a search over the elements of both has found.
LoopEmitter::Found LoopEmitter::better(Stage &stage, Found x, Found y) {
  // Of equal elements the first.
  Value earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y.at, x.at);
  Value isLess = replaces(stage, x.element, y.element);
  Value isMore = replaces(stage, y.element, x.element);
  Value all = lanes.constantOf(b.getBoolAttr(true), lanes.isWide());
  Value notLess = arith::XOrIOp::create(b, loc, isLess, all);
  Value second = arith::SelectOp::create(b, loc, earlier, notLess, isMore);
  return {arith::SelectOp::create(b, loc, second, y.element, x.element),
          arith::SelectOp::create(b, loc, second, y.at, x.at)};
}

/// Of vectors: what all their lanes have found.
LoopEmitter::Found LoopEmitter::joinFound(Stage &stage, SmallVector<Found> found) {
  while (found.size() > 1) {
    SmallVector<Found> half;
    for (unsigned k = 0; k < found.size(); k += 2)
      half.push_back(better(stage, found[k], found[k + 1]));
    found = std::move(half);
  }
  Found all = found[0];
  while (lanes.isWide()) {
    lanes.width /= 2;
    all = better(stage, {lanesFrom(all.element, 0), lanesFrom(all.at, 0)},
                 {lanesFrom(all.element, lanes.width), lanesFrom(all.at, lanes.width)});
  }
  lanes.width = width;
  return all;
}

/// As many lanes of `v` as vectors have now, from `first` on.
Value LoopEmitter::lanesFrom(Value v, int64_t first) {
  if (!lanes.isWide())
    return vector::ExtractOp::create(b, loc, v, first);
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(first, first + lanes.width));
  return vector::ShuffleOp::create(b, loc, v, v, numbers);
}

/// The same found in all lanes: the best element, and, in lanes that have a worse one, a place
/// behind all others.
LoopEmitter::Found LoopEmitter::shared(Stage &stage, Found found) {
  Value best = found.element;
  while (lanes.isWide()) {
    lanes.width /= 2;
    Value low = lanesFrom(best, 0), high = lanesFrom(best, lanes.width);
    best = arith::SelectOp::create(b, loc, replaces(stage, high, low), high, low);
  }
  lanes.width = width;
  best = lanes.vectorOf({best});
  auto type = cast<IntegerType>(cast<VectorType>(found.at.getType()).getElementType());
  auto last = b.getIntegerAttr(type, APInt::getSignedMaxValue(type.getWidth()));
  Value at = arith::SelectOp::create(b, loc, replaces(stage, best, found.element),
                                     lanes.constantOf(last, /*vector=*/true), found.at);
  return {best, at};
}

/// What lanes have found, where they are `better`: shared, unless all are. In rows that grow, each
/// vector has better elements in all lanes, and sharing would take longer than the search.
LoopEmitter::Found LoopEmitter::sharedIfRare(Stage &stage, Found found, Value better) {
  Value isOften = vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, better);
  auto branch = scf::IfOp::create(b, loc, TypeRange{found.element.getType(), found.at.getType()},
                                  isOften, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, ValueRange{found.element, found.at});
  b.setInsertionPointToStart(branch.elseBlock());
  Found all = shared(stage, found);
  scf::YieldOp::create(b, loc, ValueRange{all.element, all.at});
  return {branch.getResult(0), branch.getResult(1)};
}

/// Of n elements in random order, about ln n are better than all before them. So in a long search,
/// most vectors have no better element in any lane. Along rows, lanes share the best one.
bool LoopEmitter::findsRarely() const {
  int64_t steps = 1;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop) {
    if (!kernel.isReduced(loop))
      continue;
    if (!kernel.ranges[loop].isConstant())
      return false;
    steps *= kernel.ranges[loop].constant;
  }
  if (!kernel.isReduced(vectorLoop))
    return steps >= kStepsPerLane * width;
  return steps >= kStepsOfRow * target.bits / 64;
}

/// One vector of a search: what it finds is computed only if an element is better.
LoopEmitter::Found LoopEmitter::searchBehindBranch(Stage &stage, int64_t u, Found old) {
  const Search &search = *stage.search;
  llvm::DenseMap<Value, Lane> values;
  values[stage.outputArgument(0)] = {old.element, Lane::Vector};
  values[stage.outputArgument(1)] = {old.at, Lane::Vector};
  SmallVector<Lane> seen = lanes.evaluateSome(stage, u, {search.better, search.element}, values);
  Value better = lanes.vectorOf(seen[0]);
  if (Value on = lanes.mask ? lanes.mask : fresh)
    better = arith::AndIOp::create(b, loc, better, on);
  Value any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, better);
  auto branch = scf::IfOp::create(b, loc, TypeRange{old.element.getType(), old.at.getType()}, any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value element = lanes.vectorOf(seen[1]);
  Value at = lanes.vectorOf(lanes.evaluateSome(stage, u, search.at, values)[0]);
  element = arith::SelectOp::create(b, loc, better, element, old.element);
  at = arith::SelectOp::create(b, loc, better, at, old.at);
  Found found{element, at};
  if (kernel.isReduced(vectorLoop))
    found = sharedIfRare(stage, found, better);
  scf::YieldOp::create(b, loc, ValueRange{found.element, found.at});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, ValueRange{old.element, old.at});
  return {branch.getResult(0), branch.getResult(1)};
}
