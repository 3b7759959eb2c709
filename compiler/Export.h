// A bundle: one file with a program compiled for several targets, its IR, and a manifest that says
// what is what. docs/aot.md describes the format; this is its only writer.
#ifndef XTENSOR_COMPILER_EXPORT_H
#define XTENSOR_COMPILER_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace xtensor {

/// The version of manifests that this compiler writes.
constexpr int64_t kManifestSchema = 3;

struct ExportOptions {
  std::string name;     // of the bundle: "model"; symbols begin with it
  std::string function; // "classify"
  std::string doc;
  std::vector<std::string> targets = {"cpu"};
  std::string blas = "openblas"; // empty: none
  bool forC = true;
  /// Names of inputs and outputs; empty: those in the IR.
  std::vector<std::string> inputs, outputs;
  /// Values of the last inputs of @main: row-major bytes.
  std::vector<std::string> weights;
  /// JSON that xt.load understands: what a signature of arrays does not tell. Empty: nothing.
  std::string python;
};

/// The bytes of the bundle of `module`, which is in phase `traced` and stays as it is.
mlir::FailureOr<std::string> exportBundle(mlir::ModuleOp module, const ExportOptions &options);

} // namespace xtensor

#endif // XTENSOR_COMPILER_EXPORT_H
