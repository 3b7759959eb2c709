/* Sorting without the runtime: the order of runtime/Sort.cpp (stable, NaN last, zeros of both signs
 * alike), of which there is only one. Rows of keys that are unsigned integers in the order asked
 * for are merged, in memory of the call. */
#include "gemm.h"
#include "order.h"

typedef struct {
  uint64_t key;
  int64_t position;
} Item;

typedef struct {
  const xt_array *x, *y;
  xt_order order;
  int64_t size, wanted; /* positions of a row, the first ones */
  int32_t isOfValues;   /* elements are wanted, not positions */
} Sort;

static uint64_t bitsAt(const void *data, int64_t i, int32_t bytes) {
  switch (bytes) {
  case 1:
    return ((const uint8_t *)data)[i];
  case 2:
    return ((const uint16_t *)data)[i];
  case 4:
    return ((const uint32_t *)data)[i];
  default:
    return ((const uint64_t *)data)[i];
  }
}

static void setBits(void *data, int64_t i, uint64_t bits, int32_t bytes) {
  switch (bytes) {
  case 1:
    ((uint8_t *)data)[i] = (uint8_t)bits;
    break;
  case 2:
    ((uint16_t *)data)[i] = (uint16_t)bits;
    break;
  case 4:
    ((uint32_t *)data)[i] = (uint32_t)bits;
    break;
  default:
    ((uint64_t *)data)[i] = bits;
  }
}

/* Runs of 16 by insertion, then merged: from one half of `items` to the other and back. Returns the
 * half that holds the result. */
static Item *sortRow(Item *items, Item *other, int64_t n) {
  enum { kRun = 16 };
  for (int64_t begin = 0; begin < n; begin += kRun)
    for (int64_t i = begin + 1; i < begin + kRun && i < n; ++i) {
      Item item = items[i];
      int64_t at = i;
      for (; at > begin && items[at - 1].key > item.key; --at)
        items[at] = items[at - 1];
      items[at] = item;
    }
  for (int64_t run = kRun; run < n; run *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * run) {
      int64_t middle = begin + run < n ? begin + run : n;
      int64_t end = begin + 2 * run < n ? begin + 2 * run : n;
      int64_t a = begin, b = middle;
      for (int64_t i = begin; i < end; ++i)
        other[i] =
            b == end || (a < middle && items[a].key <= items[b].key) ? items[a++] : items[b++];
    }
    Item *sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

static void sortRows(void *ctx, int64_t begin, int64_t end, xt_call *call) {
  const Sort *s = ctx;
  const int64_t n = s->size;
  const int64_t step = s->x->strides[s->x->rank - 1], out = s->y->strides[s->y->rank - 1];
  const int64_t most = INT64_MAX / 2 / (int64_t)sizeof(Item);
  Item *items = xta_arena_acquire(n < most ? 2 * n * (int64_t)sizeof(Item) : INT64_MAX / 2, call);
  for (int64_t row = begin; row < end; ++row) {
    int64_t from = xt_row_offset(s->x, row);
    int64_t to = xt_row_offset(s->y, row);
    Item *sorted = items;
    if (items) {
      for (int64_t i = 0; i < n; ++i) {
        items[i].key = xt_order_key(&s->order, bitsAt(s->x->data, from + i * step, s->order.bytes));
        items[i].position = i;
      }
      sorted = sortRow(items, items + n, n);
    }
    /* Without memory, which is reported: positions that later reads may use all the same. */
    for (int64_t i = 0; i < s->wanted; ++i) {
      int64_t position = items ? sorted[i].position : 0;
      if (s->isOfValues)
        setBits(s->y->data, to + i * out,
                bitsAt(s->x->data, from + position * step, s->order.bytes), s->order.bytes);
      else
        ((int64_t *)s->y->data)[to + i * out] = position;
    }
  }
  xta_arena_release(items, call);
}

static void sort(const xt_array *arrays, const int64_t *options, int64_t wanted, int32_t isOfValues,
                 xt_call *call) {
  const xt_array *x = &arrays[0];
  Sort s = {x, &arrays[1], xt_order_of(x, options), x->sizes[x->rank - 1], wanted, isOfValues};
  int64_t rows = 1;
  for (int32_t axis = 0; axis + 1 < x->rank; ++axis)
    rows *= x->sizes[axis];
  if (rows && s.size)
    xta_parallel_for(sortRows, &s, rows, s.size < 64 ? 64 / s.size : 1, call);
}

void xta_own_xt_argsort(const xt_array *arrays, const int64_t *options, xt_call *call) {
  sort(arrays, options, arrays[0].sizes[arrays[0].rank - 1], 0, call);
}

void xta_own_xt_sort(const xt_array *arrays, const int64_t *options, xt_call *call) {
  sort(arrays, options, arrays[0].sizes[arrays[0].rank - 1], 1, call);
}

void xta_own_xt_top_k(const xt_array *arrays, const int64_t *options, xt_call *call) {
  sort(arrays, options, options[2], 0, call);
}

/* Up to the last of the places that are wanted. */
void xta_own_xt_select(const xt_array *arrays, const int64_t *options, xt_call *call) {
  sort(arrays, options, options[2] ? options[2 + options[2]] + 1 : 0, 0, call);
}
