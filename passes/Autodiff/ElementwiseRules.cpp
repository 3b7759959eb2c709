// Elementwise partial derivatives: one formula per operand, in terms of the operands a, b, c .. and
// the result y. 0 means that no tangent passes. The formulas stand at the ops
// (dialects/XTensor/ElementwiseOps.td). This file defines the functions that they use.
#include "Autodiff/Rules.h"

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

/// (1 - a)(1 + a) keeps its digits near one, and 1 - a a those of its derivative near zero: the
/// value of the one with the derivative of the other.
static Expr oneMinusSquare(Expr a) {
  Expr square = 1 - a * a;
  return square + stopGradient((1 - a) * (1 + a) - square);
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
