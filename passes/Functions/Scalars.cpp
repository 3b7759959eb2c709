// Operations on numbers of kernels, and the exact sums and products that two floats can hold.
#include "Functions/Scalars.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===- constants -----------------------------------------------------------===//

Value Scalars::constant(TypedAttr value) {
  if (vector)
    value = DenseElementsAttr::get(cast<VectorType>(shaped(value.getType())), value);
  return arith::ConstantOp::create(*this, value);
}

Real Scalars::real(double value) { return {constant(getFloatAttr(type, value)), this}; }

Word Scalars::word(uint32_t value) {
  return {constant(getIntegerAttr(getI32Type(), APInt(32, value))), this};
}

Real Scalars::number(const APFloat &value) { return {constant(getFloatAttr(type, value)), this}; }
Real Scalars::infinity() { return number(APFloat::getInf(type.getFloatSemantics())); }
Real Scalars::nan() { return number(APFloat::getQNaN(type.getFloatSemantics())); }

Real Scalars::evaluate(const Polynomial &p, Real x) {
  ArrayRef<double> c = wide ? p.wide : p.single;
  // On CPUs, several chains of operations that do not wait for each other.
  size_t chains = !fuses || c.size() < 8 ? 1 : c.size() < 16 ? 2 : 4;
  auto chain = [&](size_t first, Real step) {
    size_t last = first + (c.size() - 1 - first) / chains * chains;
    Real y = real(c[last]);
    for (; last > first; last -= chains)
      y = multiplyAdd(y, step, real(c[last - chains]));
    return y;
  };
  if (chains == 1)
    return chain(0, x);
  Real square = x * x;
  if (chains == 2)
    return multiplyAdd(chain(1, square), x, chain(0, square));
  Real fourth = square * square;
  Real low = multiplyAdd(chain(1, fourth), x, chain(0, fourth));
  return multiplyAdd(multiplyAdd(chain(3, fourth), x, chain(2, fourth)), square, low);
}

//===- arithmetic ----------------------------------------------------------===//

template <typename Op, typename T>
static T emit(T x, T y) {
  return {x.s->template createOrFold<Op>(x.value, y.value), x.s};
}

Real xtensor::operator+(Real x, Real y) { return emit<arith::AddFOp>(x, y); }
Real xtensor::operator-(Real x, Real y) { return emit<arith::SubFOp>(x, y); }
Real xtensor::operator*(Real x, Real y) { return emit<arith::MulFOp>(x, y); }
Real xtensor::operator/(Real x, Real y) { return emit<arith::DivFOp>(x, y); }

Real xtensor::multiplyAdd(Real x, Real y, Real z) {
  if (!x.s->fuses)
    return x * y + z;
  // One operation on processors that have it, two on others.
  auto flags = arith::FastMathFlags::contract;
  Value product = arith::MulFOp::create(*x.s, x.value, y.value, flags);
  return {arith::AddFOp::create(*x.s, product, z.value, flags), x.s};
}

static Bit compare(CmpFPredicate p, Real x, Real y) {
  return {x.s->createOrFold<arith::CmpFOp>(p, x.value, y.value), x.s};
}
Bit xtensor::operator<(Real x, Real y) { return compare(CmpFPredicate::OLT, x, y); }
Bit xtensor::operator<=(Real x, Real y) { return compare(CmpFPredicate::OLE, x, y); }
Bit xtensor::operator>(Real x, Real y) { return compare(CmpFPredicate::OGT, x, y); }
Bit xtensor::operator>=(Real x, Real y) { return compare(CmpFPredicate::OGE, x, y); }
Bit xtensor::operator==(Real x, Real y) { return compare(CmpFPredicate::OEQ, x, y); }
Bit xtensor::isNan(Real x) { return compare(CmpFPredicate::UNO, x, x); }

