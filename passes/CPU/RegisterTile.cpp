// The tile of a product by a model of its costs: multiplications and reads that start in a cycle,
// registers, and what tiles at the ends compute twice.
#include "CPU/RegisterTile.h"

using namespace mlir;
using namespace xtensor::cpu;

namespace {

/// Cycles of a multiplication that the next one to the same sum waits for, and of a loop's step.
constexpr double kLatency = 4, kStepCost = 1;
constexpr int64_t kMostVectors = 8; // of a tile, side by side
/// Cycles that a read adds where multiplications hide it.
constexpr double kReadCost = 0.1;
/// The part of its cost that each page adds from which a tile reads. The processor reads ahead
/// within a page, and follows few pages at once. If the image is outside of the caches, places in
/// different images took 1.6 times as long as those next to each other.
constexpr double kPageCost = 0.005, kPageBytes = 4096;

class TileChooser {
public:
  TileChooser(const Kernel &kernel, int64_t bits, bool strided)
      : kernel(kernel), stage(kernel.stages.front()), strided(strided),
        lanes(bits / stage.output(0).elementType.getIntOrFloatBitWidth()),
        registers(bits == 512 ? 32 : 16) {}

  /// The cheapest tile; none where no loop has vectors. `whole`: tiles must not overlap.
  std::optional<RegisterTile> choose(bool whole);

private:
  bool isVectorLoop(unsigned loop) const;
  void tryVectors(unsigned loop, bool whole);
  void addSides(RegisterTile tile, unsigned from, bool whole);
  double pagesOf(const RegisterTile &tile) const;
  void see(RegisterTile tile);
  int64_t rangeOf(unsigned loop) const { return kernel.ranges[loop].constant; }

  const Kernel &kernel;
  const Stage &stage;
  bool strided;
  int64_t lanes, registers;
  std::optional<RegisterTile> best;
};

} // namespace

bool TileChooser::isVectorLoop(unsigned loop) const {
  if (!kernel.ranges[loop].isConstant() || rangeOf(loop) < 2)
    return false;
  const Extent &a = stage.operands[0].strides[loop], &c = stage.operands[1].strides[loop];
  if (stage.reduced[loop])
    return a.is(1) && c.is(1);
  auto suits = [&](const Extent &e) { return e.is(0) || e.is(1) || (strided && e.isConstant()); };
  return stage.output(0).strides[loop].is(1) && suits(a) && suits(c) && !(a.is(0) && c.is(0));
}

std::optional<RegisterTile> TileChooser::choose(bool whole) {
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    if (isVectorLoop(loop))
      tryVectors(loop, whole);
  return best;
}

void TileChooser::tryVectors(unsigned loop, bool whole) {
  RegisterTile tile;
  tile.vectorLoop = loop;
  tile.width = lanes;
  while (tile.width / 2 >= rangeOf(loop))
    tile.width /= 2;
  int64_t all = llvm::divideCeil(rangeOf(loop), tile.width);
  for (int64_t vectors = 1; vectors <= std::min(all, stage.reduced[loop] ? 1 : kMostVectors);
       ++vectors) {
    if (whole && vectors < all && !stage.reduced[loop] && rangeOf(loop) % (vectors * tile.width))
      continue;
    tile.vectors = vectors;
    addSides(tile, 0, whole);
  }
}

/// Tries `tile`, and `tile` with further sides, along loops from `from` on.
void TileChooser::addSides(RegisterTile tile, unsigned from, bool whole) {
  see(tile);
  if (tile.sides.size() == 2)
    return;
  for (unsigned loop = from; loop < kernel.ranges.size(); ++loop) {
    if (static_cast<int>(loop) == tile.vectorLoop || stage.reduced[loop] ||
        !kernel.ranges[loop].isConstant() || !llvm::all_of(stage.operands, [&](const Access &a) {
          return a.strides[loop].isConstant();
        }))
      continue;
    int64_t range = rangeOf(loop), room = registers / tile.sums();
    for (int64_t count = std::min(range, room); count >= 2; --count) {
      // As few as the same number of tiles needs.
      int64_t least = llvm::divideCeil(range, llvm::divideCeil(range, count));
      if (count != least || (whole && range % count))
        continue;
      tile.sides.push_back({loop, count});
      addSides(tile, loop + 1, whole);
      tile.sides.pop_back();
    }
  }
}

/// Pages that the places of a tile read at one step of its sums, at most.
double TileChooser::pagesOf(const RegisterTile &tile) const {
  double pages = 0;
  for (const Access &access : ArrayRef(stage.operands).take_front(2)) {
    double places = 1;
    for (const Side &side : tile.sides) {
      if (access.isInvariant(side.loop))
        continue;
      double bytes = std::abs(access.strides[side.loop].constant) *
                     access.elementType.getIntOrFloatBitWidth() / 8.0;
      places *= 1 + (side.count - 1) * std::min(1.0, bytes / kPageBytes);
    }
    pages += places;
  }
  return pages;
}

void TileChooser::see(RegisterTile tile) {
  auto reads = [&](const Access &access) {
    int64_t product = access.isInvariant(tile.vectorLoop) ? 1 : tile.vectors;
    for (const Side &side : tile.sides)
      product *= access.isInvariant(side.loop) ? 1 : side.count;
    return product;
  };
  int64_t first = reads(stage.operands[0]), second = reads(stage.operands[1]);
  // The factor of fewer elements is held while those of the other one pass, one at a time.
  if (tile.sums() + std::min(first, second) + 1 > registers)
    return;
  const Access &held = stage.operands[first < second ? 0 : 1];
  llvm::stable_sort(tile.sides, [&](const Side &a, const Side &b) {
    return held.isInvariant(a.loop) > held.isInvariant(b.loop);
  });
  // A vector that other loops move by less than its width lies in two cache lines.
  auto lines = [&](const Access &access, int64_t elements) {
    const Extent &step = access.strides[tile.vectorLoop];
    if (!step.is(0) && !step.is(1))
      return 2 * tile.width * elements; // read one by one, and inserted
    bool crosses = false;
    for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
      crosses |= static_cast<int>(loop) != tile.vectorLoop &&
                 access.strides[loop].constant % tile.width != 0;
    return crosses && !access.isInvariant(tile.vectorLoop) ? 2 * elements : elements;
  };
  double sums = tile.sums(),
         read = lines(stage.operands[0], first) + lines(stage.operands[1], second);
  // Two multiplications and two reads of cache lines start in a cycle.
  double step = std::max({sums / 2, read / 2, kLatency}) + kStepCost + kReadCost * read;
  double tiles = 1, terms = 1;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop) {
    if (!kernel.ranges[loop].isConstant())
      continue;
    auto side = llvm::find_if(tile.sides, [&](const Side &s) { return s.loop == loop; });
    int64_t count = side != tile.sides.end()                    ? side->count
                    : static_cast<int>(loop) == tile.vectorLoop ? tile.width * tile.vectors
                                                                : 1;
    (stage.reduced[loop] ? terms : tiles) *= llvm::divideCeil(rangeOf(loop), count);
  }
  // The lanes of a sum are added at the end.
  double ends = stage.reduced[tile.vectorLoop] ? sums * kLatency * 2 : sums;
  tile.cost = tiles * (terms * step + ends) * (1 + kPageCost * pagesOf(tile));
  if (!best || tile.cost < best->cost)
    best = tile;
}

std::optional<RegisterTile> xtensor::cpu::chooseRegisterTile(const Kernel &kernel, int64_t bits,
                                                             bool whole, bool strided) {
  return TileChooser(kernel, bits, strided).choose(whole);
}
