// What an error is about, as a code that the diagnostic carries beside its text. Python raises the
// exception that belongs to the code, so no meaning hangs on the wording.
#ifndef XTENSOR_FAULT_H
#define XTENSOR_FAULT_H

#include "mlir/IR/Diagnostics.h"

namespace xtensor {

enum class Fault {
  Argument,    // of a call of the API, for example an unknown target
  Dimension,   // a name that is missing, given twice, or not allowed there
  DType,       // a type of elements
  Index,       // a position outside of its dim
  Memory,      // no memory for what the compiler makes
  Rule,        // a derivative rule that a user wrote
  Size,        // the size of a dim
  Unsupported, // a correct program that cannot be compiled
};

/// Marks an error: `emitOpError() << Fault::Size << "..."`. The text does not change.
mlir::Diagnostic &operator<<(mlir::Diagnostic &diagnostic, Fault fault);

/// The name of the mark, "size" for `Fault::Size`; empty if `diagnostic` has no mark.
llvm::StringRef faultOf(mlir::Diagnostic &diagnostic);

/// Marks `to` as `from` is marked.
void copyFault(mlir::Diagnostic &from, mlir::Diagnostic &to);

} // namespace xtensor

#endif // XTENSOR_FAULT_H
