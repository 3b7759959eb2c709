// The arrays that DUCC works in, from our allocator: it keeps freed blocks, and large ones have
// large pages. Included before DUCC's headers, this stands in the place of
// ducc0/infra/aligned_array.h.
#pragma once
#define DUCC0_ALIGNED_ARRAY_H

#include "runtime.h"

#include <cstddef>
#include <limits>
#include <new>
#include <utility>

namespace ducc0 {
namespace detail_aligned_array {

template <typename T>
class Scratch {
public:
  Scratch() = default;
  explicit Scratch(std::size_t n) { take(n); }
  Scratch(const Scratch &) = delete;
  Scratch(Scratch &&other) noexcept { swap(other); }
  Scratch &operator=(const Scratch &) = delete;
  Scratch &operator=(Scratch &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Scratch() { release(); }

  /// Keeps no elements.
  void resize(std::size_t n) {
    if (n == count)
      return;
    release();
    take(n);
  }
  T &operator[](std::size_t i) { return memory[i]; }
  const T &operator[](std::size_t i) const { return memory[i]; }
  T *data() { return memory; }
  const T *data() const { return memory; }
  std::size_t size() const { return count; }

private:
  void take(std::size_t n) {
    if (n == 0)
      return;
    if (n <= std::numeric_limits<std::size_t>::max() / sizeof(T))
      memory = static_cast<T *>(xt_alloc(n * sizeof(T)));
    if (!memory)
      throw std::bad_alloc();
    count = n;
  }
  void release() {
    if (memory)
      xt_free(memory, count * sizeof(T));
    memory = nullptr;
    count = 0;
  }
  void swap(Scratch &other) noexcept {
    std::swap(memory, other.memory);
    std::swap(count, other.count);
  }

  T *memory = nullptr;
  std::size_t count = 0;
};

template <typename T>
using quick_array = Scratch<T>;
template <typename T>
using aligned_array = Scratch<T>;

} // namespace detail_aligned_array

using detail_aligned_array::aligned_array;
using detail_aligned_array::quick_array;

} // namespace ducc0
