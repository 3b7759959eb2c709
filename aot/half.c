/* Conversions of half precision, which code generators call by these names where the processor has
 * no instruction; libgcc has them in some versions only. Used: nothing in the module calls them
 * before code is generated. */
#include <stdint.h>

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
typedef union {
  uint64_t bits;
  double value;
} Double;

/* To `mantissa` bits after the point and `width` bits of exponent, ties to even
 * (runtime/HalfConversion.cpp). */
static uint16_t truncated(double value, int mantissa, int width) {
  const int bias = (1 << (width - 1)) - 1, dropped = 52 - mantissa;
  Double d = {.value = value};
  uint16_t sign = (uint16_t)(d.bits >> 63 << 15);
  uint64_t magnitude = d.bits & ~((uint64_t)1 << 63);
  const uint64_t infinite = (uint64_t)0x7ff << 52;
  const uint16_t result_infinite = (uint16_t)(((1 << width) - 1) << mantissa);
  if (magnitude > infinite) /* NaN, made quiet */
    return (uint16_t)(sign | result_infinite | (1 << (mantissa - 1)) |
                      (int)(magnitude >> dropped & (uint64_t)((1 << (mantissa - 1)) - 1)));
  int exponent = (int)(magnitude >> 52) - 1023;
  if (exponent > bias)
    return sign | result_infinite;
  uint64_t bits = (magnitude & (((uint64_t)1 << 52) - 1)) | ((uint64_t)1 << 52);
  int shift = dropped;
  if (exponent < 1 - bias) /* the result has no leading one */
    shift += 1 - bias - exponent;
  if (shift > 53 + 1)
    return sign;
  uint64_t kept = bits >> shift, rest = bits & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  if (exponent >= 1 - bias) /* the leading one adds one to the exponent, and so does a carry */
    kept += (uint64_t)(exponent + bias - 1) << mantissa;
  return (uint16_t)(sign | kept);
}

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
  Half half = {.bits = truncated(x, 10, 5)};
  return half.value;
}
__attribute__((used)) _Float16 __truncdfhf2(double x) {
  Half half = {.bits = truncated(x, 10, 5)};
  return half.value;
}
__attribute__((used)) __bf16 __truncsfbf2(float x) {
  Brain brain = {.bits = truncated(x, 7, 8)};
  return brain.value;
}
__attribute__((used)) __bf16 __truncdfbf2(double x) {
  Brain brain = {.bits = truncated(x, 7, 8)};
  return brain.value;
}
