#include "CPU/LoopNest.h"
#include "CPU/ScanVector.h"
#include "Estimates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor::cpu;

namespace {

/// Vectors in flight of a reduction: additions take four cycles and two start per cycle.
constexpr int64_t kReductionUnroll = 8;
/// The same of one row among several, which overlap.
constexpr int64_t kRowUnroll = 4;
/// Row accumulators of a reduction along an outer dim: as many as stay in registers.
constexpr int64_t kColumnUnroll = 8;
/// Vectors of two functions or more that are computed together, functions of all of them, and steps
/// of a loop that is written once more for them.
constexpr int64_t kTogether = 8, kMostFunctions = 16, kLeastRounds = 4;

} // namespace

//===- choices -------------------------------------------------------------===//

/// Of one vector, in ops. Math functions are long chains of their own, and spill. Along a row the
/// next step's overlap as they are; rows side by side share what is loaded.
int64_t LoopEmitter::costOfPoint() const {
  int64_t cost = 0, mathCost = kernel.isReduced(vectorLoop) ? 32 : 8;
  auto isFree = [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() || isOpTriviallyDead(&op);
  };
  for (const Stage &stage : kernel.stages)
    for (Operation &op : llvm::make_filter_range(*stage.op.getBlock(), std::not_fn(isFree)))
      cost += isLongFunction(op) ? mathCost : isa<arith::MaximumFOp, arith::MinimumFOp>(op) ? 2 : 1;
  return cost;
}

/// Of one vector of each accumulator.
int64_t LoopEmitter::registersOfPoint() const {
  int64_t registers = 0;
  for (const Accumulator &a : accumulators)
    registers += llvm::divideCeil(width * a.type.getIntOrFloatBitWidth(), target.bits);
  return registers;
}

int64_t LoopEmitter::chooseUnroll() const {
  if (accumulators.empty() || vectorLoop < 0)
    return 1;
  bool isReduced = kernel.isReduced(vectorLoop);
  int64_t cost = costOfPoint(), unroll = isReduced ? kReductionUnroll : kColumnUnroll;
  if (whyTogether() != Together::None)
    unroll = kRowUnroll;
  while (unroll > 1 && unroll * cost > 32)
    unroll /= 2;
  while (unroll > 1 && unroll * registersOfPoint() > 16)
    unroll /= 2;
  const Extent &range = kernel.ranges[vectorLoop];
  if (range.isConstant())
    while (unroll > 1 && unroll * width > range.constant)
      unroll /= 2;
  return unroll;
}

/// How many vectors a loop without sums computes side by side. The processor does not look far
/// enough ahead to overlap the chains of two functions with those of the next vectors.
int64_t LoopEmitter::vectorsTogether() const {
  int64_t functions = numFunctions(kernel);
  bool hasGathers = llvm::any_of(kernel.stages, [](const Stage &stage) {
    return llvm::any_of(*stage.op.getBlock(), llvm::IsaPred<memref::LoadOp>);
  });
  if (functions < 2 || hasGathers || !accumulators.empty() || tile)
    return 1;
  const Extent &range = kernel.ranges[vectorLoop];
  int64_t together = kTogether;
  while (together > 1 && (together * functions > kMostFunctions ||
                          (range.isConstant() && kLeastRounds * together * width > range.constant)))
    together /= 2;
  return together;
}

//===- loops ---------------------------------------------------------------===//

