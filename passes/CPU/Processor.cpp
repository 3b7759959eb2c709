#include "CPU/Processor.h"

#include "CPU/Passes.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace xtensor;

namespace {

struct Row {
  llvm::StringLiteral name, architecture, cpu, features, abi;
  int64_t vectorBits;
  /// What a machine must have, beyond being of this architecture.
  llvm::StringLiteral needs;
  /// LLVM takes v4 to be Skylake, and stores what a call gave before it loads what is needed next:
  /// 10% of sin(x) * exp(x), on Zen 4.
  llvm::StringLiteral tune = "";
  /// What processors of this kind have at least.
  Caches caches = {};
};

// Best first within an architecture. The levels of x86-64 are those of its ABI.
constexpr Row kRows[] = {
    {"x86-64-v4", "x86_64", "x86-64-v4", "", "", 512,
     "avx512f avx512bw avx512cd avx512dq avx512vl avx2 bmi bmi2 f16c fma lzcnt movbe", "znver4"},
    {"x86-64-v3", "x86_64", "x86-64-v3", "", "", 256, "avx2 bmi bmi2 f16c fma lzcnt movbe"},
    {"x86-64-v2", "x86_64", "x86-64-v2", "", "", 128, "sse4.2 popcnt ssse3 cx16"},
    {"x86-64", "x86_64", "x86-64", "", "", 128, ""},
    {"aarch64", "aarch64", "generic", "+neon", "", 128, ""},
    {"riscv64", "riscv64", "generic-rv64", "+m,+a,+f,+d,+c", "lp64d", 128, ""},
};

} // namespace

std::optional<Processor> xtensor::processorOf(StringRef target) {
  if (!target.consume_front("cpu:"))
    return std::nullopt;
  target.consume_back("-linux-gnu");
  for (const Row &row : kRows)
    if (row.name == target || (row.architecture == target && row.needs.empty()))
      return Processor{row.name.str(),
                       row.architecture.str(),
                       (row.architecture + "-unknown-linux-gnu").str(),
                       row.cpu.str(),
                       row.features.str(),
                       row.abi.str(),
                       row.vectorBits,
                       row.architecture == "x86_64",
                       row.caches,
                       row.tune.str()};
  return std::nullopt;
}

std::vector<std::string> xtensor::processorNames() {
  std::vector<std::string> names;
  for (const Row &row : kRows)
    names.push_back(("cpu:" + row.name + (row.architecture == "x86_64" ? "" : "-linux-gnu")).str());
  return names;
}

std::string xtensor::thisProcessor() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  llvm::Triple host(llvm::sys::getProcessTriple());
  for (const Row &row : kRows) {
    SmallVector<StringRef> needs;
    StringRef(row.needs).split(needs, ' ', -1, /*KeepEmpty=*/false);
    if (host.getArchName() == row.architecture &&
        llvm::all_of(needs, [&](StringRef feature) { return features.lookup(feature); }))
      return ("cpu:" + row.name).str();
  }
  return "";
}

static std::optional<Processor> named(Operation *op) {
  while (op->getParentOp())
    op = op->getParentOp();
  auto target = op->getAttrOfType<StringAttr>(kProcessorAttr);
  return target ? processorOf(target) : std::nullopt;
}

int64_t xtensor::vectorBitsFor(Operation *op) {
  std::optional<Processor> processor = named(op);
  return processor ? processor->vectorBits : hostVectorBits();
}

/// Of x86-64, the levels with AVX2 have it.
static bool hasFma(const std::optional<Processor> &processor) {
  if (processor)
    return processor->architecture != "x86_64" || processor->vectorBits >= 256;
  static const bool here = !llvm::Triple(llvm::sys::getProcessTriple()).isX86() ||
                           llvm::sys::getHostCPUFeatures().lookup("fma");
  return here;
}

bool xtensor::hasFma(Operation *op) { return ::hasFma(named(op)); }

bool xtensor::hasFma(StringRef target) { return ::hasFma(processorOf(target)); }

bool xtensor::hasPermutes(Operation *op) {
  static const std::optional<Processor> here = processorOf(thisProcessor());
  std::optional<Processor> processor = named(op);
  return (processor ? processor : here).value_or(Processor()).vectorBits == 512;
}

bool xtensor::hasSlowGathers(Operation *op) {
  static const bool here = llvm::sys::getHostCPUName().starts_with("znver");
  std::optional<Processor> processor = named(op);
  return processor ? StringRef(processor->tune).starts_with("znver") : here;
}

bool xtensor::roundsToBFloat16(Operation *op) {
  static const bool here = llvm::sys::getHostCPUFeatures().lookup("avx512bf16");
  return here && !named(op); // the kinds with names have no such instruction
}

bool xtensor::hasVectorLibrary(Operation *op) {
  std::optional<Processor> processor = named(op);
  return !processor || processor->hasVectorLibrary;
}
