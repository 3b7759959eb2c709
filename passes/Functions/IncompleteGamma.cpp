// The regularised incomplete gamma functions P(a, x) = gammainc and Q = 1 - P = gammaincc, and
// their derivatives by a. Everything is written on Taylor polynomials in a. One of P and Q is
// computed, the other is its complement, by region:
//  * a from 16 (6 in f32) on and x / a between 0.4 and 2: the uniform expansion of Temme (DLMF
//    8.12) in the form of Gil, Segura and Temme (2012): its coefficients are a recurrence
//    downwards.
//  * x below a, and where P is below 0.7: the series of P, DLMF 8.11.4.
//  * x below 1.1: Q by the series DLMF 8.7.1, in which 1 is taken off exactly.
//  * elsewhere: Legendre's continued fraction of Q, DLMF 8.9.2.
// x^a e^-x / gamma(a + 1) is common to them. Coefficients: interpolation at Chebyshev's nodes,
// error below 2^-27 (f32) and 2^-54 (f64).
#include "Functions/Functions.h"
#include "Functions/IncompleteParts.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

// eta / (lambda - 1) in powers of eta, where eta^2 / 2 = lambda - 1 - log lambda.
static constexpr double kTemme[] = {1.0,
                                    -0.3333333333333333,
                                    0.08333333333333333,
                                    -0.014814814814814815,
                                    0.0011574074074074073,
                                    0.0003527336860670194,
                                    -0.0001787551440329218,
                                    3.919263178522438e-05,
                                    -2.185448510679992e-06,
                                    -1.85406221071516e-06,
                                    8.296711340953087e-07,
                                    -1.7665952736826078e-07,
                                    6.707853543401498e-09,
                                    1.0261809784240309e-08,
                                    -4.382036018453353e-09,
                                    9.14769958223679e-10,
                                    -2.5514193994946248e-11,
                                    -5.830772132550426e-11,
                                    2.4361948020667415e-11,
                                    -5.0276692801141755e-12,
                                    1.1004392031956135e-13,
                                    3.371763262400985e-13,
                                    -1.392388722418162e-13,
                                    2.8534893807047445e-14,
                                    -5.139111834242572e-16,
                                    -1.9752288294349442e-15,
                                    8.099521156704561e-16,
                                    -1.6522531216398162e-16};
static constexpr double kInvRootTwoPi = 0.39894228040143267794, kInvRootPi = 0.56418958354775628695;

static Real minimum(Real x, Real y) { return select(x > y, y, x); }

namespace {

/// One call: everything is of positive finite a and x, but a may be 0.
class IncompleteGamma {
public:
  IncompleteGamma(Scalars &s, Jet::Degree degree, Real a, Real x)
      : s(s), degree(degree), a(Jet::parameter(degree, a)), x(x), large(hasStirling(a)),
        near(large & (x > a * 0.4) & (x < a * 2.0)) {}

  /// P, or Q if `upper`.
  Jet ratio(bool upper);
  /// x^(a-1) e^-x / gamma(a).
  Jet density();

private:
  struct Weight {
    Jet weight;
    /// x to the exponent that was asked for, where a is not large.
    Real power;
  };

  /// x^a e^-x / gamma(a + 1), and divided by x / a if `isDensity`.
  Weight weight(bool isDensity);
  Weight smallWeight(Real exponent);
  /// x^a, given its value.
  Jet powerOfX(Real toPower);
  Jet largeWeight();
  /// e^-phi = (x / a)^a e^(a - x), where phi has the value given; log (x / a).
  Jet exponentialOf(Real phi, Real log);
  Jet inverseRootTwoPiA() { return powerOf(a, kInvRootTwoPi / sqrt(a.value()), -0.5); }

  SmallVector<Real> series(Bit lanes, const Jet &weight);
  SmallVector<Real> nearZero(Real toPower);
  SmallVector<Real> fraction(Bit lanes, const Jet &weight);
  SmallVector<Real> uniform();

  Scalars &s;
  Jet::Degree degree;
  Jet a;
  Real x;
  /// Whether the asymptotic formulas hold: Stirling's, and the uniform expansion.
  Bit large, near;
};

} // namespace

//===- x^a e^-x / gamma(a + 1) ---------------------------------------------===//

