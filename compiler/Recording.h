// Makes a list of what a program asks of a device: kernels, memory and launches, in order. It
// interprets the host code of kernels (phase `llvm`) and records the calls into the runtime.
// Numbers that depend on open sizes become formulas.
#ifndef XTENSOR_COMPILER_RECORDING_H
#define XTENSOR_COMPILER_RECORDING_H

#include "compiler/Formulas.h"
#include "compiler/Interface.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace xtensor {

struct RecordedKernel {
  std::string code, entry;
  int32_t buffers = 0, numbers = 0;
  int32_t threads[3] = {1, 1, 1};
  int64_t writes = 0;
};

/// Part of an array, of the temporaries, of a constant or of the words that kernels report to.
struct RecordedPlace {
  const char *of = "";
  int64_t number = 0;
  Number offset, bytes;
};

struct RecordedStep {
  int64_t kernel = -1; // -1: a copy from places[0] to places[1]
  Number groups[3] = {1, 1, 1};
  std::vector<RecordedPlace> places;
  std::vector<Number> numbers; // of which a kernel gets the low 32 bits
};

struct Recording {
  Formulas formulas;
  std::vector<RecordedKernel> kernels;
  std::vector<RecordedStep> steps;
  std::vector<std::string> constants;
  std::vector<Number> inputs, outputs; // bytes of arrays
  Number temporaries;                  // bytes
  int64_t reports = 0;                 // bytes
};

/// The steps of a program that is in phase `llvm`; none, with `why` set, where they are not a list.
std::optional<Recording> record(mlir::ModuleOp module, const Interface &interface,
                                std::string &why);

/// The members of a bundle that hold what a list of launches needs.
struct RecordedFiles {
  std::vector<std::string> kernels, constants, weights;
};

/// The list of launches (docs/aot.md).
llvm::json::Value launchesOf(const Recording &recording, const Interface &interface,
                             llvm::StringRef profile, const RecordedFiles &files);

} // namespace xtensor

#endif // XTENSOR_COMPILER_RECORDING_H
