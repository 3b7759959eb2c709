// Powers and roots.
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

//===- pow -----------------------------------------------------------------===//

// log m = 2 z + z^3 (2/3 + z^2 (2/5 + z^2 p(z^2))), z = (m - 1) / (m + 1). All but p is in two
// parts: the logarithm needs the 10 places (7 in f32) more that multiplying by the exponent costs.
static constexpr double kTail32[] = {0.285716, 0.22198105, 0.19268575};
static constexpr double kTail64[] = {0.2857142857143319,  0.2222222222000138, 0.18181818607214392,
                                     0.15384572755767037, 0.133357693134135,  0.11684904514114583,
                                     0.11912197716033154};

/// To twice the places, nearly.
static Sum multiply(Sum x, Sum y) {
  Sum product = multiplyExactly(x.hi, y.hi);
  return {product.hi, product.lo + (x.hi * y.lo + x.lo * y.hi)};
}

static Sum accurateLog(Scalars &s, Real x) {
  auto [m, k] = decompose(s, x);
  Real f = m - 1.0;
  Sum divisor = addSmaller(s.real(2), f);
  Real z = f / divisor.hi;
  Sum product = multiplyExactly(z, divisor.hi);
  Real zRest = (((f - product.hi) - product.lo) - z * divisor.lo) / divisor.hi;
  Sum square = multiplyExactly(z, z);
  square.lo = square.lo + z * zRest * 2.0;
  Sum cube = multiplyExactly(z, square.hi);
  cube.lo = cube.lo + (z * square.lo + zRest * square.hi);
  Real last = square.hi * s.evaluate({kTail32, kTail64}, square.hi);
  Sum fifth = addSmaller(s.real(0x1.999999999999ap-2), last);
  fifth.lo = fifth.lo + s.pick(-0x1.99999ap-28, -0x1.999999999999ap-56);
  fifth = multiply(square, fifth);
  Sum third = addSmaller(s.real(0x1.5555555555555p-1), fifth.hi);
  third.lo = third.lo + (fifth.lo + s.pick(-0x1.555556p-26, 0x1.5555555555555p-55));
  Sum term = multiply(cube, third);

  Real multiple = s.toReal(k);
  Sum sum = addExactly(multiple * s.pick(0x1.62e4p-1, 0x1.62e42fefp-1), z * 2.0);
  Real rest = sum.lo + zRest * 2.0 + multiple * s.pick(0x1.7f7d1cp-20, 0x1.473de6af278edp-34);
  sum = addSmaller(sum.hi, term.hi);
  return addSmaller(sum.hi, sum.lo + (rest + term.lo));
}

Real xtensor::emitPow(Scalars &s, Real x, Real y) {
  Real magnitude = abs(x);
  Sum log = accurateLog(s, magnitude);
  // The logarithm nearest to 0 is 2^-53 (2^-24): larger exponents change no result, but their
  // products would overflow.
  double largest = s.pick(0x1p36, 0x1p68);
  Real exponent = select(y > largest, largest, y);
  exponent = select(y < -largest, -largest, exponent);
  Sum product = multiplyExactly(exponent, log.hi);
  product = addSmaller(product.hi, product.lo + exponent * log.lo);
  Real power = emitExpOfSum(s, product.hi, product.lo);

  Bit zero = s.wide ? magnitude == 0.0 : s.top(magnitude) == 0;
  Bit falling = y < 0.0;
  power = select(zero, select(falling, s.infinity(), s.real(0)), power);
  power = select(magnitude == s.infinity(), select(falling, s.real(0), s.infinity()), power);

  // A negative base: the sign is that of an odd exponent, other roots are not real.
  Real half = y * 0.5;
  Bit whole = floor(y) == y, odd = whole & !(floor(half) == half);
  Word sign = select(odd, signOf(x), s.word(0));
  Bit unreal = (x < 0.0) & !whole & (magnitude < s.infinity()) & !zero;
  power = withSign(select(unreal, s.nan(), power), sign);
  power = select(isNan(x) | isNan(y), s.nan(), power);
  return select((y == 0.0) | (x == 1.0), 1.0, power);
}

//===- roots ---------------------------------------------------------------===//

// The cube root of m between the roots of 1/2 and 2, to 12 places.
static constexpr double kCubeRoot[] = {0.49250197, 0.73973763, -0.29039553, 0.05822526};

/// A guess, improved by steps of Halley's (each triples the right places), the last of them from a
/// root so short that its square is exact, as fdlibm's (Sun, 1993).
Real xtensor::emitCbrt(Scalars &s, Real x) {
  Real magnitude = abs(x);
  auto [m, k] = decompose(s, magnitude);
  // k + 1200 = 3 third + rest: positive, so that a multiplication divides.
  Word shifted = k + 1200;
  Word third = (shifted * 0x5556) >> 16;
  Word rest = shifted - third * 3;
  Real root = s.evaluate({kCubeRoot, kCubeRoot}, m);
  root = root * select(rest == 0, 1.0,
                       select(rest == 1, 0x1.428a2f98d728bp0, s.real(0x1.965fea53d6e3dp0)));
  Real target = m * s.powerOfTwo(rest);
  auto improve = [&](Real t) {
    Real quotient = target / (t * t);
    return t + t * ((quotient - t) / (t + t + quotient));
  };
  if (s.wide)
    root = improve(root);
  root = improve(s.leading(root)) * s.powerOfTwo(third - 400);
  root = select(magnitude < s.infinity(), root, magnitude);
  Bit zero = s.wide ? magnitude == 0.0 : s.top(magnitude) == 0;
  return withSign(select(zero, magnitude, root), signOf(x));
}

Real xtensor::emitRsqrt(Scalars &s, Real x) { return 1.0 / sqrt(x); }
