// erf and erfc. erf x = x + x p(x^2) up to 1. erfc x = e^(-x^2) g(t) / (1 + 2x) with t = (x - 4) /
// (x + 4), in which g is smooth over the whole range (Shepherd and Laframboise, 1981); x^2 goes
// into the exponential exactly. Minimax coefficients, error below 2^-34 and 2^-27 (f32), 2^-68 and
// 2^-59 (f64).
#include "GPU/Functions.h"

using namespace mlir;
using namespace xtensor;

static constexpr double kErf32[] = {0.12837917,   -0.37612638,    0.11283782,     -0.026865397,
                                    0.0052209343, -0.00084826536, 0.000112555834, -9.637359e-06};
static constexpr double kErf64[] = {
    0.1283791670955126,     -0.37612638903183754,   0.11283791670955119,    -0.02686617064512972,
    0.005223977625421892,   -0.0008548327021839373, 0.00012055332898727661, -1.4925647445906922e-05,
    1.6462043007814276e-06, -1.636460871508801e-07, 1.4792090887512993e-08, -1.2162702165417782e-09,
    8.70256640601463e-11,   -4.220949840730513e-12};
static constexpr double kTail32[] = {1.2329952,    -0.13962103, 0.015380073, 0.068093136,
                                     -0.10105038,  0.09377913,  -0.0662145,  0.036983214,
                                     -0.016695622, 0.005189276};
static constexpr double kTail64[] = {
    1.2329951186255526,     -0.1396211168405625,     0.015379652102619523,
    0.06809705425468895,    -0.10103906603628782,    0.093732834998509,
    -0.06633036581269106,   0.03716751553433956,     -0.016197734050960592,
    0.0050319700123663946,  -0.0007577733456373573,  -0.00019925692431081685,
    0.00015062197203047418, -2.4398225693373342e-05, -1.122302232092127e-05,
    5.7069218601073365e-06, 2.9595965529858804e-07,  -8.201643936567276e-07,
    7.173415327556584e-08,  1.0381444079588552e-07,  -1.5712180838756654e-08,
    -9.85374533586692e-09,  1.116755127436093e-09};

static Real nearZero(Scalars &s, Real x) { return x + x * s.evaluate({kErf32, kErf64}, x * x); }

/// erfc of x from 3/4 on. Where each rounding would show, numbers are in two parts.
static Real complement(Scalars &s, Real x) {
  Real t = (x - 4.0) / (x + 4.0);
  ArrayRef<double> c = s.pick(ArrayRef(kTail32), ArrayRef(kTail64));
  Sum g = addSmaller(s.real(c.front()), t * s.evaluate({c.drop_front(), c.drop_front()}, t));
  Sum divisor = addExactly(x * 2.0, s.real(1));
  Real inverse = 1.0 / divisor.hi, quotient = g.hi * inverse;
  Sum product = multiplyExactly(quotient, divisor.hi);
  Real rest = (g.hi - product.hi) - product.lo + (g.lo - quotient * divisor.lo);
  Sum square = multiplyExactly(x, x);
  auto [factor, k] = emitScaledExp(s, -square.hi, -square.lo);
  Real y = factor.hi * quotient + (factor.lo * quotient + factor.hi * (rest * inverse));
  return select(x > s.pick(10.5, 28.0), 0.0, s.scale(y, k));
}

Real xtensor::emitErf(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Real far = select(magnitude > s.pick(4.5, 6.5), 1.0, 1.0 - complement(s, magnitude));
  return select(magnitude < 1.0, nearZero(s, x), withSign(far, signOf(x)));
}

Real xtensor::emitErfc(Scalars &s, Real x) {
  Real magnitude = abs(x), far = complement(s, magnitude);
  far = select(x < 0.0, 2.0 - far, far);
  Bit near = (x < 0.75) & (x > -1.0);
  return select(near, 1.0 - nearZero(s, x), far);
}
