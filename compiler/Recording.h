// What a program for a device asks of it, as a list: kernels, memory, launches in order. The host
// of kernels is machine code; where its sizes are fixed and it reads no values, running it once
// against a device that only writes down tells all that it will ever ask.
#ifndef XTENSOR_COMPILER_RECORDING_H
#define XTENSOR_COMPILER_RECORDING_H

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
  int64_t number = 0, offset = 0, bytes = 0;
};

struct RecordedStep {
  int64_t kernel = -1; // -1: a copy from places[0] to places[1]
  int64_t groups[3] = {1, 1, 1};
  std::vector<RecordedPlace> places;
  std::vector<int32_t> numbers;
};

struct Recording {
  std::vector<RecordedKernel> kernels;
  std::vector<RecordedStep> steps;
  std::vector<std::string> constants;
  int64_t temporaries = 0, reports = 0; // bytes
};

/// The steps of a host program, given as an object for this machine with `entry` in it; none, with
/// `why` set, where they are not a list.
std::optional<Recording> record(llvm::StringRef object, llvm::StringRef entry,
                                const Interface &interface, std::string &why);

/// The members of a bundle that hold what a list of launches needs.
struct RecordedFiles {
  std::vector<std::string> kernels, constants, weights;
};

/// The list of launches (docs/aot.md).
llvm::json::Value launchesOf(const Recording &recording, const Interface &interface,
                             llvm::StringRef profile, const RecordedFiles &files);

} // namespace xtensor

#endif // XTENSOR_COMPILER_RECORDING_H
