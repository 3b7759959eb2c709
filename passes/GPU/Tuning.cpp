// Lookup in library/devices.def.
#include "GPU/Tuning.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::gpu;

namespace {

struct DeviceRow {
  StringRef vendor;
  int64_t groups, vectorBytes, steps, rows;
};
struct TileRow {
  StringRef vendor;
  int64_t bytes;
  Tile tile;
};

constexpr DeviceRow kDevices[] = {
#define DEVICE(VENDOR, GROUPS, BYTES, STEPS, ROWS) {#VENDOR, GROUPS, BYTES, STEPS, ROWS},
#define TILE(...)
#include "GPU/library/devices.def"
#undef DEVICE
#undef TILE
};
constexpr TileRow kTiles[] = {
#define DEVICE(...)
#define TILE(VENDOR, BYTES, M, N, K, THREAD_M, THREAD_N, RATE)                                     \
  {#VENDOR, BYTES, {M, N, K, THREAD_M, THREAD_N, RATE, BYTES == 2}},
#include "GPU/library/devices.def"
#undef DEVICE
#undef TILE
};

} // namespace

/// The units of a device; none if what they multiply cannot be shared among their threads.
static std::optional<Unit> unitOf(const Profile &device) {
  // mma.sync of m16n8k16 for both kinds of half precision.
  if (device.backend() == "cuda" && device.number("sm", 80) >= 80)
    return Unit{16, 8, 16, 8, 4, /*opaque=*/false};
  // A thread reads sums in runs of four.
  constexpr int64_t kRun = 4;
  const int64_t m = device.number("unit_m", 0), n = device.number("unit_n", 0),
                k = device.number("unit_k", 0), lanes = device.number("subgroup", 1);
  if (device.backend() != "vulkan" || !m || !n || !k || !device.has("f16") || !device.has("s16") ||
      n % kRun || lanes % (n / kRun) || m % (lanes * kRun / n))
    return std::nullopt;
  return Unit{m, n, k, lanes * kRun / n, n / kRun, /*opaque=*/true};
}

/// A row of the table for units as the tile of their device; none if it does not suit them.
static std::optional<Tile> unitTile(Tile tile, const Unit &unit, const KernelLimits &limits) {
  if (tile.threadM % unit.m || tile.threadN % unit.n || tile.k % unit.k)
    return std::nullopt;
  tile.threadM /= unit.down, tile.threadN /= unit.across;
  const int64_t bytes =
      2 * 2 * (tile.unitElements(tile.m, true) + tile.unitElements(tile.n, true)) +
      4 * tile.unitSums(unit);
  if (tile.threads() > limits.threads || bytes > limits.workgroupBytes)
    return std::nullopt;
  return tile;
}

KernelLimits KernelLimits::of(const Profile &device) {
  KernelLimits limits;
  // Reductions halve the threads until one is left, which needs no barrier.
  limits.threads =
      llvm::bit_floor<uint64_t>(std::min(limits.threads, device.number("max_threads", 256)));
  limits.workgroupBytes = device.number("workgroup_bytes", 16384);
  while (limits.threads > 1 && bytesToMeet(limits.threads) > limits.workgroupBytes)
    limits.threads /= 2;
  if (device.has("shuffle"))
    limits.subgroup = device.number("subgroup", 1);
  limits.addsF32 = device.has("atomic_f32");
  limits.addsF64 = device.has("atomic_f64");
  StringRef vendor = device.vendor();
  for (const DeviceRow &row : kDevices)
    if (row.vendor == vendor || row.vendor == "any") {
      limits.groups = row.groups;
      limits.vectorBytes = row.vectorBytes;
      limits.steps = row.steps;
      limits.rows = row.rows;
      if (row.vendor == vendor)
        break;
    }
  for (StringRef name : {vendor, StringRef("any")})
    for (auto [bytes, tiles] : {std::pair{4, &limits.tiles4}, std::pair{8, &limits.tiles8}}) {
      if (!tiles->empty())
        continue;
      for (const TileRow &row : kTiles)
        if (row.vendor == name && row.bytes == bytes && row.tile.threads() <= limits.threads &&
            row.tile.elements() * bytes * 2 <= limits.workgroupBytes)
          tiles->push_back(row.tile);
    }
  limits.unit = unitOf(device);
  for (StringRef name : {vendor, StringRef("any")}) {
    if (!limits.unit || !limits.unitTiles.empty())
      break;
    for (const TileRow &row : kTiles)
      if (row.vendor == name && row.bytes == 2)
        if (auto tile = unitTile(row.tile, *limits.unit, limits))
          limits.unitTiles.push_back(*tile);
  }
  return limits;
}

bool KernelLimits::areThreads(int64_t points, int64_t each) const {
  return rows && points >= rows && !ShapedType::isDynamic(each) && (!steps || each < steps / 2);
}

int64_t KernelLimits::threadsFor(int64_t points) const {
  if (ShapedType::isDynamic(points))
    return threads;
  int64_t few = 32;
  while (few < points && few < threads)
    few *= 2;
  return std::min(few, threads);
}

const Tile *KernelLimits::tileFor(int64_t batches, int64_t m, int64_t n, int64_t bytes) const {
  // A size that only the call knows is taken for a large one.
  auto sizeOf = [](int64_t v, int64_t otherwise) {
    return ShapedType::isDynamic(v) ? otherwise : v;
  };
  batches = sizeOf(batches, 1), m = sizeOf(m, 512), n = sizeOf(n, 512);
  const Tile *best = nullptr;
  double least = 0;
  for (const Tile &tile : bytes == 8 ? tiles8 : bytes == 2 ? unitTiles : tiles4) {
    double all = double(batches) * llvm::divideCeil(m, tile.m) * llvm::divideCeil(n, tile.n);
    // What does not fill the device takes as long as if it did.
    double rounds = std::max(1.0, all * tile.share() / groups);
    double time = rounds * groups / tile.share() * tile.m * tile.n / tile.rate;
    if (!best || time < least) {
      best = &tile;
      least = time;
    }
  }
  return best;
}
