#include "CPU/ProductTiles.h"
#include "CPU/Gemm.h"
#include "Machine.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

/// Sums of windows of one place that are too short for a library, which packs both factors.
constexpr int64_t kShortSum = 256;

/// The least rows, columns and terms of small matrices for which tiles pay, and the most
/// multiplications: of those whose elements are next to each other, and of others.
constexpr int64_t kSmallSide = 5, kLargestTiled = 1 << 17, kLargestStrided = 1 << 14;

Amount xtensor::cpu::reachOf(const Access &access, const Kernel &kernel, ArrayRef<unsigned> outer) {
  Amount elements = 1;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop) {
    const Extent &range = kernel.ranges[loop], &stride = access.strides[loop];
    if (!llvm::is_contained(outer, loop) && !access.isInvariant(loop))
      elements += Amount(range.isConstant() ? range.constant - 1 : kOpenSteps) *
                  (stride.isConstant() ? std::abs(stride.constant) : 1);
  }
  return elements * llvm::divideCeil(access.elementType.getIntOrFloatBitWidth(), 8);
}

static bool readsWindows(linalg::LinalgOp op) {
  return llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      unsigned dims = 0;
      for (unsigned d = 0; d < map.getNumDims(); ++d)
        dims += expr.isFunctionOfDim(d);
      return dims > 1;
    });
  });
}

std::optional<RegisterTile> xtensor::cpu::tileFor(const Kernel &kernel, int64_t bits, bool whole) {
  const Stage &stage = kernel.stages.front();
  auto tile = chooseRegisterTile(kernel, bits, whole);
  if (readsWindows(stage.op) || (tile && !stage.reduced[tile->vectorLoop]))
    return tile;
  tile = chooseRegisterTile(kernel, bits, whole, /*strided=*/true);
  return tile && !stage.reduced[tile->vectorLoop] ? tile : std::nullopt;
}

/// Whether `kernel` multiplies the matrices of a batch, which are too small for a library, and too
/// large for loops that are fused with others.
static bool multipliesSmallMatrices(const Kernel &kernel) {
  const Stage &stage = kernel.stages.front();
  Amount rows = 1, columns = 1, terms = 1;
  bool isBatch = false;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop) {
    const Extent &range = kernel.ranges[loop];
    bool inLeft = !stage.operands[0].isInvariant(loop);
    if (inLeft && !stage.operands[1].isInvariant(loop) && !stage.reduced[loop]) {
      isBatch = true;
      continue;
    }
    if (!range.isConstant())
      return false;
    (stage.reduced[loop] ? terms : inLeft ? rows : columns) *= range.constant;
  }
  Amount work = rows * columns * terms;
  if (!isBatch || rows < kSmallSide || columns < kSmallSide || terms < kSmallSide ||
      work >= kLargestTiled)
    return false;
  auto tile = tileFor(kernel, 512, /*whole=*/false);
  bool strided = tile && llvm::any_of(ArrayRef(stage.operands).take_front(2), [&](const Access &a) {
                   const Extent &step = a.strides[tile->vectorLoop];
                   return !step.is(0) && !step.is(1);
                 });
  return tile && (!strided || work < kLargestStrided);
}

bool xtensor::cpu::isTiledProduct(Kernel &kernel) {
  Stage &stage = kernel.stages.front();
  if (!isProductSum(kernel) || !stage.operands[0].base || !stage.operands[1].base)
    return false;
  if (llvm::any_of(kernel.ranges, [](const Extent &range) { return range.is(0); }))
    return false;
  return readsWindows(stage.op) || multipliesSmallMatrices(kernel);
}

bool xtensor::cpu::isFasterInTiles(Kernel &kernel) {
  if (!isTiledProduct(kernel))
    return false;
  const Stage &stage = kernel.stages.front();
  if (!readsWindows(stage.op))
    return true;
  Amount terms = 1;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    if (stage.reduced[loop])
      terms *= kernel.ranges[loop].isConstant() ? kernel.ranges[loop].constant : kOpenSteps;
  auto tile = chooseRegisterTile(kernel, 512, /*whole=*/false);
  if (!tile || stage.reduced[tile->vectorLoop] || terms > kShortSum)
    return false;
  Amount room = cachesFor(stage.op).level1 / 2;
  return llvm::all_of(ArrayRef(stage.operands).take_front(2), [&](const Access &factor) {
    return factor.isInvariant(tile->vectorLoop) || reachOf(factor, kernel, {}) <= room;
  });
}

bool xtensor::cpu::hasProductTiles(Kernel &kernel) {
  return isTiledProduct(kernel) && tileFor(kernel, 512, /*whole=*/false);
}
