// Memory as the emitter sees it: a base, an offset and one stride per loop, all counted in
// elements. Views and permuted, strided or reversed maps differ only in strides, so later code
// does not distinguish them.
#ifndef XTENSOR_PASSES_CPU_STRIDED_H
#define XTENSOR_PASSES_CPU_STRIDED_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace xtensor::cpu {

/// A constant times sizes that are known at run time. Equal products compare equal.
struct Extent {
  int64_t constant = 1;
  llvm::SmallVector<mlir::Value, 2> factors; // sorted by address

  Extent() = default;
  Extent(int64_t constant) : constant(constant) {}
  Extent(mlir::OpFoldResult size);

  bool isConstant() const { return factors.empty(); }
  bool is(int64_t value) const { return factors.empty() && constant == value; }
  Extent operator*(const Extent &other) const;
  bool operator==(const Extent &other) const {
    return constant == other.constant && factors == other.factors;
  }
  bool operator!=(const Extent &other) const { return !(*this == other); }
  mlir::Value materialize(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// constant + sum of index values times extents.
struct Offset {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, Extent>, 2> terms;

  void add(mlir::OpFoldResult index, const Extent &stride);
  bool operator==(const Offset &other) const {
    return constant == other.constant && terms == other.terms;
  }
  mlir::Value materialize(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// What a memref shows of its base buffer.
struct StridedView {
  mlir::Value base;
  Offset offset;
  llvm::SmallVector<Extent, 4> sizes, strides;
};

/// Where a linalg operand is, as a function of the loops.
struct Access {
  mlir::Value base;   // a memref, or null:
  mlir::Value scalar; // the operand is a number
  mlir::Type elementType;
  Offset offset;
  llvm::SmallVector<Extent, 4> strides; // per loop
  int64_t ahead = 0;                    // so far from what is read something else is fetched

  bool samePlaces(const Access &other) const {
    return base == other.base && offset == other.offset && strides == other.strides;
  }
  bool isInvariant(unsigned loop) const { return !base || strides[loop].is(0); }
};

/// Traces memrefs to their bases. Sizes of arguments are the same value wherever the types of the
/// function say that they are equal.
class Views {
public:
  StridedView of(mlir::Value memref);
  /// The access of `view` through `map`; none if the map is not a sum of multiples of loops.
  static std::optional<Access> access(const StridedView &view, mlir::AffineMap map);
  /// All of `base` as one row of elements.
  mlir::Value flat(mlir::Value base);

  /// True if no other value names the buffer: two such never share an element.
  static bool isIdentified(mlir::Value base);

private:
  StridedView contiguous(mlir::Value memref, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::OpFoldResult argumentSize(mlir::BlockArgument argument, int64_t dim);

  llvm::DenseMap<mlir::Value, StridedView> known;
  llvm::DenseMap<mlir::Value, mlir::Value> rows;
  llvm::DenseMap<mlir::Attribute, mlir::Value> named;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> unnamed;
};

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_STRIDED_H
