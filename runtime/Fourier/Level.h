// Fourier transforms by DUCC's headers, compiled once for each set of instructions.
#pragma once

#include <cstddef>
#include <vector>

namespace xtensor::fourier {

/// Forward and backward have the exponents -i and +i, and no factor. Real: the first n / 2 + 1
/// numbers of forward. Hermitian: backward of numbers whose second half is the conjugate of the
/// first one, which alone is given. Whole: all numbers of forward of a real array.
enum class Kind { forward, backward, real, hermitian, whole };

/// Strides count numbers of what the array holds: complex ones, or real ones (the input of `real`
/// and `whole`, the output of `hermitian`). A complex number is two adjacent floats.
struct Operand {
  std::vector<std::size_t> sizes;
  std::vector<std::ptrdiff_t> strides;
};

template <typename T>
struct Job {
  Kind kind;
  const T *in;
  T *out;
  Operand from, to;
  /// For `real` and `hermitian`, the last one is that of both sizes.
  std::vector<std::size_t> axes;
  T scale;
  std::size_t threads;
};

// Throw std::bad_alloc.
#define XT_FOURIER_LEVEL(name)                                                                     \
  namespace name {                                                                                 \
  void run(const Job<float> &job);                                                                 \
  void run(const Job<double> &job);                                                                \
  }
XT_FOURIER_LEVEL(base)
#if defined(__x86_64__)
XT_FOURIER_LEVEL(avx2)
// DUCC's vectors have 256 bits at most. More registers make transforms of doubles 5 % faster, and
// those of floats hardly.
namespace avx512 {
void run(const Job<double> &job);
}
#endif
#undef XT_FOURIER_LEVEL

} // namespace xtensor::fourier
