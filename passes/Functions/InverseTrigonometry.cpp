// asin, acos, atan, atan2: polynomials around 0, to which arguments are brought by identities whose
// constants are in two parts. Minimax coefficients, error below 2^-31 (f32) and 2^-59 (f64).
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

static constexpr double kAsin32[] = {0.1666666,   0.07500504,  0.04451696,
                                     0.031807702, 0.014438648, 0.037516415};
static constexpr double kAsin64[] = {
    0.1666666666666676,   0.07499999999970801,  0.04464285717461033,  0.030381942707864852,
    0.022372214985214536, 0.017351612059318868, 0.013980819982439061, 0.011398916930426663,
    0.010780226262882888, 0.003706508763813122, 0.021707204842444545, -0.020998721527936953,
    0.032628411631113886};
static constexpr double kAtan32[] = {-0.3333333,  0.19999905,  -0.14282028,
                                     0.110449165, -0.08477369, 0.047460325};
static constexpr double kAtan64[] = {
    -0.33333333333333326,  0.1999999999999767,  -0.14285714285388007, 0.1111111108817727,
    -0.09090908144493903,  0.07692282757536946, -0.06666226735911976, 0.058770215416333864,
    -0.052184024461934875, 0.04503540355727116, -0.03347421873439124, 0.015194884205543465};

static constexpr double kPi = 0x1.921fb54442d18p1;

/// What pi / 2^shift has beyond its nearest float.
static double piRest(Scalars &s, int shift) {
  return std::ldexp(s.pick(-0x1.777a5cp-24, 0x1.1a62633145c07p-53), -shift);
}

namespace {

/// asin x = x + x tail up to 1/2. Beyond, asin x = pi/2 - 2 asin(root), and asin(root) = root.hi +
/// root.lo.
struct ArcSine {
  Real tail;
  Sum root;
};

} // namespace

static ArcSine arcSine(Scalars &s, Real x, Real magnitude, Bit large) {
  Real square = select(large, (1.0 - magnitude) * 0.5, x * x);
  Real tail = square * s.evaluate({kAsin32, kAsin64}, square);
  // The root in two parts, the square of the first of which is exact.
  Real root = sqrt(square), leading = s.leading(root);
  Real rest = (square - leading * leading) / (root + leading);
  rest = select(square == 0.0, 0.0, rest);
  return {tail, {leading, rest + root * tail}};
}

Real xtensor::emitAsin(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Bit large = magnitude > 0.5;
  ArcSine a = arcSine(s, x, magnitude, large);
  Sum head = addSmaller(s.real(kPi / 2), a.root.hi * -2.0);
  Real far = head.hi + (head.lo - (a.root.lo * 2.0 - piRest(s, 1)));
  Real y = select(large, withSign(abs(far), signOf(x)), x + x * a.tail);
  return select(magnitude <= 1.0, y, s.nan());
}

Real xtensor::emitAcos(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Bit large = magnitude > 0.5;
  ArcSine a = arcSine(s, x, magnitude, large);
  Real twiceRest = a.root.lo * 2.0, twice = a.root.hi * 2.0;
  Sum fromPi = addSmaller(s.real(kPi), -twice);
  Real below = fromPi.hi + (fromPi.lo - (twiceRest - piRest(s, 0)));
  Sum fromHalf = addSmaller(s.real(kPi / 2), -x);
  Real near = fromHalf.hi + (fromHalf.lo - (x * a.tail - piRest(s, 1)));
  Real y = select(large, select(x < 0.0, below, twice + twiceRest), near);
  return select(magnitude <= 1.0, y, s.nan());
}

/// The angle of a point in the first quadrant, from 0, pi/4 or pi/2, whichever is nearer. `y / x`
/// is handed in when it is known.
static Sum angleOf(Scalars &s, Real y, Real x, bool xIsOne) {
  Bit low = y < x * 0x1.a827999fcef32p-2, middle = y < x * 0x1.3504f333f9de6p1;
  Real up = select(low, y, select(middle, y - x, -x));
  Real down = select(low, x, select(middle, y + x, y));
  Real t = up / down;
  if (xIsOne)
    t = select(low, y, t); // a device's quotient by 1 need not be exact
  Real square = t * t;
  Real base = select(low, 0.0, select(middle, s.real(kPi / 4), s.real(kPi / 2)));
  Real baseRest = select(low, 0.0, select(middle, s.real(piRest(s, 2)), s.real(piRest(s, 1))));
  Sum head = addSmaller(base, t);
  return {head.hi, head.lo + (baseRest + t * square * s.evaluate({kAtan32, kAtan64}, square))};
}

Real xtensor::emitAtan(Scalars &s, Real x) {
  Sum angle = angleOf(s, abs(x), s.real(1), /*xIsOne=*/true);
  return withSign(abs(angle.hi + angle.lo), signOf(x));
}

Real xtensor::emitAtan2(Scalars &s, Real y, Real x) {
  Real up = abs(y), right = abs(x);
  // The diagonals at infinity; and sums that would overflow.
  Bit bothInfinite = (up == s.infinity()) & (right == s.infinity());
  double huge = s.pick(0x1p125, 0x1p1021);
  Real shrink = select((up > huge) | (right > huge), 0x1p-4, s.real(1));
  Real scaledUp = select(bothInfinite, 1.0, up * shrink);
  Real scaledRight = select(bothInfinite, 1.0, right * shrink);
  Sum angle = angleOf(s, scaledUp, scaledRight, /*xIsOne=*/false);
  Bit zero = s.wide ? up == 0.0 : s.top(up) == 0;
  angle = {select(zero, 0.0, angle.hi), select(zero, 0.0, angle.lo)};
  // On the left: from pi.
  Bit left = !(signOf(x) == 0);
  Sum other = addSmaller(s.real(kPi), -angle.hi);
  Real result =
      select(left, other.hi + (other.lo + (s.real(piRest(s, 0)) - angle.lo)), angle.hi + angle.lo);
  result = withSign(abs(result), signOf(y));
  return select(isNan(x) | isNan(y), s.nan(), result);
}
