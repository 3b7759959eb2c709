// xtensor-lsp-server: diagnostics, definitions and hovers for .mlir files that use the dialect.
#include "XTensor/XTensor.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<xtensor::XTensorDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
