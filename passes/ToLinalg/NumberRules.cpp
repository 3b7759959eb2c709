// What each elementwise op computes of one element: the cases
// where integers or NaN need care. Nothing here traps or is undefined, whatever the operands.
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {

/// Builds on numbers of one compute type.
struct Numbers : ImplicitLocOpBuilder {
  Numbers(OpBuilder &b, Location loc, Type type, bool isUnsigned)
      : ImplicitLocOpBuilder(loc, b), type(type), isUnsigned(isUnsigned) {}
  Type type;
  bool isUnsigned;

  bool isFloat() const { return isa<FloatType>(type); }
  Value number(double value) {
    if (isFloat())
      return arith::ConstantOp::create(*this, getFloatAttr(type, value));
    APInt integer(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value), /*isSigned=*/true,
                  /*implicitTrunc=*/true);
    return arith::ConstantOp::create(*this, getIntegerAttr(type, integer));
  }
  Value cmp(CmpFPredicate p, Value x, Value y) { return createOrFold<arith::CmpFOp>(p, x, y); }
  Value cmp(CmpIPredicate p, Value x, Value y) { return createOrFold<arith::CmpIOp>(p, x, y); }
  Value select(Value c, Value x, Value y) { return createOrFold<arith::SelectOp>(c, x, y); }
  template <typename Op>
  Value of(Value x) {
    return createOrFold<Op>(x);
  }
  template <typename Op>
  Value of(Value x, Value y) {
    return createOrFold<Op>(x, y);
  }
  /// The float or the integer form.
  template <typename Float, typename Integer>
  Value either(Value x, Value y) {
    return isFloat() ? of<Float>(x, y) : of<Integer>(x, y);
  }
};

} // namespace

/// What one op of the math dialect computes, or a function that it lacks.
static Value emitFunction(Numbers &b, Operation *op, ValueRange x) {
#define XTENSOR_MATH_FUNCTION(Op, Math)                                                            \
  if (isa<Op>(op))                                                                                 \
    return b.createOrFold<math::Math>(x);
#define XTENSOR_ELEMENTARY_FUNCTION(Op, name, ...)                                                 \
  if (isa<Op>(op))                                                                                 \
    return ElementaryOp::create(b, b.type, name, x);
#include "XTensor/XTensorElementwise.inc"
  return {};
}

//===- of one number -------------------------------------------------------===//

static Value emitSign(Numbers &b, Value x) {
  Value zero = b.number(0), one = b.number(1);
  if (b.isFloat()) {
    // NaN is what is left when no comparison holds.
    Value rest = b.select(b.cmp(CmpFPredicate::OEQ, x, zero), zero, x);
    rest = b.select(b.cmp(CmpFPredicate::OLT, x, zero), b.number(-1), rest);
    return b.select(b.cmp(CmpFPredicate::OGT, x, zero), one, rest);
  }
  if (b.isUnsigned)
    return b.select(b.cmp(CmpIPredicate::ne, x, zero), one, zero);
  Value rest = b.select(b.cmp(CmpIPredicate::slt, x, zero), b.number(-1), zero);
  return b.select(b.cmp(CmpIPredicate::sgt, x, zero), one, rest);
}

static Value emitAbs(Numbers &b, Value x) {
  if (b.isFloat())
    return b.of<math::AbsFOp>(x);
  if (b.isUnsigned)
    return x;
  return b.select(b.cmp(CmpIPredicate::slt, x, b.number(0)), b.of<arith::SubIOp>(b.number(0), x),
                  x);
}

static Value emitFloatTest(Numbers &b, Operation *op, Value x) {
  if (isa<IsnanOp>(op))
    return b.cmp(CmpFPredicate::UNO, x, x);
  Value inf = b.number(std::numeric_limits<double>::infinity());
  return b.cmp(isa<IsinfOp>(op) ? CmpFPredicate::OEQ : CmpFPredicate::OLT, b.of<math::AbsFOp>(x),
               inf);
}

