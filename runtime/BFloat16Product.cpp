// Products of bfloat16 matrices, of which the threads compute blocks of columns:
// xt_bfloat16_product. A thread copies its block of the right factor, and the threads share the
// copy of the left one. Any strides, and batches.
#include "BFloat16Tiles.h"
#include "Matrices.h"
#include "Pool.h"
#include "half.h"
#include "runtime.h"

#include <algorithm>
#include <cstring>

using namespace xtensor;
using namespace xtensor::bfloat16;

namespace {

constexpr int64_t kMinThreadWork = 1 << 20; // multiply-adds: a few microseconds
constexpr int64_t kMaxSteps = 32;           // of a sum that stays in registers
constexpr int64_t kBlockBytes = 512 * 1024; // of the right factor, in the second cache
constexpr int64_t kLeftBytes = 8 * 1024 * 1024;
constexpr int64_t kMaxRows = 2048;
constexpr int64_t kDirectColumns = 128; // up to here a copy of the left factor for tiles costs more

// Few rows, by vectors: the copy of the right factor is read while it is in the first caches.
constexpr int64_t kFewRows = 128, kFewRowsSteps = 8, kFewRowsBytes = 64 * 1024;

int64_t parts(int64_t size, int64_t part) { return (size + part - 1) / part; }

struct Product {
  Factor left, right;
  uint16_t *result;
  Line rows, columns;

  int64_t m() const { return rows.size; }
  int64_t n() const { return columns.size; }
  int64_t k() const { return left.inner.size; }
  /// Multiply-adds, at least one for each element of the result.
  double work() const { return double(m()) * double(n()) * double(std::max<int64_t>(k(), 1)); }
  Product at(const int64_t *offsets) const {
    Product p = *this;
    p.left.data += offsets[left.array];
    p.right.data += offsets[right.array];
    p.result += offsets[2];
    return p;
  }
};

/// How a product is cut. All of it depends on the sizes alone, but `threads`.
struct Cut {
  Level level;
  int64_t threads, rows, rowTiles, tileRows; // of the rows that are computed together
  Steps steps;
  int64_t chunkSteps; // of the copy of the right factor
  int64_t columnTiles, blockTiles, blocks, rowParts;
  bool isDirect; // the left factor is read where it is

  Cut(const Product &p, int64_t threads)
      : level(bfloat16::level()), threads(threads), steps(level, p.k()) {
    const Factor &left = p.left;
    bool isReadable = left.inner.isContiguous() && !left.outer.table;
    isDirect = level == Level::Vectors && isReadable;
    int64_t fitting = kLeftBytes / std::max<int64_t>(2 * p.k(), 1) / (2 * kSide) * (2 * kSide);
    rows = std::min(p.m(), std::clamp(fitting, 2 * kSide, kMaxRows));
    rowTiles = parts(rows, kSide);
    tileRows = parts(rows, rowTiles);
    if (rows < p.m())
      rows = rowTiles * tileRows;
    columnTiles = parts(p.n(), kSide);
    bool hasFewRows = level == Level::Vectors && rows <= kFewRows;
    chunkSteps = std::min(steps.steps,
                          hasFewRows && !p.right.inner.isContiguous() ? kFewRowsSteps : kMaxSteps);
    int64_t each = std::max<int64_t>(chunkSteps * steps.depth / 2 * kLine, 1);
    blockTiles =
        std::max<int64_t>(2, (hasFewRows ? kFewRowsBytes : kBlockBytes) / each & ~int64_t(1));
    if (threads > 1)
      blockTiles = std::min(blockTiles, 2 * parts(columnTiles, 4 * threads));
    blockTiles = std::min(blockTiles, columnTiles);
    blocks = parts(columnTiles, blockTiles);
    rowParts = std::clamp<int64_t>(parts(threads, blocks), 1, parts(rowTiles, 2));
    if (level == Level::Tiles)
      isDirect = isReadable && p.n() <= kDirectColumns && p.m() % tileRows == 0 &&
                 rows % tileRows == 0 && steps.steps * steps.depth == p.k();
  }
  int64_t leftTile() const { return steps.steps * tileRows * kLine; }
  size_t leftBytes() const { return isDirect ? 0 : rowTiles * leftTile(); }
  size_t rightBytes() const { return blockTiles * chunkSteps * steps.depth / 2 * kLine; }
  bool hasSums() const { return steps.steps > chunkSteps; }
  size_t sumBytes() const {
    return hasSums() ? parts(rowTiles, rowParts) * tileRows * blockTiles * kSide * sizeof(float)
                     : 0;
  }
  Session session() const { return {level, tileRows, steps.depth}; }
  size_t taskBytes() const { return rightBytes() + sumBytes(); }
};

/// Rows of a product, of which `first` is the first one.
struct Rows {
  const Product &p;
  const Cut &cut;
  int64_t first, count, tiles;
  char *copy;
  LeftTiles left;

