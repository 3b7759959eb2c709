// xtensor-opt: mlir-opt with this project's dialect, passes and phases.
#include "Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  xtensor::registerAllXTensorPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registry.insert<xtensor::XTensorDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "xtensor's passes on text\n", registry));
}