LoopEmitter::Values LoopEmitter::loop(unsigned index, Bound from, Bound to, int64_t step,
                                      ValueRange carried, Body body, bool backwards) {
  if (isEmpty(from, to))
    return Values(carried);
  LaneEmitter::State state = lanes.save();
  Values results;
  if (!from.value && !to.value && to.constant - from.constant <= step) {
    lanes.enter(index, lanes.constant(from.constant));
    results = body(carried);
  } else {
    auto op = scf::ForOp::create(b, loc, valueOf(from), valueOf(to), lanes.constant(step), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    Value iv = op.getInductionVar();
    if (backwards) {
      Value ends = arith::AddIOp::create(b, loc, valueOf(from), valueOf(to));
      ends = arith::SubIOp::create(b, loc, ends, lanes.constant(step));
      iv = arith::SubIOp::create(b, loc, ends, iv);
    }
    lanes.enter(index, iv);
    Values next = body(op.getRegionIterArgs());
    if (carried.empty())
      (void)next;
    else
      scf::YieldOp::create(b, loc, next);
    results = Values(op.getResults());
  }
  lanes.restore(std::move(state));
  return results;
}

Bound LoopEmitter::wholeSteps(Bound from, Bound to, int64_t step) {
  if (step == 1)
    return to;
  if (!from.value && !to.value)
    return {from.constant + (to.constant - from.constant) / step * step, {}};
  Value start = valueOf(from);
  Value length = arith::SubIOp::create(b, loc, valueOf(to), start);
  Value rest = arith::RemUIOp::create(b, loc, length, lanes.constant(step));
  return {0, arith::SubIOp::create(b, loc, valueOf(to), rest)};
}

Value LoopEmitter::maskFor(Bound to, Value iv) {
  if (auto known = getConstantIntValue(iv); known && !to.value)
    return maskOfLanes(b, loc, lanes.width, 0, to.constant - *known);
  Type i32 = b.getI32Type();
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < lanes.width; ++i)
    numbers.push_back(b.getI32IntegerAttr(i));
  auto type = VectorType::get({lanes.width}, i32);
  Value left = arith::SubIOp::create(b, loc, valueOf(to), iv);
  left = arith::MinSIOp::create(b, loc, left, lanes.constant(lanes.width));
  left = arith::IndexCastOp::create(b, loc, i32, left);
  return arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::slt,
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers)),
      vector::BroadcastOp::create(b, loc, type, left));
}

void LoopEmitter::run() {
  for (const Extent &range : kernel.ranges)
    ranges.push_back(range.isConstant() ? Bound{range.constant, {}}
                                        : Bound{0, range.materialize(b, loc)});
  for (unsigned i = 0; i < kernel.ranges.size(); ++i)
    if (static_cast<int>(i) != vectorLoop && static_cast<int>(i) != tile.across)
      (kernel.isReduced(i) ? reduced : outer).push_back(i);
  for (Stage &stage : kernel.stages)
    if (stage.isReduction())
      for (unsigned i = 0; i < stage.numOutputs(); ++i) {
        if (!stage.isCarried(i))
          continue;
        const Combiner &c = stage.combiners[i];
        // If one output is not a plain reduction, the whole body is combined as one.
        bool plain = llvm::all_of(stage.combiners, [](const Combiner &c) { return bool(c); });
        accumulators.push_back(
            {&stage, i, plain ? &c : nullptr, plain ? c.type() : stage.output(i).elementType});
      }
  SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, kernel.ranges.size()));
  lanes.preload(all, 1);
  nestOuter(0);
}

void LoopEmitter::nestOuter(unsigned k) {
  if (k == outer.size()) {
    if (tile)
      return tile.strip ? strips() : squares();
    if (int64_t columns = columnsAlongRows())
      return alongRows(columns);
    if (vectorLoop < 0 || !kernel.isReduced(vectorLoop))
      return parallelInnermost();
    return kernel.scan() ? scannedInnermost() : reducedInnermost();
  }
  auto body = [&] {
    SmallVector<unsigned> remaining(llvm::drop_begin(outer, k + 1));
    remaining.append(reduced);
    if (vectorLoop >= 0)
      remaining.push_back(vectorLoop);
    if (tile)
      remaining.push_back(tile.across);
    lanes.preload(remaining, rows);
    nestOuter(k + 1);
  };
  if (k + 1 == outer.size())
    return inRows(body);
  loop(outer[k], {}, rangeOf(outer[k]), 1, {}, [&](ValueRange) {
    body();
    return Values();
  });
}

LoopEmitter::Values LoopEmitter::nestReduced(unsigned k, ValueRange carried, Body innermost) {
  if (k == reduced.size())
    return innermost(carried);
  return loop(
      reduced[k], {}, rangeOf(reduced[k]), 1, carried,
      [&](ValueRange args) { return nestReduced(k + 1, args, innermost); }, isBackwards());
}

/// Whether one masked vector does what is left after the whole vectors. One element alone is done
/// by scalar code: LLVM 22 narrows a masked vector of one known lane, and does so wrongly. It
/// stores a truncated element in its wide type, and takes -shuffle(x) for -x (docs/upstream.md).
bool LoopEmitter::masksRest(Bound end) const {
  return target.masks && (end.value || end.constant % width != 1);
}