  Rows(const Product &p, const Cut &cut, int64_t first, char *copy)
      : p(p), cut(cut), first(first), count(std::min(cut.rows, p.m() - first)),
        tiles(parts(count, cut.tileRows)), copy(copy) {
    int64_t lineBytes = 2 * p.left.outer.stride;
    if (cut.isDirect)
      left = {reinterpret_cast<const char *>(p.left.data + p.left.outer.at(first)), cut.tileRows,
              cut.tileRows * lineBytes, 2 * cut.steps.depth, lineBytes};
    else
      left = {copy, cut.tileRows, cut.leftTile(), cut.tileRows * kLine, kLine};
  }

  void pack(int64_t tile) const {
    int64_t begin = tile * cut.tileRows;
    packLeft(p.left, first + begin, std::min(cut.tileRows, count - begin), cut.steps, cut.tileRows,
             copy + tile * cut.leftTile());
  }

  Target target(int64_t rowTile, int64_t rowTiles, int64_t columnTile, int64_t columnTiles) const {
    int64_t row = rowTile * cut.tileRows, column = columnTile * kSide;
    return {p.result,
            p.rows,
            p.columns,
            first + row,
            std::min(count - row, rowTiles * cut.tileRows),
            column,
            std::min(columnTiles * kSide, p.n() - column)};
  }

  /// One block of columns, of a part of the rows, in a session of this thread.
  void multiply(int64_t task, char *scratch) const {
    int64_t block = task / cut.rowParts, part = task % cut.rowParts;
    Block b{tiles * part / cut.rowParts,
            tiles * (part + 1) / cut.rowParts,
            block * cut.blockTiles,
            std::min(cut.columnTiles, (block + 1) * cut.blockTiles),
            scratch,
            reinterpret_cast<float *>(scratch + cut.rightBytes())};
    int64_t step = 0;
    do {
      Steps chunk = cut.steps;
      chunk.begin = step * chunk.depth;
      chunk.steps = std::min(cut.chunkSteps, cut.steps.steps - step);
      chunk.terms = std::min(chunk.steps * chunk.depth, p.k() - chunk.begin);
      int64_t column = b.beginColumn * kSide;
      packRight(p.right, column, std::min(b.endColumn * kSide, p.n()) - column, chunk, b.right);
      if (cut.level == Level::Vectors)
        addByVectors(b, chunk, step);
      else
        addTiles(b, chunk, step);
      step += chunk.steps;
    } while (step < cut.steps.steps);
  }

private:
  /// Tiles of the result, and the memory for them.
  struct Block {
    int64_t beginTile, endTile, beginColumn, endColumn;
    char *right;
    float *sums;
  };

