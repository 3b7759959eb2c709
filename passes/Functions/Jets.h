// Numbers with derivatives by up to two parameters, as the coefficients of a Taylor polynomial: a
// function that is written once on these gives itself and its derivatives by a parameter, of any
// order. Without derivatives, a Jet emits what a Real emits.
#ifndef XTENSOR_PASSES_FUNCTIONS_JETS_H
#define XTENSOR_PASSES_FUNCTIONS_JETS_H

#include "Functions/Scalars.h"

namespace xtensor {

class Jet {
public:
  /// The highest power of each parameter that is kept.
  struct Degree {
    int first = 0, second = 0;
    int total() const { return first + second; }
    size_t count() const { return size_t(first + 1) * size_t(second + 1); }
  };

  /// Depends on no parameter.
  Jet(Degree degree, Real value);
  /// A parameter itself: its value, and 1 for `first` or `second`.
  static Jet parameter(Degree degree, Real value, bool isFirst = true);
  Jet(Degree degree, llvm::ArrayRef<Real> coefficients);

  Real value() const { return coefficients.front(); }
  /// Of the highest powers.
  Real last() const;
  /// Zeros are written out, as state of loops and branches needs them.
  llvm::SmallVector<Real> all() const;

  Scalars &scalars() const { return *value().s; }
  Degree degree;

  friend Jet operator+(const Jet &x, const Jet &y);
  friend Jet operator-(const Jet &x, const Jet &y);
  friend Jet operator*(const Jet &x, const Jet &y);
  friend Jet operator*(const Jet &x, Real y);
  friend Jet operator-(const Jet &x);
  friend Jet operator+(const Jet &x, Real y) { return x + Jet(x.degree, y); }
  friend Jet operator+(const Jet &x, double y) { return x + x.value().s->real(y); }
  friend Jet operator-(const Jet &x, double y) { return x + (-y); }
  friend Jet operator*(const Jet &x, double y) { return x * x.value().s->real(y); }

  /// f(x), where `taylor` has f^(k)(value) / k! for k up to the total degree.
  friend Jet compose(const Jet &x, llvm::ArrayRef<Real> taylor);
  /// What has this value, and these derivatives by the two parameters.
  friend Jet integrate(Real value, const Jet &byFirst, const Jet &bySecond);
  friend Jet integrate(Real value, const Jet &byFirst) {
    return integrate(value, byFirst, byFirst);
  }
  /// The derivative by the first parameter, without the highest power.
  friend Jet derivative(const Jet &x);
  /// x where c holds, else y.
  friend Jet select(Bit c, const Jet &x, const Jet &y);

private:
  /// The coefficient of first^i second^j; a null value is zero.
  Real &at(int i, int j) { return coefficients[size_t(i) * size_t(degree.second + 1) + size_t(j)]; }
  const Real &at(int i, int j) const { return const_cast<Jet *>(this)->at(i, j); }

  llvm::SmallVector<Real, 4> coefficients;
};

/// An order of differentiation, if it is a constant between these.
std::optional<int> knownOrder(Real n, int least, int most);

/// 1 / x, and x to a power, given that of the value.
Jet inverse(const Jet &x);
Jet powerOf(const Jet &x, Real valueToPower, double exponent);
/// log x without that of the value.
Jet logarithmOverValue(const Jet &x);
/// e^x, given that of the value.
Jet exponential(const Jet &x, Real ofValue);
Jet evaluate(const Polynomial &p, const Jet &x);

} // namespace xtensor

#endif // XTENSOR_PASSES_FUNCTIONS_JETS_H
