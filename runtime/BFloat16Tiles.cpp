// The instructions for products of bfloat16 (see BFloat16Tiles.h). Both kinds multiply exactly, sum
// in float32, and take subnormal numbers for 0.
#include "BFloat16Tiles.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#if XT_HAS_PAIRS
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace xtensor::bfloat16;

xtensor::bfloat16::Steps::Steps(Level level, int64_t terms)
    : begin(0), terms(terms), steps((terms + kDepth - 1) / kDepth), depth(2) {
  if (level == Level::Vectors && steps > 1)
    depth = kDepth;
  else if (steps > 0)
    depth = ((terms + steps - 1) / steps + 1) / 2 * 2;
}

#if XT_HAS_PAIRS

#define XT_TILES                                                                                   \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace {

/// Whether $XTENSOR_CPU_WITHOUT names `feature`.
bool isWithout(const char *feature) {
  const char *text = getenv("XTENSOR_CPU_WITHOUT");
  size_t length = strlen(feature);
  while (text && *text) {
    size_t word = strcspn(text, ",");
    if (word == length && !strncmp(text, feature, length))
      return true;
    text += word + (text[word] == ',');
  }
  return false;
}

/// A process has to ask for the registers of tiles, which signal handlers' stacks must hold, too.
bool mayUseTiles() {
  constexpr long kAskForState = 0x1023, kTileData = 18; // of arch_prctl
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}

Level findLevel() {
  unsigned a, b, c, d;
  bool vectors = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512bf16");
  if (!vectors || isWithout("avx512bf16"))
    return Level::None;
  bool tiles = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1) && (d >> 24 & 1);
  return tiles && !isWithout("amx") && mayUseTiles() ? Level::Tiles : Level::Vectors;
}

/// 16 lines of 16 pairs become 16 lines of the other order.
XT_VECTORS void transpose(__m512i *x) {
  __m512i y[16];
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88);
    y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
    y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
    y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    x[i] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88);
    x[i + 8] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0xdd);
  }
}

/// Reads up to 16 x 16 pairs, and zeros around them. Returns whether each vector is a row or column
/// of its own; otherwise each is a pair of terms for all of them.
XT_VECTORS bool load(const Factor &f, int64_t begin, int64_t count, int64_t first, int64_t terms,
                     __m512i *x) {
  const __m512i zero = _mm512_setzero_si512();
  if (f.inner.isContiguous()) {
    __mmask32 mask = terms == kDepth ? ~__mmask32(0) : (__mmask32(1) << terms) - 1;
    for (int64_t i = 0; i < kSide; ++i) {
      x[i] = zero;
      if (i >= count)
        continue;
      const uint16_t *row = f.data + f.outer.at(begin + i) + first;
      _mm_prefetch(row + 8 * kDepth, _MM_HINT_T1);
      x[i] = _mm512_maskz_loadu_epi16(mask, row);
    }
    return true;
  }
  if (f.outer.isContiguous()) {
    __mmask16 mask = static_cast<__mmask16>((1u << count) - 1);
    for (int64_t i = 0; i < kDepth / 2; ++i) {
      __m512i pair = zero;
      if (2 * i < terms)
        pair = _mm512_cvtepu16_epi32(
            _mm256_maskz_loadu_epi16(mask, f.data + f.inner.at(first + 2 * i) + begin));
      if (2 * i + 1 < terms)
        pair = _mm512_or_si512(
            pair, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(
                                        mask, f.data + f.inner.at(first + 2 * i + 1) + begin)),
                                    16));
      x[i] = pair;
    }
    return false;
  }
  alignas(64) uint16_t square[kSide][kDepth] = {};
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < terms; ++k)
      square[i][k] = f.data[f.outer.at(begin + i) + f.inner.at(first + k)];
  for (int64_t i = 0; i < kSide; ++i)
    x[i] = _mm512_load_si512(square[i]);
  return true;
}

/// Copies `tiles` tiles, each of the `lines` first vectors of its steps: rows or columns of their
/// own, or pairs. Step by step, so that long runs of memory are read.
XT_VECTORS void pack(const Factor &f, int64_t begin, int64_t count, int64_t tileCount,
                     const Steps &steps, bool wantsOuter, int64_t lines, char *to) {
  __m512i x[16];
  for (int64_t step = 0; step < steps.steps; ++step) {
    int64_t first = step * steps.depth, terms = std::min(steps.depth, steps.terms - first);
    char *tile = to + step * lines * kLine;
    for (int64_t i = 0; i < count; i += tileCount, tile += steps.steps * lines * kLine) {
      int64_t here = std::min(tileCount, count - i);
      if (load(f, begin + i, here, steps.begin + first, terms, x) != wantsOuter)
        transpose(x);
      for (int64_t line = 0; line < lines; ++line)
        _mm512_store_si512(tile + line * kLine, x[line]);
    }
  }
}