  /// Adds a part of the terms, and rounds if it is the last one. The sums of tiles are rounded
  /// after those of the next ones began: to read them at once would wait for the stores.
  void addTiles(const Block &b, const Steps &chunk, int64_t step) const {
    alignas(64) float some[2][2 * kSide][2 * kSide];
    LeftTiles here = left;
    here.data += step * left.step;
    bool isLast = step + chunk.steps >= cut.steps.steps;
    int64_t next = 0, pendingRow = -1, pendingColumn = 0;
    auto countOf = [](int64_t i, int64_t end) { return std::min<int64_t>(2, end - i); };
    auto sumsOf = [&](int64_t i, int64_t j, int64_t which) {
      if (!cut.hasSums())
        return Sums{&some[which][0][0], 2 * kSide, true};
      int64_t stride = cut.blockTiles * kSide;
      return Sums{b.sums + (i - b.beginTile) * cut.tileRows * stride + (j - b.beginColumn) * kSide,
                  stride, step == 0};
    };
    auto roundPending = [&] {
      if (pendingRow >= 0)
        round(sumsOf(pendingRow, pendingColumn, 1 - next),
              target(pendingRow, countOf(pendingRow, b.endTile), pendingColumn,
                     countOf(pendingColumn, b.endColumn)));
    };
    for (int64_t i = b.beginTile; i < b.endTile; i += 2)
      for (int64_t j = b.beginColumn; j < b.endColumn; j += 2) {
        bfloat16::addTiles(here, i, countOf(i, b.endTile),
                           b.right + (j - b.beginColumn) * chunk.rightTile(),
                           countOf(j, b.endColumn), chunk, sumsOf(i, j, next));
        if (!isLast)
          continue;
        roundPending();
        pendingRow = i;
        pendingColumn = j;
        next = 1 - next;
      }
    roundPending();
  }

  /// The same by vectors, which round the sums in registers.
  void addByVectors(const Block &b, const Steps &chunk, int64_t step) const {
    alignas(64) float some[kSide][2 * kSide];
    LeftTiles here = left;
    here.data += step * left.step;
    bool isLast = step + chunk.steps >= cut.steps.steps;
    for (int64_t i = b.beginTile; i < b.endTile; ++i)
      for (int64_t j = b.beginColumn; j < b.endColumn; j += 2) {
        Sums sums{&some[0][0], 2 * kSide, true};
        if (cut.hasSums()) {
          int64_t stride = cut.blockTiles * kSide;
          sums = {b.sums + (i - b.beginTile) * cut.tileRows * stride + (j - b.beginColumn) * kSide,
                  stride, step == 0};
        }
        bfloat16::addByVectors(here, i, b.right + (j - b.beginColumn) * chunk.rightTile(), chunk,
                               sums, target(i, 1, j, 2), isLast);
      }
  }
};

/// On this thread, in a session of it.
void runHere(const Product &p, const Cut &cut, char *scratch) {
  for (int64_t first = 0; first < p.m(); first += cut.rows) {
    Rows rows(p, cut, first, scratch);
    for (int64_t tile = 0; !cut.isDirect && tile < rows.tiles; ++tile)
      rows.pack(tile);
    for (int64_t task = 0; task < cut.blocks * cut.rowParts; ++task)
      rows.multiply(task, scratch + cut.leftBytes());
  }
}

void run(const Product &p, const Cut &cut) {
  if (cut.threads == 1) {
    withScratch(cut.leftBytes() + cut.taskBytes(), [&](Scratch &scratch) {
      Session session = cut.session();
      runHere(p, cut, scratch.take<char>(0));
    });
    return;
  }
  withScratch(cut.leftBytes(), [&](Scratch &scratch) {
    char *copy = scratch.take<char>(0);
    for (int64_t first = 0; first < p.m(); first += cut.rows) {
      Rows rows(p, cut, first, copy);
      if (!cut.isDirect)
        runChunks([](void *rows, int64_t tile) { static_cast<Rows *>(rows)->pack(tile); }, &rows,
                  rows.tiles, true);
      runChunks(
          [](void *context, int64_t task) {
            auto &rows = *static_cast<Rows *>(context);
            withScratch(rows.cut.taskBytes(), [&](Scratch &scratch) {
              Session session = rows.cut.session();
              rows.multiply(task, scratch.take<char>(0));
            });
          },
          &rows, cut.blocks * cut.rowParts, true);
    }
  });
}

/// Some axes of an array.
struct Axes {
  const int64_t *sizes, *strides;
  int64_t count;

