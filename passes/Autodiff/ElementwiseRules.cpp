// Elementwise partials: one line per op, one formula per operand, from the operands a and b
// and the result y. 0 means that no tangent passes. A third formula is a factor of both.
#include "Autodiff/Rules.h"

using namespace mlir;
using namespace xtensor;

#define D(...)                                                                                     \
  Partial {                                                                                        \
    [](Expr a, Expr b, Expr y) -> Expr { return __VA_ARGS__; }, #__VA_ARGS__                       \
  }

static constexpr double kLn2 = 0.69314718055994530942;
static constexpr double kInvLn10 = 0.43429448190325182765;
static constexpr double kInvLn2 = 1.44269504088896340736;
static constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

/// (1 - a)(1 + a) keeps its digits near one, and 1 - a a those of its derivative near zero: the
/// value of the one with the derivative of the other.
static Expr oneMinusSquare(Expr a) {
  Expr square = 1 - a * a;
  return square + stopGradient((1 - a) * (1 + a) - square);
}

template <typename Op>
static void row(Rules &rules, Partial x) {
  rules.add<Op>({Table::Elementwise, {x}});
}
template <typename Op>
static void row(Rules &rules, Partial lhs, Partial rhs, std::optional<Partial> factor = {}) {
  rules.add<Op>({Table::Elementwise, {lhs, rhs}, factor});
}

void xtensor::addElementwiseRules(Rules &rules) {
  row<AbsOp>(rules, D(sign(a)));
  row<AcosOp>(rules, D(-rsqrt(oneMinusSquare(a))));
  row<AcoshOp>(rules, D(rsqrt(a - 1) * rsqrt(a + 1)));
  row<AsinOp>(rules, D(rsqrt(oneMinusSquare(a))));
  row<AsinhOp>(rules, D(rsqrt(a * a + 1)));
  row<AtanOp>(rules, D(1 / (1 + a * a)));
  row<AtanhOp>(rules, D(1 / oneMinusSquare(a)));
  row<CbrtOp>(rules, D(1 / y / (3 * y)));
  row<CeilOp>(rules, D(0));
  row<CosOp>(rules, D(-sin(a)));
  row<CoshOp>(rules, D(sinh(a)));
  row<ErfOp>(rules, D(kTwoOverSqrtPi * exp(-(a * a))));
  row<ErfcOp>(rules, D(-kTwoOverSqrtPi * exp(-(a * a))));
  row<Exp2Op>(rules, D(kLn2 * y));
  row<ExpOp>(rules, D(y));
  row<Expm1Op>(rules, D(exp(a))); // y + 1 has no digits left where a is far below zero
  row<FloorOp>(rules, D(0));
  row<Log10Op>(rules, D(kInvLn10 / a));
  row<Log1pOp>(rules, D(1 / (1 + a)));
  row<Log2Op>(rules, D(kInvLn2 / a));
  row<LogOp>(rules, D(1 / a));
  row<RoundOp>(rules, D(0));
  row<RsqrtOp>(rules, D(-0.5 * (y * y * y)));
  row<SignOp>(rules, D(0));
  row<SinOp>(rules, D(cos(a)));
  row<SinhOp>(rules, D(cosh(a)));
  row<SqrtOp>(rules, D(0.5 / y));
  row<StopGradientOp>(rules, D(0));
  row<TanOp>(rules, D(1 + y * y));
  row<TanhOp>(rules, D(1 - y * y));
  row<TruncOp>(rules, D(0));

  row<Atan2Op>(rules, D(b), D(-a), D(1 / (a * a + b * b)));
  row<CopysignOp>(rules, D(sign(a) * copysign(1, b)), D(0));
  Rule quotient{Table::Elementwise, {D(1), D(-y)}, D(1 / b)};
  quotient.linearity = Linearity::Jointly;
  quotient.operands = {0};
  rules.add<DivOp>(quotient);
  row<FloorDivOp>(rules, D(0), D(0));
  row<ModOp>(rules, D(1), D(-floorDiv(a, b)));
  // b a^(b-1) is 0 * inf at a = b = 0, where the power is constant in a; y log a has the limit
  // 0 at a = 0. Both forms differentiate again exactly.
  row<PowOp>(rules, D(b * pow(a, where(both(equal(a, 0), equal(b, 0)), 1, b - 1))),
             D(scale(y, log(where(equal(a, 0), 1, a)))));
}
