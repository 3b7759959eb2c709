// Numbers as C++ expressions: `a * b + 1.0` on a Real emits arith.mulf and arith.addf on f32 or
// f64, or on vectors of them. The elementary functions are written with these. They need no
// library. On devices, they need no 64-bit integers and no fused operations, and no flag allows a
// compiler to change an operation. On CPUs, polynomials may be fused.
#ifndef XTENSOR_PASSES_FUNCTIONS_SCALARS_H
#define XTENSOR_PASSES_FUNCTIONS_SCALARS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {

class Scalars;

/// A truth value.
struct Bit {
  mlir::Value value;
  Scalars *s;
};

/// 32 bits: an integer, or a part of a float's representation.
struct Word {
  mlir::Value value;
  Scalars *s;
};

/// A float of the type that is being written.
struct Real {
  mlir::Value value;
  Scalars *s;
};

/// A number as the unevaluated sum of two: `lo` is below the last place of `hi`.
struct Sum {
  Real hi, lo;
};

/// Coefficients of rising powers: as many as each type needs.
struct Polynomial {
  llvm::ArrayRef<double> single, wide;
};

class Scalars : public mlir::ImplicitLocOpBuilder {
public:
  /// Calls the function of that name on numbers of this type; made by the pass.
  using Caller = llvm::function_ref<Real(Scalars &, llvm::StringRef, llvm::ArrayRef<Real>)>;

  /// `type` is f32, f64 or a vector of one.
  Scalars(mlir::Location loc, mlir::OpBuilder &b, mlir::Type type, bool fuses, Caller caller)
      : ImplicitLocOpBuilder(loc, b),
        type(llvm::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type))),
        vector(llvm::dyn_cast<mlir::VectorType>(type)), fuses(fuses), wide(this->type.isF64()),
        caller(caller) {}

  mlir::FloatType type;
  /// Null of numbers.
  mlir::VectorType vector;
  /// What CPUs have: `multiplyAdd` may be one operation, and words have 64 bits.
  bool fuses;
  /// Whether math.fma is one operation, and no call.
  bool roundsOnce = false;
  /// Whether an instruction reads 16 lanes of f32 at places in 32: that of AVX-512.
  bool permutes = false;
  /// Whether 16 digits of an f32 result are enough.
  bool isRough = false;
  /// f64.
  bool wide;

  Real real(double value);
  Word word(uint32_t value);
  Real number(const llvm::APFloat &value);
  Real infinity();
  Real nan();
  template <typename T>
  T pick(T single, T whenWide) {
    return wide ? whenWide : single;
  }
  Real evaluate(const Polynomial &p, Real x);
  /// Whether c holds in some lane.
  mlir::Value any(Bit c);
  /// `chosen()` where c holds. CPUs compute it only if c holds in some lane.
  Real choose(Bit c, llvm::function_ref<Real()> chosen, Real otherwise);
  llvm::SmallVector<Real> choose(Bit c, llvm::function_ref<llvm::SmallVector<Real>()> chosen,
                                 llvm::ArrayRef<Real> otherwise);
  /// One step of `repeat`: the state after it, and whether the lane goes on.
  using Step = llvm::function_ref<Bit(Real count, llvm::MutableArrayRef<Real> state)>;
  /// Takes steps in the lanes of c until `step` ends them, `most` times at most. `count` is 0, 1,
  /// ..
  llvm::SmallVector<Real> repeat(Bit c, int most, llvm::ArrayRef<Real> state, Step step);
  Real call(llvm::StringRef name, llvm::ArrayRef<Real> operands) {
    return caller(*this, name, operands);
  }

  // The representation. The top word holds sign, exponent and the first places of the fraction; it
  // is all of an f32.
  Word top(Real x);
  Word low(Real x);
  /// From the words of an f64, or the one of an f32.
  Real fromWords(Word low, Word top);
  Real withTop(Real x, Word top) { return wide ? fromWords(low(x), top) : fromWords(top, top); }
  uint32_t fractionBits() const { return wide ? 20 : 23; } // of the top word
  uint32_t bias() const { return wide ? 1023 : 127; }
  /// 2^k of a k in the normal range.
  Real powerOfTwo(Word k);
  /// 2^k of the integer k in the last places of x. Only on CPUs.
  Real powerOfLastPlaces(Real x);
  /// A positive normal x as m 2^k, m between the roots of 1/2 and 2. Only on CPUs.
  std::pair<Real, Real> splitPower(Real x);
  /// x 2^k, rounded once, also if the result is subnormal or 2^k is not representable.
  Real scale(Real x, Word k);
  /// x rounded towards zero to half of its places, so that products of two such are exact.
  Real leading(Real x);

  Real toReal(Word x); // signed
  Real unsignedToReal(Word x);

  /// A number's type where numbers are computed, a vector's where vectors are.
  mlir::Type shaped(mlir::Type element) const {
    return vector ? mlir::Type(mlir::VectorType(vector).clone(element)) : element;
  }

