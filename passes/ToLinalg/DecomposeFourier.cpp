// Fourier transforms as contractions with small matrices (see Passes.td).
#include "ToLinalg/Passes.h"
#include "XTensor/Dims.h"
#include "XTensor/Fault.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <complex>

namespace xtensor {
#define GEN_PASS_DEF_DECOMPOSEFOURIER
#include "ToLinalg/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

using Complex = std::complex<double>;
using Roots = std::vector<Complex>;

namespace {

/// The largest matrix that a composite size is split by, and the largest one of a prime size.
constexpr int64_t kSplit = 32, kPrime = 64;
/// From so many elements on, factors of a split are a product of two tables.
constexpr int64_t kTable = 1 << 12;

/// The largest divisor of n up to kSplit, else the least one up to kPrime; 1 if there is none.
int64_t divisorOf(int64_t n) {
  for (int64_t d = std::min(kSplit, n); d > 1; --d)
    if (n % d == 0)
      return d;
  for (int64_t d = kSplit + 1; d <= std::min(kPrime, n); ++d)
    if (n % d == 0)
      return d;
  return 1;
}

/// exp(2 pi i j / n), reduced so that angles are below pi / 4.
Complex root(int64_t j, int64_t n) {
  constexpr double kTurn = 6.283185307179586476925286766559;
  j = ((j % n) + n) % n;
  int64_t eighth = static_cast<int64_t>(static_cast<__int128>(j) * 8 / n);
  // j / n is less than an eighth of a turn away from a multiple of a quarter.
  int64_t quarter = (eighth + 1) / 2;
  double rest = (4.0 * double(j) - double(quarter) * double(n)) / 4.0 / double(n);
  Complex value = std::polar(1.0, kTurn * rest);
  switch (quarter % 4) {
  case 0:
    return value;
  case 1:
    return {-value.imag(), value.real()};
  case 2:
    return -value;
  default:
    return {value.imag(), -value.real()};
  }
}

/// In place, of a power of two numbers: forward or backward.
void transformHere(Roots &x, int sign) {
  auto n = static_cast<int64_t>(x.size());
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j ^= bit;
    if (i < j)
      std::swap(x[i], x[j]);
  }
  for (int64_t half = 1; half < n; half *= 2)
    for (int64_t j = 0; j < half; ++j) {
      Complex w = root(sign * j, 2 * half);
      for (int64_t i = j; i < n; i += 2 * half) {
        Complex a = x[i], b = x[i + half] * w;
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
}

/// Replaces one transform.
class FourierSteps {
public:
  explicit FourierSteps(FourierOp op)
      : op(op), b(op.getLoc(), op), pair(op.getPairAttr()),
        element(cast<FloatType>(arrayType(op.getX()).getElementType())) {}

  Value run() {
    SmallVector<StringAttr> dims(op.getDims().getAsRange<StringAttr>());
    FourierKind kind = op.getKind();
    Value x = op.getX();
    if (double scale = op.getScale().convertToDouble(); scale != 1)
      x = MulOp::create(b, x, scalar(b, b.getLoc(), element, scale));
    sign = kind == FourierKind::forward || kind == FourierKind::real ? -1 : 1;
    StringAttr last = dims.back();
    if (kind == FourierKind::real) {
      int64_t n = arrayType(x).getSize(last);
      x = cut(transform(x, last, false), last, 0, n / 2 + 1);
      dims.pop_back();
    }
    for (StringAttr dim : dims)
      x = transform(kind == FourierKind::hermitian && dim == last ? unfolded(x, dim) : x, dim,
                    true);
    if (kind == FourierKind::hermitian)
      x = SqueezeOp::create(b, cut(x, pair, 0, 1), names({pair}));
    return conform(b, b.getLoc(), x, arrayType(op.getY()), sizesOf(b, b.getLoc(), x));
  }

private:
  //===- arrays ---===//
  ArrayAttr names(ArrayRef<StringAttr> dims) {
    return b.getArrayAttr(SmallVector<Attribute>(dims.begin(), dims.end()));
  }
  StringAttr fresh(StringAttr base) {
    return b.getStringAttr(base.getValue() + "~f" + Twine(count++));
  }
  Value constant(ArrayRef<StringAttr> dims, ArrayRef<int64_t> shape, ArrayRef<double> values) {
    auto tensor = RankedTensorType::get(shape, element);
    DenseElementsAttr attr;
    if (element.isF32())
      attr = DenseElementsAttr::get(
          tensor, ArrayRef<float>(llvm::map_to_vector(values, [](double v) { return float(v); })));
    else
      attr = DenseElementsAttr::get(tensor, values);
    // Outside of all loops, as after canonicalization.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
    return ConstantOp::create(b, ArrayType::get(b.getContext(), dims, shape, element), attr);
  }
  Value cut(Value x, StringAttr dim, int64_t begin, int64_t size) {
    return SliceOp::create(b, x, names({dim}), ArrayRef<int64_t>(begin), ArrayRef<int64_t>(size),
                           ArrayRef<int64_t>(1));
  }
  Value padded(Value x, StringAttr dim, int64_t size) {
    int64_t high = size - arrayType(x).getSize(dim);
    return PadOp::create(b, x, scalar(b, b.getLoc(), element, 0), names({dim}),
                         ArrayRef<int64_t>(0), ArrayRef<int64_t>(high), ArrayRef<int64_t>(0));
  }

  /// x times complex numbers over `dims`.
  Value times(Value x, ArrayRef<StringAttr> dims, ArrayRef<int64_t> shape, const Roots &by) {
    SmallVector<StringAttr> all(dims);
    SmallVector<int64_t> sizes(shape);
    all.push_back(pair);
    sizes.push_back(2);
    SmallVector<double> re, im;
    for (Complex v : by) {
      re.push_back(v.real());
      im.append({-v.imag(), v.imag()});
    }
    Value straight = MulOp::create(b, x, constant(dims, shape, re));
    Value turned = ReverseOp::create(b, x, names({pair}));
    return AddOp::create(b, straight, MulOp::create(b, turned, constant(all, sizes, im)));
  }

  //===- transforms ---===//

  /// By a matrix: the sum over the positions, and over the parts.
  Value byMatrix(Value x, StringAttr dim, bool isComplex) {
    int64_t n = arrayType(x).getSize(dim);
    StringAttr to = fresh(dim), part = fresh(pair);
    SmallVector<double> values;
    for (int64_t t = 0; t < n; ++t)
      for (int p = 0; p < (isComplex ? 2 : 1); ++p)
        for (int64_t k = 0; k < n; ++k) {
          Complex w = root(sign * t * k, n) * (p ? Complex(0, 1) : Complex(1));
          values.append({w.real(), w.imag()});
        }
    if (!isComplex) {
      Value matrix = constant({dim, to, pair}, {n, n, 2}, values);
      Value y = ContractOp::create(b, ValueRange{x, matrix}, names({dim}), ArrayAttr());
      return RenameOp::create(b, y, names({to}), names({dim}));
    }
    Value matrix = constant({dim, pair, to, part}, {n, 2, n, 2}, values);
    Value y = ContractOp::create(b, ValueRange{x, matrix}, names({dim, pair}), ArrayAttr());
    return RenameOp::create(b, y, names({to, part}), names({dim, pair}));
  }

  Value transform(Value x, StringAttr dim, bool isComplex) {
    int64_t n = arrayType(x).getSize(dim), a = divisorOf(n);
    if (a == n)
      return byMatrix(x, dim, isComplex);
    return a == 1 ? byChirp(x, dim, isComplex) : bySplit(x, dim, a, isComplex);
  }

  /// n = a * m: t = t1 m + t2 and k = k1 + a k2.
  Value bySplit(Value x, StringAttr dim, int64_t a, bool isComplex) {
    int64_t n = arrayType(x).getSize(dim), m = n / a;
    StringAttr first = fresh(dim), second = fresh(dim);
    x = SplitOp::create(b, x, dim, names({first, second}), b.getDenseI64ArrayAttr({a, m}));
    x = byMatrix(x, first, isComplex);
    x = turned(x, first, second, n);
    x = transform(x, second, true);
    return MergeOp::create(b, x, names({second, first}), dim);
  }

  /// Times exp(sign 2 pi i k1 t2 / n).
  Value turned(Value x, StringAttr first, StringAttr second, int64_t n) {
    int64_t a = arrayType(x).getSize(first), m = arrayType(x).getSize(second), inner = m;
    if (a * m > kTable)
      for (int64_t d = 2; d * d <= m; ++d)
        if (m % d == 0)
          inner = m / d;
    auto table = [&](int64_t size, int64_t step) {
      Roots values;
      for (int64_t k = 0; k < a; ++k)
        for (int64_t t = 0; t < size; ++t)
          values.push_back(root(sign * k * t * step, n));
      return values;
    };
    if (inner == m)
      return times(x, {first, second}, {a, m}, table(m, 1));
    StringAttr outside = fresh(second), inside = fresh(second);
    x = SplitOp::create(b, x, second, names({outside, inside}),
                        b.getDenseI64ArrayAttr({m / inner, inner}));
    x = times(x, {first, outside}, {a, m / inner}, table(m / inner, inner));
    x = times(x, {first, inside}, {a, inner}, table(inner, 1));
    return MergeOp::create(b, x, names({outside, inside}), second);
  }

  /// Bluestein's: k t = (k^2 + t^2 - (k - t)^2) / 2 makes it a convolution.
  Value byChirp(Value x, StringAttr dim, bool isComplex) {
    int64_t n = arrayType(x).getSize(dim);
    auto m = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(2 * n - 1)));
    Roots chirp(n), filter(m);
    for (int64_t j = 0; j < n; ++j) {
      auto square = static_cast<int64_t>(static_cast<__int128>(j) * j % (2 * n));
      chirp[j] = root(sign * square, 2 * n);
      filter[j] = std::conj(chirp[j]);
      filter[(m - j) % m] = std::conj(chirp[j]);
    }
    transformHere(filter, -1);
    for (Complex &v : filter)
      v /= double(m);
    if (!isComplex)
      x = fromReal(x);
    x = padded(times(x, {dim}, {n}, chirp), dim, m);
    int kept = sign;
    sign = -1;
    x = times(transform(x, dim, true), {dim}, {m}, filter);
    sign = 1;
    x = transform(x, dim, true);
    sign = kept;
    return times(cut(x, dim, 0, n), {dim}, {n}, chirp);
  }

