// The regularised incomplete beta function betainc(a, b, x) and its derivatives by a and b: the
// continued fraction of Didonato and Morris (1992, algorithm 708, BFRAC), of x up to about the
// mean, or of 1 - x with a and b exchanged. Each of its terms counts for two of DLMF 8.17.22. Its
// number grows with the root of a and b.
#include "Functions/Functions.h"
#include "Functions/IncompleteParts.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

namespace {

/// One call, of positive finite a and b, and x between 0 and 1.
class IncompleteBeta {
public:
  IncompleteBeta(Scalars &s, Jet::Degree degree, Real a, Real b, Real x)
      : s(s), degree(degree), a(Jet::parameter(degree, a)),
        b(Jet::parameter(degree, b, /*isFirst=*/false)), x(x), y(addExactly(s.real(1), -x)),
        excess(excessOf(a, b)) {}

  Jet ratio();
  /// x^(a-1) (1-x)^(b-1) / B(a, b).
  Jet density();

private:
  /// x b - (1 - x) a, in which products cancel at the mean.
  Real excessOf(Real a, Real b);
  /// x^a (1-x)^b / B(a, b).
  Jet weight();
  Jet inverseStirling(const Jet &z);
  Real halfSquare(Real p, Real mu, Real quotient);
  Jet fraction(const Jet &a, const Jet &b, Real x, Real y, Real excess);

  Scalars &s;
  Jet::Degree degree;
  Jet a, b;
  Real x;
  Sum y; ///< 1 - x
  Real excess;
};

} // namespace

Real IncompleteBeta::excessOf(Real a, Real b) {
  Sum first = multiplyExactly(x, b), second = multiplyExactly(y.hi, a);
  return (first.hi - second.hi) + (first.lo - second.lo - y.lo * a);
}

//===- x^a (1-x)^b / B(a, b) -----------------------------------------------===//

/// Stirling's formula over gamma(z).
Jet IncompleteBeta::inverseStirling(const Jet &z) {
  Real value = z.value();
  auto small = [&] {
    Real power = s.call("powf", {value, value}), decay = s.call("exp", {-value});
    Jet toPower(degree, power * decay);
    if (degree.total()) // (z / e)^z, whose logarithm has the derivative log z
      toPower =
          exponential(z * (logarithmOverValue(z) + s.call("log", {value})) - z, power * decay);
    Jet root = powerOf(z, sqrt(value) * 2.50662827463100050242, 0.5);
    return (root * toPower * inverseGammaOfNext(z)).all();
  };
  Bit large = hasStirling(value);
  SmallVector<Real> y(degree.count(), s.real(1));
  y = s.choose(!large, small, y);
  return Jet(degree, s.choose(large, [&] { return inverse(overStirling(z)).all(); }, y));
}

/// Whether logarithms of a quotient are taken of its distance from 1.
static Bit isNearOne(Real quotient) { return (quotient > 0.4) & (quotient < 2.0); }

/// p (mu - log(1 + mu)), where 1 + mu is the quotient.
Real IncompleteBeta::halfSquare(Real p, Real mu, Real quotient) {
  Real far = mu - s.call("log", {quotient});
  return p * select(isNearOne(quotient), aboveLog(s, mu), far);
}

/// e^-phi sqrt(a b / (2 pi (a + b))) times what gamma is over Stirling's formula, at a + b, a and
/// b. phi is the sum of two squares, which are 0 at the mean.
Jet IncompleteBeta::weight() {
  Jet sum = a + b;
  Real p = a.value(), q = b.value(), r = sum.value();
  Real ofX = x * (r / p), ofY = y.hi * (r / q);
  Real muX = excess / p, muY = -excess / q;
  Real phi = halfSquare(p, muX, ofX) + halfSquare(q, muY, ofY);
  Jet exponent(degree, -phi);
  if (degree.total()) {
    // The derivatives of phi: log(a / (a + b)) - log x, and the same of b.
    auto slope = [&](const Jet &z, Real quotient, Real mu) {
      Bit near = isNearOne(quotient);
      Real log = s.call("log", {quotient});
      log = select(near, s.call("log1p", {select(near, mu, s.real(0))}), log);
      return logarithmOverValue(sum) - logarithmOverValue(z) + log;
    };
    exponent = integrate(-phi, slope(a, ofX, muX), slope(b, ofY, muY));
  }
  Jet root = powerOf(a * b * inverse(sum), sqrt(p * (q / r)) * 0.39894228040143267794, 0.5);
  Jet stirling = inverseStirling(a) * inverseStirling(b) * inverse(inverseStirling(sum));
  return exponential(exponent, s.call("exp", {-phi})) * root * stirling;
}

Jet IncompleteBeta::density() { return weight() * (1.0 / (x * y.hi)); }

//===- the continued fraction ----------------------------------------------===//

