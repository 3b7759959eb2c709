// Partial derivatives written as formulas. An Expr is an array or a number. Its operators emit
// ops; operations on numbers alone are folded.
#ifndef XTENSOR_AUTODIFF_EXPR_H
#define XTENSOR_AUTODIFF_EXPR_H

#include "XTensor/XTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {

class Expr {
public:
  /// Where a formula's ops go and what its numbers become.
  struct Context {
    mlir::ImplicitLocOpBuilder &builder;
    mlir::Type element;
  };

  Expr(double number) : number(number) {}
  /// An array known to hold one value everywhere is a number.
  Expr(Context &context, mlir::Value value);

  bool isNumber() const { return !value; }
  bool is(double n) const { return !value && number == n; }
  mlir::Value materialize(Context &context) const;

  friend Expr operator+(Expr x, Expr y);
  friend Expr operator-(Expr x, Expr y);
  friend Expr operator*(Expr x, Expr y);
  friend Expr operator/(Expr x, Expr y);
  friend Expr operator-(Expr x);
  friend Expr abs(Expr x);
  friend Expr cos(Expr x);
  friend Expr cosh(Expr x);
  friend Expr exp(Expr x);
  friend Expr log(Expr x);
  friend Expr rsqrt(Expr x);
  friend Expr sign(Expr x);
  friend Expr sin(Expr x);
  friend Expr sinh(Expr x);
  friend Expr stopGradient(Expr x);
  // Of operands, which are not folded.
  friend Expr digamma(Expr x);
  friend Expr i0(Expr x);
  friend Expr i0e(Expr x);
  friend Expr i1(Expr x);
  friend Expr i1e(Expr x);
  friend Expr j0(Expr x);
  friend Expr j1(Expr x);
  friend Expr y0(Expr x);
  friend Expr y1(Expr x);
  friend Expr polygamma(Expr order, Expr x);
  friend Expr betaincBy(Expr m, Expr n, Expr a, Expr b, Expr x);
  friend Expr betaDensityBy(Expr m, Expr n, Expr a, Expr b, Expr x);
  friend Expr gammaincByA(Expr order, Expr a, Expr x);
  friend Expr gammaDensityByA(Expr order, Expr a, Expr x);
  friend Expr copysign(Expr x, Expr y);
  friend Expr floorDiv(Expr x, Expr y);
  friend Expr pow(Expr x, Expr y);
  /// The sum over k of z^k / (2 k! (k + 1)!), for |z| up to 1/4: i1(x) / x at z = x^2 / 4, and
  /// j1(x) / x at z = -x^2 / 4. Its derivatives have no differences that cancel.
  friend Expr besselSeries(Expr z);
  /// x * y, where a zero y gives zero even by an infinite x.
  friend Expr scale(Expr x, Expr y);

  // Conditions: bool arrays, or the numbers 0 and 1.
  friend Expr equal(Expr x, Expr y);
  friend Expr less(Expr x, Expr y);
  friend Expr isnan(Expr x);
  friend Expr both(Expr x, Expr y);
  friend Expr either(Expr x, Expr y);
  friend Expr where(Expr condition, Expr x, Expr y);

private:
  /// The arity-independent part of the functions above.
  template <typename Op, typename Fold>
  static Expr unary(Expr x, Fold fold);
  template <typename Op>
  static Expr ofOperands(std::initializer_list<Expr> x);
  template <typename Op, typename Fold>
  static Expr binary(Expr x, Expr y, Fold fold);

  Context *context = nullptr;
  mlir::Value value;
  double number = 0;
};

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_EXPR_H
