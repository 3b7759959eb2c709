// Logarithm of the gamma function, digamma and its derivatives. From where the asymptotic series
// (in 1 / x^2) has all digits on, they are that. Below, recurrences lead to an interval where a
// polynomial is times the zeros: lgamma x = (x - 1)(x - 2) p(x) on 3/4 .. 11/4 and digamma x = (x -
// x0) q(x) on 1 .. 3. Negative arguments are reflected. Coefficients: interpolation at Chebyshev's
// nodes, error below 2^-29 (f32) and 2^-56 (f64).
#include "Functions/Functions.h"
#include "Functions/Jets.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

static constexpr double kLgamma32[] = {
    0.4501393,      -0.119481586,  0.0445205,     -0.019053986,  0.008775287,   -0.004225603,
    0.002104003,    -0.0010651877, 0.0005128826,  -0.0002657225, 0.00021265486, -0.00011344881,
    -2.6257094e-05, 1.4775698e-05, 4.5299163e-05, -2.4604196e-05};
static constexpr double kLgamma64[] = {
    0.4501393121092563,      -0.11948158662524275,    0.044520447198510664,
    -0.019053957830248113,   0.00877637042516715,     -0.004226194125866701,
    0.0020955338830903497,   -0.0010605660770861306,  0.0005448969322147684,
    -0.0002831905905746476,  0.0001485174139856411,   -7.846210345096175e-05,
    4.1700720487418327e-05,  -2.2278838193224283e-05, 1.1972902784510436e-05,
    -6.449795252206204e-06,  3.424831579687299e-06,   -1.855744320050835e-06,
    1.1622817782051711e-06,  -6.350349415172561e-07,  6.392596791774698e-08,
    -3.244389167716215e-08,  3.99703879081997e-07,    -2.2209444123749484e-07,
    -2.514006698048096e-07,  1.4036143642610907e-07,  1.7999491028651663e-07,
    -1.0030149494820178e-07, -6.301825020322408e-08,  3.5136732458557174e-08,
    1.321011857669034e-08,   -7.358499365145031e-09};
static constexpr double kStirling32[] = {0.08333333, -0.0027771739, 0.0007566165};
static constexpr double kStirling64[] = {
    0.08333333333333333,   -0.0027777777777723326, 0.0007936507883923287, -0.000595236181747733,
    0.0008414167838139826, -0.0018871615196687694, 0.004993442825244263};
static constexpr double kDigamma32[] = {
    0.7853075,     -0.26073897,    0.108999975,  -0.049551062,  0.023446025,   -0.011337791,
    0.0055623245,  -0.0027446074,  0.0013198373, -0.000656163,  0.00041394526, -0.00020656725,
    2.2954607e-07, -7.6140914e-08, 6.336105e-05, -3.1672927e-05};
static constexpr double kDigamma64[] = {
    0.7853075386041053,      -0.2607389546830014,     0.10899991701762841,
    -0.04955103291766767,    0.023447309597562315,    -0.011338432553553088,
    0.005552254176163854,    -0.002739572878878444,   0.001358142115660262,
    -0.0006753134172771423,  0.00033643307392409804,  -0.00016781485745549608,
    8.377541533754836e-05,   -4.1847758637407615e-05, 2.090944279433702e-05,
    -1.043615113408139e-05,  5.216485445131201e-06,   -2.6450069563210817e-06,
    1.322327646207658e-06,   -5.878282013270488e-07,  2.938946209899294e-07,
    -2.5162239592946485e-07, 1.258090299216334e-07,   4.46741085718643e-08,
    -2.2337287908168016e-08, -6.628736705562654e-08,  3.314365249205256e-08,
    2.0501183895194647e-08,  -1.0250592958849892e-08, -5.4669888399440215e-09,
    2.7334936115473567e-09};
static constexpr double kDigammaTail32[] = {0.083333336, -0.00833299, 0.003940102, -0.003397054};
static constexpr double kDigammaTail64[] = {
    0.08333333333333333,  -0.008333333333331664, 0.003968253965999701, -0.004166665501516725,
    0.007575459920369176, -0.02105106090804774,  0.08002337465397756,  -0.299425370626735};
static constexpr double kSine32[] = {3.1415927,   -5.1677127, 2.5501633,
                                     -0.59925216, 0.08205035, -0.007028304};
