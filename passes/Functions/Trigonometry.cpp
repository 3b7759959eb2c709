// sin, cos and tan. x = n pi/2 + r with |r| <= pi/4 in two parts: up to a limit by subtracting
// multiples of pi/2 in four parts (Cody and Waite), whose first products are exact; beyond it with
// integers, of the bits of 2/pi that matter (Payne and Hanek, 1983). sin r and cos r are minimax
// polynomials, error below 2^-37 (f32) and 2^-58 (f64).
#include "Functions/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor;

// 2/pi = 0.a2f9836e.. after two words of zeros, for arguments whose last place lies behind the
// point.
static constexpr uint32_t kTwoOverPi[] = {
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};

namespace {

/// |x| = quadrant pi/2 + r, but for multiples of 4 in the quadrant.
struct Angle {
  Sum r;
  Word quadrant;
};

} // namespace

/// Subtracts multiples of four parts of pi/2. Of a product and its predecessor nothing is lost, but
/// for the last, which is small.
static Angle reduceModerate(Scalars &s, Real x) {
  auto [n, quadrant] = nearest(x * 0x1.45f306dc9c883p-1);
  Real r = x - n * s.pick(0x1.921p0, 0x1.921fb544p0);
  Sum second = addExactly(r, -(n * s.pick(0x1.f6ap-13, 0x1.0b4611a6p-34)));
  Sum third = addExactly(second.hi, -(n * s.pick(0x1.11p-26, 0x1.3198a2ep-69)));
  Real rest = (second.lo + third.lo) - n * s.pick(0x1.68c234p-39, 0x1.b839a252049c1p-104);
  return {addSmaller(third.hi, rest), quadrant};
}

/// `count` words of 2/pi from bit `start` on, the most significant first: a tree of choices instead
/// of a table in memory.
static SmallVector<Word> bitsOfTwoOverPi(Scalars &s, Word start, unsigned count) {
  Word index = start >> 5, shift = start & 31;
  SmallVector<Word> words;
  for (uint32_t word : ArrayRef(kTwoOverPi).take_front(s.wide ? 39 : 10))
    words.push_back(s.word(word));
  for (unsigned bit = s.wide ? 32 : 4; bit > 0; bit /= 2) {
    Bit set = !((index & bit) == 0);
    unsigned kept = std::min<size_t>(count + bit, words.size());
    SmallVector<Word> chosen;
    for (unsigned i = 0; i < kept; ++i)
      chosen.push_back(i + bit < words.size() ? select(set, words[i + bit], words[i]) : words[i]);
    words = chosen;
  }
  // A shift by 32 is undefined: the lower neighbour moves by one place first.
  SmallVector<Word> result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back((words[i] << shift) | ((words[i + 1] >> 1) >> (s.word(31) - shift)));
  return result;
}

/// x = m 2^e with an integer m. Of 2/pi the bits that multiply m 2^e to multiples of 4 are left
/// out; m times the next ones, modulo 2 to their number, is x 2/pi modulo 4.
static Angle reduceLarge(Scalars &s, Real x) {
  Word top = s.top(x), one = s.word(1u << s.fractionBits());
  Word exponent = top >> s.word(s.fractionBits());
  Word mantissa = (top & ((1u << s.fractionBits()) - 1)) | one;
  SmallVector<Word> m = {mantissa};
  if (s.wide)
    m = {s.low(x), mantissa};
  // Two words of zeros lie before 2/pi.
  Word start = exponent - (s.bias() + s.pick(23, 52)) + 62;
  unsigned count = s.wide ? 6 : 3;
  SmallVector<Word> bits = bitsOfTwoOverPi(s, start, count);

  // Long multiplication, least significant word first.
  SmallVector<Word> product(count, s.word(0));
  for (unsigned i = 0; i < m.size(); ++i) {
    Word carry = s.word(0);
    for (unsigned j = 0; i + j < count; ++j) {
      auto [low, high] = multiplyFull(m[i], bits[count - 1 - j]);
      Word sum = product[i + j] + low;
      high = high + select(sum < low, s.word(1), s.word(0));
      Word total = sum + carry;
      high = high + select(total < carry, s.word(1), s.word(0));
      product[i + j] = total;
      carry = high;
    }
  }
  Word quadrant = product.back() >> 30;
  // The fraction, and as the nearest integer is subtracted, less 1 when it is above a half.
  SmallVector<Word> fraction; // most significant first
  for (unsigned i = count; i-- > 0;)
    fraction.push_back(i ? (product[i] << 2) | (product[i - 1] >> 30) : product[i] << 2);
  Word above = fraction.front() >> 31;
  quadrant = quadrant + above;
  // Minus the fraction, nearly: all bits flipped. The error is below the last of them.
  Word flip = s.word(0) - above;
  Sum sum = {s.real(0), s.real(0)};
  double weight = 1;
  auto add = [&](Word digits, unsigned width) {
    weight *= std::ldexp(1.0, -static_cast<int>(width));
    Sum next = addSmaller(sum.hi, s.unsignedToReal(digits) * weight);
    sum = {next.hi, sum.lo + next.lo};
  };
  for (Word word : ArrayRef(fraction).take_front(s.wide ? 4 : 3)) {
    word = word ^ flip;
    if (s.wide) {
      add(word, 32);
    } else {
      add(word >> 16, 16);
      add(word & 0xffff, 16);
    }
  }
  sum = addSmaller(sum.hi, sum.lo);
  Real quarter = s.real(0x1.921fb54442d18p0);
  Sum r = multiplyExactly(sum.hi, quarter);
  r.lo = r.lo + sum.lo * quarter + sum.hi * s.pick(-0x1.777a5cp-25, 0x1.1a62633145c07p-54);
  r = addSmaller(r.hi, r.lo);
  Word sign = above << 31;
  auto signedPart = [&](Real part) { return s.withTop(part, s.top(part) ^ sign); };
  return {{signedPart(r.hi), signedPart(r.lo)}, quadrant};
}

