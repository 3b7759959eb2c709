// Splits a module into several, which are compiled in parallel.
#ifndef XTENSOR_COMPILER_SPLITMODULE_H
#define XTENSOR_COMPILER_SPLITMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace xtensor {

/// Takes functions of about half of the ops, or a third and so on, out of `module` (in the LLVM
/// dialect), `most` parts in all: these are the modules returned. What other parts call is renamed
/// to begin with `entry`, a function that is there. Empty where there is too little to share.
llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>>
splitModule(mlir::ModuleOp module, llvm::StringRef entry, int64_t most);

} // namespace xtensor

#endif // XTENSOR_COMPILER_SPLITMODULE_H
