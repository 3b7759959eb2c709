// Exponentials and hyperbolic functions. e^x: x = k ln 2 + r with |r| < 0.35, ln 2 in two parts so
// that k times the first is exact, and e^r = 1 + r + r^2 q(r). The sum stays in two parts until the
// end: sinh, cosh and pow need more than one float holds. Coefficients: minimax (Remez), error
// below 2^-33 (f32) and 2^-61 (f64) of the result.
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

static constexpr double kQ32[] = {0.5,         0.16666667,   0.04166635,
                                  0.008333272, 0.0013941207, 0.00019914481};
static constexpr double kQ64[] = {0.5,
                                  0.16666666666666677,
                                  0.0416666666666667,
                                  0.008333333333321436,
                                  0.001388888888886639,
                                  0.00019841269886672789,
                                  2.4801587361408553e-05,
                                  2.7557243609695495e-06,
                                  2.755724204902746e-07,
                                  2.5109261662193918e-08,
                                  2.0924659272125777e-09};
static constexpr Polynomial kQ = {kQ32, kQ64};

/// x = k ln 2 + hi + lo.
static std::pair<Sum, Word> reduce(Scalars &s, Real x) {
  auto [multiple, k] = nearest(x * 0x1.71547652b82fep0);
  Real r = x - multiple * s.pick(0x1.62e4p-1, 0x1.62e42fefp-1);
  Real rest = multiple * s.pick(0x1.7f7d1cp-20, 0x1.473de6af278edp-34);
  Real hi = r - rest;
  return {{hi, (r - hi) - rest}, k};
}

/// e^(hi + lo) - 1 - hi, for a reduced sum.
static Real beyondLinear(Scalars &s, Sum r) {
  return r.lo + r.hi * (r.lo + r.hi * s.evaluate(kQ, r.hi));
}

static Sum exponential(Scalars &s, Sum r) {
  Sum sum = addSmaller(s.real(1), r.hi);
  return {sum.hi, sum.lo + beyondLinear(s, r)};
}

ScaledExp xtensor::emitScaledExp(Scalars &s, Real x, Real tail) {
  auto [r, k] = reduce(s, x);
  Sum factor = exponential(s, addSmaller(r.hi, r.lo + tail));
  return {addSmaller(factor.hi, factor.lo), k};
}

/// 0 and infinity beyond what the type holds; by comparisons that leave NaN alone.
static Real withinRange(Scalars &s, Real y, Real x, double lowest, double highest) {
  y = select(x > highest, s.infinity(), y);
  return select(x < lowest, 0.0, y);
}

Real xtensor::emitExpOfSum(Scalars &s, Real x, Real tail) {
  auto [factor, k] = emitScaledExp(s, x, tail);
  Real y = s.scale(factor.hi, k);
  return withinRange(s, y, x, s.pick(-104.0, -745.5), s.pick(88.8, 709.8));
}

// e^r of -0.3475 < r < 0.6945: minimax, error below 2^-24.4 of the result.
static constexpr double kPlain32[] = {1,          1,        0.50000213, 0.16667007,
                                      0.04162211, 0.008326, 0.0016225};

/// e^x of f32 on CPUs. 2^128 is not a number, so k is at most 127, and r is larger at the end. All
/// coefficients are positive: beyond the range, the polynomial grows to infinity. k is -127 at the
/// other end, where the power is 0.
static Real plainExp(Scalars &s, Real x) {
  x = select(x < -88.0, -88.0, x); // NaN stays
  auto [k, power] = nearestPower(x, 0x1.71547652b82fep0, /*most=*/127);
  Real r = multiplyAdd(k, s.real(-0x1.62e4p-1), x);
  r = multiplyAdd(k, s.real(-0x1.7f7d1cp-20), r);
  return s.evaluate({kPlain32, {}}, r) * power;
}

Real xtensor::emitExp(Scalars &s, Real x) {
  return s.fuses && !s.wide ? plainExp(s, x) : emitExpOfSum(s, x, s.real(0));
}

Real xtensor::emitExp2(Scalars &s, Real x) {
  auto [multiple, k] = nearest(x);
  Real r = x - multiple, leading = s.leading(r);
  // ln 2 in two halves: the first product is exact.
  double first = s.pick(0x1.62ep-1, 0x1.62e42f8p-1);
  Real rest = (r - leading) * first + r * s.pick(0x1.0bfbe8p-15, 0x1.be8e7bcd5e4f2p-27);
  Sum sum = exponential(s, addSmaller(leading * first, rest));
  Real y = s.scale(sum.hi + sum.lo, k);
  return withinRange(s, y, x, s.pick(-151.0, -1076.0), s.pick(128.0, 1024.0));
}

/// (e^x - 1) / 2 = (2^(k-1) - 1/2) + 2^(k-1) (e^r - 1), lest 2^k overflow.
static Real halfExpm1(Scalars &s, Real x) {
  auto [r, k] = reduce(s, x);
  Real half = s.powerOfTwo(k - 1);
  Sum sum = addExactly(half - 0.5, half * r.hi);
  return sum.hi + (sum.lo + half * beyondLinear(s, r));
}

