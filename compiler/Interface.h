// What a program takes and returns, as those who call it need it: names, dtypes, dims, and sizes in
// terms of the sizes that are left open.
#ifndef XTENSOR_COMPILER_INTERFACE_H
#define XTENSOR_COMPILER_INTERFACE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace xtensor {

/// `factor` times the open sizes of these names.
struct SizeProduct {
  int64_t factor = 1;
  std::vector<std::string> open;
  bool operator==(const SizeProduct &other) const {
    return factor == other.factor && open == other.open;
  }
};

struct Parameter {
  std::string name;
  std::string dtype; // as NumPy calls it
  std::vector<std::string> dims;
  std::vector<SizeProduct> sizes;
  bool isOpen() const;
};

/// Two sizes that a call must agree on: both are of `dim`.
struct SizeEquality {
  SizeProduct left, right;
  std::string dim;
};

struct Interface {
  std::vector<Parameter> inputs, outputs;
  std::vector<std::string> open; // in the order of xt_entry's sizes
  std::vector<SizeEquality> equalities;
};

/// Of @main, which is in phase `traced`. Fails, with an error at the op, where a result's size does
/// not follow from the arguments'.
mlir::FailureOr<Interface> interfaceOf(mlir::ModuleOp module);

/// Gives the open sizes of these names their values throughout @main, and the sizes that follow.
/// Fails, with an error at @main, where two sizes of one name would differ.
mlir::LogicalResult fixSizes(mlir::ModuleOp module, const llvm::StringMap<int64_t> &sizes);

/// "classify(image: float32{sample: ?sample, pixel: 64}) -> (float32{sample: ?sample, digit: 10})".
/// The code of a bundle carries it, so that a manifest that says something else is found out: two
/// interfaces that differ have two texts, whatever names are in them.
std::string signatureOf(llvm::StringRef name, const Interface &interface);

} // namespace xtensor

#endif // XTENSOR_COMPILER_INTERFACE_H