IncompleteGamma::Weight IncompleteGamma::smallWeight(Real exponent) {
  // The weight is 0 beyond, where the power might overflow.
  Real bounded = minimum(x, s.real(s.pick(1e3, 1e4)));
  // e^-x itself underflows before the product does.
  Real toPower = s.call("powf", {bounded, exponent}), half = s.call("exp", {bounded * -0.5});
  return {powerOfX(toPower * half) * inverseGammaOfNext(a) * half, toPower};
}

Jet IncompleteGamma::powerOfX(Real toPower) {
  if (!degree.total())
    return Jet(degree, toPower);
  return exponential(Jet::parameter(degree, s.real(0)) * s.call("log", {x}), toPower);
}

Jet IncompleteGamma::exponentialOf(Real phi, Real log) {
  Real value = s.call("exp", {-phi});
  if (!degree.total())
    return Jet(degree, value);
  // d phi / da = -log(x / a), and 1 / a is the derivative of that.
  Jet rate = integrate(log, -inverse(a));
  return exponential(integrate(-phi, rate), value);
}

Jet IncompleteGamma::largeWeight() {
  Real log = s.call("log", {x / a.value()}), mu = (x - a.value()) / a.value();
  Real excess = select(near, aboveLog(s, mu), mu - log);
  Jet stirling = overStirling(a);
  return exponentialOf(a.value() * excess, log) * inverseRootTwoPiA() * inverse(stirling);
}

IncompleteGamma::Weight IncompleteGamma::weight(bool isDensity) {
  Real value = a.value();
  // Of the density, x^a / x below 1, where x^(a - 1) might overflow.
  Bit below = value < 1.0;
  Real exponent = isDensity ? select(below, value, value - 1.0) : value;
  SmallVector<Real> y(degree.count() + 1, s.real(0));
  auto small = [&] {
    auto [weight, toPower] = smallWeight(exponent);
    SmallVector<Real> both = weight.all();
    both.push_back(toPower);
    return both;
  };
  y = s.choose(!large, small, y);
  auto ofLarge = [&] {
    SmallVector<Real> both = largeWeight().all();
    both.push_back(y.back());
    return both;
  };
  y = s.choose(large, ofLarge, y);
  Jet weight(degree, ArrayRef(y).drop_back());
  if (isDensity)
    weight = weight * a * select(below | large, 1.0 / x, s.real(1));
  return {weight, y.back()};
}

Jet IncompleteGamma::density() { return weight(/*isDensity=*/true).weight; }

//===- series and continued fraction ---------------------------------------===//

/// P: the sum of x^k / ((a + 1) .. (a + k)), four terms over one divisor at a time. a and x are
/// taken relative to a, lest products overflow.
SmallVector<Real> IncompleteGamma::series(Bit lanes, const Jet &weight) {
  Real unit = 1.0 / select(a.value() > 1.0, a.value(), s.real(1)), part = x * unit;
  Jet base = a * unit;
  size_t count = degree.count();
  auto step = [&](Real steps, MutableArrayRef<Real> state) {
    Jet sum(degree, state.take_front(count)), term(degree, state.drop_front(count));
    Real power = s.real(1);
    Jet numerator(degree, s.real(0)), divisor(degree, s.real(1));
    for (int j = 1; j <= 4; ++j) {
      Jet next = base + (steps * 4.0 + static_cast<double>(j)) * unit;
      power = power * part;
      numerator = numerator * next + power;
      divisor = divisor * next;
    }
    Jet inverted = inverse(divisor) * term, change = inverted * numerator;
    sum = sum + change;
    replaceState(state, {sum, inverted * power});
    return stillMoves(change, sum);
  };
  SmallVector<Real> start(2 * count, s.real(0));
  start[0] = start[count] = s.real(1);
  SmallVector<Real> end = s.repeat(lanes, 30, start, step);
  return (Jet(degree, ArrayRef(end).take_front(count)) * weight).all();
}