private:
  mlir::Value constant(mlir::TypedAttr value);
  Word wordOf(Real x, unsigned shift);

  Caller caller;
};

// Each operand may be a constant.
#define XTENSOR_REAL_OPERATOR(Result, op)                                                          \
  Result operator op(Real x, Real y);                                                              \
  inline Result operator op(Real x, double y) { return x op x.s->real(y); }                        \
  inline Result operator op(double x, Real y) { return y.s->real(x) op y; }
XTENSOR_REAL_OPERATOR(Real, +)
XTENSOR_REAL_OPERATOR(Real, -)
XTENSOR_REAL_OPERATOR(Real, *)
XTENSOR_REAL_OPERATOR(Real, /)
XTENSOR_REAL_OPERATOR(Bit, <)
XTENSOR_REAL_OPERATOR(Bit, <=)
XTENSOR_REAL_OPERATOR(Bit, >)
XTENSOR_REAL_OPERATOR(Bit, >=)
XTENSOR_REAL_OPERATOR(Bit, ==)
#undef XTENSOR_REAL_OPERATOR

// Shifts to the right and `<` take words as unsigned.
#define XTENSOR_WORD_OPERATOR(Result, op)                                                          \
  Result operator op(Word x, Word y);                                                              \
  inline Result operator op(Word x, uint32_t y) { return x op x.s->word(y); }
XTENSOR_WORD_OPERATOR(Word, +)
XTENSOR_WORD_OPERATOR(Word, -)
XTENSOR_WORD_OPERATOR(Word, *)
XTENSOR_WORD_OPERATOR(Word, &)
XTENSOR_WORD_OPERATOR(Word, |)
XTENSOR_WORD_OPERATOR(Word, ^)
XTENSOR_WORD_OPERATOR(Word, <<)
XTENSOR_WORD_OPERATOR(Word, >>)
XTENSOR_WORD_OPERATOR(Bit, <)
XTENSOR_WORD_OPERATOR(Bit, ==)
#undef XTENSOR_WORD_OPERATOR

Bit operator&(Bit x, Bit y);
Bit operator|(Bit x, Bit y);
Bit operator!(Bit x);
/// Shift to the right that keeps the sign.
Word shiftSigned(Word x, uint32_t count);
/// The larger and the smaller of two words with signs.
Word maxSigned(Word x, int32_t y);
Word minSigned(Word x, int32_t y);
/// Product of words taken as unsigned: {low, high}.
std::pair<Word, Word> multiplyFull(Word x, Word y);

/// x * y + z, rounded once or twice.
Real multiplyAdd(Real x, Real y, Real z);
Real operator-(Real x);
Real abs(Real x);
Real sqrt(Real x);
Real floor(Real x);
Bit isNan(Real x);
Real select(Bit c, Real x, Real y);
Real select(Bit c, Real x, double y);
Real select(Bit c, double x, Real y);
Word select(Bit c, Word x, Word y);
/// The sign bit alone.
Word signOf(Real x);
/// The magnitude of a number whose sign bit is clear, with this sign bit.
Real withSign(Real magnitude, Word sign);

/// The magnitude of a number whose sign bit is clear, with the sign of another.
Real withSignOf(Real magnitude, Real x);

/// x rounded to an integer, as a Real and as a Word. |x| must be below 2^22 in f32, 2^31 in f64.
std::pair<Real, Word> nearest(Real x);
/// x * factor rounded to an integer k, and 2^k, which must be a normal number, or 0. On CPUs, k is
/// at most `most`.
std::pair<Real, Real> nearestPower(Real x, double factor, std::optional<double> most = {});

/// x + y exactly.
Sum addExactly(Real x, Real y);
/// The same where |x| >= |y| or x is 0.
Sum addSmaller(Real x, Real y);
/// x * y exactly: by an operation that rounds once, or Dekker's way.
Sum multiplyExactly(Real x, Real y);

} // namespace xtensor

#endif // XTENSOR_PASSES_FUNCTIONS_SCALARS_H
