#include "SortKeys.h"

#include "Clones.h"

template <typename Key>
XT_INLINE void readKeys(const Rows &rows, int64_t row, int64_t count, int64_t padded, Key *keys) {
  xt_order order = rows.order;
  order.bytes = sizeof(Key); // known while this is compiled
  const int64_t n = rows.size, step = rows.step();
  const Key *x[kRowsAtOnce];
  for (int64_t r = 0; r < count; ++r)
    x[r] = static_cast<const Key *>(rows.x->data) + xt_row_offset(rows.x, row + r);
  if (count == 1 && step == 1) {
    for (int64_t i = 0; i < n; ++i)
      keys[i] = static_cast<Key>(xt_order_key(&order, x[0][i]));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t r = 0; r < count; ++r)
      keys[r * padded + i] = static_cast<Key>(xt_order_key(&order, x[r][i * step]));
}

XT_CLONES void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded,
                            uint8_t *keys) {
  readKeys(rows, row, count, padded, keys);
}
XT_CLONES void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded,
                            uint16_t *keys) {
  readKeys(rows, row, count, padded, keys);
}
XT_CLONES void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded,
                            uint32_t *keys) {
  readKeys(rows, row, count, padded, keys);
}
XT_CLONES void xt_read_keys(const Rows &rows, int64_t row, int64_t count, int64_t padded,
                            uint64_t *keys) {
  readKeys(rows, row, count, padded, keys);
}
