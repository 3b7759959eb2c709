// Logarithms and the inverse hyperbolic functions. x = m 2^k, f = m - 1, z = f / (2 + f), and
// log m = f - (f^2/2 - z (f^2/2 + r(z^2))), of which the first terms are exact or small: fdlibm's
// form (Sun, 1993). Minimax coefficients, error below 2^-37 (f32) and 2^-59 (f64) of the result.
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

static constexpr double kR32[] = {0.6666666, 0.40000337, 0.2853724, 0.23583546};
static constexpr double kR64[] = {0.6666666666666735,  0.3999999999941111,  0.285714287432593,
                                  0.22222198476224614, 0.18183569732552246, 0.15313903309495017,
                                  0.14797508217555186};
static constexpr Polynomial kR = {kR32, kR64};

Decomposed xtensor::decompose(Scalars &s, Real x) {
  Word top = s.top(x), k = s.word(0);
  Real scaled = x;
  if (s.wide) {
    Bit small = top < 0x00100000;
    scaled = select(small, x * 0x1p54, x);
    top = s.top(scaled);
    k = select(small, s.word(-54), k);
  } else {
    // A device may take subnormal f32 numbers as 0: this reads their representation, which as an
    // integer is x 2^149.
    Bit small = top < 0x00800000;
    scaled = select(small, s.toReal(top), x);
    top = s.top(scaled);
    k = select(small, s.word(-149), k);
  }
  uint32_t one = s.pick(0x3f800000u, 0x3ff00000u), root = s.pick(0x3f3504f3u, 0x3fe6a09eu);
  uint32_t fraction = (1u << s.fractionBits()) - 1;
  top = top + (one - root);
  k = k + (top >> s.word(s.fractionBits())) - s.bias();
  return {s.withTop(scaled, (top & fraction) + root), k};
}

namespace {

/// log m = f - (halfSquare - correction).
struct LogParts {
  Real f, halfSquare, correction;
};

} // namespace

static LogParts logOfReduced(Scalars &s, Real m) {
  Real f = m - 1.0, z = f / (f + 2.0), square = z * z;
  Real halfSquare = f * f * 0.5;
  return {f, halfSquare, z * (halfSquare + square * s.evaluate(kR, square))};
}

/// -infinity of 0, NaN below, infinity and NaN of themselves. The zero is told by its bits, since a
/// device may compare subnormal f32 numbers as equal to it.
static Real atEdges(Scalars &s, Real y, Real x) {
  y = select(x < s.infinity(), y, x);
  Bit zero = s.wide ? x == 0.0 : (s.top(x) << 1) == 0;
  y = select(x < 0.0, s.nan(), y);
  return select(zero, -s.infinity(), y);
}

/// The logarithm of a positive finite x (1 + tail).
static Real logOf(Scalars &s, Real x, Real tail) {
  auto [m, k] = decompose(s, x);
  LogParts p = logOfReduced(s, m);
  Real multiple = s.toReal(k);
  Real low = multiple * s.pick(0x1.7f7d1cp-20, 0x1.473de6af278edp-34) + tail;
  // The larger of the two sums first, its rounding kept.
  Sum head = addExactly(multiple * s.pick(0x1.62e4p-1, 0x1.62e42fefp-1), p.f);
  return head.hi + (head.lo - (p.halfSquare - (p.correction + low)));
}

Real xtensor::emitLog(Scalars &s, Real x) { return atEdges(s, logOf(s, x, s.real(0)), x); }

// -log(1 + f) / f: Chebyshev interpolation, error of the product below 2^-54.7.
static constexpr double kPlainLog64[] = {
    -1.0,
    0.4999999999999992,
    -0.3333333333332591,
    0.25000000000033595,
    -0.20000000002056925,
    0.1666666666349147,
    -0.14285714065198032,
    0.12499999996813993,
    -0.11111122928547465,
    0.10000012799803608,
    -0.09090558863565067,
    0.0833264971300386,
    -0.0769813905960958,
    0.0715930776300252,
    -0.06616916103729839,
    0.06044932248651876,
    -0.0600236262459681,
    0.06793484925253536,
    -0.0624974432991521,
    0.027579154885274428,
};

Real xtensor::emitMinusLog(Scalars &s, Real x) {
  auto [m, k] = s.splitPower(x);
  Real f = m - 1.0;
  return multiplyAdd(k, s.real(-0x1.62e42fefa39efp-1), f * s.evaluate({{}, kPlainLog64}, f));
}