/// The same where an operation multiplies and adds: r and the sum are rounded once, and need no
/// second part.
static Real fusedHalfExpm1(Scalars &s, Real x) {
  auto [multiple, k] = nearest(x * 0x1.71547652b82fep0);
  Real r = multiplyAdd(multiple, s.real(s.pick(-0x1.62e4p-1, -0x1.62e42fefp-1)), x);
  r = multiplyAdd(multiple, s.real(s.pick(-0x1.7f7d1cp-20, -0x1.473de6af278edp-34)), r);
  Real half = s.powerOfTwo(k - 1);
  return multiplyAdd(half, multiplyAdd(r * r, s.evaluate(kQ, r), r), half - 0.5);
}

Real xtensor::emitExpm1(Scalars &s, Real x) {
  Real y = (s.fuses ? fusedHalfExpm1(s, x) : halfExpm1(s, x)) * 2.0;
  y = select(x > s.pick(88.8, 709.8), s.infinity(), y);
  y = select(x < s.pick(-20.0, -40.0), -1.0, y);
  // Zero keeps its sign, and subnormal numbers their last place.
  return select(abs(x) < s.pick(0x1p-25, 0x1p-54), x, y);
}

//===- hyperbolic ----------------------------------------------------------===//

static constexpr double kSinh32[] = {0.16666667, 0.0083333505, 0.00019836066, 2.8174384e-06};
static constexpr double kSinh64[] = {
    0.16666666666666669,    0.008333333333333139,   0.00019841269841437684, 2.7557319155335837e-06,
    2.5052123398745496e-08, 1.6057240325212464e-10, 7.759312716045403e-13};

/// (e^x + sign e^-x) / 2 of a positive x; with e^x = f 2^k, e^-x is 2^-k / f.
static Real halfSum(Scalars &s, Real x, double sign) {
  auto [f, k] = emitScaledExp(s, x, s.real(0));
  // Where 2^-2k is cut off it is far below the last place of the other.
  Word power = maxSigned((k ^ 0xffffffff) + 1, s.pick(-50, -500));
  Real other = s.powerOfTwo(power + power) / f.hi * sign;
  Sum sum = addExactly(f.hi, other);
  Real y = s.scale(sum.hi + (sum.lo + f.lo), k - 1);
  return select(x > s.pick(89.5, 710.5), s.infinity(), y);
}

Real xtensor::emitSinh(Scalars &s, Real x) {
  Real magnitude = abs(x), square = x * x;
  Real far = withSign(halfSum(s, magnitude, -1), signOf(x));
  Real near = x + x * square * s.evaluate({kSinh32, kSinh64}, square);
  return select(magnitude < 1.0, near, far);
}

Real xtensor::emitCosh(Scalars &s, Real x) { return halfSum(s, abs(x), 1); }

// tanh h = h (1 + u p(u)) / (1 + u q(u)) with u = h^2, for |h| < 0.625: minimax coefficients of p
// and q (Remez), error below 2^-38 (f32) and 2^-60 (f64) of the result.
static constexpr double kTanhP32[] = {0.1109594, 0.0010481804};
static constexpr double kTanhP64[] = {0.12815700894683224, 0.0027918602666130526,
                                      7.3493558122166309e-06};
static constexpr double kTanhQ32[] = {0.44429274, 0.01581243};
static constexpr double kTanhQ64[] = {0.46149034228016547, 0.023288641026673244,
                                      0.00020643802884877548};

/// 2|x| = 2h - k ln 2 with k <= 0, and e^2h = (even + odd) / (even - odd), so that one division is
/// enough: tanh |x| = 1 - 2 / (e^2|x| + 1). Near 0, where this would cancel, k is 0, and tanh h - h
/// is below h/8. So the rounding of the sum is most of the error in either case.
Real xtensor::emitTanh(Scalars &s, Real x) {
  Real magnitude = abs(x), last = s.real(s.pick(10.0, 20.0));
  magnitude = select(magnitude > last, last, magnitude); // NaN stays
  auto [k, power] = nearestPower(magnitude, -0x1.71547652b82fep1);
  Real h = multiplyAdd(k, s.real(s.pick(0x1.62e4p-2, 0x1.62e42fefp-2)), magnitude);
  h = multiplyAdd(k, s.real(s.pick(0x1.7f7d1cp-21, 0x1.473de6af278edp-35)), h);
  Bit near = magnitude < 0.625;
  h = select(near, magnitude, h);
  Real u = h * h, cube = h * u;
  Real p = s.evaluate({kTanhP32, kTanhP64}, u), q = s.evaluate({kTanhQ32, kTanhQ64}, u);
  Real odd = multiplyAdd(cube, p, h), even = multiplyAdd(u, q, s.real(1));
  Real scaled = power * (even - odd);
  Real above = select(near, cube * (p - q), scaled * -2.0);
  Real below = select(near, even, (even + odd) + scaled);
  return withSignOf(select(near, magnitude, 1.0) + above / below, x);
}