/// The pairs of 16 of the 32 columns that two rows hold: the first or the last ones.
XT_VECTORS __m512i pairsOf(__m512i first, __m512i second, bool isLast) {
  alignas(64) uint16_t places[kDepth];
  for (int i = 0; i < kDepth; ++i)
    places[i] = static_cast<uint16_t>(i / 2 + i % 2 * kDepth + (isLast ? kSide : 0));
  return _mm512_permutex2var_epi16(first, _mm512_load_si512(places), second);
}

/// Copies columns that lie side by side, as tiles of 16. It reads runs of 256 bytes, because rows
/// may compete for the same lines of the cache. The processor does not foresee such jumps, so it is
/// told which rows follow.
XT_VECTORS void packRuns(const Factor &f, int64_t begin, int64_t count, const Steps &steps,
                         char *to) {
  constexpr int64_t kRun = 4 * kDepth, kAhead = 2 * kDepth;
  const int64_t lines = steps.depth / 2, tile = steps.rightTile();
  for (int64_t step = 0; step < steps.steps; ++step)
    for (int64_t run = 0; run < count; run += kRun)
      for (int64_t line = 0; line < lines; ++line) {
        int64_t term = step * steps.depth + 2 * line;
        bool hasFirst = term < steps.terms, hasSecond = term + 1 < steps.terms;
        const uint16_t *first = f.data + begin, *second = first;
        if (hasFirst)
          first += f.inner.at(steps.begin + term);
        if (hasSecond)
          second += f.inner.at(steps.begin + term + 1);
        int64_t ahead = steps.begin + term + kAhead;
        bool isAhead = ahead + 1 < f.inner.size;
        const uint16_t *nextFirst = isAhead ? f.data + begin + f.inner.at(ahead) : first;
        const uint16_t *nextSecond = isAhead ? f.data + begin + f.inner.at(ahead + 1) : second;
        for (int64_t i = run; i < std::min(count, run + kRun); i += kDepth) {
          int64_t here = count - i;
          _mm_prefetch(nextFirst + i, _MM_HINT_T1);
          _mm_prefetch(nextSecond + i, _MM_HINT_T1);
          __mmask32 mask = here >= kDepth ? ~__mmask32(0) : (__mmask32(1) << here) - 1;
          __m512i x = _mm512_maskz_loadu_epi16(hasFirst ? mask : 0, first + i);
          __m512i y = _mm512_maskz_loadu_epi16(hasSecond ? mask : 0, second + i);
          char *at = to + i / kSide * tile + (step * lines + line) * kLine;
          _mm512_store_si512(at, pairsOf(x, y, false));
          if (here > kSide)
            _mm512_store_si512(at + tile, pairsOf(x, y, true));
        }
      }
}

//===- tiles ---------------------------------------------------------------===//

/// What the processor is told of the eight registers: 0 to 3 are sums, 4 and 5 the left factor, 6
/// and 7 the right one.
struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t lineBytes[16] = {};
  uint8_t lines[16] = {};
};

XT_TILES void configure(int64_t rows, int64_t depth) {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.lineBytes[i] = static_cast<uint16_t>(i == 4 || i == 5 ? 2 * depth : kLine);
    shapes.lines[i] = static_cast<uint8_t>(i < 6 ? rows : depth / 2);
  }
  _tile_loadconfig(&shapes);
}

XT_TILES void releaseTiles() { _tile_release(); }

template <bool kTwoRows, bool kTwoColumns>
XT_TILES void addTilesOf(const LeftTiles &left, int64_t leftTile, const char *right,
                         const Steps &steps, const Sums &sums) {
  const size_t line = left.line, stride = sums.stride * sizeof(float);
  float *c0 = sums.data, *c1 = c0 + left.rows * sums.stride;
  if (sums.isFirst) {
    _tile_zero(0);
    if constexpr (kTwoColumns)
      _tile_zero(1);
    if constexpr (kTwoRows)
      _tile_zero(2);
    if constexpr (kTwoRows && kTwoColumns)
      _tile_zero(3);
  } else {
    _tile_loadd(0, c0, stride);
    if constexpr (kTwoColumns)
      _tile_loadd(1, c0 + kSide, stride);
    if constexpr (kTwoRows)
      _tile_loadd(2, c1, stride);
    if constexpr (kTwoRows && kTwoColumns)
      _tile_loadd(3, c1 + kSide, stride);
  }
  // Numbers of the loop's own: the compiler takes instructions on tiles to write any memory.
  const char *a0 = left.data + leftTile * left.tile, *a1 = a0 + left.tile;
  const char *b0 = right, *b1 = right + steps.rightTile();
  const int64_t leftStep = left.step, rightStep = steps.depth / 2 * kLine;
  for (int64_t step = steps.steps; step > 0; --step) {
    _tile_loadd(6, b0, kLine);
    _tile_loadd(4, a0, line);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kTwoColumns) {
      _tile_loadd(7, b1, kLine);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTwoRows) {
      _tile_loadd(5, a1, line);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kTwoColumns)
        _tile_dpbf16ps(3, 5, 7);
    }
    a0 += leftStep;
    a1 += leftStep;
    b0 += rightStep;
    b1 += rightStep;
  }
  _tile_stored(0, c0, stride);
  if constexpr (kTwoColumns)
    _tile_stored(1, c0 + kSide, stride);
  if constexpr (kTwoRows)
    _tile_stored(2, c1, stride);
  if constexpr (kTwoRows && kTwoColumns)
    _tile_stored(3, c1 + kSide, stride);
}

