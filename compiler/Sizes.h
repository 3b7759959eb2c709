// The sizes of a program in terms of the open sizes of its arguments, and the checks that a call
// makes before any code runs. Calls and bundles both derive them here.
#ifndef XTENSOR_COMPILER_SIZES_H
#define XTENSOR_COMPILER_SIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace xtensor {

/// What the tracer leaves at @main: dims that a call must not have empty, with what it is told. A
/// list of {dim, message, where}.
constexpr llvm::StringLiteral kNonempty = "xtensor.nonempty";

/// `factor` times the open sizes of these names.
struct SizeProduct {
  int64_t factor = 1;
  std::vector<std::string> open;
  bool operator==(const SizeProduct &other) const {
    return factor == other.factor && open == other.open;
  }
  bool operator<(const SizeProduct &other) const {
    return std::tie(factor, open) < std::tie(other.factor, other.open);
  }
};

/// Two sizes that a call must agree on: `op` gives a dim of size `right` the name of one of `left`.
struct SizeEquality {
  SizeProduct left, right;
  std::string dim;
  std::string op, where; // "rename", FILE:LINE
};

/// A size that must not be 0, and what a call is told that has it so.
struct SizeNonempty {
  SizeProduct size;
  std::string dim;
  std::string message, where;
};

/// Reads the dynamic dims of a function in phase `traced`.
class Sizes {
public:
  /// Fails, with an error at the op, where a size does not follow from the arguments'.
  static mlir::FailureOr<Sizes> of(mlir::func::FuncOp main);

  /// The size of a dynamic dim, with an error at `op` where none is known.
  mlir::FailureOr<SizeProduct> named(mlir::Operation *op, llvm::StringRef dim) const;

  std::vector<std::string> open; // in the order of xt_entry's sizes
  std::vector<SizeEquality> equalities;
  std::vector<SizeNonempty> nonempty;
  llvm::StringMap<SizeProduct> known; // by dim

private:
  using Found = mlir::FailureOr<SizeProduct>;
  mlir::LogicalResult visit(mlir::Operation *op);
  /// Of a dim of an array, whether its size is fixed or not.
  Found ofDim(mlir::Operation *op, mlir::Type type, llvm::StringRef dim) const;
  mlir::LogicalResult introduce(mlir::Operation *op, llvm::StringRef dim, Found size);

  /// The smallest of several sizes, which the call works out and no array outside of it has.
  struct Least {
    mlir::Operation *op;            // the first that needs it
    std::vector<SizeProduct> sizes; // sorted
  };
  using Some = std::variant<SizeProduct, Least>;
  using FoundSome = mlir::FailureOr<Some>;
  FoundSome some(mlir::Operation *op, mlir::Type type, llvm::StringRef dim) const;
  /// Of an operand that is a size.
  FoundSome some(mlir::Operation *op, mlir::Value size) const;
  FoundSome smallest(mlir::Operation *op, llvm::ArrayRef<FoundSome> sizes) const;
  mlir::LogicalResult introduce(mlir::Operation *op, llvm::StringRef dim, FoundSome size);

  llvm::StringMap<Least> least; // by dim
};

/// The value of `size` if all of its names have one, and it fits.
std::optional<int64_t> valueOf(const SizeProduct &size, const llvm::StringMap<int64_t> &values);

/// Gives the open sizes of these names their values throughout @main, and the sizes that follow.
/// Fails, with an error, where two sizes of one name would differ or one is 0 that must not be.
mlir::LogicalResult fixSizes(mlir::ModuleOp module, const llvm::StringMap<int64_t> &sizes);
/// Notes the sizes of such a call on the arguments and results of @main (passes/CallSizes.h). The
/// program does not change.
mlir::LogicalResult noteSizes(mlir::ModuleOp module, const llvm::StringMap<int64_t> &sizes);

} // namespace xtensor

#endif // XTENSOR_COMPILER_SIZES_H