  Axes(const xt_array &array, int64_t first, int64_t count)
      : sizes(array.sizes + first), strides(array.strides + first), count(count) {}
  int64_t size() const {
    int64_t all = 1;
    for (int64_t d = 0; d < count; ++d)
      all *= sizes[d];
    return all;
  }
  /// Whether one stride reaches all places; it is written to `line`.
  bool merge(Line &line) const {
    line = {size(), 1, nullptr};
    int64_t expected = 0;
    for (int64_t d = count; d-- > 0;) {
      if (sizes[d] == 1)
        continue;
      if (expected == 0)
        line.stride = strides[d];
      else if (strides[d] != expected)
        return false;
      expected = sizes[d] * strides[d];
    }
    return true;
  }
  size_t tableBytes() const {
    Line line;
    return merge(line) ? 0 : Scratch::bytesFor<int64_t>(size());
  }
  Line line(Scratch &scratch) const {
    Line line;
    if (merge(line))
      return line;
    auto *table = scratch.take<int64_t>(line.size);
    for (int64_t i = 0; i < line.size; ++i) {
      int64_t rest = i, at = 0;
      for (int64_t d = count; d-- > 0; rest /= sizes[d])
        at += rest % sizes[d] * strides[d];
      table[i] = at;
    }
    line.table = table;
    return line;
  }
};

/// Without instructions for it. The compiler does not call the routine then.
void runLoops(const Product &p) {
  auto number = [](uint16_t bits) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
  };
  for (int64_t i = 0; i < p.m(); ++i)
    for (int64_t j = 0; j < p.n(); ++j) {
      const uint16_t *a = p.left.data + p.left.outer.at(i), *b = p.right.data + p.right.outer.at(j);
      float sum = 0;
      for (int64_t k = 0; k < p.k(); ++k)
        sum += number(a[p.left.inner.at(k)]) * number(b[p.right.inner.at(k)]);
      p.result[p.rows.at(i) + p.columns.at(j)] = xt_bfloat16_of(sum);
    }
}

/// A product with a few vectors.
struct VectorProduct {
  const Factor &matrix, &vectors;
  VectorTarget to;
  const LeftTiles *copy = nullptr;

  static bool isByColumns(const Product &p) {
    return p.n() <= kMostVectors && canMultiplyByVectors(level(), p.left, p.right);
  }
  static bool isByRows(const Product &p) {
    return p.m() <= kMostVectors && canMultiplyByVectors(level(), p.right, p.left);
  }
  /// Of its columns with the left factor, or of its rows with the right one.
  VectorProduct(const Product &p, bool isByColumns)
      : matrix(isByColumns ? p.left : p.right), vectors(isByColumns ? p.right : p.left),
        to{p.result, isByColumns ? p.rows : p.columns, isByColumns ? p.columns : p.rows} {}

  int64_t rows() const { return matrix.outer.size; }
  void run(int64_t threads) {
    size_t bytes = vectorCopyBytes(matrix, vectors);
    if (bytes == 0)
      return multiply(threads);
    withScratch(bytes, [&](Scratch &scratch) {
      LeftTiles copied = copyVectors(vectors, scratch.take<char>(0));
      copy = &copied;
      multiply(threads);
    });
  }

private:
  void multiply(int64_t threads) {
    if (threads == 1)
      return multiplyByVectors(matrix, vectors, copy, 0, rows(), to);
    runChunks(
        [](void *context, int64_t part) {
          auto &v = *static_cast<const VectorProduct *>(context);
          int64_t begin = part * kVectorRows, end = std::min(begin + kVectorRows, v.rows());
          multiplyByVectors(v.matrix, v.vectors, v.copy, begin, end, v.to);
        },
        this, parts(rows(), kVectorRows), true);
  }
};

