// Products of bfloat16 matrices, tile by tile: what the processor can do, copies of the factors in
// the order of its instructions, and the sums of one tile of the result.
//
// The instructions multiply pairs of neighbours along the sum. A tile of the left factor has up to
// 16 rows of 16 pairs, a tile of the right one up to 16 pairs for each of 16 columns. Both have
// lines of 64 bytes. What lies beyond the edges of a matrix is 0 in these copies.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__linux__)
#define XT_HAS_PAIRS 1
#define XT_VECTORS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#endif

namespace xtensor::bfloat16 {

/// The instructions: none, products of vectors (AVX512-BF16), or of tiles (AMX).
enum class Level { None, Vectors, Tiles };

/// Of this process. Asks the system for tiles when it is first called.
Level level();

constexpr int64_t kSide = 16, kDepth = 32, kLine = 64; // rows or columns, terms, and bytes

/// Places in memory along some axes that are walked as one, in elements.
struct Line {
  int64_t size = 1, stride = 0;
  const int64_t *table = nullptr; // if one stride does not reach all of them

  int64_t at(int64_t i) const { return table ? table[i] : i * stride; }
  bool isContiguous() const { return !table && (stride == 1 || size == 1); }
};

/// A factor: `outer` walks the rows of the left one or the columns of the right one.
struct Factor {
  const uint16_t *data;
  Line outer, inner;
  int array; // which one of the product's arrays it is
};

/// A part of the sum is cut into `steps` of `depth` terms, an even number.
struct Steps {
  int64_t begin, terms, steps, depth;

  /// All terms. Tiles have equal depths; vectors take as many terms as there are.
  Steps(Level level, int64_t terms);
  int64_t rightTile() const { return steps * depth / 2 * kLine; } // bytes
};

/// Tiles of the left factor, of `rows` rows each: copies, or the matrix itself. In bytes.
struct LeftTiles {
  const char *data;
  int64_t rows, tile, step, line;
};

/// Copies tiles for all steps, of `rows` rows or of some columns.
void packLeft(const Factor &left, int64_t begin, int64_t rows, const Steps &steps, int64_t tileRows,
              char *to);
void packRight(const Factor &right, int64_t begin, int64_t columns, const Steps &steps, char *to);

/// While it lives, this thread may call addTiles or addByVectors for such tiles.
class Session {
public:
  Session(Level level, int64_t rows, int64_t depth);
  ~Session();
  Session(const Session &) = delete;

private:
  Level level;
};

/// Up to 2 x 2 tiles of float sums, rows `stride` elements apart: `isFirst` sets them.
struct Sums {
  float *data;
  int64_t stride;
  bool isFirst;
};
void addTiles(const LeftTiles &left, int64_t leftTile, int64_t leftCount, const char *right,
              int64_t rightCount, const Steps &steps, const Sums &sums);

/// A part of the result, of at most 2 x 2 tiles.
struct Target {
  uint16_t *data;
  const Line &rows, &columns;
  int64_t row, rowCount, column, columnCount;
};
void round(const Sums &sums, const Target &to);

/// The same by vectors, for one tile of rows and up to two of columns. It reads no row after those
/// of the target, and no term after the last one. `rounds` writes the result.
void addByVectors(const LeftTiles &left, int64_t leftTile, const char *right, const Steps &steps,
                  const Sums &sums, const Target &to, bool rounds);

/// Whether `multiplyByVectors` reads such a matrix and such vectors, which are the other factor.
/// The matrix lies contiguous along the sum or along its other axis. Several vectors need a long
/// sum.
bool canMultiplyByVectors(Level level, const Factor &matrix, const Factor &vectors);
/// The bytes of the copy that vectors need which are not contiguous along the sum, or 0. The copy.
size_t vectorCopyBytes(const Factor &matrix, const Factor &vectors);
LeftTiles copyVectors(const Factor &vectors, char *to);
/// The products of rows [begin, end) of a matrix with all vectors. `copy`, if there is one, is read
/// in place of them.
struct VectorTarget {
  uint16_t *data;
  const Line &rows, &vectors;
};
void multiplyByVectors(const Factor &matrix, const Factor &vectors, const LeftTiles *copy,
                       int64_t begin, int64_t end, const VectorTarget &to);
/// How many rows it computes together, at most, and with how many vectors.
constexpr int64_t kVectorRows = 256, kMostVectors = 8;

} // namespace xtensor::bfloat16