/// A float outside of the integer's range becomes the nearest integer, NaN 0: the plain
/// conversion would be undefined. Where no float is the largest integer (2^31 - 1 in f32), what
/// lies above is converted from the next float below and replaced afterwards.
static Value emitFloatToInteger(Numbers &b, Value x, Type to, bool isUnsigned) {
  unsigned width = to.getIntOrFloatBitWidth();
  auto type = cast<FloatType>(x.getType());
  bool exact = false;
  auto bound = [&](APInt integer) -> Value {
    APFloat value(type.getFloatSemantics());
    exact = value.convertFromAPInt(integer, !isUnsigned, APFloat::rmTowardZero) == APFloat::opOK;
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  };
  APInt largest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value low = bound(isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
  Value high = bound(largest);
  x = b.select(b.cmp(CmpFPredicate::UNO, x, x), b.number(0), x);
  x = b.select(b.cmp(CmpFPredicate::OLT, x, low), low, x);
  Value above = b.cmp(CmpFPredicate::OGT, x, high);
  x = b.select(above, high, x);
  Value y =
      isUnsigned ? b.createOrFold<arith::FPToUIOp>(to, x) : b.createOrFold<arith::FPToSIOp>(to, x);
  if (exact)
    return y;
  return b.select(above, arith::ConstantOp::create(b, b.getIntegerAttr(to, largest)), y);
}

static Value emitCast(Numbers &b, Value x, Type result) {
  Type to = computeType(result);
  if (b.isFloat()) {
    if (result.isInteger(1))
      return b.cmp(CmpFPredicate::UNE, x, b.number(0));
    if (!isa<FloatType>(to))
      return emitFloatToInteger(b, x, to, isUnsigned(result));
    // Straight to the final precision: rounding twice is not rounding once.
    Type target = isHalf(result) ? result : to;
    unsigned from = b.type.getIntOrFloatBitWidth(), width = target.getIntOrFloatBitWidth();
    if (width < from)
      return b.createOrFold<arith::TruncFOp>(target, x);
    return width > from ? b.createOrFold<arith::ExtFOp>(target, x) : x;
  }
  if (isa<FloatType>(to))
    return b.isUnsigned ? b.createOrFold<arith::UIToFPOp>(to, x)
                        : b.createOrFold<arith::SIToFPOp>(to, x);
  if (result.isInteger(1))
    return b.cmp(CmpIPredicate::ne, x, b.number(0));
  unsigned from = b.type.getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (width < from)
    return b.createOrFold<arith::TruncIOp>(to, x);
  if (width == from)
    return x;
  return b.isUnsigned ? b.createOrFold<arith::ExtUIOp>(to, x)
                      : b.createOrFold<arith::ExtSIOp>(to, x);
}

//===- of two numbers ------------------------------------------------------===//

/// Quotient rounded down and remainder with the divisor's sign, as NumPy's: by zero both are 0,
/// and the lowest integer by -1 wraps instead of trapping.
static std::pair<Value, Value> emitIntegerDivision(Numbers &b, Value x, Value y) {
  Value zero = b.number(0), one = b.number(1);
  Value byZero = b.cmp(CmpIPredicate::eq, y, zero);
  if (b.isUnsigned) {
    Value safe = b.select(byZero, one, y);
    return {b.select(byZero, zero, b.of<arith::DivUIOp>(x, safe)),
            b.select(byZero, zero, b.of<arith::RemUIOp>(x, safe))};
  }
  Value byMinusOne = b.cmp(CmpIPredicate::eq, y, b.number(-1));
  Value safe = b.select(byMinusOne, one, b.select(byZero, one, y));
  Value quotient = b.of<arith::DivSIOp>(x, safe);
  Value rest = b.of<arith::SubIOp>(x, b.of<arith::MulIOp>(quotient, safe));
  Value inexact = b.cmp(CmpIPredicate::ne, rest, zero);
  Value signs = b.cmp(CmpIPredicate::slt, b.of<arith::XOrIOp>(rest, safe), zero);
  Value adjust = b.of<arith::AndIOp>(inexact, signs);
  quotient = b.select(adjust, b.of<arith::SubIOp>(quotient, one), quotient);
  rest = b.select(adjust, b.of<arith::AddIOp>(rest, safe), rest);
  quotient = b.select(byMinusOne, b.of<arith::SubIOp>(zero, x), quotient);
  return {b.select(byZero, zero, quotient), b.select(byZero, zero, rest)};
}

/// As NumPy's npy_divmod (numpy/core/src/npymath/npy_math_internal.h.src): from fmod, so that
/// quotient and remainder fit each other exactly.
static std::pair<Value, Value> emitFloatDivision(Numbers &b, Value x, Value y) {
  Value zero = b.number(0), one = b.number(1);
  Value rest = b.of<arith::RemFOp>(x, y), ratio = b.of<arith::DivFOp>(x, y);
  Value byZero = b.cmp(CmpFPredicate::OEQ, y, zero);
  Value inexact = b.cmp(CmpFPredicate::UNE, rest, zero);
  Value signs = b.of<arith::XOrIOp>(b.cmp(CmpFPredicate::OLT, y, zero),
                                    b.cmp(CmpFPredicate::OLT, rest, zero));
  Value adjust = b.of<arith::AndIOp>(inexact, signs);
  Value quotient = b.of<arith::DivFOp>(b.of<arith::SubFOp>(x, rest), y);
  quotient = b.select(adjust, b.of<arith::SubFOp>(quotient, one), quotient);
  Value adjusted = b.select(adjust, b.of<arith::AddFOp>(rest, y), rest);
  adjusted = b.select(inexact, adjusted, b.of<math::CopySignOp>(zero, y));
  Value floor = b.of<math::FloorOp>(quotient);
  Value above = b.cmp(CmpFPredicate::OGT, b.of<arith::SubFOp>(quotient, floor), b.number(0.5));
  floor = b.select(above, b.of<arith::AddFOp>(floor, one), floor);
  floor = b.select(b.cmp(CmpFPredicate::UNE, quotient, zero), floor,
                   b.of<math::CopySignOp>(zero, ratio));
  return {b.select(byZero, ratio, floor), b.select(byZero, rest, adjusted)};
}

/// Powers by squaring, wrapping; the exponent counts as unsigned.
static Value emitUnsignedPower(Numbers &b, Value x, Value y) {
  APInt exponent;
  if (matchPattern(y, m_ConstantInt(&exponent))) {
    Value result = b.number(1);
    for (; !exponent.isZero(); exponent = exponent.lshr(1)) {
      if (exponent[0])
        result = b.of<arith::MulIOp>(result, x);
      if (exponent.ugt(1))
        x = b.of<arith::MulIOp>(x, x);
    }
    return result;
  }
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, i); };
  auto loop = scf::ForOp::create(
      b, index(0), index(b.type.getIntOrFloatBitWidth()), index(1), ValueRange{b.number(1), x, y},
      [&](OpBuilder &inner, Location loc, Value, ValueRange carried) {
        Numbers n(inner, loc, b.type, b.isUnsigned);
        Value one = n.number(1), result = carried[0], square = carried[1], rest = carried[2];
        Value odd = n.cmp(CmpIPredicate::ne, n.of<arith::AndIOp>(rest, one), n.number(0));
        Value more = n.select(odd, n.of<arith::MulIOp>(result, square), result);
        scf::YieldOp::create(n, ValueRange{more, n.of<arith::MulIOp>(square, square),
                                           n.of<arith::ShRUIOp>(rest, one)});
      });
  return loop.getResult(0);
}

