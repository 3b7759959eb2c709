// A program after each of its phases, as text whose lines know the user's lines: what the page of
// `f.explore` shows.
#ifndef XTENSOR_COMPILER_EVERYPHASE_H
#define XTENSOR_COMPILER_EVERYPHASE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace xtensor {

/// JSON of `module`, which is in phase `traced` and stays as it is, on its way to `target`:
///
///     {"origins": [{"at": [["prog.py", 12, 5]], "marks": ["cotangent", "tangent of exp"]}],
///      "phases": [{"name": "traced", "text": "module {\n..", "lines": [-1, 0]}]}
///
/// `lines` has the origin of each line of `text`, or -1. `at` lists file, line and column of the
/// user's lines that the line was made of. `marks` says what made it of them, the last step first.
mlir::FailureOr<std::string> everyPhase(mlir::ModuleOp module, llvm::StringRef target = "cpu");

/// An element of the list of origins.
llvm::json::Object originOf(mlir::Location location);

} // namespace xtensor

#endif // XTENSOR_COMPILER_EVERYPHASE_H
