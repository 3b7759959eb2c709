/* Rounding to half precision, for the runtime and for libraries compiled ahead of time: C without
 * a standard library, which C++ reads as well. */
#ifndef XTENSOR_RUNTIME_HALF_H
#define XTENSOR_RUNTIME_HALF_H

#include <stdint.h>

/* The bits of a float with `mantissa` bits after the point and `width` bits of exponent; ties go to
 * even. One rounding, also from float32, which float64 holds exactly. */
static inline uint16_t xt_half_of(double value, int mantissa, int width) {
  const int bias = (1 << (width - 1)) - 1, dropped = 52 - mantissa;
  const uint64_t infinite = (uint64_t)0x7ff << 52;
  const uint16_t result_infinite = (uint16_t)(((1 << width) - 1) << mantissa);
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 63 << 15);
  uint64_t magnitude = bits & ~((uint64_t)1 << 63);
  if (magnitude > infinite) /* NaN, made quiet */
    return (uint16_t)(sign | result_infinite | (1 << (mantissa - 1)) |
                      (int)(magnitude >> dropped & (uint64_t)((1 << (mantissa - 1)) - 1)));
  int exponent = (int)(magnitude >> 52) - 1023;
  if (exponent > bias)
    return (uint16_t)(sign | result_infinite);
  uint64_t significand = (magnitude & (((uint64_t)1 << 52) - 1)) | ((uint64_t)1 << 52);
  int shift = dropped;
  if (exponent < 1 - bias) /* the result is subnormal: it has no leading one */
    shift += 1 - bias - exponent;
  if (shift > 53 + 1)
    return sign;
  uint64_t kept = significand >> shift, rest = significand & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  if (exponent >= 1 - bias) /* the leading one adds one to the exponent, and so does a carry */
    kept += (uint64_t)(exponent + bias - 1) << mantissa;
  return (uint16_t)(sign | kept);
}

static inline uint16_t xt_float16_of(double value) { return xt_half_of(value, 10, 5); }
static inline uint16_t xt_bfloat16_of(double value) { return xt_half_of(value, 7, 8); }

#endif
