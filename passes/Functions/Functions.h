// How each elementary function is written as arithmetic, by family. Operands are of one type, f32
// or f64.
#ifndef XTENSOR_PASSES_FUNCTIONS_FUNCTIONS_H
#define XTENSOR_PASSES_FUNCTIONS_FUNCTIONS_H

#include "Functions/Scalars.h"

namespace xtensor {

/// What ElementwiseOps.td names: emitExp(s, x), emitPow(s, x, y) ..
#define XTENSOR_WRITTEN_FUNCTION(emit, ...) Real emit(Scalars &s, __VA_ARGS__);
#include "XTensor/XTensorElementwise.inc"

/// A function of the table, called on a list of operands.
using Written = Real (*)(Scalars &s, llvm::ArrayRef<Real> operands);
template <auto function, size_t... i>
Real writeWith(Scalars &s, llvm::ArrayRef<Real> operands, std::index_sequence<i...>) {
  return function(s, operands[i]...);
}
template <auto function, size_t arity>
Real write(Scalars &s, llvm::ArrayRef<Real> operands) {
  return writeWith<function>(s, operands, std::make_index_sequence<arity>());
}

/// e^x = (hi + lo) 2^k with hi + lo between 0.7 and 1.5; |x| below 1500 (120 in f32). `tail` is a
/// part of the exponent below the last place of x.
struct ScaledExp {
  Sum factor;
  Word k;
};
ScaledExp emitScaledExp(Scalars &s, Real x, Real tail);
/// The same rounded, and 0 or infinity where x is out of range.
Real emitExpOfSum(Scalars &s, Real x, Real tail);

/// x = m 2^k with m between the roots of 1/2 and 2, of a positive finite x.
struct Decomposed {
  Real m;
  Word k;
};
Decomposed decompose(Scalars &s, Real x);

/// x ndtr(x), and 0 at -infinity.
Real emitTimesNdtr(Scalars &s, Real x);
/// ndtr(-x) of such x, or greater ones, is 0.
inline constexpr double kEndOfTail32 = 15, kEndOfTail64 = 39;

/// -log x of a normal f64 between 0 and 1, on CPUs. The error is 2^-53 of it, or of 1 if this is
/// greater.
Real emitMinusLog(Scalars &s, Real x);

// Not functions of the table: what devices compute otherwise, or not exactly.
Real emitQuotient(Scalars &s, Real x, Real y);
Real emitSquareRoot(Scalars &s, Real x);
Real emitRound(Scalars &s, Real x);
Real emitRoundEven(Scalars &s, Real x);
Real emitRemainder(Scalars &s, Real x, Real y);

} // namespace xtensor

#endif // XTENSOR_PASSES_FUNCTIONS_FUNCTIONS_H
