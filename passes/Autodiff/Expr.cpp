#include "Autodiff/Expr.h"

#include "XTensor/Dims.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

Expr::Expr(Context &context, Value value) : context(&context), value(value) {
  Value source = value;
  while (auto broadcast = source.getDefiningOp<BroadcastOp>())
    source = broadcast.getX();
  DenseElementsAttr known;
  if (!isFloat(source) || !matchPattern(source, m_Constant(&known)) || !known.isSplat())
    return;
  APFloat splat = known.getSplatValue<APFloat>();
  bool inexact;
  splat.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  this->value = Value();
  number = splat.convertToDouble();
}

Value Expr::materialize(Context &context) const {
  return value ? value : scalar(context.builder, context.builder.getLoc(), context.element, number);
}

template <typename Op, typename Fold>
Expr Expr::unary(Expr x, Fold fold) {
  if (x.isNumber())
    return Expr(fold(x.number));
  return {*x.context, Op::create(x.context->builder, x.value)};
}

template <typename Op>
Expr Expr::ofOperands(std::initializer_list<Expr> x) {
  Context *context = llvm::find_if(x, [](const Expr &e) { return e.context; })->context;
  SmallVector<Value> operands;
  for (const Expr &e : x)
    operands.push_back(e.materialize(*context));
  return {*context, Op::create(context->builder, operands)};
}

template <typename Op, typename Fold>
Expr Expr::binary(Expr x, Expr y, Fold fold) {
  if (x.isNumber() && y.isNumber())
    return Expr(fold(x.number, y.number));
  Context &context = x.isNumber() ? *y.context : *x.context;
  return {context, Op::create(context.builder, x.materialize(context), y.materialize(context))};
}