/// Q = 1 - x^a (1 + a g(a)) (1 + a h), of x up to 1.1 and a up to 1, with h the sum of (-x)^n / (n!
/// (a + n)) from n = 1 on, and g as above.
SmallVector<Real> IncompleteGamma::nearZero(Real toPower) {
  Jet h(degree, s.real(0));
  Real power = s.real(1);
  for (int n = 0, terms = s.pick(12, 20); n < terms; n += 4) {
    Jet numerator(degree, s.real(0)), divisor(degree, s.real(1));
    for (int j = n + 1; j <= n + 4; ++j) {
      power = power * x * (-1.0 / j);
      Jet next = a + static_cast<double>(j);
      numerator = numerator * next + divisor * power;
      divisor = divisor * next;
    }
    h = h + numerator * inverse(divisor);
  }
  Jet g = inverseGammaSlope(a);
  Jet powers = powerOfX(toPower);
  SmallVector<Real> aboveOne = powers.all();
  aboveOne[0] = s.call("expm1", {a.value() * s.call("log", {x})});
  return (-(Jet(degree, aboveOne) + powers * a * (g + h + a * g * h))).all();
}

/// Q: x + (1 - a) / (1 + 1 / (x + (2 - a) / (1 + 2 / (x + ..)))) divides x^a e^-x / gamma(a). Its
/// even part has half of the terms, but in that form differences lose digits.
SmallVector<Real> IncompleteGamma::fraction(Bit lanes, const Jet &weight) {
  // Q is 0 beyond, where products might overflow.
  Real far = s.real(s.pick(1e3, 1e4)), bounded = minimum(x, far);
  SmallVector<Real> terms = a.all();
  terms[0] = minimum(terms[0], far);
  Jet order(degree, terms);
  size_t count = degree.count();
  auto jet = [&](ArrayRef<Real> state, size_t i) {
    return Jet(degree, state.slice(i * count, count));
  };
  // The last divisor, and the numerator and divisor before, over the last numerator.
  auto step = [&](Real steps, MutableArrayRef<Real> state) {
    Jet quotient = jet(state, 0), before = jet(state, 1), divisorBefore = jet(state, 2);
    Jet numerator(degree, s.real(1)), divisor = quotient;
    for (int j = 1; j <= 4; ++j) {
      Real n = steps * 4.0 + static_cast<double>(j);
      Jet c = Jet(degree, n) - order;
      before = numerator + c * before;
      divisorBefore = divisor + c * divisorBefore;
      numerator = before * bounded + numerator * n;
      divisor = divisorBefore * bounded + divisor * n;
    }
    Jet one = inverse(numerator), now = divisor * one;
    Bit goesOn = stillMoves(now - quotient, now);
    replaceState(state, {now, before * one, divisorBefore * one});
    return goesOn;
  };
  Jet one(degree, 1.0 / bounded), zero(degree, s.real(0));
  SmallVector<Real> start;
  for (const Jet &x : {one, one, zero})
    start.append(x.all());
  SmallVector<Real> end = s.repeat(lanes, 40, start, step);
  return (jet(end, 0) * weight * a).all();
}

//===- the uniform expansion -----------------------------------------------===//

/// Q = erfc(z) / 2 + R with z^2 = phi, of x from a on, and P = erfc(-z) / 2 - R below. R is e^-phi
/// / sqrt(2 pi a) times a power series in eta = z sqrt(2 / a).
SmallVector<Real> IncompleteGamma::uniform() {
  Real mu = (x - a.value()) / a.value(), halfSquare = aboveLog(s, mu);
  Real phi = a.value() * halfSquare, magnitude = sqrt(halfSquare * 2.0), z = sqrt(phi);
  Bit below = mu < 0.0;
  ArrayRef<double> f = ArrayRef(kTemme).take_front(s.pick(14, 28));
  const int last = f.size() - 2;

  Jet eta(degree, select(below, -magnitude, magnitude));
  for (int i = 0; i < degree.first; ++i) // d eta / da = -1 / (a f(eta)), one power at a time
    eta = integrate(eta.value(), -inverse(a * evaluate({f, f}, eta)));
  Jet weight = exponentialOf(phi, mu - halfSquare), root = inverseRootTwoPiA(),
      inverseA = inverse(a);
  SmallVector<Jet> beta = {Jet(degree, s.real(f[last + 1])), Jet(degree, s.real(f[last]))};
  for (int n = last - 1; n >= 1; --n) // the one of n - 1 comes last
    beta.push_back(beta[beta.size() - 2] * inverseA * (n + 1.0) + f[n]);
  Jet sum = beta.front();
  for (const Jet &coefficient : ArrayRef(beta).drop_front())
    sum = sum * eta + coefficient;
  // gamma(a) over Stirling's formula is 1 + beta_1 / a.
  sum = sum * inverse(beta[beta.size() - 2] * inverseA + 1.0) * root;
  Real other = select(below, -sum.value(), sum.value());
  Real value = weight.value() * (emitErfcx(s, z) * 0.5 + other);
  if (!degree.total())
    return {value};
  // d (erfc(z) / 2) / da = -e^-phi / sqrt(pi) dz / da
  Jet scaled = eta * powerOf(a, sqrt(a.value() * 0.5), 0.5);
  Jet slope = derivative(scaled) * weight * -kInvRootPi;
  Jet q = integrate(s.real(0), slope) + weight * sum;
  SmallVector<Real> terms = select(below, -q, q).all();
  terms[0] = value;
  return terms;
}