Word xtensor::operator+(Word x, Word y) { return emit<arith::AddIOp>(x, y); }
Word xtensor::operator-(Word x, Word y) { return emit<arith::SubIOp>(x, y); }
Word xtensor::operator*(Word x, Word y) { return emit<arith::MulIOp>(x, y); }
Word xtensor::operator&(Word x, Word y) { return emit<arith::AndIOp>(x, y); }
Word xtensor::operator|(Word x, Word y) { return emit<arith::OrIOp>(x, y); }
Word xtensor::operator^(Word x, Word y) { return emit<arith::XOrIOp>(x, y); }
Word xtensor::operator<<(Word x, Word y) { return emit<arith::ShLIOp>(x, y); }
Word xtensor::operator>>(Word x, Word y) { return emit<arith::ShRUIOp>(x, y); }
Word xtensor::shiftSigned(Word x, uint32_t count) {
  return emit<arith::ShRSIOp>(x, x.s->word(count));
}

static Bit compare(CmpIPredicate p, Word x, Word y) {
  return {x.s->createOrFold<arith::CmpIOp>(p, x.value, y.value), x.s};
}
Bit xtensor::operator<(Word x, Word y) { return compare(CmpIPredicate::ult, x, y); }
Bit xtensor::operator==(Word x, Word y) { return compare(CmpIPredicate::eq, x, y); }

Word xtensor::maxSigned(Word x, int32_t y) {
  return emit<arith::MaxSIOp>(x, x.s->word(static_cast<uint32_t>(y)));
}

Word xtensor::minSigned(Word x, int32_t y) {
  return emit<arith::MinSIOp>(x, x.s->word(static_cast<uint32_t>(y)));
}

std::pair<Word, Word> xtensor::multiplyFull(Word x, Word y) {
  auto op = arith::MulUIExtendedOp::create(*x.s, x.value, y.value);
  return {{op.getLow(), x.s}, {op.getHigh(), x.s}};
}

Bit xtensor::operator&(Bit x, Bit y) { return emit<arith::AndIOp>(x, y); }
Bit xtensor::operator|(Bit x, Bit y) { return emit<arith::OrIOp>(x, y); }
Bit xtensor::operator!(Bit x) {
  TypedAttr one = x.s->getBoolAttr(true);
  if (x.s->vector)
    one = DenseElementsAttr::get(cast<VectorType>(x.value.getType()), true);
  return {x.s->createOrFold<arith::XOrIOp>(x.value, arith::ConstantOp::create(*x.s, one)), x.s};
}

Real xtensor::operator-(Real x) { return {x.s->createOrFold<arith::NegFOp>(x.value), x.s}; }
Real xtensor::abs(Real x) { return {x.s->createOrFold<math::AbsFOp>(x.value), x.s}; }
Real xtensor::sqrt(Real x) { return {x.s->createOrFold<math::SqrtOp>(x.value), x.s}; }
Real xtensor::floor(Real x) { return {x.s->createOrFold<math::FloorOp>(x.value), x.s}; }

template <typename T>
static T choose(Bit c, T x, T y) {
  return {c.s->createOrFold<arith::SelectOp>(c.value, x.value, y.value), c.s};
}
Real xtensor::select(Bit c, Real x, Real y) { return choose(c, x, y); }
Real xtensor::select(Bit c, Real x, double y) { return choose(c, x, x.s->real(y)); }
Real xtensor::select(Bit c, double x, Real y) { return choose(c, y.s->real(x), y); }
Word xtensor::select(Bit c, Word x, Word y) { return choose(c, x, y); }

Value Scalars::any(Bit c) {
  if (!vector)
    return c.value;
  Value flat = c.value;
  if (vector.getRank() != 1)
    flat = vector::ShapeCastOp::create(
        *this, VectorType::get({vector.getNumElements()}, getI1Type()), flat);
  return vector::ReductionOp::create(*this, vector::CombiningKind::OR, flat);
}

Real Scalars::choose(Bit c, llvm::function_ref<Real()> chosen, Real otherwise) {
  return choose(c, [&]() -> SmallVector<Real> { return {chosen()}; }, ArrayRef(otherwise)).front();
}

SmallVector<Real> Scalars::choose(Bit c, llvm::function_ref<SmallVector<Real>()> chosen,
                                  ArrayRef<Real> otherwise) {
  SmallVector<Value> kept =
      llvm::map_to_vector(otherwise, [](const Real &x) -> Value { return x.value; });
  auto selected = [&] {
    SmallVector<Value> values;
    for (auto [x, y] : llvm::zip_equal(chosen(), otherwise))
      values.push_back(select(c, x, y).value);
    return values;
  };
  auto reals = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value x) { return Real{x, this}; });
  };
  if (!fuses)
    return reals(selected());
  auto branch = scf::IfOp::create(*this, TypeRange(kept), any(c), /*withElseRegion=*/true);
  InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*this, selected());
  setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*this, kept);
  return reals(branch.getResults());
}

