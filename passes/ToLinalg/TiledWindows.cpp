// A convolution with padding reads zeros around the image. A copy of the image with these zeros
// would take as much memory as the image. So the result is cut into tiles, of an image or of some
// of its rows, and the copy is one of what a tile reads.
#include "ToLinalg/TiledWindows.h"
#include "Estimates.h"
#include "XTensor/Dims.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// Bytes of a padded image from which on tiles are padded, and of the rows of a tile: those that
/// caches want, and those that a thread may take.
constexpr int64_t kLargeImage = 1 << 20, kTileBytes = 1 << 18, kMostTileBytes = 3 << 18;
/// Tiles that threads share evenly enough, and how often the rows of a tile outnumber those that it
/// shares with its neighbour.
constexpr int64_t kTiles = 8, kRowsPerShared = 8;

/// How windows read a dim of the image: element t, place w at `step * t + spread * w + offset`.
struct Reading {
  StringAttr dim, into; // into: the places of windows, null without windows
  int64_t step = 1, spread = 0, offset = 0, places = 1;
  int64_t count = 0, size = 0; // of the windows, and of the image
  bool isBatch = false;        // one at a time

  int64_t reach(int64_t elements) const {
    return (elements - 1) * step + (places - 1) * spread + 1;
  }
  bool staysInside() const { return offset >= 0 && offset + reach(count) <= size; }
};

/// The first element of a slice along a dim, and how many there are.
struct Stretch {
  OpFoldResult from, size;
};

/// The same of all dims, as ops on slices take it.
struct Slice {
  SmallVector<OpFoldResult> from, sizes, steps;

  Slice(OpBuilder &b, ArrayRef<Stretch> spans) : steps(spans.size(), b.getIndexAttr(1)) {
    for (const Stretch &span : spans) {
      from.push_back(span.from);
      sizes.push_back(span.size);
    }
  }
};

class TiledWindows {
public:
  TiledWindows(const Convolution &conv, Lowering &to)
      : conv(conv), to(to), b(to.b), loc(to.loc()), element(conv.type.getElementType()) {}

  /// Whether the windows read an image in memory with zeros around it, of which tiles are worth it.
  bool find();
  Value emit();

private:
  bool readThrough(Value windows);
  bool isInMemory() const;
  void chooseRows();
  Reading *readingOf(StringAttr dim) {
    auto *found = llvm::find_if(readings, [&](const Reading &r) { return r.dim == dim; });
    return found == readings.end() ? nullptr : found;
  }
  OpFoldResult number(int64_t n) { return b.getIndexAttr(n); }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
  }
  SmallVector<Stretch> spansOfResult(ValueRange at, int64_t firstRow, int64_t rows);
  Value slice(Value whole, ArrayRef<Stretch> spans, ArrayRef<bool> dropped);
  Value inserted(Value part, Value whole, ArrayRef<Stretch> spans);
  Value tiles(Value whole, int64_t firstRow, int64_t rows, int64_t count);
  Value image(ValueRange at, int64_t firstRow, int64_t rows);
  std::pair<Stretch, Stretch> inside(const Reading &reading, OpFoldResult base, int64_t extent);
  Value filledAround(Value tile, ArrayRef<Stretch> block);
  Value product(Value image, Value place);

  const Convolution &conv;
  Lowering &to;
  OpBuilder &b;
  Location loc;
  Type element;
  Value x;
  Stored source;
  SmallVector<Reading> readings; // by the dims of the image
  Reading *rows = nullptr;       // the dim along which an image is cut
  int64_t rowsOfTile = 0;
};

} // namespace

//===- what the windows read -----------------------------------------------===//