static constexpr double kSine64[] = {
    3.141592653589793,     -5.167712780049969,      2.5501640398773007,
    -0.5992645293189447,   0.0821458865731029,      -0.007370430505916944,
    0.0004662998161898394, -2.1903497074626018e-05, 7.697826768224191e-07};

/// sin(pi r) of r up to 1/2.
static Real sineOfPi(Scalars &s, Real r) { return r * s.evaluate({kSine32, kSine64}, r * r); }

/// What x is above the nearest integer: nothing where there are only integers, and x + 1/2 is
/// rounded.
static Real aboveInteger(Scalars &s, Real x) {
  return select(abs(x) < s.pick(0x1p23, 0x1p52), x - floor(x + 0.5), 0.0);
}

//===- lgamma --------------------------------------------------------------===//

/// Of positive x, and of negative x above -1/4.
static Real lgammaOf(Scalars &s, Real x) {
  const int steps = s.pick(2, 5);
  Bit small = x < 0.75, large = x >= 2.75 + steps;
  Real z = select(small, x + 1.0, x), product = select(small, x, s.real(1));
  for (int i = 0; i < steps; ++i) {
    Bit above = z >= 2.75;
    Real lower = z - 1.0;
    product = select(above, product * lower, product);
    z = select(above, lower, z);
  }
  Real logarithm = s.call("log", {select(large, x, abs(product))});
  Real inverse = 1.0 / x;
  Real series = s.evaluate({kStirling32, kStirling64}, inverse * inverse) * inverse;
  Real far = (x - 0.5) * (logarithm - 1.0) + (series + 0.41893853320467274178);
  auto near = [&] {
    return (z - 1.0) * (z - 2.0) * s.evaluate({kLgamma32, kLgamma64}, z - 1.75) +
           select(small, -logarithm, logarithm);
  };
  return s.choose(!large, near, far);
}

/// lgamma(-a) = log(pi / (a sin(pi a))) - lgamma a. Poles are infinite.
Real xtensor::emitLgamma(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Bit reflects = x <= -0.25;
  Real y = lgammaOf(s, select(reflects, magnitude, x));
  auto reflected = [&] {
    Real sine = abs(sineOfPi(s, aboveInteger(s, magnitude)));
    Real sum = s.call("log", {0x1.921fb54442d18p1 / (magnitude * sine)}) - y;
    return select(sine == 0.0, s.infinity(), sum);
  };
  y = s.choose(reflects, reflected, y);
  return select(magnitude == s.infinity(), s.infinity(), y);
}

//===- digamma -------------------------------------------------------------===//

/// Of positive x below 3 + steps.
static Real digammaNear(Scalars &s, Real x, int steps) {
  Bit small = x < 1.0;
  // What recurrences add, as one quotient.
  Real z = select(small, x + 1.0, x);
  Real numerator = select(small, s.real(-1), s.real(0)), divisor = select(small, x, s.real(1));
  for (int i = 0; i < steps; ++i) {
    Bit above = z >= 3.0;
    Real lower = z - 1.0;
    numerator = select(above, numerator * lower + divisor, numerator);
    divisor = select(above, divisor * lower, divisor);
    z = select(above, lower, z);
  }
  // The zero in two parts.
  Real fromZero = (z - s.pick(0x1.762d86p0, 0x1.762d86356be3fp0)) -
                  s.pick(1.2438149938918909e-08, 9.549995429965697e-17);
  return fromZero * s.evaluate({kDigamma32, kDigamma64}, z - 2.0) + numerator / divisor;
}

static Real digammaOf(Scalars &s, Real x) {
  const int steps = s.pick(1, 5);
  Real inverse = 1.0 / x, square = inverse * inverse;
  Real far = s.call("log", {x}) -
             (inverse * 0.5 + square * s.evaluate({kDigammaTail32, kDigammaTail64}, square));
  return s.choose(!(x >= 3.0 + steps), [&] { return digammaNear(s, x, steps); }, far);
}

/// cot(pi x).
static Real cotangentOfPi(Scalars &s, Real x) {
  Real r = aboveInteger(s, x);
  return sineOfPi(s, 0.5 - abs(r)) / sineOfPi(s, r);
}

