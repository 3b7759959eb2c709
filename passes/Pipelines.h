// The phases from a traced program to the LLVM dialect, defined once for every tool.
#ifndef XTENSOR_PIPELINES_H
#define XTENSOR_PIPELINES_H

#include "XTensor/XTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <chrono>
#include <string>
#include <vector>

namespace xtensor {

/// What the code is for.
enum class Backend { cpu, vulkan, metal, cuda };

/// The backend of a target: "cpu", "cpu:PROCESSOR" (CPU/Processor.h), or a device's profile, which
/// begins with the backend's name.
std::optional<Backend> backendOf(llvm::StringRef target);
/// The phases of a backend in order: traced, simplified, differentiated, distributed, linalg,
/// grouped, scheduled and buffers, then cpu, or gpu and the device's own (spirv and, for Metal,
/// msl; nvvm and ptx), then llvm.
llvm::ArrayRef<llvm::StringLiteral> phaseNames(Backend backend = Backend::cpu);
/// Position of `phase` in `phaseNames`, or -1.
int phaseIndex(llvm::StringRef phase, Backend backend = Backend::cpu);

/// Adds the passes that lead to `phase` from the one before it.
void addPhase(mlir::OpPassManager &pm, llvm::StringRef phase, llvm::StringRef target = "cpu");
/// Adds the phases after `from`, up to `to`. With `dumpDir` the module is written there after
/// each, as numbered files.
void addPhases(mlir::OpPassManager &pm, llvm::StringRef from, llvm::StringRef to,
               llvm::StringRef dumpDir = "", llvm::StringRef target = "cpu");

/// While one lives, it collects how long each phase takes that its thread runs.
class PhaseTimes {
public:
  PhaseTimes();
  ~PhaseTimes();
  PhaseTimes(const PhaseTimes &) = delete;
  /// The innermost one of this thread, or null.
  static PhaseTimes *current();
  /// `phase` took the time since the one before.
  void add(llvm::StringRef phase);

  /// Names and seconds, in order.
  std::vector<std::pair<std::string, double>> seconds;

private:
  std::chrono::steady_clock::time_point last;
  PhaseTimes *outer;
};

/// After phase `gpu`: the temporaries of a device's program in one piece of its memory.
void buildDeviceArenaPipeline(mlir::OpPassManager &pm);

/// xtensor-make-entry (EntryPoint.cpp).
std::unique_ptr<mlir::Pass> createMakeEntryPass();

/// Makes every pass and pipeline of this project known by name.
void registerAllXTensorPasses();
/// The dialects, interfaces and translations that the phases need.
void registerAllXTensorDialects(mlir::DialectRegistry &registry);

} // namespace xtensor

#endif // XTENSOR_PIPELINES_H