/// To a negative exponent: the integer part, which is 0 unless the base is 1 or -1. For these the
/// exponent's last bit decides, with or without its sign.
static Value emitIntegerPower(Numbers &b, Value x, Value y) {
  Value power = emitUnsignedPower(b, x, y);
  APInt exponent;
  if (b.isUnsigned || (matchPattern(y, m_ConstantInt(&exponent)) && exponent.isNonNegative()))
    return power;
  Value zero = b.number(0);
  Value unit = b.of<arith::OrIOp>(b.cmp(CmpIPredicate::eq, x, b.number(1)),
                                  b.cmp(CmpIPredicate::eq, x, b.number(-1)));
  Value defined = b.of<arith::OrIOp>(b.cmp(CmpIPredicate::sge, y, zero), unit);
  return b.select(defined, power, zero);
}

/// The exponents for which NumPy takes a shortcut, too, and 3.
static Value emitPower(Numbers &b, Value x, Value y) {
  if (!b.isFloat())
    return emitIntegerPower(b, x, y);
  FloatAttr exponent;
  if (matchPattern(y, m_Constant(&exponent))) {
    double p = exponent.getValueAsDouble();
    if (p == 0.0)
      return b.number(1);
    if (p == 1.0)
      return x;
    if (p == 2.0)
      return b.of<arith::MulFOp>(x, x);
    if (p == 3.0)
      return b.of<arith::MulFOp>(b.of<arith::MulFOp>(x, x), x);
    if (p == -1.0)
      return b.of<arith::DivFOp>(b.number(1), x);
    if (p == 0.5)
      return b.of<math::SqrtOp>(x);
  }
  return b.of<math::PowFOp>(x, y);
}

static Value emitShift(Numbers &b, Operation *op, Value x, Value count) {
  unsigned width = b.type.getIntOrFloatBitWidth();
  // A negative count is a large one.
  Value far = b.cmp(CmpIPredicate::uge, count, b.number(width));
  if (isa<ShrOp>(op) && !b.isUnsigned)
    return b.of<arith::ShRSIOp>(x, b.select(far, b.number(width - 1), count));
  Value safe = b.select(far, b.number(0), count);
  Value shifted = isa<ShlOp>(op) ? b.of<arith::ShLIOp>(x, safe) : b.of<arith::ShRUIOp>(x, safe);
  return b.select(far, b.number(0), shifted);
}

