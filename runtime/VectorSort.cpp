// Highway includes this file once for each set of instructions, and compiles it for them in a name
// space of its own. Which of them runs is chosen here: Highway's own choice is in its library, of
// which only the headers are used.
#include "VectorSort.h"

#ifdef XTENSOR_HAS_HIGHWAY
#define VQSORT_ONLY_STATIC 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "VectorSort.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
//
#include "hwy/contrib/sort/traits-inl.h"
#include "hwy/contrib/sort/vqsort-inl.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace xt::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_MAJOR > 1 || HWY_MINOR > 0
template <typename Key>
void sort(Key *keys, int64_t n) {
  hn::VQSortStatic(keys, static_cast<size_t>(n), hwy::SortAscending());
}
#else
template <typename Key>
void sort(Key *keys, int64_t n) {
  const hn::detail::SharedTraits<hn::detail::TraitsLane<hn::detail::OrderAscending<Key>>> order;
  hn::Sort(hn::SortTag<Key>(), order, keys, static_cast<size_t>(n), static_cast<Key *>(nullptr));
}
#endif

} // namespace xt::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE

// What of Highway's library its headers call.
void hwy::Abort(const char *, int, const char *, ...) { __builtin_trap(); }
#if HWY_MAJOR == 1 && HWY_MINOR == 0
/// The seed of the random numbers that choose pivots.
void hwy::Sorter::Fill24Bytes(const void *, size_t, void *bytes) {
  static constexpr uint64_t kSeed[] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};
  memcpy(bytes, kSeed, sizeof kSeed);
}
#endif

namespace {

/// The functions for one set of instructions.
struct Sorts {
  void (*of32)(uint32_t *, int64_t) = nullptr;
  void (*of64)(uint64_t *, int64_t) = nullptr;
};

Sorts chosen() {
#if HWY_ARCH_X86
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("aes") || !__builtin_cpu_supports("pclmul"))
    return {};
  if (__builtin_cpu_supports("x86-64-v4"))
    return {xt::N_AVX3::sort<uint32_t>, xt::N_AVX3::sort<uint64_t>};
  if (__builtin_cpu_supports("x86-64-v3"))
    return {xt::N_AVX2::sort<uint32_t>, xt::N_AVX2::sort<uint64_t>};
  return {};
#else
  return {xt::N_NEON::sort<uint32_t>, xt::N_NEON::sort<uint64_t>};
#endif
}

const Sorts &sorts() {
  static const Sorts found = chosen();
  return found;
}

} // namespace

bool xt_sorts_by_vectors() { return sorts().of32; }
void xt_sort_by_vectors(uint32_t *keys, int64_t n) { sorts().of32(keys, n); }
void xt_sort_by_vectors(uint64_t *keys, int64_t n) { sorts().of64(keys, n); }
#endif // HWY_ONCE

#else // without Highway

bool xt_sorts_by_vectors() { return false; }
void xt_sort_by_vectors(uint32_t *, int64_t) {}
void xt_sort_by_vectors(uint64_t *, int64_t) {}
#endif