namespace xtensor {

Expr operator+(Expr x, Expr y) {
  return Expr::binary<AddOp>(x, y, [](double a, double b) { return a + b; });
}
Expr operator-(Expr x, Expr y) {
  return Expr::binary<SubOp>(x, y, [](double a, double b) { return a - b; });
}
Expr operator*(Expr x, Expr y) {
  if (x.is(1))
    return y;
  if (y.is(1))
    return x;
  if (x.is(-1))
    return -y;
  if (y.is(-1))
    return -x;
  return Expr::binary<MulOp>(x, y, [](double a, double b) { return a * b; });
}
Expr operator/(Expr x, Expr y) {
  if (y.is(1))
    return x;
  return Expr::binary<DivOp>(x, y, [](double a, double b) { return a / b; });
}
Expr operator-(Expr x) {
  return Expr::unary<NegOp>(x, [](double a) { return -a; });
}

Expr abs(Expr x) {
  return Expr::unary<AbsOp>(x, [](double a) { return std::abs(a); });
}
Expr cos(Expr x) {
  return Expr::unary<CosOp>(x, [](double a) { return std::cos(a); });
}
Expr cosh(Expr x) {
  return Expr::unary<CoshOp>(x, [](double a) { return std::cosh(a); });
}
Expr exp(Expr x) {
  return Expr::unary<ExpOp>(x, [](double a) { return std::exp(a); });
}
Expr log(Expr x) {
  return Expr::unary<LogOp>(x, [](double a) { return std::log(a); });
}
Expr rsqrt(Expr x) {
  return Expr::unary<RsqrtOp>(x, [](double a) { return 1 / std::sqrt(a); });
}
Expr sign(Expr x) {
  return Expr::unary<SignOp>(x, [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; });
}
Expr sin(Expr x) {
  return Expr::unary<SinOp>(x, [](double a) { return std::sin(a); });
}
Expr sinh(Expr x) {
  return Expr::unary<SinhOp>(x, [](double a) { return std::sinh(a); });
}
Expr stopGradient(Expr x) {
  return Expr::unary<StopGradientOp>(x, [](double a) { return a; });
}

Expr digamma(Expr x) { return Expr::ofOperands<DigammaOp>({x}); }
Expr i0(Expr x) { return Expr::ofOperands<I0Op>({x}); }
Expr i0e(Expr x) { return Expr::ofOperands<I0eOp>({x}); }
Expr i1(Expr x) { return Expr::ofOperands<I1Op>({x}); }
Expr i1e(Expr x) { return Expr::ofOperands<I1eOp>({x}); }
Expr j0(Expr x) { return Expr::ofOperands<J0Op>({x}); }
Expr j1(Expr x) { return Expr::ofOperands<J1Op>({x}); }
Expr y0(Expr x) { return Expr::ofOperands<Y0Op>({x}); }
Expr y1(Expr x) { return Expr::ofOperands<Y1Op>({x}); }
Expr polygamma(Expr order, Expr x) { return Expr::ofOperands<PolygammaOp>({order, x}); }
Expr betaincBy(Expr m, Expr n, Expr a, Expr b, Expr x) {
  return Expr::ofOperands<BetaincByOp>({m, n, a, b, x});
}
Expr betaDensityBy(Expr m, Expr n, Expr a, Expr b, Expr x) {
  return Expr::ofOperands<BetaDensityByOp>({m, n, a, b, x});
}
Expr gammaincByA(Expr order, Expr a, Expr x) {
  return Expr::ofOperands<GammaincByAOp>({order, a, x});
}
Expr gammaDensityByA(Expr order, Expr a, Expr x) {
  return Expr::ofOperands<GammaDensityByAOp>({order, a, x});
}

Expr copysign(Expr x, Expr y) {
  return Expr::binary<CopysignOp>(x, y, [](double a, double b) { return std::copysign(a, b); });
}
Expr floorDiv(Expr x, Expr y) {
  return Expr::binary<FloorDivOp>(x, y, [](double a, double b) { return std::floor(a / b); });
}
Expr pow(Expr x, Expr y) {
  if (y.is(0))
    return 1;
  if (y.is(1))
    return x;
  return Expr::binary<PowOp>(x, y, [](double a, double b) { return std::pow(a, b); });
}
Expr scale(Expr x, Expr y) {
  if (y.is(0))
    return 0;
  return Expr::binary<ScaleOp>(x, y, [](double a, double b) { return b == 0 ? 0 : a * b; });
}

Expr equal(Expr x, Expr y) {
  if (x.isNumber() && y.isNumber())
    return x.number == y.number;
  Expr::Context &context = x.isNumber() ? *y.context : *x.context;
  return {context, CompareOp::create(context.builder, ComparePredicate::eq, x.materialize(context),
                                     y.materialize(context))};
}
Expr less(Expr x, Expr y) {
  if (x.isNumber() && y.isNumber())
    return x.number < y.number;
  Expr::Context &context = x.isNumber() ? *y.context : *x.context;
  return {context, CompareOp::create(context.builder, ComparePredicate::lt, x.materialize(context),
                                     y.materialize(context))};
}
Expr besselSeries(Expr z) {
  constexpr int kTerms = 10; // the next one is below 1e-17 of the sum
  double coefficients[kTerms] = {0.5};
  for (int k = 1; k < kTerms; ++k)
    coefficients[k] = coefficients[k - 1] / (k * (k + 1.0));
  Expr sum = coefficients[kTerms - 1];
  for (int k = kTerms - 1; k > 0; --k)
    sum = coefficients[k - 1] + z * sum;
  return sum;
}
Expr isnan(Expr x) {
  return Expr::unary<IsnanOp>(x, [](double a) { return std::isnan(a); });
}
Expr both(Expr x, Expr y) {
  if (x.is(0) || y.is(0))
    return 0;
  if (x.isNumber())
    return y;
  if (y.isNumber())
    return x;
  return Expr::binary<AndOp>(x, y, [](double, double) { return 0.0; });
}
Expr either(Expr x, Expr y) {
  if (x.is(0))
    return y;
  if (y.is(0))
    return x;
  if (x.isNumber() || y.isNumber())
    return 1;
  return Expr::binary<OrOp>(x, y, [](double, double) { return 0.0; });
}
Expr where(Expr condition, Expr x, Expr y) {
  if (condition.isNumber())
    return condition.is(0) ? y : x;
  Expr::Context &context = *condition.context;
  return {context, SelectOp::create(context.builder, condition.value, x.materialize(context),
                                    y.materialize(context))};
}

} // namespace xtensor
