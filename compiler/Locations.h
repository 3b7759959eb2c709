// Shortens locations in files that leave this machine to "prog.py":12. So a bundle has the same
// bytes wherever it is made, and does not reveal folders.
#ifndef XTENSOR_COMPILER_LOCATIONS_H
#define XTENSOR_COMPILER_LOCATIONS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"

namespace xtensor {

/// While it lives, errors at locations that `strip` changed are told at those that were there.
class FoldersStripped {
public:
  explicit FoldersStripped(mlir::MLIRContext *context);
  /// Takes the folders from the file names of all locations inside of `op`.
  void strip(mlir::Operation *op);

private:
  mlir::LocationAttr original(mlir::LocationAttr stripped) const;
  mlir::LogicalResult tell(mlir::Diagnostic &diagnostic);

  llvm::DenseMap<mlir::Attribute, mlir::Attribute> there; // by what stands for it now
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_LOCATIONS_H
