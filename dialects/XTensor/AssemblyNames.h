// Names in the assembly format of types, and of ops that use custom<Name> and custom<Names>.
#ifndef XTENSOR_DIALECT_ASSEMBLYNAMES_H
#define XTENSOR_DIALECT_ASSEMBLYNAMES_H

#include "mlir/IR/OpImplementation.h"

namespace xtensor {

void printDimName(mlir::AsmPrinter &p, llvm::StringRef name);

mlir::ParseResult parseName(mlir::OpAsmParser &p, mlir::StringAttr &name);
void printName(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::StringAttr name);

mlir::ParseResult parseNames(mlir::OpAsmParser &p, mlir::ArrayAttr &names);
void printNames(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::ArrayAttr names);

} // namespace xtensor

#endif // XTENSOR_DIALECT_ASSEMBLYNAMES_H
