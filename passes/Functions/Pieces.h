// Polynomials of the pieces of an interval, for functions that one short polynomial cannot follow.
#ifndef XTENSOR_PASSES_FUNCTIONS_PIECES_H
#define XTENSOR_PASSES_FUNCTIONS_PIECES_H

#include "Functions/Scalars.h"

#include <array>

namespace xtensor {

/// Polynomials in x - c for c = 0, 1/8 .. 31/8: of each power, the coefficients of all pieces. A
/// register of AVX-512 holds half of them, so that one instruction reads those of 16 lanes.
using Pieces = llvm::SmallVector<std::array<double, 32>>;
/// Where the last piece ends.
inline constexpr double kEndOfPieces = 3.9375;

/// Polynomials of this degree, near the best ones: Taylor series, whose last terms Chebyshev
/// polynomials replace (Lanczos, 1938). `series` writes the series around a center.
Pieces makePieces(unsigned degree, void (*series)(double center, llvm::MutableArrayRef<double>));

/// The polynomial of the piece of x, f32, for x between 0 and the end. Needs `s.permutes`.
Real evaluate(Scalars &s, const Pieces &pieces, Real x);

} // namespace xtensor

#endif // XTENSOR_PASSES_FUNCTIONS_PIECES_H