void runVectors(const Product &p, const Batches &loops, int64_t threads) {
  bool isByColumns = VectorProduct::isByColumns(p);
  auto multiply = [&](int64_t begin, int64_t end) {
    loops.forEach(begin, end,
                  [&](const int64_t *at) { VectorProduct(p.at(at), isByColumns).run(threads); });
  };
  if (int64_t count = loops.count(); count == 1 || threads > 1)
    multiply(0, count);
  else
    forInstances(count, p.work() / 10 + 10, multiply);
}

void runBatch(const Product &p, const Batches &loops) {
  int64_t count = loops.count();
  if (level() == Level::None)
    return loops.forEach(0, count, [&](const int64_t *at) { runLoops(p.at(at)); });
  double work = p.work();
  int64_t threads = insideParallelLoop() ? 1 : xt_num_threads();
  int64_t able = std::clamp<int64_t>(int64_t(std::min(work / kMinThreadWork, 1e6)), 1, threads);
  bool isLarge = able > 1 && count < 2 * threads;
  if (VectorProduct::isByColumns(p) || VectorProduct::isByRows(p))
    return runVectors(p, loops, isLarge ? able : 1);
  if (count == 1 || isLarge) {
    Cut cut(p, able);
    return loops.forEach(0, count, [&](const int64_t *at) { run(p.at(at), cut); });
  }
  Cut cut(p, 1);
  // Tiles take a tenth of the time that forInstances expects of a multiply-add.
  forInstances(count, work / 10 + 100, [&](int64_t begin, int64_t end) {
    withScratch(cut.leftBytes() + cut.taskBytes(), [&](Scratch &scratch) {
      char *memory = scratch.take<char>(0);
      Session session = cut.session();
      loops.forEach(begin, end, [&](const int64_t *at) { runHere(p.at(at), cut, memory); });
    });
  });
}

} // namespace

void xt_bfloat16_product(const xt_array *arrays, const int64_t *options) {
  const xt_array &a = arrays[0], &b = arrays[1], &y = arrays[2];
  int64_t batch = options[0], rows = options[1], columns = options[2];
  int64_t inner = a.rank - batch - rows;
  Axes leftRows(a, batch, rows), leftInner(a, batch + rows, inner), rightInner(b, batch, inner),
      rightColumns(b, batch + inner, columns), resultRows(y, batch, rows),
      resultColumns(y, batch + rows, columns);
  const int trailing[] = {int(rows + inner), int(inner + columns), int(rows + columns)};
  Batches loops(arrays, 3, trailing);
  size_t bytes = leftRows.tableBytes() + leftInner.tableBytes() + rightInner.tableBytes() +
                 rightColumns.tableBytes() + resultRows.tableBytes() + resultColumns.tableBytes();
  if (loops.count() == 0 || resultRows.size() == 0 || resultColumns.size() == 0)
    return;
  withScratch(bytes, [&](Scratch &scratch) {
    Product p{
        {static_cast<const uint16_t *>(a.data), leftRows.line(scratch), leftInner.line(scratch), 0},
        {static_cast<const uint16_t *>(b.data), rightColumns.line(scratch),
         rightInner.line(scratch), 1},
        static_cast<uint16_t *>(y.data),
        resultRows.line(scratch),
        resultColumns.line(scratch)};
    // Rows of the result are written by vectors: the transposed product has those.
    if (!p.columns.isContiguous() && p.rows.isContiguous()) {
      std::swap(p.left, p.right);
      std::swap(p.rows, p.columns);
    }
    runBatch(p, loops);
  });
}