//===- vectors -------------------------------------------------------------===//

/// One pair of terms for all sums.
template <int kRows, int kTiles>
XT_VECTORS inline __attribute__((always_inline)) void
addPair(__m512 (&acc)[kRows][kTiles], const char *a, int64_t line, const char *b, int64_t tile,
        bool isOdd) {
  __m512bh right[kTiles];
#pragma GCC unroll 16
  for (int j = 0; j < kTiles; ++j)
    right[j] = (__m512bh)_mm512_load_si512(b + j * tile);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    int32_t left = 0;
    if (isOdd) // the term after it may lie outside of the matrix
      memcpy(&left, a + i * line, sizeof(uint16_t));
    else
      memcpy(&left, a + i * line, sizeof left);
#pragma GCC unroll 16
    for (int j = 0; j < kTiles; ++j)
      acc[i][j] = _mm512_dpbf16_ps(acc[i][j], (__m512bh)_mm512_set1_epi32(left), right[j]);
  }
}

/// `kTiles` tiles of columns. With 8 rows and 2 tiles, the loads take less time than the products.
template <int kRows, int kTiles>
XT_VECTORS void addVectors(const char *a, int64_t line, int64_t step, const char *b,
                           const Steps &steps, const Sums &sums, const Target *to) {
  const int64_t tile = steps.rightTile(), depth = step == kLine ? steps.terms : steps.depth;
  __m512 acc[kRows][kTiles];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < kTiles; ++j)
      acc[i][j] = sums.isFirst ? _mm512_setzero_ps()
                               : _mm512_loadu_ps(sums.data + i * sums.stride + j * kSide);
  for (int64_t terms = steps.terms; terms > 0; terms -= depth, a += step) {
    int64_t pairs = std::min(terms, depth) / 2;
    for (int64_t pair = 0; pair < pairs; ++pair, b += kLine)
      addPair(acc, a + 4 * pair, line, b, tile, false);
    if (terms <= depth && terms % 2 == 1)
      addPair(acc, a + 4 * pairs, line, b, tile, true);
  }
  if (!to) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kTiles; ++j)
        _mm512_storeu_ps(sums.data + i * sums.stride + j * kSide, acc[i][j]);
    return;
  }
  __mmask32 mask =
      to->columnCount >= kDepth ? ~__mmask32(0) : (__mmask32(1) << to->columnCount) - 1;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    __m512 high = kTiles > 1 ? acc[i][kTiles - 1] : _mm512_setzero_ps();
    _mm512_mask_storeu_epi16(to->data + to->rows.at(to->row + i) + to->column, mask,
                             (__m512i)_mm512_cvtne2ps_pbh(high, acc[i][0]));
  }
}

using AddVectors = void (*)(const char *, int64_t, int64_t, const char *, const Steps &,
                            const Sums &, const Target *);
constexpr AddVectors kAddTwoTiles[] = {addVectors<1, 2>, addVectors<2, 2>, addVectors<3, 2>,
                                       addVectors<4, 2>, addVectors<5, 2>, addVectors<6, 2>,
                                       addVectors<7, 2>, addVectors<8, 2>};
constexpr AddVectors kAddOneTile[] = {
    addVectors<1, 1>,  addVectors<2, 1>,  addVectors<3, 1>,  addVectors<4, 1>,
    addVectors<5, 1>,  addVectors<6, 1>,  addVectors<7, 1>,  addVectors<8, 1>,
    addVectors<9, 1>,  addVectors<10, 1>, addVectors<11, 1>, addVectors<12, 1>,
    addVectors<13, 1>, addVectors<14, 1>, addVectors<15, 1>, addVectors<16, 1>};

} // namespace

