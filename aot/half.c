/* Conversions of half precision, which code generators call by these names where the processor has
 * no instruction; libgcc has them in some versions only. Used: nothing in the module calls them
 * before code is generated. */
#include "half.h"

typedef union {
  uint16_t bits;
  _Float16 value;
} Half;
typedef union {
  uint16_t bits;
  __bf16 value;
} Brain;
typedef union {
  uint32_t bits;
  float value;
} Single;
__attribute__((used)) float __extendhfsf2(_Float16 x) {
  Half half = {.value = x};
  uint32_t sign = (uint32_t)(half.bits & 0x8000) << 16, exponent = half.bits >> 10 & 31,
           mantissa = half.bits & 1023;
  Single s;
  if (exponent == 31)
    s.bits = 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0);
  else if (exponent)
    s.bits = (exponent + 112) << 23 | mantissa << 13;
  else
    s.value = (float)mantissa * 0x1p-24f;
  s.bits |= sign;
  return s.value;
}

__attribute__((used)) _Float16 __truncsfhf2(float x) {
  Half half = {.bits = xt_float16_of(x)};
  return half.value;
}
__attribute__((used)) _Float16 __truncdfhf2(double x) {
  Half half = {.bits = xt_float16_of(x)};
  return half.value;
}
__attribute__((used)) __bf16 __truncsfbf2(float x) {
  Brain brain = {.bits = xt_bfloat16_of(x)};
  return brain.value;
}
__attribute__((used)) __bf16 __truncdfbf2(double x) {
  Brain brain = {.bits = xt_bfloat16_of(x)};
  return brain.value;
}
