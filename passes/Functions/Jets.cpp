#include "Functions/Jets.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

static Real sum(Real x, Real y) { return !x.value ? y : !y.value ? x : x + y; }
static Real product(Real x, Real y) { return !x.value || !y.value ? Real{} : x * y; }

Jet::Jet(Degree degree, Real value) : degree(degree), coefficients(degree.count(), Real{}) {
  coefficients.front() = value;
}

Jet::Jet(Degree degree, ArrayRef<Real> coefficients) : degree(degree), coefficients(coefficients) {}

Jet Jet::parameter(Degree degree, Real value, bool isFirst) {
  Jet jet(degree, value);
  if (isFirst ? degree.first : degree.second)
    (isFirst ? jet.at(1, 0) : jet.at(0, 1)) = value.s->real(1);
  return jet;
}

SmallVector<Real> Jet::all() const {
  return llvm::map_to_vector(coefficients, [&](Real x) { return x.value ? x : scalars().real(0); });
}

Real Jet::last() const {
  return coefficients.back().value ? coefficients.back() : scalars().real(0);
}

namespace xtensor {

Jet operator+(const Jet &x, const Jet &y) {
  Jet z = x;
  for (auto [to, more] : llvm::zip_equal(z.coefficients, y.coefficients))
    to = sum(to, more);
  return z;
}

Jet operator-(const Jet &x) {
  Jet z = x;
  for (Real &to : z.coefficients)
    if (to.value)
      to = -to;
  return z;
}

Jet operator-(const Jet &x, const Jet &y) {
  Jet z = x;
  for (auto [to, less] : llvm::zip_equal(z.coefficients, y.coefficients))
    if (less.value)
      to = to.value ? to - less : -less;
  return z;
}

Jet operator*(const Jet &x, Real y) {
  Jet z = x;
  for (Real &to : z.coefficients)
    to = product(to, y);
  return z;
}

Jet operator*(const Jet &x, const Jet &y) {
  Jet z(x.degree, Real{});
  for (int i = 0; i <= z.degree.first; ++i)
    for (int j = 0; j <= z.degree.second; ++j)
      for (int k = 0; k <= i; ++k)
        for (int l = 0; l <= j; ++l)
          z.at(i, j) = sum(z.at(i, j), product(x.at(k, l), y.at(i - k, j - l)));
  return z;
}

Jet compose(const Jet &x, ArrayRef<Real> taylor) {
  // In Horner's form, of what x has beside its value.
  Jet rest = x;
  rest.coefficients.front() = Real{};
  Jet z(x.degree, taylor[size_t(x.degree.total())]);
  for (int k = x.degree.total() - 1; k >= 0; --k) {
    z = z * rest;
    z.coefficients.front() = taylor[size_t(k)];
  }
  return z;
}

Jet integrate(Real value, const Jet &byFirst, const Jet &bySecond) {
  Jet z(byFirst.degree, value);
  for (int i = 0; i <= z.degree.first; ++i)
    for (int j = 0; j <= z.degree.second; ++j)
      if (i || j)
        z.at(i, j) = product(i ? byFirst.at(i - 1, j) : bySecond.at(0, j - 1),
                             value.s->real(1.0 / (i ? i : j)));
  return z;
}

Jet derivative(const Jet &x) {
  Jet z(x.degree, Real{});
  for (int i = 1; i <= z.degree.first; ++i)
    for (int j = 0; j <= z.degree.second; ++j)
      z.at(i - 1, j) = product(x.at(i, j), x.at(i, j).value ? x.scalars().real(i) : Real{});
  return z;
}

Jet select(Bit c, const Jet &x, const Jet &y) {
  SmallVector<Real> z = x.all();
  for (auto [to, other] : llvm::zip_equal(z, y.all()))
    to = select(c, to, other);
  return Jet(x.degree, z);
}

std::optional<int> knownOrder(Real n, int least, int most) {
  Value value = n.value;
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(attribute);
  double order = number ? number.getValueAsDouble() : -1;
  if (order < least || order > most || order != std::floor(order))
    return std::nullopt;
  return static_cast<int>(order);
}

Jet inverse(const Jet &x) {
  Real one = 1.0 / x.value();
  SmallVector<Real> taylor = {one};
  for (int k = 0; k < x.degree.total(); ++k)
    taylor.push_back(-(taylor.back() * one));
  return compose(x, taylor);
}

Jet powerOf(const Jet &x, Real valueToPower, double exponent) {
  SmallVector<Real> taylor = {valueToPower};
  Real one = x.degree.total() ? 1.0 / x.value() : valueToPower;
  for (int k = 0; k < x.degree.total(); ++k)
    taylor.push_back(taylor.back() * one * ((exponent - k) / (k + 1)));
  return compose(x, taylor);
}

Jet logarithmOverValue(const Jet &x) {
  Real one = x.degree.total() ? 1.0 / x.value() : Real{}, power = one;
  SmallVector<Real> taylor = {x.scalars().real(0)};
  for (int k = 1; k <= x.degree.total(); ++k, power = power * one)
    taylor.push_back(power * ((k % 2 ? 1.0 : -1.0) / k));
  return compose(x, taylor);
}

Jet exponential(const Jet &x, Real ofValue) {
  SmallVector<Real> taylor = {ofValue};
  for (int k = 0; k < x.degree.total(); ++k)
    taylor.push_back(taylor.back() * (1.0 / (k + 1)));
  return compose(x, taylor);
}

Jet evaluate(const Polynomial &p, const Jet &x) {
  Scalars &s = x.scalars();
  if (!x.degree.total())
    return Jet(x.degree, s.evaluate(p, x.value()));
  ArrayRef<double> c = s.wide ? p.wide : p.single;
  Jet y(x.degree, s.real(c.back()));
  for (double lower : llvm::reverse(c.drop_back()))
    y = y * x + lower;
  return y;
}

} // namespace xtensor
