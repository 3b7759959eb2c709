#include "CPU/LoopChoices.h"

#include "Estimates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace xtensor::cpu;

/// A strip of up to this many vectors is cheaper to interleave than to transpose.
static constexpr int64_t kWidestStrip = 4;
/// Elements from one lane of a strip to the next at most: each takes one more vector from memory.
static constexpr int64_t kLongestStep = 8;
/// Steps that vectors are read for, and not lanes.
static constexpr int64_t kFewSteps = 4;
/// Rows of a square. More would need more registers than there are.
static constexpr int64_t kSquareSide = 16;
/// Steps, and elements, of a row in which each lane searches its own. The lanes are compared after
/// it: shorter vectors have fewer.
static constexpr int64_t kLeastSteps = 16, kLeastSearch = 128;
/// The body of a tile is written once per element along `across`.
static constexpr int64_t kMostTileOps = 256, kFunctionOps = 16;

bool xtensor::cpu::isLongFunction(Operation &op) {
  return isFunction(&op) && !isa<math::AbsFOp, math::FmaOp, math::SqrtOp>(op);
}

int64_t xtensor::cpu::numFunctions(const Kernel &kernel) {
  int64_t functions = 0;
  for (const Stage &stage : kernel.stages)
    functions += llvm::count_if(*stage.op.getBlock(), isLongFunction);
  return functions;
}

static int64_t widestBits(const Kernel &kernel) {
  int64_t widest = 8;
  bool has64 = false;
  auto see = [&](Type type, bool inMemory) {
    if (!type.isIntOrFloat() || type.isInteger(1))
      return;
    int64_t bits = type.getIntOrFloatBitWidth();
    has64 |= bits == 64 && inMemory;
    // 64-bit integers that only appear on the way are positions: two vectors of them will do.
    if (bits == 64 && !inMemory && !isa<FloatType>(type))
      return;
    widest = std::max(widest, bits);
  };
  for (const Stage &stage : kernel.stages) {
    for (unsigned i = 0; i < stage.operands.size(); ++i) {
      bool position =
          i >= stage.numInputs() && stage.numInputs() && stage.isReduction() && !stage.scan;
      see(stage.operands[i].elementType, !position);
    }
    for (Operation &op : *stage.op.getBlock())
      for (Type type : op.getResultTypes())
        see(type, false);
  }
  return widest;
}

static unsigned numReduced(const Kernel &kernel) {
  return llvm::count_if(llvm::seq<unsigned>(0, kernel.ranges.size()),
                        [&](unsigned loop) { return kernel.isReduced(loop); });
}

int xtensor::cpu::stripLoop(const Kernel &kernel, const Access &access, unsigned vectorLoop,
                            int64_t width, bool written) {
  if (!access.base || !access.elementType.isIntOrFloat())
    return -1;
  const Extent &step = access.strides[vectorLoop], &range = kernel.ranges[vectorLoop];
  int64_t distance = std::abs(step.constant);
  if (!step.isConstant() || distance < 2 || distance > kLongestStep ||
      (range.isConstant() && range.constant < width))
    return -1;
  bool alongLanes = kernel.isReduced(vectorLoop);
  if (alongLanes && !llvm::all_of(kernel.stages, [](const Stage &s) { return s.isCombined(); }))
    return -1;
  // Of all loops, both are reduced, the one across, or none.
  auto isOther = [&, reduced = numReduced(kernel)](unsigned loop) {
    return kernel.isReduced(loop) ? reduced != 1 + unsigned(alongLanes) : reduced != 0;
  };
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop) {
    const Extent &stride = access.strides[loop], &steps = kernel.ranges[loop];
    if (loop == vectorLoop || !stride.isConstant() || !stride.constant || !steps.isConstant() ||
        steps.constant < 2 || steps.constant > kWidestStrip || isOther(loop))
      continue;
    // What is written leaves no gaps, and lies in the order of the loops.
    if (written ? stride.is(1) && step.is(steps.constant)
                : std::abs(stride.constant) * (steps.constant - 1) < distance)
      return loop;
  }
  return -1;
}

bool xtensor::cpu::isInSteps(const Extent &stride) {
  return stride.isConstant() && stride.constant > 1 && stride.constant <= kFewSteps;
}

bool xtensor::cpu::isTransposed(const Access &access, unsigned vectorLoop, unsigned across) {
  if (!access.base || !access.elementType.isIntOrFloat() || access.isInvariant(vectorLoop))
    return false;
  const Extent &step = access.strides[vectorLoop];
  // Lanes that are neighbours, or every second, are read as vectors.
  return !step.is(1) && !step.is(-1) && !step.is(2) && access.strides[across].is(1);
}

