// The coefficients of the pieces, and how lanes read them.
#include "Functions/Pieces.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

/// 16 pieces are the lanes of a register.
static constexpr int64_t kLanes = 16;

Pieces xtensor::makePieces(unsigned degree, void (*series)(double, MutableArrayRef<double>)) {
  constexpr unsigned kTerms = 14;
  constexpr double kRadius = 1.0 / 16;
  std::array<std::array<double, kTerms>, kTerms> chebyshev = {};
  chebyshev[0][0] = chebyshev[1][1] = 1;
  for (unsigned n = 2; n < kTerms; ++n)
    for (unsigned i = 0; i <= n; ++i)
      chebyshev[n][i] = (i ? 2 * chebyshev[n - 1][i - 1] : 0) - chebyshev[n - 2][i];
  Pieces pieces(degree + 1);
  for (unsigned piece = 0; piece < 32; ++piece) {
    std::array<double, kTerms> c;
    series(piece / 8.0, c);
    for (unsigned n = 0; n < kTerms; ++n)
      c[n] *= std::pow(kRadius, n);
    for (unsigned n = kTerms - 1; n > degree; --n) {
      double factor = c[n] / chebyshev[n][n];
      for (unsigned i = 0; i <= n; ++i)
        c[i] -= factor * chebyshev[n][i];
    }
    for (unsigned n = 0; n <= degree; ++n)
      pieces[n][piece] = c[n] / std::pow(kRadius, n);
  }
  return pieces;
}

/// Reads 16 lanes at a time from registers of 32 numbers: at the last 5 bits of each word.
static SmallVector<Value> readLanes(Scalars &s, const Pieces &pieces, Value places) {
  auto type = VectorType::get({kLanes}, s.type);
  auto half = [&](ArrayRef<double> numbers) -> Value {
    SmallVector<float> lanes(numbers.begin(), numbers.end());
    return arith::ConstantOp::create(s, DenseElementsAttr::get(type, ArrayRef(lanes)));
  };
  StringAttr name = s.getStringAttr("llvm.x86.avx512.vpermi2var.ps.512");
  return llvm::map_to_vector(pieces, [&](ArrayRef<double> numbers) -> Value {
    Value operands[] = {half(numbers.take_front(kLanes)), places, half(numbers.drop_front(kLanes))};
    return LLVM::CallIntrinsicOp::create(s, type, name, operands).getResult(0);
  });
}

/// The coefficients at these places, for lanes of any shape.
static SmallVector<Real> readPieces(Scalars &s, const Pieces &pieces, Value places) {
  auto reals = [&](ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [&](Value x) { return Real{x, &s}; });
  };
  Type words = s.getI32Type();
  if (!s.vector) {
    Value all = vector::BroadcastOp::create(s, VectorType::get({kLanes}, words), places);
    SmallVector<Value> read = readLanes(s, pieces, all);
    for (Value &x : read)
      x = vector::ExtractOp::create(s, x, int64_t(0));
    return reals(read);
  }
  int64_t size = s.vector.getNumElements();
  auto flat = VectorType::get({size}, s.type);
  if (s.vector == flat && size == kLanes)
    return reals(readLanes(s, pieces, places));
  places = vector::ShapeCastOp::create(s, flat.clone(words), places);
  SmallVector<Value> all(pieces.size());
  for (int64_t first = 0; first < size; first += kLanes) {
    auto lanes = llvm::to_vector(llvm::seq(std::min(first + kLanes, size)));
    SmallVector<int64_t> from(kLanes, first);
    llvm::copy(ArrayRef(lanes).drop_front(first), from.begin());
    Value sixteen = vector::ShuffleOp::create(s, places, places, from);
    for (auto [whole, part] : llvm::zip_equal(all, readLanes(s, pieces, sixteen)))
      whole = vector::ShuffleOp::create(s, first ? whole : part, part, lanes);
  }
  for (Value &whole : all)
    whole = vector::ShapeCastOp::create(s, s.vector, whole);
  return reals(all);
}

Real xtensor::evaluate(Scalars &s, const Pieces &pieces, Real x) {
  // A number of this size has places of 1/8 at its end: those of the piece are its last bits.
  constexpr double kMagic = 0x1.8p20;
  Real shifted = x + kMagic, rest = x - (shifted - kMagic);
  Value places = arith::BitcastOp::create(s, s.shaped(s.getI32Type()), shifted.value);
  SmallVector<Real> c = readPieces(s, pieces, places);
  Real y = c.pop_back_val();
  for (Real next : llvm::reverse(c))
    y = multiplyAdd(y, rest, next);
  return y;
}