/// The vector loop, if any, is outside of the reduced ones.
void LoopEmitter::parallelInnermost() {
  if (vectorLoop < 0)
    return parallelBlock(1);
  readRowsAhead();
  int64_t unroll = chooseUnroll();
  Bound end = rangeOf(vectorLoop), done;
  auto blocks = [&](Bound to, int64_t step, int64_t count) {
    if (isEmpty(done, to))
      return;
    loop(vectorLoop, done, to, step, {}, [&](ValueRange) {
      parallelBlock(count);
      return Values();
    });
    done = to;
  };
  if (int64_t together = vectorsTogether(); together > 1) {
    lanes.width = together * width;
    blocks(wholeSteps(done, end, lanes.width), lanes.width, 1);
    lanes.width = width;
  }
  blocks(wholeSteps(done, end, unroll * width), unroll * width, unroll);
  if (!masksRest(end) && unroll > 1)
    blocks(wholeSteps(done, end, width), width, 1);
  parallelRest(done, end);
}

/// What is left after the vectors side by side: by a mask, or by shorter vectors and single
/// elements.
void LoopEmitter::parallelRest(Bound done, Bound end, llvm::function_ref<void()> block) {
  auto steps = [&](Bound to, int64_t step) {
    if (isEmpty(done, to))
      return;
    loop(vectorLoop, done, to, step, {}, [&](ValueRange) {
      block();
      return Values();
    });
    done = to;
  };
  if (isEmpty(done, end))
    return;
  if (masksRest(end)) {
    bool whole = !done.value && !end.value && (end.constant - done.constant) % width == 0;
    loop(vectorLoop, done, end, width, {}, [&](ValueRange) {
      if (!whole)
        lanes.mask = maskFor(end, lanes.ivOf(vectorLoop));
      block();
      lanes.mask = {};
      return Values();
    });
    return;
  }
  bool isKnown = !done.value && !end.value;
  while (isKnown && !tile && lanes.width >= 2 * kShortestVector) {
    lanes.width /= 2;
    steps(wholeSteps(done, end, lanes.width), lanes.width);
  }
  lanes.width = 1;
  steps(end, 1);
  lanes.width = width;
}

/// All reduced loops for `unroll` vectors side by side.
void LoopEmitter::parallelBlock(int64_t unroll) {
  lanes.preload(reduced, unroll);
  Values starts;
  for (const Accumulator &a : accumulators)
    for (int64_t u = 0; u < unroll; ++u)
      starts.push_back(start(a, u));
  Values ends = nestReduced(0, starts, [&](ValueRange args) { return point(unroll, args); });
  lanes.beginPoint();
  for (auto [i, a] : llvm::enumerate(accumulators))
    for (int64_t u = 0; u < unroll; ++u)
      finish(a, u, ends[i * unroll + u]);
}

//===- points --------------------------------------------------------------===//

Value LoopEmitter::neutral(const Accumulator &a, bool vector) {
  return lanes.constantOf(a.combiner->neutral, vector);
}

/// The old value of the output, as it is accumulated.
Value LoopEmitter::start(const Accumulator &a, int64_t u) {
  Value init = a.stage->inits[a.output];
  return init ? widened(a, {init}) : held(a, u);
}

/// What memory holds of the output, as it is accumulated.
Value LoopEmitter::held(const Accumulator &a, int64_t u) {
  return widened(a, lanes.read(lanes.placeOf(*a.stage, a.stage->numInputs() + a.output), u));
}

Value LoopEmitter::widened(const Accumulator &a, Lane old) {
  Value value = lanes.isWide() ? lanes.vectorOf(old) : old.value;
  if (a.combiner && a.combiner->widen)
    value = arith::ExtFOp::create(b, loc, lanes.isWide() ? lanes.wide(a.type) : a.type, value);
  return value;
}

void LoopEmitter::finish(const Accumulator &a, int64_t u, Value value) {
  if (a.combiner && a.combiner->narrow) {
    Type type = a.stage->output(a.output).elementType;
    value = arith::TruncFOp::create(b, loc, lanes.isWide() ? lanes.wide(type) : type, value);
  }
  lanes.write(lanes.placeOf(*a.stage, a.stage->numInputs() + a.output), u,
              {value, lanes.isWide() ? Lane::Vector : Lane::Uniform});
}

/// A product that is added to a sum may be one instruction with the addition. No other product may:
/// what is computed in several loops must have one value, as where a maximum finds its place.
Value LoopEmitter::combine(const Accumulator &a, Value x, Value y) {
  auto flags = a.flags();
  if (a.combiner->kind == vector::CombiningKind::ADD && isa<FloatType>(a.type)) {
    for (Value v : {x, y}) {
      auto product = v.getDefiningOp<arith::MulFOp>();
      if (!product || !product->use_empty())
        continue;
      product.setFastmath(product.getFastmath() | arith::FastMathFlags::contract);
      flags = flags | arith::FastMathFlags::contract;
    }
  }
  return vector::makeArithReduction(b, loc, a.combiner->kind, x, y,
                                    arith::FastMathFlagsAttr::get(b.getContext(), flags));
}

