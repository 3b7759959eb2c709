// How the running value of a scan goes on, and the arithmetic of stretches of it.
#ifndef XTENSOR_PASSES_GPU_SCANKIND_H
#define XTENSOR_PASSES_GPU_SCANKIND_H

#include "GPU/Points.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace xtensor::gpu {

/// Running sums, extrema and products are combined as they are, recurrences of first order as pairs
/// (decay, value).
struct ScanKind {
  unsigned running = 0;                // the output
  mlir::Operation *combiner = nullptr; // null: linear

  /// What threads can share of a scan; none if the op is not a scan, or must run in order.
  static std::optional<ScanKind> of(const Points &points);

  bool isProduct() const;
  /// Whether what is combined may leave the range of numbers on the way, where a scan in order does
  /// not.
  bool mayFail() const { return !combiner || isProduct(); }
  /// How the running value enters the next one, after `points.apply`.
  mlir::Value coefficient(Points &points) const;
};

/// Arithmetic on what stretches of elements come to.
class ScanArithmetic {
public:
  /// One value, or (decay, value).
  using State = llvm::SmallVector<mlir::Value>;

  ScanArithmetic(Points &points, const ScanKind &kind);

  const mlir::Type type;
  unsigned parts() const { return kind.combiner ? 1 : 2; } // of a state

  State neutral();
  /// First `x`, then `y`.
  State combine(const State &x, const State &y);
  /// The value after `y`, which was `from` before.
  mlir::Value enter(mlir::Value from, const State &y);
  /// Decays one after the other.
  mlir::Value decays(mlir::Value x, mlir::Value y);

  /// From here on nothing has failed.
  void restart() { bad = small = no(); }
  void checkProduct(mlir::Value product);
  /// Whether elements after `carry` have to be done in order, for what happened since.
  mlir::Value fails(mlir::Value carry);

  mlir::Value number(double v);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value choose(mlir::Value c, mlir::Value x, mlir::Value y);

private:
  const llvm::fltSemantics &semantics() {
    return mlir::cast<mlir::FloatType>(type).getFloatSemantics();
  }
  mlir::Value constant(const llvm::APFloat &v);
  mlir::Value compare(mlir::arith::CmpFPredicate p, mlir::Value x, mlir::Value y);
  mlir::Value either(mlir::Value x, mlir::Value y);
  mlir::Value absolute(mlir::Value x);
  mlir::Value no();

  const ScanKind &kind;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value bad;   // whether a product became too large for a number
  mlir::Value small; // or too small for a normal one
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_SCANKIND_H