bool TiledWindows::readThrough(Value windows) {
  ArrayType type = arrayType(windows);
  for (auto [dim, count] : llvm::zip_equal(type.getDimNames(), type.getShape())) {
    Reading reading;
    reading.dim = dim;
    reading.count = count;
    readings.push_back(reading);
  }
  while (true) {
    Operation *op = windows.getDefiningOp();
    if (auto window = dyn_cast_or_null<WindowOp>(op)) {
      Reading *into = readingOf(window.getIntoAttr());
      if (into->step != 1 || into->offset != 0 || into->into)
        return false;
      int64_t places = into->count;
      readings.erase(into);
      Reading *along = readingOf(window.getDimAttr());
      if (along->into)
        return false;
      int64_t stride = window.getStride();
      along->into = window.getIntoAttr();
      along->places = places;
      along->spread = window.getDilation();
      along->step *= stride;
      along->offset *= stride;
    } else if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
      for (auto [dim, offset, stride] :
           llvm::zip_equal(slice.getDims(), slice.getOffsets(), slice.getStrides())) {
        Reading *along = readingOf(cast<StringAttr>(dim));
        along->step *= stride;
        along->spread *= stride;
        along->offset = along->offset * stride + offset;
      }
    } else {
      auto pad = dyn_cast_or_null<PadOp>(op);
      if (!pad || !isSplat(pad.getValue(), 0) ||
          llvm::any_of(pad.getInterior(), [](int64_t n) { return n != 0; }))
        return false;
      for (auto [dim, low] : llvm::zip_equal(pad.getDims(), pad.getLow()))
        readingOf(cast<StringAttr>(dim))->offset -= low;
      x = pad.getX();
      return true;
    }
    windows = op->getOperand(0);
  }
}

/// A value that an elementwise op gives is computed into its padded copy, and stored nowhere else.
bool TiledWindows::isInMemory() const {
  Operation *op = x.getDefiningOp();
  return to.view(x).kind == View::Tensor && (!op || isa<ContractOp>(op));
}

bool TiledWindows::find() {
  if (!readThrough(conv.windows) || !isInMemory())
    return false;
  source = to.stored(x);
  Amount bytes = element.getIntOrFloatBitWidth() / 8;
  bool isBatch = true;
  for (StringAttr dim : source.order) {
    Reading &reading = *readingOf(dim);
    reading.size = arrayType(x).getSize(dim);
    // A sum over windows, as the gradient of a kernel is, has no tiles.
    bool isKept = conv.type.hasDim(dim);
    if (reading.into && !isKept)
      return false;
    isBatch &= !reading.into && isKept && !llvm::is_contained(conv.kernel.order, dim);
    reading.isBatch = isBatch;
    bool isOpen = ShapedType::isDynamic(reading.size);
    if (isBatch ? !isOpen && !reading.staysInside() : isOpen || reading.size == 0)
      return false;
    bytes *= Amount::ofSize(isBatch ? reading.count : reading.reach(reading.count));
  }
  if (bytes < Amount(kLargeImage))
    return false;
  chooseRows();
  return true;
}

/// The rows of a tile: as few as the caches want, and as threads need.
void TiledWindows::chooseRows() {
  int64_t images = 1, bytes = element.getIntOrFloatBitWidth() / 8;
  for (StringAttr dim : source.order) {
    Reading *reading = readingOf(dim);
    if (reading->isBatch)
      images *= ShapedType::isDynamic(reading->count) ? 1 : reading->count;
    else if (!rows && reading->into && reading->count > 1 && conv.type.hasDim(dim))
      rows = reading;
  }
  if (!rows)
    return;
  for (const Reading &reading : readings)
    if (!reading.isBatch && &reading != rows)
      bytes *= reading.reach(reading.count);
  int64_t shared = std::max<int64_t>(0, (rows->places - 1) * rows->spread + 1 - rows->step);
  int64_t parts = llvm::divideCeil(kTiles, images);
  rowsOfTile = llvm::divideCeil(rows->count, parts);
  int64_t wanted = llvm::divideCeil(shared * kRowsPerShared, rows->step);
  rowsOfTile = std::min(rowsOfTile, kTileBytes / (bytes * rows->step));
  rowsOfTile = std::max(rowsOfTile, std::min(wanted, kMostTileBytes / (bytes * rows->step)));
  rowsOfTile = std::clamp<int64_t>(rowsOfTile, 1, rows->count);
  // Tiles of one size need one loop, and others are as even as they can be.
  for (int64_t size = rowsOfTile; 4 * size >= 3 * rowsOfTile; --size)
    if (rows->count % size == 0) {
      rowsOfTile = size;
      return;
    }
  rowsOfTile = llvm::divideCeil(rows->count, llvm::divideCeil(rows->count, rowsOfTile));
}

//===- tiles ---------------------------------------------------------------===//

Value TiledWindows::emit() {
  Value whole = to.empty(reordered(conv.type, conv.order));
  if (!rows)
    return tiles(whole, 0, 0, 1);
  int64_t count = rows->count / rowsOfTile, rest = rows->count % rowsOfTile;
  whole = tiles(whole, 0, rowsOfTile, count);
  return rest ? tiles(whole, count * rowsOfTile, rest, 1) : whole;
}