  /// Pairs whose second part is 0.
  Value fromReal(Value x) {
    return ContractOp::create(b, ValueRange{x, constant({pair}, {2}, {1, 0})}, names({}),
                              ArrayAttr());
  }

  /// All positions of which `hermitian` has the first half, up to what the imaginary part of the
  /// result is made of: twice that half, without its own conjugates.
  Value unfolded(Value x, StringAttr dim) {
    int64_t n = *op.getSize();
    SmallVector<double> weights(n / 2 + 1, 2);
    weights[0] = 1;
    if (n % 2 == 0)
      weights[n / 2] = 1;
    x = MulOp::create(b, x, constant({dim}, {n / 2 + 1}, weights));
    return padded(x, dim, n);
  }

  FourierOp op;
  ImplicitLocOpBuilder b;
  StringAttr pair;
  FloatType element;
  int sign = -1;
  int count = 0;
};

struct DecomposeFourierPass : xtensor::impl::DecomposeFourierBase<DecomposeFourierPass> {
  void runOnOperation() final {
    SmallVector<FourierOp> found;
    getOperation().walk([&](FourierOp op) { found.push_back(op); });
    for (FourierOp op : found) {
      ArrayType type = arrayType(op.getX());
      for (Attribute dim : op.getDims())
        if (type.isDynamic(dim)) {
          op.emitError() << Fault::Dimension << "fourier: dim " << dim
                         << " has a dynamic size; devices and bundles need a static one";
          return signalPassFailure();
        }
      op.getY().replaceAllUsesWith(FourierSteps(op).run());
      op.erase();
    }
  }
};

} // namespace
