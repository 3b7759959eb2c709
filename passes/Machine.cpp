#include "Machine.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>
#include <unistd.h>

using namespace mlir;
using namespace xtensor;

static constexpr llvm::StringLiteral kDevice = "CPU", kLevel1 = "L1_cache_size_in_bytes",
                                     kLevel2 = "L2_cache_size_in_bytes";
/// Sizes outside of these are mistakes of what tells them.
static constexpr int64_t kLeast = 4 * 1024, kMost = int64_t(1) << 30;

static Caches readHost() {
  Caches caches;
  auto set = [](int64_t &level, int64_t bytes) {
    if (bytes >= kLeast && bytes <= kMost)
      level = bytes;
  };
  if (const char *text = getenv("XTENSOR_CACHES")) {
    auto [level1, level2] = StringRef(text).split(',');
    int64_t first = 0, second = 0;
    if (!level1.getAsInteger(10, first) && !level2.getAsInteger(10, second)) {
      set(caches.level1, first);
      set(caches.level2, second);
    }
    return caches;
  }
#ifdef _SC_LEVEL1_DCACHE_SIZE
  set(caches.level1, sysconf(_SC_LEVEL1_DCACHE_SIZE));
  set(caches.level2, sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
  return caches;
}

Caches xtensor::cachesOfHost() {
  static const Caches caches = readHost();
  return caches;
}

bool xtensor::hasBFloat16ProductsOfHost() {
  static const bool has = [] {
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    SmallVector<StringRef> without;
    if (const char *text = getenv("XTENSOR_CPU_WITHOUT"))
      StringRef(text).split(without, ',');
    return llvm::all_of(
               ArrayRef<StringRef>{"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16"},
               [&](StringRef feature) { return features.lookup(feature); }) &&
           !llvm::is_contained(without, "avx512bf16");
  }();
  return has;
}

Caches xtensor::cachesFor(Operation *op) {
  Caches caches;
  while (op->getParentOp())
    op = op->getParentOp();
  if (!op->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    return caches;
  auto read = [&](StringRef name, int64_t &level) {
    FailureOr<Attribute> found = dlti::query(op, {kDevice, name});
    if (failed(found))
      return;
    if (auto bytes = dyn_cast<IntegerAttr>(*found);
        bytes && bytes.getType().isSignlessInteger(64) && bytes.getInt() >= kLeast &&
        bytes.getInt() <= kMost)
      level = bytes.getInt();
  };
  read(kLevel1, caches.level1);
  read(kLevel2, caches.level2);
  return caches;
}

void xtensor::setCaches(ModuleOp module, const Caches &caches) {
  if (caches == Caches() || module->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    return;
  Builder b(module.getContext());
  auto entry = [&](StringRef name, Attribute value) {
    return DataLayoutEntryAttr::get(b.getStringAttr(name), value);
  };
  auto device = TargetDeviceSpecAttr::get(b.getContext(),
                                          {entry(kLevel1, b.getI64IntegerAttr(caches.level1)),
                                           entry(kLevel2, b.getI64IntegerAttr(caches.level2))});
  module->setAttr(DLTIDialect::kTargetSystemDescAttrName,
                  TargetSystemSpecAttr::get(b.getContext(), {entry(kDevice, device)}));
}
