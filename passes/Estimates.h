// The estimates that passes decide by: numbers of elements and steps, the cost of an element, and
// thresholds that several folders share. Machine.h holds what depends on caches.
#ifndef XTENSOR_PASSES_ESTIMATES_H
#define XTENSOR_PASSES_ESTIMATES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir {
class Operation;
namespace linalg {
class LinalgOp;
} // namespace linalg
} // namespace mlir

namespace xtensor {

/// A size that only the call knows, where what is large matters: arrays, loops, chunks.
constexpr int64_t kOpenSize = 4096;
/// Steps of such a loop, where the time of a call is estimated: neither bound on it is safe.
constexpr int64_t kOpenSteps = 64;
/// Such a side of a matrix product, where one call of the library or several are chosen.
constexpr int64_t kOpenSide = 128;

/// A number of elements or of work, which saturates: products of sizes pass 64 bits.
class Amount {
public:
  /// Far above any threshold. The sum of two fits into 64 bits.
  static constexpr int64_t kMost = int64_t(1) << 48;

  constexpr Amount(int64_t n = 0) : n(n < 0 ? 0 : n < kMost ? n : kMost) {}
  /// A size of a type: kOpenSize if it is not known.
  static constexpr Amount ofSize(int64_t size) {
    return mlir::ShapedType::isDynamic(size) ? kOpenSize : size;
  }
  static Amount ofSizes(llvm::ArrayRef<int64_t> sizes) {
    Amount all = 1;
    for (int64_t size : sizes)
      all = all * ofSize(size);
    return all;
  }

  constexpr int64_t count() const { return n; }
  friend Amount operator*(Amount a, Amount b) {
    return int64_t(std::min<uint64_t>(kMost, llvm::SaturatingMultiply<uint64_t>(a.n, b.n)));
  }
  friend constexpr Amount operator+(Amount a, Amount b) { return a.n + b.n; }
  /// Nothing is divided into no parts as into one.
  friend constexpr Amount operator/(Amount a, Amount b) { return a.n / (b.n ? b.n : 1); }
  Amount &operator*=(Amount other) { return *this = *this * other; }
  Amount &operator+=(Amount other) { return *this = *this + other; }
  Amount &operator/=(Amount other) { return *this = *this / other; }
  friend constexpr bool operator<(Amount a, Amount b) { return a.n < b.n; }
  friend constexpr bool operator>(Amount a, Amount b) { return a.n > b.n; }
  friend constexpr bool operator<=(Amount a, Amount b) { return a.n <= b.n; }
  friend constexpr bool operator>=(Amount a, Amount b) { return a.n >= b.n; }
  friend constexpr bool operator==(Amount a, Amount b) { return a.n == b.n; }
  friend constexpr bool operator!=(Amount a, Amount b) { return a.n != b.n; }

private:
  int64_t n;
};

/// a / b, rounded up.
inline Amount divideUp(Amount a, Amount b) {
  return int64_t(llvm::divideCeil(a.count(), std::max<int64_t>(b.count(), 1)));
}

/// The product of sizes, saturated; kDynamic if one of them is not known.
inline int64_t knownProduct(llvm::ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, mlir::ShapedType::isDynamic) ? mlir::ShapedType::kDynamic
                                                          : Amount::ofSizes(sizes).count();
}

//===- costs ---------------------------------------------------------------===//

/// In simple vector instructions.
constexpr unsigned kMathCost = 8, kDivisionCost = 4;

/// Windows of up to so many elements are reduced without a loop inside. An extremum of floats takes
/// several instructions, and more of them wait for each other. Measured on x86-64 with AVX-512.
constexpr int64_t kShortWindow = 16, kShortExtremum = 6;

/// Rows of up to so many elements are sorted in registers, of at least so many rows at a time. 32
/// vectors are as many as AVX-512 has registers.
constexpr int64_t kShortSort = 32, kLeastShortSorts = 256;

/// A function of numbers that takes many instructions, or one of the math dialect.
bool isFunction(mlir::Operation *op);
/// Points of the loops of `op`.
Amount estimateIterations(mlir::linalg::LinalgOp op);
/// Cost of one evaluation of the body, in simple vector instructions.
unsigned bodyCost(mlir::linalg::LinalgOp op);
/// True if evaluating the body twice is never worth a saved load: calls of math functions,
/// divisions, gathers.
bool hasExpensiveBody(mlir::linalg::LinalgOp op);
/// Cost of all points: at least one instruction for each.
Amount workOf(mlir::linalg::LinalgOp op);
/// On a forall: the cost of one iteration, without that of its linalg ops.
constexpr llvm::StringLiteral kWorkAttribute = "xtensor.work";
/// On the op of a forall that adds 1 to its number: in a chunk of several iterations that are done
/// as one, the number after the last.
constexpr llvm::StringLiteral kEndOfChunkAttribute = "xtensor.end_of_chunk";

//===- thresholds ----------------------------------------------------------===//

/// Work below which the caller's thread does it alone, and sums are not split.
constexpr int64_t kLeastWork = 16384;
/// An array of fewer elements is read again for nothing.
constexpr int64_t kSmallArray = 4096;
/// Elements that a thread fills, copies or updates before another one is worth waking.
constexpr int64_t kSharedElements = 1 << 16;

/// Long rows that are reduced at once, if they share an operand, as in the product of a matrix and
/// a vector: what they share is loaded once, and the hardware prefetcher reads ahead in each of
/// them. Sums of one operand come from memory as fast row by row.
constexpr int64_t kSharingRows = 4;
/// Short rows that are neighbours, of a sum that jumps to the next ones after each: several are one
/// run of memory.
constexpr int64_t kNeighbours = 16;

/// How sums are cut. A sum is rounded as it is cut, so these are the same on every machine: they
/// are not derived from its caches.
namespace cut {
/// Elements of a chunk: what a core's caches hold, and what a workgroup is worth, which works out
/// where each of its threads is if there are columns.
constexpr int64_t kLeastChunk = 2048, kMostChunk = 16384, kLeastColumns = 8192;
/// A longer block of columns is cut into parts of rows, which have this many elements at least.
constexpr int64_t kMostColumns = 32768, kRows = 16384;
/// A reduction that is differentiated by comparison is cut into parts of this many elements, so
/// that one loop reduces a part and compares it.
constexpr int64_t kComparedPart = 8192;
/// A reduction of a shorter scan is the scan's last value, even if the scan has to be stored first.
constexpr int64_t kStoredScan = 16384;
} // namespace cut

} // namespace xtensor

#endif // XTENSOR_PASSES_ESTIMATES_H