static Angle reduce(Scalars &s, Real x) {
  Bit large = x > s.pick(3000.0, 1e6);
  auto branch = [&](Angle (*way)(Scalars &, Real)) {
    return [&s, x, way](OpBuilder &b, Location loc) {
      OpBuilder::InsertionGuard guard(s);
      s.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
      Angle angle = way(s, x);
      scf::YieldOp::create(s, ValueRange{angle.r.hi.value, angle.r.lo.value, angle.quadrant.value});
    };
  };
  auto chosen = scf::IfOp::create(s, large.value, branch(reduceLarge), branch(reduceModerate));
  return {{{chosen.getResult(0), &s}, {chosen.getResult(1), &s}}, {chosen.getResult(2), &s}};
}

static constexpr double kSin32[] = {-0.16666667, 0.008333329, -0.00019839327, 2.7182377e-06};
static constexpr double kSin64[] = {-0.16666666666666632,    0.008333333333322316,
                                    -0.00019841269829725235, 2.7557313662044007e-06,
                                    -2.5050753260290132e-08, 1.5896504620527918e-10};
static constexpr double kCos32[] = {0.041666646, -0.001388731, 2.4432415e-05};
static constexpr double kCos64[] = {0.041666666666666595,   -0.0013888888888872897,
                                    2.4801587288748894e-05, -2.755731414880634e-07,
                                    2.087569659456259e-09,  -1.1358311488164851e-11};

/// sin and cos of a reduced angle.
static std::pair<Real, Real> sinAndCos(Scalars &s, Sum r) {
  Real square = r.hi * r.hi, half = square * 0.5;
  Real sine = r.hi + (square * r.hi * s.evaluate({kSin32, kSin64}, square) + (r.lo - half * r.lo));
  Sum head = addSmaller(s.real(1), -half);
  Real rest = square * square * s.evaluate({kCos32, kCos64}, square) - r.hi * r.lo;
  return {sine, head.hi + (head.lo + rest)};
}

/// The result with its sign flipped where `sign` has its first bit set; NaN of infinity and NaN.
static Real finish(Scalars &s, Real y, Word sign, Real x) {
  y = s.withTop(y, s.top(y) ^ (sign & 0x80000000));
  return select(x < s.infinity(), y, s.nan());
}

Real xtensor::emitSin(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Angle angle = reduce(s, magnitude);
  auto [sine, cosine] = sinAndCos(s, angle.r);
  Real y = select((angle.quadrant & 1) == 0, sine, cosine);
  return finish(s, y, (angle.quadrant << 30) ^ s.top(x), magnitude);
}

Real xtensor::emitCos(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Angle angle = reduce(s, magnitude);
  auto [sine, cosine] = sinAndCos(s, angle.r);
  Real y = select((angle.quadrant & 1) == 0, cosine, sine);
  return finish(s, y, (angle.quadrant + 1) << 30, magnitude);
}

Real xtensor::emitTan(Scalars &s, Real x) {
  Real magnitude = abs(x);
  Angle angle = reduce(s, magnitude);
  auto [sine, cosine] = sinAndCos(s, angle.r);
  Bit even = (angle.quadrant & 1) == 0;
  Real y = select(even, sine, cosine) / select(even, cosine, sine);
  return finish(s, y, (angle.quadrant << 31) ^ s.top(x), magnitude);
}
