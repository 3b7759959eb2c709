// Fourier transforms along any axes of strided arrays: chooses the instructions, and copies what is
// not stored as pairs of adjacent floats.
#include "Fourier/Level.h"
#include "Status.h"
#include "runtime.h"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>

using namespace xtensor;
using namespace xtensor::fourier;

namespace {

template <typename T>
void runHere(const Job<T> &job) {
#if defined(__x86_64__)
  static const int level = __builtin_cpu_supports("avx512f") &&
                                   __builtin_cpu_supports("avx512dq") &&
                                   __builtin_cpu_supports("avx512vl")
                               ? 2
                           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1
                                                                                             : 0;
  if constexpr (std::is_same_v<T, double>)
    if (level == 2)
      return avx512::run(job);
  if (level >= 1)
    return avx2::run(job);
#endif
  base::run(job);
}

int64_t elementsOf(const xt_array &array) {
  int64_t n = 1;
  for (int32_t axis = 0; axis < array.rank; ++axis)
    n *= array.sizes[axis];
  return n;
}

/// How a transform sees an array: the last axis of a complex one is its pairs.
Operand operandOf(const xt_array &array, bool isComplex) {
  Operand operand;
  for (int32_t axis = 0; axis < array.rank - isComplex; ++axis) {
    operand.sizes.push_back(size_t(array.sizes[axis]));
    operand.strides.push_back(array.strides[axis] / (isComplex ? 2 : 1));
  }
  return operand;
}

bool hasPairs(const xt_array &array) {
  if (array.strides[array.rank - 1] != 1)
    return false;
  for (int32_t axis = 0; axis + 1 < array.rank; ++axis)
    if (array.strides[axis] % 2)
      return false;
  return true;
}

/// Row-major memory for an array that has no pairs.
template <typename T>
class Packed {
public:
  explicit Packed(const xt_array &from) : array(from), strides(from.rank) {
    int64_t step = 1;
    for (int32_t axis = from.rank - 1; axis >= 0; --axis) {
      strides[axis] = step;
      step *= from.sizes[axis];
    }
    values.resize(size_t(step));
    array.data = values.data();
    array.strides = strides.data();
  }
  void move(const xt_array &other, bool out) const {
    std::vector<int64_t> at(array.rank, 0);
    const int64_t n = int64_t(values.size());
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset = 0;
      for (int32_t axis = 0; axis < array.rank; ++axis)
        offset += at[axis] * other.strides[axis];
      T *theirs = static_cast<T *>(other.data) + offset, *ours = static_cast<T *>(array.data) + i;
      *(out ? theirs : ours) = *(out ? ours : theirs);
      for (int32_t axis = array.rank - 1; axis >= 0 && ++at[axis] == array.sizes[axis]; --axis)
        at[axis] = 0;
    }
  }
  xt_array array;

private:
  std::vector<int64_t> strides;
  std::vector<T> values;
};

template <typename T>
void transform(const xt_array *arrays, Kind kind, int64_t count, double scale) {
  const xt_array &in = arrays[0], &out = arrays[1];
  bool fromPairs = kind != Kind::real && kind != Kind::whole, toPairs = kind != Kind::hermitian;
  std::vector<Packed<T>> copies;
  copies.reserve(2);
  const xt_array *from = &in, *to = &out;
  if (fromPairs && !hasPairs(in)) {
    copies.emplace_back(in);
    copies.back().move(in, false);
    from = &copies.back().array;
  }
  if (toPairs && !hasPairs(out)) {
    copies.emplace_back(out);
    to = &copies.back().array;
  }
  Job<T> job{kind,
             static_cast<const T *>(from->data),
             static_cast<T *>(to->data),
             operandOf(*from, fromPairs),
             operandOf(*to, toPairs),
             {},
             T(scale),
             size_t(xt_num_threads())};
  size_t axes = job.to.sizes.size();
  for (size_t axis = axes - size_t(count); axis < axes; ++axis)
    job.axes.push_back(axis);
  if (kind == Kind::hermitian && job.from.sizes.back() == 0)
    return;
  runHere(job);
  if (to != &out)
    copies.back().move(out, true);
}

} // namespace

void xt_fourier(const xt_array *arrays, const int64_t *options) {
  double scale;
  std::memcpy(&scale, &options[2], sizeof scale);
  if (elementsOf(arrays[0]) == 0 || elementsOf(arrays[1]) == 0)
    return;
  Kind kind = Kind(options[0]);
  try {
    if (arrays[0].type == XT_F32)
      transform<float>(arrays, kind, options[1], scale);
    else
      transform<double>(arrays, kind, options[1], scale);
  } catch (const std::bad_alloc &) {
    // Results and scratch memory of each thread: about as much as the larger array.
    reportNoMemory(std::max(elementsOf(arrays[0]), elementsOf(arrays[1])) *
                   (arrays[0].type == XT_F32 ? 4 : 8));
  }
}