SmallVector<Stretch> TiledWindows::spansOfResult(ValueRange at, int64_t firstRow, int64_t size) {
  SmallVector<Stretch> spans;
  unsigned next = 0;
  for (StringAttr dim : conv.order) {
    Reading *reading = readingOf(dim);
    if (reading && reading->isBatch)
      spans.push_back({at[next++], number(1)});
    else if (reading && reading == rows)
      spans.push_back({apply(b.getAffineDimExpr(0) * size + firstRow, {at.back()}), number(size)});
    else
      spans.push_back({number(0), to.sizeOf(dim, conv.type)});
  }
  return spans;
}

Value TiledWindows::slice(Value whole, ArrayRef<Stretch> spans, ArrayRef<bool> dropped) {
  Slice slice(b, spans);
  SmallVector<int64_t> shape;
  for (auto [span, drop] : llvm::zip_equal(spans, dropped))
    if (!drop)
      shape.push_back(getConstantIntValue(span.size).value_or(ShapedType::kDynamic));
  return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, element), whole,
                                        slice.from, slice.sizes, slice.steps);
}

Value TiledWindows::inserted(Value part, Value whole, ArrayRef<Stretch> spans) {
  Slice slice(b, spans);
  return tensor::InsertSliceOp::create(b, loc, part, whole, slice.from, slice.sizes, slice.steps);
}

/// `count` tiles of each image, of `size` rows from `firstRow` on.
Value TiledWindows::tiles(Value whole, int64_t firstRow, int64_t size, int64_t count) {
  SmallVector<OpFoldResult> ends;
  SmallVector<bool> dropped;
  for (StringAttr dim : conv.order) {
    Reading *reading = readingOf(dim);
    dropped.push_back(reading && reading->isBatch);
    if (dropped.back())
      ends.push_back(to.sizeOf(dim, conv.type));
  }
  ends.push_back(number(count));
  auto loop = scf::ForallOp::create(b, loc, ends, whole, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at = loop.getInductionVars();
  SmallVector<Stretch> spans = spansOfResult(at, firstRow, size);
  Value part = slice(loop.getRegionIterArgs().front(), spans, dropped);
  Value result = product(image(at, firstRow, size), part);
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  Slice place(b, spans);
  tensor::ParallelInsertSliceOp::create(b, loc, result, loop.getRegionIterArgs().front(),
                                        place.from, place.sizes, place.steps);
  return loop.getResult(0);
}

/// Of `extent` elements of a tile from `base` on, those that lie in the image: where they are in
/// the image, and where in the tile.
std::pair<Stretch, Stretch> TiledWindows::inside(const Reading &reading, OpFoldResult base,
                                                 int64_t extent) {
  if (auto known = getConstantIntValue(base)) {
    int64_t first = std::clamp<int64_t>(-*known, 0, extent);
    int64_t size = std::clamp<int64_t>(reading.size - *known, first, extent) - first;
    int64_t from = std::clamp<int64_t>(*known + first, 0, reading.size);
    return {{number(from), number(size)}, {number(first), number(size)}};
  }
  auto value = [&](OpFoldResult v) { return getValueOrCreateConstantIndexOp(b, loc, v); };
  auto clamp = [&](Value v, Value low, Value high) {
    v = arith::MaxSIOp::create(b, loc, v, low);
    return arith::MinSIOp::create(b, loc, v, high).getResult();
  };
  Value zero = to.index(0), start = value(base), end = to.index(extent);
  Value size = to.index(reading.size);
  Value first = clamp(arith::SubIOp::create(b, loc, zero, start), zero, end);
  Value last = clamp(arith::SubIOp::create(b, loc, size, start), first, end);
  Value from = clamp(arith::AddIOp::create(b, loc, start, first), zero, size);
  Value count = arith::SubIOp::create(b, loc, last, first);
  return {{from, count}, {first, count}};
}

/// Zeros around the block of `tile` (from, size in it).
Value TiledWindows::filledAround(Value tile, ArrayRef<Stretch> block) {
  auto shape = cast<RankedTensorType>(tile.getType()).getShape();
  SmallVector<Stretch> spans;
  for (int64_t extent : shape)
    spans.push_back({number(0), number(extent)});
  SmallVector<bool> none(shape.size(), false);
  Value zero = to.number(element, 0);
  auto fill = [&](unsigned axis, OpFoldResult from, OpFoldResult size) {
    if (getConstantIntValue(size) == 0)
      return;
    spans[axis] = {from, size};
    Value part = linalg::FillOp::create(b, loc, zero, slice(tile, spans, none)).getResult(0);
    tile = inserted(part, tile, spans);
  };
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    OpFoldResult end = apply(d0 + d1, {block[axis].from, block[axis].size});
    fill(axis, number(0), block[axis].from);
    fill(axis, end, apply(shape[axis] - d0, {end}));
    spans[axis] = block[axis];
  }
  return tile;
}

