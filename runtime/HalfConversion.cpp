// Double to half precision in one rounding, for processors without an instruction for it: code
// generators call these by the names that compiler-rt gives them.
#include "runtime.h"

#include <cstring>

namespace {

/// To a float with `kMantissa` bits after the point and `kExponent` bits of exponent; ties to even.
template <int kMantissa, int kExponent>
uint16_t truncated(double value) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr int kDropped = 52 - kMantissa;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  auto sign = static_cast<uint16_t>(bits >> 63 << 15);
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  constexpr uint64_t kInfinite = uint64_t(0x7ff) << 52;
  constexpr auto kResultInfinite = static_cast<uint16_t>(((1 << kExponent) - 1) << kMantissa);
  if (magnitude > kInfinite) // NaN, made quiet
    return sign | kResultInfinite | (1 << (kMantissa - 1)) |
           static_cast<uint16_t>(magnitude >> kDropped & ((1 << (kMantissa - 1)) - 1));
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > kBias)
    return sign | kResultInfinite;
  uint64_t mantissa = (magnitude & ((uint64_t(1) << 52) - 1)) | (uint64_t(1) << 52);
  int shift = kDropped;
  if (exponent < 1 - kBias) // the result has no leading one
    shift += 1 - kBias - exponent;
  if (shift > 53 + 1)
    return sign;
  uint64_t kept = mantissa >> shift, rest = mantissa & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // The leading one of a normal number adds one to the exponent; so does a carry out of it.
  if (exponent >= 1 - kBias)
    kept += static_cast<uint64_t>(exponent + kBias - 1) << kMantissa;
  return sign | static_cast<uint16_t>(kept);
}

} // namespace

uint16_t xt_half_bits(double value) { return truncated<10, 5>(value); }
uint16_t xt_bfloat16_bits(double value) { return truncated<7, 8>(value); }

#if defined(__x86_64__)
#include <emmintrin.h>
// The calling convention returns either type in the low bits of a vector register.
extern "C" XT_API __m128i xt_truncdfhf2(double value) {
  return _mm_cvtsi32_si128(xt_half_bits(value));
}
extern "C" XT_API __m128i xt_truncdfbf2(double value) {
  return _mm_cvtsi32_si128(xt_bfloat16_bits(value));
}
// LLVM moves a bfloat16 through float32 where the processor has no instructions for it.
extern "C" XT_API __m128i xt_truncsfbf2(float value) {
  return _mm_cvtsi32_si128(xt_bfloat16_bits(value));
}
#endif