static Value emitCompare(Numbers &b, ComparePredicate predicate, Value x, Value y) {
  unsigned i = static_cast<unsigned>(predicate);
  if (b.isFloat()) {
    static const CmpFPredicate table[] = {CmpFPredicate::OEQ, CmpFPredicate::UNE,
                                          CmpFPredicate::OLT, CmpFPredicate::OLE,
                                          CmpFPredicate::OGT, CmpFPredicate::OGE};
    return b.cmp(table[i], x, y);
  }
  static const CmpIPredicate isSigned[] = {CmpIPredicate::eq,  CmpIPredicate::ne,
                                           CmpIPredicate::slt, CmpIPredicate::sle,
                                           CmpIPredicate::sgt, CmpIPredicate::sge};
  static const CmpIPredicate notSigned[] = {CmpIPredicate::eq,  CmpIPredicate::ne,
                                            CmpIPredicate::ult, CmpIPredicate::ule,
                                            CmpIPredicate::ugt, CmpIPredicate::uge};
  return b.cmp((b.isUnsigned ? notSigned : isSigned)[i], x, y);
}

static Value emitExtremum(Numbers &b, bool larger, Value x, Value y) {
  if (b.isUnsigned)
    return larger ? b.of<arith::MaxUIOp>(x, y) : b.of<arith::MinUIOp>(x, y);
  return larger ? b.either<arith::MaximumFOp, arith::MaxSIOp>(x, y)
                : b.either<arith::MinimumFOp, arith::MinSIOp>(x, y);
}

static Value emitDivision(Numbers &b, bool quotient, Value x, Value y) {
  auto [floor, rest] = b.isFloat() ? emitFloatDivision(b, x, y) : emitIntegerDivision(b, x, y);
  return quotient ? floor : rest;
}

Value xtensor::emitElement(OpBuilder &builder, Operation *op, ValueRange v, Type element,
                           Type result) {
  Numbers b(builder, op->getLoc(), computeType(element), isUnsigned(element));
  Value x = v.front(), y = v.size() > 1 ? v[1] : Value();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<IsnanOp, IsinfOp, IsfiniteOp>([&](auto) { return emitFloatTest(b, op, x); })
      .Case<AbsOp>([&](auto) { return emitAbs(b, x); })
      .Case<NegOp>([&](auto) {
        return b.isFloat() ? b.of<arith::NegFOp>(x) : b.of<arith::SubIOp>(b.number(0), x);
      })
      .Case<NotOp>([&](auto) { return b.of<arith::XOrIOp>(x, b.number(-1)); })
      .Case<SignOp>([&](auto) { return emitSign(b, x); })
      .Case<CastOp>([&](auto) { return emitCast(b, x, result); })
      .Case<AddOp>([&](auto) { return b.either<arith::AddFOp, arith::AddIOp>(x, y); })
      .Case<SubOp>([&](auto) { return b.either<arith::SubFOp, arith::SubIOp>(x, y); })
      .Case<MulOp>([&](auto) { return b.either<arith::MulFOp, arith::MulIOp>(x, y); })
      .Case<DivOp>([&](auto) { return b.of<arith::DivFOp>(x, y); })
      .Case<FloorDivOp>([&](auto) { return emitDivision(b, /*quotient=*/true, x, y); })
      .Case<ModOp>([&](auto) { return emitDivision(b, /*quotient=*/false, x, y); })
      .Case<PowOp>([&](auto) { return emitPower(b, x, y); })
      .Case<MaximumOp>([&](auto) { return emitExtremum(b, /*larger=*/true, x, y); })
      .Case<MinimumOp>([&](auto) { return emitExtremum(b, /*larger=*/false, x, y); })
      .Case<AndOp>([&](auto) { return b.of<arith::AndIOp>(x, y); })
      .Case<OrOp>([&](auto) { return b.of<arith::OrIOp>(x, y); })
      .Case<XorOp>([&](auto) { return b.of<arith::XOrIOp>(x, y); })
      .Case<ShlOp, ShrOp>([&](auto) { return emitShift(b, op, x, y); })
      .Case<ScaleOp>([&](auto) {
        Value dead = b.cmp(CmpFPredicate::OEQ, y, b.number(0));
        return b.select(dead, b.number(0), b.of<arith::MulFOp>(x, y));
      })
      .Case<CompareOp>(
          [&](CompareOp compare) { return emitCompare(b, compare.getPredicate(), x, y); })
      .Case<SelectOp>([&](auto) { return b.select(x, y, v[2]); })
      .Default([&](Operation *) { return emitFunction(b, op, v); });
}