/// Runs every stage once per vector; takes and returns the accumulators.
LoopEmitter::Values LoopEmitter::point(int64_t unroll, ValueRange in) {
  lanes.beginPoint();
  return evaluateStages(unroll, in);
}

LoopEmitter::Values LoopEmitter::evaluateStages(int64_t unroll, ValueRange in) {
  Values out(in);
  for (int64_t u = 0; u < unroll; ++u) {
    unsigned next = 0; // accumulator
    for (Stage &stage : kernel.stages) {
      Values old(stage.numOutputs());
      unsigned first = next;
      for (unsigned i = 0; i < stage.numOutputs(); ++i)
        if (stage.isCarried(i))
          old[i] = in[(next++) * unroll + u];
      if (stage.search && lanes.isWide() && findsRarely()) {
        Found found = searchBehindBranch(stage, u, {old[0], old[1]});
        out[first * unroll + u] = found.element;
        out[(first + 1) * unroll + u] = found.at;
        continue;
      }
      SmallVector<Lane> results = lanes.evaluate(stage, u, old);
      for (unsigned i = 0; i < stage.numOutputs(); ++i) {
        if (!stage.isCarried(i)) {
          lanes.write(lanes.placeOf(stage, stage.numInputs() + i), u, results[i]);
          continue;
        }
        Value value = lanes.vectorOf(results[i]);
        if (Value on = lanes.mask ? lanes.mask : fresh)
          value = arith::SelectOp::create(b, loc, on, value, old[i]);
        out[first++ * unroll + u] = value;
      }
    }
  }
  return out;
}

//===- scans ---------------------------------------------------------------===//

/// The scanned loop is the vector loop. The running value is carried in all lanes.
void LoopEmitter::scannedInnermost() {
  bool reverse = kernel.scan()->reverse;
  Bound end = rangeOf(vectorLoop), whole = wholeSteps({}, end, width);
  Values carried;
  for (const Accumulator &a : accumulators)
    carried.push_back(start(a, 0));
  lanes.preload(static_cast<unsigned>(vectorLoop), 1);
  auto vectors = [&] {
    carried = loop(
        vectorLoop, {}, whole, width, carried, [&](ValueRange in) { return scanPoint(in); },
        reverse);
  };
  auto rest = [&] {
    if (isEmpty(whole, end))
      return;
    if (masksRest(end)) {
      carried = loop(vectorLoop, whole, end, width, carried, [&](ValueRange in) {
        lanes.mask = maskFor(end, lanes.ivOf(vectorLoop));
        Values out = scanPoint(in);
        lanes.mask = {};
        return out;
      });
      return;
    }
    Values elements;
    for (Value v : carried)
      elements.push_back(vector::ExtractOp::create(b, loc, v, 0));
    lanes.width = 1;
    elements = loop(
        vectorLoop, whole, end, 1, elements, [&](ValueRange in) { return point(1, in); }, reverse);
    lanes.width = width;
    carried.clear();
    for (Value v : elements)
      carried.push_back(lanes.vectorOf({v}));
  };
  if (reverse)
    rest();
  vectors();
  if (!reverse)
    rest();
  lanes.width = 1;
  lanes.beginPoint();
  for (auto [a, v] : llvm::zip(accumulators, carried))
    finish(a, 0, vector::ExtractOp::create(b, loc, v, 0));
  lanes.width = width;
}

/// Every stage at one vector of steps; takes and returns the running values.
LoopEmitter::Values LoopEmitter::scanPoint(ValueRange carried) {
  Values out;
  lanes.beginPoint();
  for (Stage &stage : kernel.stages) {
    if (stage.scan) {
      out.push_back(scanVector(b, loc, lanes, stage, carried[out.size()]));
      continue;
    }
    SmallVector<Lane> results = lanes.evaluate(stage, 0, Values(stage.numOutputs()));
    for (unsigned i = 0; i < stage.numOutputs(); ++i)
      lanes.write(lanes.placeOf(stage, stage.numInputs() + i), 0, results[i]);
  }
  return out;
}

void xtensor::cpu::emitLoops(OpBuilder &b, Kernel &kernel, Views &views, VectorTarget target) {
  LoopEmitter(b, kernel, views, target).run();
}