//===- the functions -------------------------------------------------------===//

Jet IncompleteGamma::ratio(bool upper) {
  Real value = a.value();
  Weight common = weight(/*isDensity=*/false);
  const Jet &w = common.weight;
  Real toPower = common.power;
  Bit tiny = (x < 1.1) & (value < 1.0) & (toPower > 0.67) & !large;
  Bit lower = !near & !tiny & ((x < value) | (x < 1.1));
  Bit ofFraction = !near & !tiny & !lower;
  SmallVector<Real> y(degree.count(), s.real(0));
  y = s.choose(near, [&] { return uniform(); }, y);
  y = s.choose(lower, [&] { return series(lower, w); }, y);
  y = s.choose(tiny, [&] { return nearZero(toPower); }, y);
  y = s.choose(ofFraction, [&] { return fraction(ofFraction, w); }, y);
  Bit isLower = lower | (near & (x < value));
  Jet computed(degree, y), other = -computed + 1.0;
  return select(isLower, upper ? other : computed, upper ? computed : other);
}

static Bit between0AndInfinity(Scalars &s, Real x) { return (x >= 0.0) & (x < s.infinity()); }

/// As SciPy's: what is not finite or 0 has limits, or is NaN.
static Real ratioOf(Scalars &s, Real a, Real x, bool upper) {
  Bit known = (a > 0.0) & (x > 0.0) & (a < s.infinity()) & (x < s.infinity());
  Real one = s.real(1);
  Jet y = IncompleteGamma(s, {}, select(known, a, one), select(known, x, one)).ratio(upper);
  Bit full = (between0AndInfinity(s, a) & (x == s.infinity())) | ((a == 0.0) & (x > 0.0));
  Bit empty = ((a > 0.0) & (x == 0.0)) | (between0AndInfinity(s, x) & (a == s.infinity()));
  Real edge = select(full, upper ? 0.0 : 1.0, select(empty, upper ? 1.0 : 0.0, s.nan()));
  return select(known, y.value(), edge);
}

Real xtensor::emitGammainc(Scalars &s, Real a, Real x) { return ratioOf(s, a, x, false); }
Real xtensor::emitGammaincc(Scalars &s, Real a, Real x) { return ratioOf(s, a, x, true); }

/// The derivative of order n by a of `function`, where a may be 0, and `atEdge` where x is 0.
static Real derivativeByA(Scalars &s, Real n, Real a, Real x, Jet (*function)(IncompleteGamma &),
                          Real atEdge) {
  std::optional<int> order = knownOrder(n, 0, 8);
  if (!order)
    return s.nan();
  Bit known = between0AndInfinity(s, a) & (x > 0.0) & (x < s.infinity());
  Real one = s.real(1);
  IncompleteGamma call(s, {*order, 0}, select(known, a, one), select(known, x, one));
  Real y = function(call).last() * std::tgamma(*order + 1.0);
  Bit atZero = between0AndInfinity(s, a) & (x == 0.0);
  Bit far = between0AndInfinity(s, a) & (x == s.infinity());
  return select(known, y, select(atZero, atEdge, select(far, 0.0, s.nan())));
}

Real xtensor::emitGammaincByA(Scalars &s, Real n, Real a, Real x) {
  auto ratio = [](IncompleteGamma &call) { return call.ratio(/*upper=*/false); };
  return derivativeByA(s, n, a, x, ratio, s.real(0));
}

Real xtensor::emitGammaDensityByA(Scalars &s, Real n, Real a, Real x) {
  auto density = [](IncompleteGamma &call) { return call.density(); };
  Real atZero = select(a > 1.0, 0.0, select(a == 1.0, 1.0, s.infinity()));
  return derivativeByA(s, n, a, x, density, atZero);
}