SmallVector<Real> Scalars::repeat(Bit c, int most, ArrayRef<Real> state, Step step) {
  SmallVector<Value> start = {c.value, real(0).value};
  for (Real x : state)
    start.push_back(x.value);
  auto loop = scf::WhileOp::create(
      *this, TypeRange(start), start,
      [&](OpBuilder &b, Location, ValueRange now) {
        InsertionGuard guard(*this);
        restoreInsertionPoint(b.saveInsertionPoint());
        scf::ConditionOp::create(*this, any({now[0], this}), now);
      },
      [&](OpBuilder &b, Location, ValueRange now) {
        InsertionGuard guard(*this);
        restoreInsertionPoint(b.saveInsertionPoint());
        Bit active{now[0], this};
        Real count{now[1], this}, next = count + 1.0;
        SmallVector<Real> values;
        for (Value x : now.drop_front(2))
          values.push_back({x, this});
        Bit goesOn = step(count, values) & active & (next < static_cast<double>(most));
        SmallVector<Value> after = {goesOn.value, next.value};
        for (auto [x, before] : llvm::zip_equal(values, now.drop_front(2)))
          after.push_back(select(active, x, Real{before, this}).value);
        scf::YieldOp::create(*this, after);
      });
  return llvm::map_to_vector(loop.getResults().drop_front(2),
                             [&](Value x) { return Real{x, this}; });
}

Real Scalars::toReal(Word x) {
  return {createOrFold<arith::SIToFPOp>(shaped(type), x.value), this};
}
Real Scalars::unsignedToReal(Word x) {
  return {createOrFold<arith::UIToFPOp>(shaped(type), x.value), this};
}

//===- representation ------------------------------------------------------===//

Word Scalars::wordOf(Real x, unsigned shift) {
  if (fuses) {
    Value words = arith::BitcastOp::create(*this, shaped(getI64Type()), x.value);
    if (shift) {
      Value by = constant(getI64IntegerAttr(shift));
      words = arith::ShRUIOp::create(*this, words, by);
    }
    return {arith::TruncIOp::create(*this, shaped(getI32Type()), words), this};
  }
  // As vectors of two words: i64 is a feature that not every device has.
  auto single = VectorType::get({1}, type), words = VectorType::get({2}, getI32Type());
  Value vector = vector::FromElementsOp::create(*this, single, x.value);
  vector = vector::BitCastOp::create(*this, words, vector);
  return {vector::ExtractOp::create(*this, vector, int64_t(shift / 32)), this};
}

Word Scalars::top(Real x) {
  if (wide)
    return wordOf(x, 32);
  return {createOrFold<arith::BitcastOp>(shaped(getI32Type()), x.value), this};
}

Word Scalars::low(Real x) { return wide ? wordOf(x, 0) : top(x); }

Real Scalars::fromWords(Word low, Word top) {
  if (!wide)
    return {createOrFold<arith::BitcastOp>(shaped(type), top.value), this};
  if (fuses) {
    Type words = shaped(getI64Type());
    Value high = arith::ExtUIOp::create(*this, words, top.value);
    high = arith::ShLIOp::create(*this, high, constant(getI64IntegerAttr(32)));
    Value both = arith::OrIOp::create(*this, high, arith::ExtUIOp::create(*this, words, low.value));
    return {arith::BitcastOp::create(*this, shaped(type), both), this};
  }
  auto single = VectorType::get({1}, type), words = VectorType::get({2}, getI32Type());
  Value vector = vector::FromElementsOp::create(*this, words, ValueRange{low.value, top.value});
  vector = vector::BitCastOp::create(*this, single, vector);
  return {vector::ExtractOp::create(*this, vector, 0), this};
}

Real Scalars::powerOfTwo(Word k) { return fromWords(word(0), (k + bias()) << fractionBits()); }

