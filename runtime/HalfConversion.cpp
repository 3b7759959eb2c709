// Double to half precision in one rounding, for processors without an instruction for it: code
// generators call these by the names that compiler-rt gives them.
#include "half.h"
#include "runtime.h"

uint16_t xt_half_bits(double value) { return xt_float16_of(value); }
uint16_t xt_bfloat16_bits(double value) { return xt_bfloat16_of(value); }

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