/// 1 / (c_0 + d_1 / (c_1 + d_2 / (c_2 + ..))), which divides the weight over a. Terms are taken
/// relative to a, lest products overflow.
Jet IncompleteBeta::fraction(const Jet &a, const Jet &b, Real x, Real y, Real excess) {
  size_t count = degree.count();
  Real unit = 1.0 / select(a.value() > 1.0, a.value(), s.real(1));
  SmallVector<Real> terms = (a * y - b * x + 1.0).all();
  terms[0] = 1.0 - excess;
  Jet start(degree, terms), sum = a + b;
  auto jet = [&](ArrayRef<Real> state, size_t i) {
    return Jet(degree, state.slice(i * count, count));
  };
  // The last divisor, and the numerator and divisor before, over the last numerator. `inverted` is
  // 1 / (a + 2 n + 1).
  auto step = [&](Real steps, MutableArrayRef<Real> state) {
    Jet quotient = jet(state, 0), before = jet(state, 1), divisorBefore = jet(state, 2);
    Jet inverted = jet(state, 3), numerator(degree, s.real(1)), divisor = quotient;
    for (int j = 1; j <= 3; ++j) {
      Real n = steps * 3.0 + static_cast<double>(j);
      Jet decline = (b - Jet(degree, n)) * (n * x) * inverted, rising = (a + (n - 1.0)) * unit;
      if (j == 1) // d_1 is over a.
        rising = select(steps == 0.0, Jet(degree, s.real(1)), rising);
      Jet d = rising * ((sum + (n - 1.0)) * x * inverted) * decline * unit;
      inverted = inverse(a + (n * 2.0 + 1.0));
      Jet c = (decline + (a + n) * inverted * (start + n * (y + 1.0)) + n) * unit;
      Jet next = c * numerator + d * before, nextDivisor = c * divisor + d * divisorBefore;
      before = numerator;
      divisorBefore = divisor;
      numerator = next;
      divisor = nextDivisor;
    }
    Jet one = inverse(numerator), now = divisor * one;
    Bit goesOn = stillMoves(now - quotient, now);
    replaceState(state, {now, before * one, divisorBefore * one, inverted});
    return goesOn;
  };
  Jet inverted = inverse(a + 1.0), first = inverse(start * inverted);
  SmallVector<Real> state;
  for (const Jet &z : {first, first, Jet(degree, s.real(0)), inverted})
    state.append(z.all());
  return jet(s.repeat(x > 0.0, 6000, state, step), 0);
}

Jet IncompleteBeta::ratio() {
  Real p = a.value(), q = b.value();
  // Where b is small, the complement would be near 1.
  Bit lower = (x * (p + q + 2.0) < p + 1.0) | ((q < 1.0) & (x < 0.7));
  Jet first = select(lower, a, b), second = select(lower, b, a);
  Real near = select(lower, x, y.hi), other = select(lower, y.hi, x);
  Jet z = fraction(first, second, near, other, select(lower, excess, -excess));
  Jet share = weight() * inverse(first) * z;
  return select(lower, share, -share + 1.0);
}

//===- the functions -------------------------------------------------------===//

static Bit isFinitePositive(Scalars &s, Real x) { return (x > 0.0) & (x < s.infinity()); }

/// As SciPy's: what is not between has limits, or is NaN.
Real xtensor::emitBetainc(Scalars &s, Real a, Real b, Real x) {
  Bit known = isFinitePositive(s, a) & isFinitePositive(s, b) & (x > 0.0) & (x < 1.0);
  Real one = s.real(1);
  IncompleteBeta call(s, {}, select(known, a, one), select(known, b, one),
                      select(known, x, s.real(0.5)));
  Bit valid = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0);
  Bit noA = a == 0.0, noB = b == 0.0, allA = a == s.infinity(), allB = b == s.infinity();
  Bit bad = !valid | (noA & noB) | (allA & allB);
  Bit full = (x == 1.0) | (!(x == 0.0) & (noA | allB));
  Real edge = select(bad, s.nan(), select(full, 1.0, s.real(0)));
  Real ratio = call.ratio().value(); // or 1 less another one, which may be off by one rounding
  ratio = select(ratio < 0.0, s.real(0), select(ratio > 1.0, one, ratio));
  return select(known, ratio, edge);
}

/// The derivative of orders m and n by a and b of `function`, and `atEdge` where x is 0 or 1.
static Real derivativeBy(Scalars &s, Real m, Real n, Real a, Real b, Real x,
                         Jet (*function)(IncompleteBeta &), Real atEdge) {
  std::optional<int> first = knownOrder(m, 0, 8), second = knownOrder(n, 0, 8);
  if (!first || !second || *first + *second > 8)
    return s.nan();
  Bit positive = isFinitePositive(s, a) & isFinitePositive(s, b);
  Bit known = positive & (x > 0.0) & (x < 1.0);
  Real one = s.real(1);
  IncompleteBeta call(s, {*first, *second}, select(known, a, one), select(known, b, one),
                      select(known, x, s.real(0.5)));
  Real y = function(call).last() * (std::tgamma(*first + 1.0) * std::tgamma(*second + 1.0));
  Bit edge = positive & ((x == 0.0) | (x == 1.0));
  return select(known, y, select(edge, atEdge, s.nan()));
}

Real xtensor::emitBetaincBy(Scalars &s, Real m, Real n, Real a, Real b, Real x) {
  auto ratio = [](IncompleteBeta &call) { return call.ratio(); };
  return derivativeBy(s, m, n, a, b, x, ratio, s.real(0));
}

Real xtensor::emitBetaDensityBy(Scalars &s, Real m, Real n, Real a, Real b, Real x) {
  auto density = [](IncompleteBeta &call) { return call.density(); };
  Real near = select(x == 0.0, a, b), other = select(x == 0.0, b, a);
  Real edge = select(near > 1.0, 0.0, select(near == 1.0, other, s.infinity()));
  return derivativeBy(s, m, n, a, b, x, density, edge);
}
