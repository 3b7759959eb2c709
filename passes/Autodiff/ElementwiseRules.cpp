// Elementwise partial derivatives: one formula per operand, in terms of the operands a, b, c .. and
// the result y. 0 means that no tangent passes. The formulas stand at the ops
// (dialects/XTensor/ElementwiseOps.td). This file defines the functions that they use.
#include "Autodiff/Rules.h"

#include <limits>

using namespace mlir;
using namespace xtensor;

#define D(...)                                                                                     \
  Partial {                                                                                        \
    [](Expr a, Expr b, Expr c, Expr d, Expr e, Expr y) -> Expr { return __VA_ARGS__; },            \
        #__VA_ARGS__                                                                               \
  }

static constexpr double kLn2 = 0.69314718055994530942;
static constexpr double kInvLn10 = 0.43429448190325182765;
static constexpr double kInvLn2 = 1.44269504088896340736;
static constexpr double kInvSqrtTwoPi = 0.39894228040143267794;
static constexpr double kHalfSqrtPi = 0.88622692545275801365;
static constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// (1 - a)(1 + a) keeps its digits near one, and 1 - a a those of its derivative near zero: the
/// value of the one with the derivative of the other.
static Expr oneMinusSquare(Expr a) {
  Expr square = 1 - a * a;
  return square + stopGradient((1 - a) * (1 + a) - square);
}

/// `a` up to a magnitude of 1, and 1 / a beyond: its square does not overflow.
static Expr foldedAtOne(Expr a) {
  Expr far = less(1, abs(a));
  return where(far, 1 / where(far, a, 1), a);
}

/// 1 / sqrt(1 + a^2).
static Expr slopeOfAsinh(Expr a) {
  Expr t = foldedAtOne(a);
  return where(less(1, abs(a)), abs(t), 1) * rsqrt(1 + t * t);
}

/// 1 / (1 + a^2).
static Expr slopeOfAtan(Expr a) {
  Expr t = foldedAtOne(a);
  return where(less(1, abs(a)), t * t, 1) / (1 + t * t);
}

/// The reciprocal of the larger magnitude, a constant to derivatives. Squares of what is multiplied
/// with it neither overflow nor vanish.
static Expr overLarger(Expr a, Expr b) {
  Expr x = abs(a), y = abs(b);
  Expr over = 1 / where(less(x, y), y, x);
  return stopGradient(where(both(less(0, over), less(over, kInfinity)), over, 1));
}

/// 1 / (a^2 + b^2), over what the partial derivatives are multiplied with.
static Expr slopeOfAngle(Expr a, Expr b, Expr over) {
  Expr x = a * over, y = b * over;
  return over / (x * x + y * y);
}

/// c[0] + c[1] z + c[2] z^2 ..
static Expr polynomial(ArrayRef<double> c, Expr z) {
  Expr sum = c.back();
  for (double next : llvm::reverse(c.drop_back()))
    sum = next + z * sum;
  return sum;
}

/// 2 a y - 2 / sqrt(pi), whose terms cancel far out. There it is the sum over k > 0 of (2k - 1)!!
/// (-z)^k, times 2 / sqrt(pi), at z = 1 / (2 a^2) (DLMF 7.12.1).
static Expr slopeOfErfcx(Expr a, Expr y) {
  constexpr int kTerms = 13; // the next one is below 1e-16 of the sum
  Expr far = less(10, a), over = 1 / where(far, a, 1), z = 0.5 * over * over;
  Expr sum = 1;
  for (int k = kTerms; k > 1; --k)
    sum = 1 - (2 * k - 1.0) * z * sum;
  return where(far, -kTwoOverSqrtPi * z * sum, 2 * where(far, 0, a) * y - kTwoOverSqrtPi);
}

/// From here on, 12 terms of the series in 1 / |a| of quotients of Bessel functions have an error
/// of 1e-15. They follow from DLMF 10.40.1.
static constexpr double kFarBessel = 60;
/// i1 / i0 - 1, and i0 / i1 - 1 - 1 / |a|.
static constexpr double kQuotient[] = {0,
                                       -1. / 2,
                                       -1. / 8,
                                       -1. / 8,
                                       -25. / 128,
                                       -13. / 32,
                                       -1073. / 1024,
                                       -103. / 32,
                                       -375733. / 32768,
                                       -23797. / 512,
                                       -55384775. / 262144,
                                       -2180461. / 2048};
static constexpr double kInverseQuotient[] = {0,
                                              -1. / 2,
                                              3. / 8,
                                              3. / 8,
                                              63. / 128,
                                              27. / 32,
                                              1899. / 1024,
                                              81. / 16,
                                              543483. / 32768,
                                              32427. / 512,
                                              72251109. / 262144,
                                              2752623. / 2048};

/// `near`, and far out, where its terms cancel, y times a series.
static Expr orFarBessel(Expr near(Expr a, Expr y), ArrayRef<double> series, Expr a, Expr y) {
  Expr far = less(kFarBessel, abs(a));
  Expr over = 1 / where(far, abs(a), 1);
  return where(far, sign(a) * y * polynomial(series, over), near(where(far, 1, a), y));
}
static Expr slopeOfI0e(Expr a, Expr y) {
  auto near = [](Expr a, Expr y) { return i1e(a) - sign(a) * y; };
  return orFarBessel(near, kQuotient, a, y);
}
static Expr slopeOfI1e(Expr a, Expr y) {
  auto near = [](Expr a, Expr y) {
    Expr small = less(a * a, 1);
    return i0e(a) - y * sign(a) -
           where(small, exp(-abs(a)) * besselSeries(a * a * 0.25), y / where(small, 1, a));
  };
  return orFarBessel(near, kInverseQuotient, a, y);
}

/// i0(a) - y / a. If y is infinite, so is i0(a).
static Expr slopeOfI1(Expr a, Expr y) {
  Expr small = less(a * a, 1), finite = where(equal(y - y, 0), y, 0);
  return i0(a) - where(small, besselSeries(a * a * 0.25), finite / where(small, 1, a));
}

/// The derivative by x of the one of order n by a of the gamma distribution's density, which is y:
/// that of density ((a - 1) / x - 1).
static Expr slopeOfGammaDensity(Expr n, Expr a, Expr x, Expr y) {
  Expr slope = scale((a - 1) / x - 1, y);
  return n.is(0) ? slope : slope + n / x * gammaDensityByA(n - 1, a, x);
}

/// The same of the beta distribution: that of density ((a - 1) / x - (b - 1) / (1 - x)).
static Expr slopeOfBetaDensity(Expr m, Expr n, Expr a, Expr b, Expr x, Expr y) {
  Expr slope = scale((a - 1) / x - (b - 1) / (1 - x), y);
  if (!m.is(0))
    slope = slope + m / x * betaDensityBy(m - 1, n, a, b, x);
  if (!n.is(0))
    slope = slope - n / (1 - x) * betaDensityBy(m, n - 1, a, b, x);
  return slope;
}

template <typename Op>
static void row(Rules &rules, std::initializer_list<Partial> partials,
                std::optional<Partial> factor = {}) {
  rules.add<Op>({Table::Elementwise, partials, factor});
}

void xtensor::addElementwiseRules(Rules &rules) {
#define XTENSOR_PARTIAL_RULE(Op, ...) row<Op>(rules, __VA_ARGS__);
#include "XTensor/XTensorElementwise.inc"
  row<StopGradientOp>(rules, {D(0)});
  Rule quotient{Table::Elementwise, {D(1), D(-y)}, D(1 / b)};
  quotient.linearity = Linearity::Jointly;
  quotient.operands = {0};
  rules.add<DivOp>(quotient);
}