/// digamma x = digamma(1 - x) - pi cot(pi x). Poles are NaN, and infinite at 0, as SciPy has them.
Real xtensor::emitDigamma(Scalars &s, Real x) {
  Bit below = x < 0.0;
  Real y = digammaOf(s, select(below, 1.0 - x, x));
  auto reflected = [&] {
    Real sum = y - cotangentOfPi(s, x) * 0x1.921fb54442d18p1;
    return select(aboveInteger(s, x) == 0.0, s.nan(), sum);
  };
  return s.choose(below, reflected, y);
}

//===- polygamma -----------------------------------------------------------===//

static Real power(Real x, int n) {
  Real y = n % 2 ? x : x.s->real(1);
  for (; n > 1; n /= 2) {
    x = x * x;
    if (n / 2 % 2)
      y = y * x;
  }
  return y;
}

/// d^n/dx^n cot(pi x) is pi^n p_n(cot(pi x)) with p_0 = c and p_(n+1) = -(1 + c^2) p_n'.
static SmallVector<double> derivativeOfCotangent(int n) {
  SmallVector<double> p = {0, 1};
  for (; n > 0; --n) {
    SmallVector<double> next(p.size() + 1, 0);
    for (size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= i * p[i];
      next[i + 1] -= i * p[i];
    }
    p = next;
  }
  return p;
}

/// The sum of (x + k)^-(n+1) for all k, by Euler and Maclaurin. `raise` is x^n: with one factor
/// more it would underflow where the sum does not.
static Real sumOfPowers(Scalars &s, Real n, Real x, llvm::function_ref<Real(Real)> raise) {
  // Bernoulli's number 2j over (2j)!.
  static constexpr double kBernoulli[] = {
      8.33333333333333333e-02,  -1.38888888888888889e-03, 3.30687830687830688e-05,
      -8.26719576719576720e-07, 2.08767569878680990e-08,  -5.28419013868749318e-10,
      1.33825365306846788e-11,  -3.38968029632258287e-13, 8.58606205627784456e-15,
      -2.17486869855806187e-16, 5.50900282836022952e-18,  -1.39544646858125233e-19};
  const int terms = s.pick(5, 10), corrections = s.pick(6, 12);
  Real last = x + static_cast<double>(terms), inverse = 1.0 / last, square = inverse * inverse;
  Real tail = 1.0 / n + inverse * 0.5, rising = square * (n + 1.0);
  for (int j = 0; j < corrections; ++j) {
    tail = tail + rising * kBernoulli[j];
    double next = 2 * j;
    rising = rising * ((n + (next + 2)) * (n + (next + 3))) * square;
  }
  Real sum = tail * raise(inverse);
  for (int k = terms - 1; k >= 0; --k) {
    Real term = 1.0 / (k ? x + static_cast<double>(k) : x);
    sum = sum + raise(term) * term;
  }
  return select(x == s.infinity(), 0.0, sum);
}

Real xtensor::emitPolygamma(Scalars &s, Real n, Real x) {
  Bit below = x < 0.0;
  Real y = select(below, 1.0 - x, x), edge = aboveInteger(s, x);
  std::optional<int> order = knownOrder(n, 1, 20);
  if (!order) {
    Real sum = sumOfPowers(s, n, y, [&](Real inverse) { return s.call("powf", {inverse, n}); });
    sum = sum * s.call("exp", {lgammaOf(s, n + 1.0)});
    Bit odd = n - floor(n * 0.5) * 2.0 == 1.0;
    return select(below, s.nan(), select(odd, sum, -sum));
  }
  double factorial = std::tgamma(*order + 1), sign = *order % 2 ? 1 : -1;
  Real sum =
      sumOfPowers(s, s.real(*order), y, [&](Real inverse) { return power(inverse, *order); }) *
      factorial;
  SmallVector<double> p = derivativeOfCotangent(*order);
  double scale = std::pow(0x1.921fb54442d18p1, *order + 1);
  auto reflected = [&] { return -sum - s.evaluate({p, p}, cotangentOfPi(s, x)) * scale; };
  Bit pole = (x <= 0.0) & (edge == 0.0);
  return select(pole, s.infinity() * sign, s.choose(below, reflected, sum * sign));
}
