// Estimates what one call of a program costs.
#ifndef XTENSOR_COMPILER_COST_H
#define XTENSOR_COMPILER_COST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <string>

namespace xtensor {

struct Cost {
  /// Arithmetic ops of the fused program, times the elements and steps of their loops. A while loop
  /// counts as one step, a branch as all of its sides. An extremum is one, a comparison or a choice
  /// none.
  int64_t flops = 0;
  /// Bytes of the temporaries of a call.
  int64_t arena = 0;
  /// Bytes of the results that take the memory of arguments.
  int64_t reused = 0;
  /// Of a device: launches, and the routines that run on the CPU in their midst, with how often.
  int64_t launches = 0;
  std::map<std::string, int64_t> onHost;
};

/// The cost on `target` of `module`, which is in phase `traced` and stays as it is. sizes: of its
/// open dims in a call.
mlir::FailureOr<Cost> costOf(mlir::ModuleOp module, llvm::StringRef target = "cpu",
                             const llvm::StringMap<int64_t> &sizes = {});

/// JSON: where the temporaries of a call lie, and when. sizes: of open dims in the call.
///
///     {"bytes": 256,
///      "temporaries": [{"offset": 0, "bytes": 128, "begin": 3, "end": 7, "type": "f32", "shape":
///                       [32], "loc": {..}}],
///      "steps": [{"at": 3, "loc": {..}}]}
///
/// `begin` and `end` count ops, and `steps` are those that do something. `loc` is an origin of
/// EveryPhase.h.
mlir::FailureOr<std::string> memoryOf(mlir::ModuleOp module, llvm::StringRef target = "cpu",
                                      const llvm::StringMap<int64_t> &sizes = {});

} // namespace xtensor

#endif // XTENSOR_COMPILER_COST_H
