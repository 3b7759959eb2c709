// What is checked before a bundle is made: names, limits, targets, and what the IR holds. The
// readers (manifest.py) rely on each of these.
#ifndef XTENSOR_COMPILER_EXPORTCHECKS_H
#define XTENSOR_COMPILER_EXPORTCHECKS_H

#include "compiler/Export.h"
#include "compiler/Interface.h"

namespace xtensor {

/// Whether a name is one line of printable text, and not too long.
bool isLine(llvm::StringRef name);

/// What the caller asked for. `prefix` is what symbols begin with; errors are emitted at `at`.
mlir::LogicalResult checkOptions(const ExportOptions &options, size_t functions,
                                 llvm::StringRef prefix, mlir::ModuleOp at);

/// That a program is one function of traced ops, and that its attributes have their form.
mlir::LogicalResult checkProgram(mlir::ModuleOp module);

/// That all names are lines, and that arrays fit into memory.
mlir::LogicalResult checkNames(mlir::ModuleOp module, llvm::StringRef name,
                               const Interface &interface);

/// The error for a target that does not exist. It lists those that do.
mlir::LogicalResult refuseTarget(mlir::ModuleOp at, llvm::StringRef asked);

} // namespace xtensor

#endif // XTENSOR_COMPILER_EXPORTCHECKS_H
