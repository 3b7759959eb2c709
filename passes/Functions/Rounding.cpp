// Functions with exact results: signs, rounding to integers, and remainders.
#include "Functions/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor;

Real xtensor::emitCopysign(Scalars &s, Real x, Real y) { return withSign(abs(x), signOf(y)); }

Real xtensor::emitTrunc(Scalars &s, Real x) { return withSign(floor(abs(x)), signOf(x)); }

/// Halves away from zero.
Real xtensor::emitRound(Scalars &s, Real x) {
  Real magnitude = abs(x), whole = floor(magnitude);
  return withSign(select(magnitude - whole >= 0.5, whole + 1.0, whole), signOf(x));
}

/// Halves to the even neighbour. Adding 2^52 (2^23) to a smaller magnitude rounds it to an integer.
Real xtensor::emitRoundEven(Scalars &s, Real x) {
  double big = s.pick(0x1p23, 0x1p52);
  Real magnitude = abs(x), whole = (magnitude + big) - big;
  return withSign(select(magnitude < big, whole, magnitude), signOf(x));
}

/// C's fmod, exactly: long division of the mantissas. Each step appends `places` zeros to the rest
/// and subtracts a multiple of the divisor, so small that its products with the divisor's halves
/// are exact; the multiple is the nearest, hence rests may be negative until the end.
Real xtensor::emitRemainder(Scalars &s, Real x, Real y) {
  const int32_t places = s.pick(9, 22);
  Real dividend = abs(x), divisor = abs(y);
  auto [a, i] = decompose(s, dividend);
  auto [b, j] = decompose(s, divisor);
  Real b1 = s.leading(b), b2 = b - b1;
  Word steps = i - j; // places of the quotient
  auto subtract = [&, b = b](Real rest, Word count) {
    Real grown = rest * s.powerOfTwo(count);
    Real multiple = nearest(grown / b).first;
    return (grown - multiple * b1) - multiple * b2;
  };
  auto loop = scf::WhileOp::create(
      s, TypeRange{s.type, s.getI32Type()}, ValueRange{a.value, steps.value},
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(s);
        s.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Value more =
            arith::CmpIOp::create(s, arith::CmpIPredicate::sgt, carried[1], s.word(places).value);
        scf::ConditionOp::create(s, more, carried);
      },
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(s);
        s.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Real rest = subtract({carried[0], &s}, s.word(places));
        Word left = Word{carried[1], &s} - places;
        scf::YieldOp::create(s, ValueRange{rest.value, left.value});
      });
  Real rest = subtract({loop.getResult(0), &s}, maxSigned({loop.getResult(1), &s}, 0));
  rest = select(rest < 0.0, rest + b, rest);
  Real result = s.scale(rest, j);
  result = select(dividend < divisor, dividend, result);
  Bit defined = (dividend < s.infinity()) & (divisor <= s.infinity()) & (divisor > 0.0);
  return select(defined, withSign(abs(result), signOf(x)), s.nan());
}
