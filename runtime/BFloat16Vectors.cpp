// Products of a bfloat16 matrix with a few vectors (see BFloat16Tiles.h). Each element of the
// matrix is read once, where it is: a copy of it in the order of tiles would take longer than the
// product.
#include "BFloat16Tiles.h"

#include <algorithm>

#if XT_HAS_PAIRS
#include <immintrin.h>
#endif

using namespace xtensor::bfloat16;

#if XT_HAS_PAIRS

namespace {

constexpr int64_t kLeastTerms = 128, kLeastRows = 32; // where several vectors pay
constexpr int64_t kFar = 1 << 19;                     // elements that the second cache cannot hold
constexpr int64_t kAhead = 64;                        // terms that are read ahead then

/// The sums of four vectors.
XT_VECTORS inline __attribute__((always_inline)) __m128 sumsOf(__m512 a, __m512 b, __m512 c,
                                                               __m512 d) {
  __m512 first = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  __m512 second = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  __m512 both =
      _mm512_add_ps(_mm512_shuffle_ps(first, second, 0x44), _mm512_shuffle_ps(first, second, 0xee));
  __m256 half = _mm256_add_ps(_mm512_castps512_ps256(both), _mm512_extractf32x8_ps(both, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/// Rows that lie along the sum, and so do the vectors.
template <int kRows, int kVectors>
XT_VECTORS void dotRows(const Factor &matrix, const LeftTiles &vectors, int64_t begin,
                        const VectorTarget &to) {
  constexpr int kCount = (kRows * kVectors + 3) / 4 * 4;
  const uint16_t *rows[kRows];
  __m512 acc[kCount];
#pragma GCC unroll 32
  for (int i = 0; i < kCount; ++i)
    acc[i] = _mm512_setzero_ps();
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
    rows[i] = matrix.data + matrix.outer.at(begin + i);
  const char *step = vectors.data;
  for (int64_t k = 0, terms = matrix.inner.size; k < terms; k += kDepth, step += vectors.step) {
    __mmask32 mask = terms - k >= kDepth ? ~__mmask32(0) : (__mmask32(1) << (terms - k)) - 1;
    __m512bh left[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
      left[i] = (__m512bh)_mm512_maskz_loadu_epi16(mask, rows[i] + k);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      auto right = (__m512bh)_mm512_maskz_loadu_epi16(mask, step + v * vectors.line);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i)
        acc[v * kRows + i] = _mm512_dpbf16_ps(acc[v * kRows + i], left[i], right);
    }
  }
  alignas(64) uint16_t values[kCount];
#pragma GCC unroll 32
  for (int i = 0; i < kCount; i += 4) {
    auto rounded = _mm_cvtneps_pbh(sumsOf(acc[i], acc[i + 1], acc[i + 2], acc[i + 3]));
    _mm_storel_epi64(reinterpret_cast<__m128i *>(values + i), (__m128i)rounded);
  }
  for (int v = 0; v < kVectors; ++v)
    for (int i = 0; i < kRows; ++i)
      to.data[to.rows.at(begin + i) + to.vectors.at(v)] = values[v * kRows + i];
}

template <int kRows, int kVectors>
void dotAllRows(const Factor &matrix, const LeftTiles &vectors, int64_t begin, int64_t end,
                const VectorTarget &to) {
  for (; begin + kRows <= end; begin += kRows)
    dotRows<kRows, kVectors>(matrix, vectors, begin, to);
  for (; begin < end; ++begin)
    dotRows<1, kVectors>(matrix, vectors, begin, to);
}

/// With 16 to 24 sums in registers.
using DotAllRows = void (*)(const Factor &, const LeftTiles &, int64_t, int64_t,
                            const VectorTarget &);
constexpr DotAllRows kDotAllRows[kMostVectors] = {
    dotAllRows<8, 1>, dotAllRows<8, 2>, dotAllRows<8, 3>, dotAllRows<6, 4>,
    dotAllRows<4, 5>, dotAllRows<4, 6>, dotAllRows<3, 7>, dotAllRows<3, 8>};

/// The first and the second four of each eight rows, for each vector.
template <int kWide, int kVectors>
struct ColumnSums {
  __m512 low[kVectors][kWide], high[kVectors][kWide];
  __mmask32 mask[kWide];
};

/// Adds two terms of all rows, or one.
template <int kWide, int kVectors>
XT_VECTORS inline __attribute__((always_inline)) void
addTerms(ColumnSums<kWide, kVectors> &sums, const Factor &vectors, int64_t k, bool isPair,
         const uint16_t *first, const uint16_t *second) {
  __m512bh pair[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const uint16_t *data = vectors.data + vectors.outer.at(v);
    uint32_t both = data[vectors.inner.at(k)];
    if (isPair)
      both |= uint32_t(data[vectors.inner.at(k + 1)]) << 16;
    pair[v] = (__m512bh)_mm512_set1_epi32(static_cast<int32_t>(both));
  }
#pragma GCC unroll 8
  for (int w = 0; w < kWide; ++w) {
    __m512i x = _mm512_maskz_loadu_epi16(sums.mask[w], first + w * kDepth);
    __m512i y = isPair ? _mm512_maskz_loadu_epi16(sums.mask[w], second + w * kDepth)
                       : _mm512_setzero_si512();
    auto left = (__m512bh)_mm512_unpacklo_epi16(x, y);
    auto right = (__m512bh)_mm512_unpackhi_epi16(x, y);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums.low[v][w] = _mm512_dpbf16_ps(sums.low[v][w], left, pair[v]);
      sums.high[v][w] = _mm512_dpbf16_ps(sums.high[v][w], right, pair[v]);
    }
  }
}

/// 32 * kWide rows that lie side by side, or fewer. Each step takes two terms of all of them.
template <int kWide, int kVectors>
XT_VECTORS void addColumns(const Factor &matrix, const Factor &vectors, int64_t begin, int64_t end,
                           const VectorTarget &to) {
  ColumnSums<kWide, kVectors> sums;
#pragma GCC unroll 8
  for (int w = 0; w < kWide; ++w) {
    int64_t count = std::clamp<int64_t>(end - begin - w * kDepth, 0, kDepth);
    sums.mask[w] = count == kDepth ? ~__mmask32(0) : (__mmask32(1) << count) - 1;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      sums.low[v][w] = sums.high[v][w] = _mm512_setzero_ps();
  }
  const uint16_t *data = matrix.data + begin;
  const int64_t terms = matrix.inner.size, pairs = terms / 2 * 2;
  // The processor does not foresee jumps from row to row of a matrix in memory.
  int64_t near = terms * matrix.outer.size < kFar ? 0 : std::max<int64_t>(pairs - kAhead, 0);
  int64_t k = 0;
  for (; k < near; k += 2) {
    const uint16_t *first = data + matrix.inner.at(k + kAhead),
                   *second = data + matrix.inner.at(k + kAhead + 1);
#pragma GCC unroll 8
    for (int w = 0; w < kWide; ++w) {
      _mm_prefetch(first + w * kDepth, _MM_HINT_T1);
      _mm_prefetch(second + w * kDepth, _MM_HINT_T1);
    }
    addTerms(sums, vectors, k, true, data + matrix.inner.at(k), data + matrix.inner.at(k + 1));
  }
  for (; k < pairs; k += 2)
    addTerms(sums, vectors, k, true, data + matrix.inner.at(k), data + matrix.inner.at(k + 1));
  if (k < terms)
    addTerms(sums, vectors, k, false, data + matrix.inner.at(k), data);
  alignas(64) uint16_t order[kDepth], values[kDepth];
  for (int i = 0; i < kDepth; ++i)
    order[i] = static_cast<uint16_t>(i / 8 * 4 + i % 4 + (i % 8 < 4 ? 0 : kSide));
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 8
    for (int w = 0; w < kWide; ++w) {
      uint16_t *result = to.data + to.vectors.at(v);
      auto rounded = _mm512_permutexvar_epi16(
          _mm512_load_si512(order), (__m512i)_mm512_cvtne2ps_pbh(sums.high[v][w], sums.low[v][w]));
      int64_t at = begin + w * kDepth;
      if (to.rows.isContiguous()) {
        _mm512_mask_storeu_epi16(result + at, sums.mask[w], rounded);
        continue;
      }
      _mm512_store_si512(values, rounded);
      for (int64_t i = at; i < std::min(end, at + kDepth); ++i)
        result[to.rows.at(i)] = values[i - at];
    }
}

template <int kWide, int kVectors>
void addAllColumns(const Factor &matrix, const Factor &vectors, int64_t begin, int64_t end,
                   const VectorTarget &to) {
  constexpr int64_t kRows = kWide * kDepth;
  for (; begin + kRows / 2 < end; begin += kRows)
    addColumns<kWide, kVectors>(matrix, vectors, begin, std::min(end, begin + kRows), to);
  for (; begin < end; begin += kDepth)
    addColumns<1, kVectors>(matrix, vectors, begin, std::min(end, begin + kDepth), to);
}

using AddAllColumns = void (*)(const Factor &, const Factor &, int64_t, int64_t,
                               const VectorTarget &);
constexpr int64_t kMostInColumns = 6;
constexpr AddAllColumns kAddAllColumns[kMostInColumns] = {addAllColumns<8, 1>, addAllColumns<4, 2>,
                                                          addAllColumns<3, 3>, addAllColumns<3, 4>,
                                                          addAllColumns<2, 5>, addAllColumns<2, 6>};

} // namespace

static bool areAlongSum(const Factor &vectors) {
  return vectors.inner.isContiguous() && !vectors.outer.table;
}

bool xtensor::bfloat16::canMultiplyByVectors(Level level, const Factor &matrix,
                                             const Factor &vectors) {
  const int64_t count = vectors.outer.size;
  if (count == 1)
    return matrix.outer.isContiguous() || (matrix.inner.isContiguous() && areAlongSum(vectors));
  if (level != Level::Vectors || count > kMostVectors || matrix.inner.size < kLeastTerms)
    return false;
  if (areAlongSum(vectors))
    return matrix.inner.isContiguous() || (matrix.outer.isContiguous() && count <= kMostInColumns);
  return matrix.inner.isContiguous() && matrix.outer.size >= kLeastRows;
}

size_t xtensor::bfloat16::vectorCopyBytes(const Factor &matrix, const Factor &vectors) {
  bool isCopied = vectors.outer.size > 1 && !areAlongSum(vectors);
  return isCopied ? (matrix.inner.size + kDepth - 1) / kDepth * vectors.outer.size * kLine : 0;
}

LeftTiles xtensor::bfloat16::copyVectors(const Factor &vectors, char *to) {
  const int64_t count = vectors.outer.size;
  Steps steps(Level::Vectors, vectors.inner.size);
  packLeft(vectors, 0, count, steps, count, to);
  return {to, count, steps.steps * count * kLine, count * kLine, kLine};
}

void xtensor::bfloat16::multiplyByVectors(const Factor &matrix, const Factor &vectors,
                                          const LeftTiles *copy, int64_t begin, int64_t end,
                                          const VectorTarget &to) {
  const int64_t count = vectors.outer.size;
  if (copy || (matrix.inner.isContiguous() && areAlongSum(vectors))) {
    LeftTiles here{reinterpret_cast<const char *>(vectors.data + vectors.outer.at(0)), count, 0,
                   kLine, 2 * vectors.outer.stride};
    return kDotAllRows[count - 1](matrix, copy ? *copy : here, begin, end, to);
  }
  kAddAllColumns[count - 1](matrix, vectors, begin, end, to);
}

#else

bool xtensor::bfloat16::canMultiplyByVectors(Level, const Factor &, const Factor &) {
  return false;
}
size_t xtensor::bfloat16::vectorCopyBytes(const Factor &, const Factor &) { return 0; }
LeftTiles xtensor::bfloat16::copyVectors(const Factor &, char *) { return {}; }
void xtensor::bfloat16::multiplyByVectors(const Factor &, const Factor &, const LeftTiles *,
                                          int64_t, int64_t, const VectorTarget &) {}

#endif