/// Whether `access` is read at every step of another loop, a reduced one, along which it has whole
/// vectors: lanes along `loop` would gather all of it.
static bool isReducedInVectors(const Kernel &kernel, const Access &access, unsigned loop,
                               int64_t width) {
  for (unsigned other = 0; other < kernel.ranges.size(); ++other) {
    const Extent &range = kernel.ranges[other];
    if (other != loop && kernel.isReduced(other) && access.strides[other].is(1) &&
        !(range.isConstant() && range.constant < width))
      return true;
  }
  return false;
}

/// The loop along which most operands are contiguous; -1 if no loop is worth it.
static int chooseVectorLoop(const Kernel &kernel, int64_t width) {
  if (!llvm::all_of(kernel.stages, [](const Stage &s) { return s.vectorizable; }))
    return -1;
  bool isTiled = numReduced(kernel) <= 1;
  // A function of all lanes takes as long as of one: their elements may be loaded one by one.
  int64_t functions = numReduced(kernel) || kernel.scan() ? 0 : numFunctions(kernel);
  int best = -1, bestScore = -kFunctionOps * std::min<int64_t>(functions, 4);
  for (int loop = kernel.ranges.size(); loop-- > 0;) {
    const Extent &range = kernel.ranges[loop];
    bool possible = true;
    int score = 1;
    for (const Stage &stage : kernel.stages) {
      possible &= stage.joinsLanes(loop);
      // Rows that end before lanes have more to search than to compare with each other.
      possible &= !stage.search || !stage.reduced[loop] || kernel.ranges.size() == 1 ||
                  !range.isConstant() ||
                  range.constant >= std::min(kLeastSearch, kLeastSteps * width);
      for (unsigned i = 0; i < stage.operands.size(); ++i) {
        const Access &a = stage.operands[i];
        // A place is written with what is best.
        if (a.isInvariant(loop) || (stage.search && i > stage.numInputs()))
          continue;
        bool written = i >= stage.numInputs();
        bool unit = a.strides[loop].is(1) || (!written && a.strides[loop].is(-1)) ||
                    stripLoop(kernel, a, loop, width, written) >= 0;
        if (unit)
          score += written ? 6 : 4;
        else if (written)
          score -= 8;
        else if (isInSteps(a.strides[loop]))
          score += 1;
        else // a search has rules of its own, above
          score -= !stage.search && isReducedInVectors(kernel, a, loop, width) ? 12 : 2;
      }
    }
    int64_t few = isTiled && width > kWidestStrip ? kWidestStrip : 3;
    if (range.isConstant() && range.constant <= few && kernel.ranges.size() > 1)
      score -= 6;
    if (range.isConstant() && range.constant < 2)
      possible = false;
    if (possible && score > bestScore) {
      best = loop;
      bestScore = score;
    }
  }
  return best;
}

static Tile chooseTile(const Kernel &kernel, unsigned vectorLoop, int64_t width) {
  Tile tile;
  for (const Stage &stage : kernel.stages)
    for (auto [i, access] : llvm::enumerate(stage.operands)) {
      int loop = stripLoop(kernel, access, vectorLoop, width, i >= stage.numInputs());
      if (loop >= 0 && !tile)
        tile = {loop, kernel.ranges[loop].constant};
    }
  bool isParallel = !kernel.scan() && !numReduced(kernel);
  for (unsigned loop = 0; isParallel && loop < kernel.ranges.size() && !tile; ++loop)
    for (const Stage &stage : kernel.stages)
      for (unsigned i = 0; i < stage.numInputs(); ++i)
        if (loop != vectorLoop && isTransposed(stage.operands[i], vectorLoop, loop))
          tile.across = loop;
  if (!tile)
    return {};
  int64_t ops = 0;
  for (const Stage &stage : kernel.stages)
    for (Operation &op : *stage.op.getBlock())
      ops += xtensor::isFunction(&op) ? kFunctionOps : 1;
  int64_t steps = tile.strip ? tile.strip : std::min(width, kSquareSide);
  return ops * steps > kMostTileOps ? Tile() : tile;
}

LoopChoice xtensor::cpu::chooseLoops(const Kernel &kernel, int64_t bits, bool masks) {
  int64_t width = bits / widestBits(kernel);
  LoopChoice choice{chooseVectorLoop(kernel, width), width, {}};
  if (choice.vectorLoop < 0)
    return choice;
  // A search has vectors of elements and of 64-bit places: none of them for lanes that stay empty.
  const Extent &range = kernel.ranges[choice.vectorLoop];
  bool searches = llvm::any_of(kernel.stages, [](const Stage &s) { return bool(s.search); });
  if (searches && range.isConstant() && range.constant < width) {
    choice.width = llvm::PowerOf2Ceil(range.constant);
    return choice;
  }
  if (!masks && !kernel.scan() && range.isConstant() && range.constant < width &&
      range.constant >= kShortestVector)
    choice.width = width = llvm::bit_floor<uint64_t>(range.constant);
  choice.tile = chooseTile(kernel, choice.vectorLoop, width);
  if (choice.tile && !choice.tile.strip)
    choice.width = std::min(width, kSquareSide);
  return choice;
}