Level xtensor::bfloat16::level() {
  static const Level found = findLevel();
  return found;
}

void xtensor::bfloat16::packLeft(const Factor &left, int64_t begin, int64_t rows,
                                 const Steps &steps, int64_t tileRows, char *to) {
  pack(left, begin, rows, tileRows, steps, true, tileRows, to);
}

void xtensor::bfloat16::packRight(const Factor &right, int64_t begin, int64_t columns,
                                  const Steps &steps, char *to) {
  if (right.outer.isContiguous() && !right.inner.isContiguous())
    return packRuns(right, begin, columns, steps, to);
  pack(right, begin, columns, kSide, steps, false, steps.depth / 2, to);
}

xtensor::bfloat16::Session::Session(Level level, int64_t rows, int64_t depth) : level(level) {
  if (level == Level::Tiles)
    configure(rows, depth);
}

xtensor::bfloat16::Session::~Session() {
  if (level == Level::Tiles)
    releaseTiles();
}

void xtensor::bfloat16::addTiles(const LeftTiles &left, int64_t leftTile, int64_t leftCount,
                                 const char *right, int64_t rightCount, const Steps &steps,
                                 const Sums &sums) {
  if (leftCount == 2)
    return rightCount == 2 ? addTilesOf<true, true>(left, leftTile, right, steps, sums)
                           : addTilesOf<true, false>(left, leftTile, right, steps, sums);
  return rightCount == 2 ? addTilesOf<false, true>(left, leftTile, right, steps, sums)
                         : addTilesOf<false, false>(left, leftTile, right, steps, sums);
}

void xtensor::bfloat16::addByVectors(const LeftTiles &left, int64_t leftTile, const char *right,
                                     const Steps &steps, const Sums &sums, const Target &to,
                                     bool rounds) {
  const char *a = left.data + leftTile * left.tile;
  bool together = rounds && to.columns.isContiguous();
  bool isWide = to.columnCount > kSide;
  const AddVectors *add = isWide ? kAddTwoTiles : kAddOneTile;
  int64_t most = isWide ? 8 : 16, parts = (to.rowCount + most - 1) / most;
  for (int64_t part = 0; part < parts; ++part) {
    int64_t row = to.rowCount * part / parts, end = to.rowCount * (part + 1) / parts;
    Target here = to;
    here.row += row;
    here.rowCount = end - row;
    add[end - row - 1](a + row * left.line, left.line, left.step, right, steps,
                       Sums{sums.data + row * sums.stride, sums.stride, sums.isFirst},
                       together ? &here : nullptr);
  }
  if (rounds && !together)
    round(sums, to);
}

XT_VECTORS void xtensor::bfloat16::round(const Sums &sums, const Target &to) {
  int64_t second = to.columnCount - kSide;
  auto firstMask = static_cast<__mmask16>((1u << std::min(to.columnCount, kSide)) - 1);
  auto secondMask = static_cast<__mmask16>(second > 0 ? (1u << second) - 1 : 0);
  auto mask = static_cast<__mmask32>(firstMask) | static_cast<__mmask32>(secondMask) << kSide;
  for (int64_t i = 0; i < to.rowCount; ++i) {
    const float *from = sums.data + i * sums.stride;
    uint16_t *row = to.data + to.rows.at(to.row + i);
    __m512 low = _mm512_maskz_loadu_ps(firstMask, from),
           high = _mm512_maskz_loadu_ps(secondMask, from + kSide);
    auto rounded = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    if (to.columns.isContiguous()) {
      _mm512_mask_storeu_epi16(row + to.column, mask, rounded);
      continue;
    }
    alignas(64) uint16_t values[2 * kSide];
    _mm512_store_si512(values, rounded);
    for (int64_t j = 0; j < to.columnCount; ++j)
      row[to.columns.at(to.column + j)] = values[j];
  }
}

#else

Level xtensor::bfloat16::level() { return Level::None; }
void xtensor::bfloat16::packLeft(const Factor &, int64_t, int64_t, const Steps &, int64_t, char *) {
}
void xtensor::bfloat16::packRight(const Factor &, int64_t, int64_t, const Steps &, char *) {}
xtensor::bfloat16::Session::Session(Level level, int64_t, int64_t) : level(level) {}
xtensor::bfloat16::Session::~Session() { (void)level; }
void xtensor::bfloat16::addTiles(const LeftTiles &, int64_t, int64_t, const char *, int64_t,
                                 const Steps &, const Sums &) {}
void xtensor::bfloat16::addByVectors(const LeftTiles &, int64_t, const char *, const Steps &,
                                     const Sums &, const Target &, bool) {}
void xtensor::bfloat16::round(const Sums &, const Target &) {}

#endif
