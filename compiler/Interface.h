// The arguments and results of a program, as its callers need them: names, dtypes, dims, and sizes
// in terms of the open sizes.
#ifndef XTENSOR_COMPILER_INTERFACE_H
#define XTENSOR_COMPILER_INTERFACE_H

#include "compiler/Sizes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace xtensor {

struct Parameter {
  std::string name;
  std::string dtype; // as NumPy calls it
  std::vector<std::string> dims;
  std::vector<SizeProduct> sizes;
  bool isOpen() const;
  int64_t elementBytes() const;
};

struct Interface {
  std::vector<Parameter> inputs, outputs;
  std::vector<std::string> open; // in the order of xt_entry's sizes
  std::vector<SizeEquality> equalities;
  std::vector<SizeNonempty> nonempty;
};

/// Of @main, which is in phase `traced`. Fails, with an error at the op, where a result's size does
/// not follow from the arguments'.
mlir::FailureOr<Interface> interfaceOf(mlir::ModuleOp module);

/// "classify(image: float32{sample: ?sample, pixel: 64}) -> (float32{sample: ?sample, digit: 10})".
/// The code of a bundle carries it, so that a manifest that says something else is found out: two
/// interfaces that differ have two texts, whatever names are in them.
std::string signatureOf(llvm::StringRef name, const Interface &interface);

/// As manifests say it (docs/aot.md): a fixed size is a number, an open one its name, a product a
/// list of both.
llvm::json::Object toJson(const Parameter &parameter);
/// The keys `results`, `open`, `equal` and `nonempty` of a function.
llvm::json::Object toJson(const Interface &interface);

} // namespace xtensor

#endif // XTENSOR_COMPILER_INTERFACE_H
