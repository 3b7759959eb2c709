// The elementary functions as code, by family. The operands have one type, f32 or f64.
#ifndef XTENSOR_PASSES_GPU_FUNCTIONS_H
#define XTENSOR_PASSES_GPU_FUNCTIONS_H

#include "GPU/Scalars.h"

namespace xtensor {

// Exponentials.cpp
/// e^x = (hi + lo) 2^k with hi + lo between 0.7 and 1.5; |x| below 1500 (120 in f32). `tail` is a
/// part of the exponent below the last place of x.
struct ScaledExp {
  Sum factor;
  Word k;
};
ScaledExp emitScaledExp(Scalars &s, Real x, Real tail);
/// The same rounded, and 0 or infinity where x is out of range.
Real emitExpOfSum(Scalars &s, Real x, Real tail);
Real emitExp(Scalars &s, Real x);
Real emitExp2(Scalars &s, Real x);
Real emitExpm1(Scalars &s, Real x);
Real emitSinh(Scalars &s, Real x);
Real emitCosh(Scalars &s, Real x);
Real emitTanh(Scalars &s, Real x);

// Logarithms.cpp
/// x = m 2^k with m between the roots of 1/2 and 2, of a positive finite x.
struct Decomposed {
  Real m;
  Word k;
};
Decomposed decompose(Scalars &s, Real x);
Real emitLog(Scalars &s, Real x);
Real emitLog2(Scalars &s, Real x);
Real emitLog10(Scalars &s, Real x);
Real emitLog1p(Scalars &s, Real x);
Real emitAsinh(Scalars &s, Real x);
Real emitAcosh(Scalars &s, Real x);
Real emitAtanh(Scalars &s, Real x);

// Trigonometry.cpp
Real emitSin(Scalars &s, Real x);
Real emitCos(Scalars &s, Real x);
Real emitTan(Scalars &s, Real x);

// InverseTrigonometry.cpp
Real emitAsin(Scalars &s, Real x);
Real emitAcos(Scalars &s, Real x);
Real emitAtan(Scalars &s, Real x);
Real emitAtan2(Scalars &s, Real y, Real x);

// ErrorFunctions.cpp
Real emitErf(Scalars &s, Real x);
Real emitErfc(Scalars &s, Real x);

// Powers.cpp
Real emitCbrt(Scalars &s, Real x);
Real emitPow(Scalars &s, Real x, Real y);
Real emitRsqrt(Scalars &s, Real x);

// Quotients.cpp
Real emitQuotient(Scalars &s, Real x, Real y);
Real emitSquareRoot(Scalars &s, Real x);

// Rounding.cpp
Real emitCopysign(Scalars &s, Real x, Real y);
Real emitTrunc(Scalars &s, Real x);
Real emitRound(Scalars &s, Real x);
Real emitRoundEven(Scalars &s, Real x);
Real emitRemainder(Scalars &s, Real x, Real y);

} // namespace xtensor

#endif // XTENSOR_PASSES_GPU_FUNCTIONS_H
