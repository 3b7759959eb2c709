// A bundle: one file with a program compiled for several targets, its IR, and a manifest that says
// what is what. docs/aot.md describes the format; this is its only writer.
#ifndef XTENSOR_COMPILER_EXPORT_H
#define XTENSOR_COMPILER_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace xtensor {

/// The version of manifests that this compiler writes.
constexpr int64_t kManifestSchema = 4;

/// A function of a bundle.
struct ExportFunction {
  /// In phase `traced`; its @main is the function. Stays as it is.
  mlir::ModuleOp module;
  std::string name; // "classify"
  std::string doc;
  /// Names of inputs and outputs; empty: those in the IR.
  std::vector<std::string> inputs, outputs;
  /// Values of the last inputs of @main: row-major bytes.
  std::vector<std::string> weights;
  /// JSON that xt.load understands: what a signature of arrays does not tell. Empty: nothing.
  std::string python;
};

struct ExportOptions {
  std::string name; // of the bundle: "model"; symbols begin with it
  std::vector<std::string> targets = {"cpu"};
  std::string blas = "openblas"; // empty: none
  bool forC = true;
};

/// The bytes of the bundle of one function or more, whose modules are of one context.
mlir::FailureOr<std::string> exportBundle(llvm::ArrayRef<ExportFunction> functions,
                                          const ExportOptions &options);

} // namespace xtensor

#endif // XTENSOR_COMPILER_EXPORT_H
