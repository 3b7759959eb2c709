// Quotients and square roots for devices that round them inexactly: Vulkan allows an f32 quotient
// to be off by 2.5 units, and a root by more. The error is computed exactly and added, twice.
// Arguments are scaled to about 1 first, so that no part of a product is lost.
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

Real xtensor::emitQuotient(Scalars &s, Real x, Real y) {
  Real dividend = abs(x), divisor = abs(y);
  auto [a, i] = decompose(s, dividend);
  auto [b, j] = decompose(s, divisor);
  Real inverse = 1.0 / b, quotient = a * inverse;
  for (int step = 0; step < 2; ++step) {
    Sum product = multiplyExactly(quotient, b);
    quotient = quotient + ((a - product.hi) - product.lo) * inverse;
  }
  // Powers that `scale` can write down; beyond, the result is 0 or infinity anyway.
  int32_t most = 2 * s.bias() - 2;
  Real known = s.scale(quotient, minSigned(maxSigned(i - j, -most), most));
  known = withSign(known, signOf(x) ^ signOf(y));
  auto isNumber = [&](Real v) { return (v > 0.0) & (v < s.infinity()); };
  return select(isNumber(dividend) & isNumber(divisor), known, x / y);
}

Real xtensor::emitSquareRoot(Scalars &s, Real x) {
  auto [m, k] = decompose(s, x);
  Real square = m * s.powerOfTwo(k & 1), root = sqrt(square), half = 0.5 / root;
  for (int step = 0; step < 2; ++step) {
    Sum product = multiplyExactly(root, root);
    root = root + ((square - product.hi) - product.lo) * half;
  }
  Real y = root * s.powerOfTwo(shiftSigned(k, 1));
  Real special = select(x < 0.0, s.nan(), x);
  return select((x > 0.0) & (x < s.infinity()), y, special);
}