Real Scalars::powerOfLastPlaces(Real x) {
  Type word = wide ? getI64Type() : getI32Type();
  Value words = arith::BitcastOp::create(*this, shaped(word), x.value);
  words = arith::ShLIOp::create(*this, words, constant(getIntegerAttr(word, wide ? 52 : 23)));
  Value one = arith::BitcastOp::create(*this, shaped(word), real(1).value);
  words = arith::AddIOp::create(*this, words, one);
  return {arith::BitcastOp::create(*this, shaped(type), words), this};
}

std::pair<Real, Real> Scalars::splitPower(Real x) {
  Type word = wide ? getI64Type() : getI32Type();
  auto all = [&](int64_t value) { return constant(getIntegerAttr(word, value)); };
  Value words = arith::BitcastOp::create(*this, shaped(word), x.value);
  Value root = all(pick<int64_t>(0x3f3504f3, 0x3fe6a09e667f3bcd)), places = all(wide ? 52 : 23);
  Value k = arith::ShRSIOp::create(*this, arith::SubIOp::create(*this, words, root), places);
  words = arith::SubIOp::create(*this, words, arith::ShLIOp::create(*this, k, places));
  return {{arith::BitcastOp::create(*this, shaped(type), words), this},
          {arith::SIToFPOp::create(*this, shaped(type), k), this}};
}

Real Scalars::scale(Real x, Word k) {
  Word half = shiftSigned(k, 1);
  return x * powerOfTwo(half) * powerOfTwo(k - half);
}

Real Scalars::leading(Real x) {
  // 26 of 53 places: 20 lie in the top word, behind one that is not stored. 12 of 24.
  if (wide)
    return fromWords(low(x) & 0xf8000000, top(x));
  Word word = top(x) & 0xfffff000;
  return fromWords(word, word);
}

Word xtensor::signOf(Real x) { return x.s->top(x) & 0x80000000; }

Real xtensor::withSign(Real magnitude, Word sign) {
  // Not by bits in kernels: llvmpipe merges such bits under a mask wrongly (docs/upstream.md).
  if (!magnitude.s->vector)
    return select(sign == 0u, magnitude, -magnitude);
  return magnitude.s->withTop(magnitude, magnitude.s->top(magnitude) | sign);
}

Real xtensor::withSignOf(Real magnitude, Real x) {
  if (!x.s->fuses)
    return withSign(magnitude, signOf(x));
  return {math::CopySignOp::create(*x.s, magnitude.value, x.value), x.s};
}

//===- rounding and exact results ------------------------------------------===//

/// Adding 1.5 2^52 (2^23) rounds to an integer, which then stands in the last places.
static double magicOf(Scalars &s) { return s.pick(0x1.8p23, 0x1.8p52); }

std::pair<Real, Word> xtensor::nearest(Real x) {
  double magic = magicOf(*x.s);
  Real shifted = x + magic;
  return {shifted - magic, x.s->low(shifted) - x.s->pick(0x4b400000u, 0u)};
}

std::pair<Real, Real> xtensor::nearestPower(Real x, double factor, std::optional<double> most) {
  Scalars &s = *x.s;
  if (!s.fuses) {
    auto [multiple, k] = nearest(x * factor);
    return {multiple, s.powerOfTwo(k)};
  }
  double magic = magicOf(s);
  Real shifted = multiplyAdd(x, s.real(factor), s.real(magic));
  if (most)
    shifted = select(shifted < magic + *most, shifted, magic + *most);
  return {shifted - magic, s.powerOfLastPlaces(shifted)};
}

Sum xtensor::addExactly(Real x, Real y) {
  Real hi = x + y, part = hi - x;
  return {hi, (x - (hi - part)) + (y - part)};
}

Sum xtensor::addSmaller(Real x, Real y) {
  Real hi = x + y;
  return {hi, y - (hi - x)};
}

Sum xtensor::multiplyExactly(Real x, Real y) {
  Real hi = x * y;
  if (x.s->roundsOnce)
    return {hi, {math::FmaOp::create(*x.s, x.value, y.value, (-hi).value), x.s}};
  Real xh = x.s->leading(x), yh = x.s->leading(y);
  Real xl = x - xh, yl = y - yh;
  return {hi, ((xh * yh - hi) + xh * yl + xl * yh) + xl * yl};
}
