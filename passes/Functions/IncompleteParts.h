// What the incomplete gamma and beta functions have in common. Coefficients: interpolation at
// Chebyshev's nodes, error below 2^-27 (f32) and 2^-54 (f64).
#ifndef XTENSOR_PASSES_FUNCTIONS_INCOMPLETEPARTS_H
#define XTENSOR_PASSES_FUNCTIONS_INCOMPLETEPARTS_H

#include "Functions/Jets.h"

namespace xtensor {

/// Whether `overStirling` holds.
inline Bit hasStirling(Real z) { return z >= z.s->pick(6.0, 16.0); }
/// gamma(z) over Stirling's formula sqrt(2 pi / z) (z / e)^z.
Jet overStirling(const Jet &z);
/// 1 / gamma(1 + z) of z from 0 to where `overStirling` holds.
Jet inverseGammaOfNext(const Jet &z);
/// (1 / gamma(1 + z) - 1) / z of z up to 1.
Jet inverseGammaSlope(const Jet &z);
/// mu - log(1 + mu) of mu between -0.6 and 1, relatively exact.
Real aboveLog(Scalars &s, Real mu);

/// Whether `change` still moves `sum`, whose last coefficient settles last.
Bit stillMoves(const Jet &change, const Jet &sum);
/// The state of a loop from that of each Jet.
void replaceState(llvm::MutableArrayRef<Real> state, std::initializer_list<Jet> jets);

} // namespace xtensor

#endif // XTENSOR_PASSES_FUNCTIONS_INCOMPLETEPARTS_H