/// log m in two parts, the first short enough for an exact product with the first half of
/// `inverse`; k `unit` is exact for the first part of it.
static Real logToBase(Scalars &s, Real x, std::pair<double, double> inverse,
                      std::pair<double, double> unit) {
  auto [m, k] = decompose(s, x);
  LogParts p = logOfReduced(s, m);
  Real hi = s.leading(p.f - p.halfSquare);
  Real lo = (p.f - hi) - p.halfSquare + p.correction;
  Real multiple = s.toReal(k);
  Sum head = addExactly(multiple * unit.first, hi * inverse.first);
  Real rest = (lo + hi) * inverse.second + lo * inverse.first;
  if (unit.second != 0)
    rest = rest + multiple * unit.second;
  return atEdges(s, head.hi + (head.lo + rest), x);
}

Real xtensor::emitLog2(Scalars &s, Real x) {
  using Pair = std::pair<double, double>;
  return logToBase(
      s, x, s.pick(Pair(0x1.714p0, 0x1.47652cp-12), Pair(0x1.715476p0, 0x1.4ae0bf85ddf44p-26)),
      {1, 0});
}

Real xtensor::emitLog10(Scalars &s, Real x) {
  using Pair = std::pair<double, double>;
  return logToBase(
      s, x, s.pick(Pair(0x1.bcap-2, 0x1.7b1526p-14), Pair(0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28)),
      s.pick(Pair(0x1.344p-2, 0x1.3509f8p-18), Pair(0x1.34413509fp-2, 0x1.e7fbcc47c4acdp-40)));
}

/// log(1 + x + tail) of a finite sum above -1. What 1 + x loses comes back as its share of the sum.
static Real log1pOf(Scalars &s, Real x, Real tail) {
  Sum sum = addExactly(s.real(1), x);
  return logOf(s, sum.hi, (sum.lo + tail) / sum.hi);
}

Real xtensor::emitLog1p(Scalars &s, Real x) {
  Real y = log1pOf(s, x, s.real(0));
  y = select(x < s.infinity(), y, x);
  y = select(x > -1.0, y, s.nan());
  y = select(x == -1.0, -s.infinity(), y);
  return select(abs(x) < s.pick(0x1p-25, 0x1p-54), x, y);
}

//===- inverse hyperbolic --------------------------------------------------===//

/// log(1 + t + tail), or log(x) + log 2 of x so large that the squares in t would overflow: there
/// 1 + t is 2x.
static Real logOfLarge(Scalars &s, Real x, Sum t, Bit large) {
  Real small = log1pOf(s, select(large, x, t.hi), select(large, 0.0, t.lo));
  return select(large, small + 0x1.62e42fefa39efp-1, small);
}

static Bit isLarge(Scalars &s, Real x) { return x > s.pick(0x1p40, 0x1p400); }

/// log(1 + x + x^2 / (1 + sqrt(1 + x^2))).
Real xtensor::emitAsinh(Scalars &s, Real x) {
  Real magnitude = abs(x), square = x * x;
  Sum t = addExactly(magnitude, square / (sqrt(square + 1.0) + 1.0));
  Real y = logOfLarge(s, magnitude, t, isLarge(s, magnitude));
  y = select(magnitude < s.infinity(), y, magnitude);
  y = select(magnitude < s.pick(0x1p-13, 0x1p-28), magnitude, y);
  return withSign(abs(y), signOf(x));
}

/// log(1 + t + sqrt(t (x + 1))) with t = x - 1.
Real xtensor::emitAcosh(Scalars &s, Real x) {
  Sum minusOne = addExactly(x, s.real(-1));
  Sum t = addExactly(minusOne.hi, sqrt(minusOne.hi * (x + 1.0)));
  Real y = logOfLarge(s, x, {t.hi, t.lo + minusOne.lo}, isLarge(s, x));
  y = select(x < s.infinity(), y, x);
  return select(x >= 1.0, y, s.nan());
}

/// log(1 + 2x / (1 - x)) / 2, the quotient in two parts.
Real xtensor::emitAtanh(Scalars &s, Real x) {
  Real magnitude = abs(x), twice = magnitude * 2.0;
  Sum below = addExactly(s.real(1), -magnitude);
  Real quotient = twice / below.hi;
  Sum product = multiplyExactly(quotient, below.hi);
  Real rest = ((twice - product.hi) - product.lo) - quotient * below.lo;
  Real y = log1pOf(s, quotient, rest / below.hi) * 0.5;
  y = select(magnitude < s.pick(0x1p-13, 0x1p-28), magnitude, y);
  y = select(magnitude == 1.0, s.infinity(), y);
  y = select(magnitude <= 1.0, y, s.nan());
  return withSign(abs(y), signOf(x));
}