/// What a tile reads of the image, without batch dims.
Value TiledWindows::image(ValueRange at, int64_t firstRow, int64_t size) {
  SmallVector<Stretch> read, block;
  SmallVector<bool> dropped;
  SmallVector<int64_t> shape;
  bool isWhole = true;
  for (StringAttr dim : source.order) {
    const Reading &reading = *readingOf(dim);
    AffineExpr d0 = b.getAffineDimExpr(0);
    dropped.push_back(reading.isBatch);
    if (reading.isBatch) {
      unsigned place = 0;
      for (StringAttr before : conv.order) {
        if (before == dim)
          break;
        Reading *other = readingOf(before);
        place += other && other->isBatch;
      }
      read.push_back({apply(d0 * reading.step + reading.offset, {at[place]}), number(1)});
      continue;
    }
    bool isRows = &reading == rows;
    int64_t extent = reading.reach(isRows ? size : reading.count);
    OpFoldResult base = number(reading.offset);
    if (isRows)
      base =
          apply(d0 * (size * reading.step) + firstRow * reading.step + reading.offset, {at.back()});
    auto [found, placed] = inside(reading, base, extent);
    read.push_back(found);
    block.push_back(placed);
    isWhole &= getConstantIntValue(found.size) == extent;
    shape.push_back(extent);
  }
  Value part = slice(source.tensor, read, dropped);
  if (isWhole)
    return part;
  Value tile = tensor::EmptyOp::create(b, loc, shape, element);
  tile = filledAround(tile, block);
  Value place = slice(tile, block, SmallVector<bool>(block.size(), false));
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  View copied{View::Tensor, part, identity, element};
  place = to.generic(copied, place, identity, /*reductions=*/0,
                     [](OpBuilder &, Location, ValueRange v, ValueRange) {
                       return SmallVector<Value>{v.front()};
                     })
              .front();
  return inserted(place, tile, block);
}

Value TiledWindows::product(Value image, Value place) {
  Names loops, axes;
  for (StringAttr dim : conv.order)
    if (Reading *reading = readingOf(dim); !reading || !reading->isBatch)
      axes.push_back(dim);
  loops = axes;
  llvm::append_range(loops, conv.contracted);
  auto loop = [&](StringAttr dim) {
    return b.getAffineDimExpr(llvm::find(loops, dim) - loops.begin());
  };
  SmallVector<AffineExpr> exprs;
  for (StringAttr dim : source.order) {
    const Reading &reading = *readingOf(dim);
    if (reading.isBatch)
      continue;
    exprs.push_back(loop(dim) * reading.step);
    if (reading.into)
      exprs.back() = exprs.back() + loop(reading.into) * reading.spread;
  }
  View inputs[2];
  inputs[conv.slides ? 0 : 1] = {View::Tensor, image,
                                 AffineMap::get(loops.size(), 0, exprs, b.getContext()), element};
  inputs[conv.slides ? 1 : 0] = {View::Tensor, conv.kernel.tensor,
                                 to.mapTo(loops, conv.kernel.order), element};
  Value zero = linalg::FillOp::create(b, loc, to.number(element, 0), place).getResult(0);
  return to
      .generic(inputs, zero, to.mapTo(loops, axes), conv.contracted.size(),
               [&](OpBuilder &b, Location loc, ValueRange v, ValueRange old) {
                 Value product = arith::MulFOp::create(b, loc, v[0], v[1]);
                 return SmallVector<Value>{arith::AddFOp::create(b, loc, old[0], product)};
               })
      .front();
}

Value xtensor::emitTiledWindows(const Convolution &conv, Lowering &to) {
  TiledWindows tiled(conv, to);
  return tiled.find() ? tiled.emit() : Value();
}
