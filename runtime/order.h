/* The order of sorted arrays, for the runtime and for libraries compiled ahead of time: C without a
 * standard library, which C++ reads as well. */
#ifndef XTENSOR_RUNTIME_ORDER_H
#define XTENSOR_RUNTIME_ORDER_H

#include "runtime.h"

/* What the bits of an element mean, and in which direction they are sorted. */
typedef struct {
  int32_t bytes;
  int32_t is_unsigned, descending;
  uint64_t infinity; /* the bits of a float's infinity; 0: integers */
} xt_order;

static inline xt_order xt_order_of(const xt_array *array, const int64_t *options) {
  static const int32_t kBytes[] = {1, 2, 4, 8, 2, 2, 4, 8}; /* by XT_I8 .. XT_F64 */
  static const uint64_t kInfinity[] = {0, 0, 0, 0, 0x7c00, 0x7f80, 0x7f800000, 0x7ff0000000000000};
  xt_order order = {kBytes[array->type], options[1] != 0, options[0] != 0, kInfinity[array->type]};
  return order;
}

/* Bits as an unsigned integer: a greater one comes later. NaN is last in either direction, and
 * zeros of both signs are equal. */
static inline uint64_t xt_order_key(const xt_order *order, uint64_t bits) {
  const uint64_t sign = (uint64_t)1 << (8 * order->bytes - 1), all = sign | (sign - 1);
  uint64_t key = bits;
  if (order->infinity) {
    if ((bits & ~sign) > order->infinity)
      return all;
    if (!(bits & ~sign))
      bits = 0;
    key = bits & sign ? ~bits & all : bits | sign;
  } else if (!order->is_unsigned) {
    key = bits ^ sign;
  }
  return order->descending ? ~key & all : key;
}

/* Where row number `row` starts: the axes but the last, in row-major order. */
static inline int64_t xt_row_offset(const xt_array *array, int64_t row) {
  int64_t offset = 0;
  for (int32_t axis = array->rank - 2; axis > 0; --axis) {
    offset += row % array->sizes[axis] * array->strides[axis];
    row /= array->sizes[axis];
  }
  return array->rank > 1 ? offset + row * array->strides[0] : offset;
}

#endif
