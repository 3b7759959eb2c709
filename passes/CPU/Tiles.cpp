// Reads and writes of tiles: vectors of memory whose elements change places in registers.
#include "CPU/Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor::cpu;

static Value shuffle(OpBuilder &b, Location loc, Value x, Value y, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b, loc, x, y, lanes);
}

/// The matrix of these rows transposed. Each round moves the highest bit of the row's number to the
/// lowest of the lane's, and the highest bit of the lane's to the lowest of the row's.
static SmallVector<Value> transposed(OpBuilder &b, Location loc, SmallVector<Value> rows) {
  int64_t side = rows.size(), half = side / 2;
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < half; ++i) {
    low.append({i, side + i});
    high.append({half + i, side + half + i});
  }
  for (int64_t round = 1; round < side; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < half; ++i) {
      next.push_back(shuffle(b, loc, rows[i], rows[half + i], low));
      next.push_back(shuffle(b, loc, rows[i], rows[half + i], high));
    }
    rows = std::move(next);
  }
  return rows;
}

/// A vector whose lane i is lane `from(i).second` of the source `from(i).first`.
static Value pick(OpBuilder &b, Location loc, ArrayRef<Value> sources, int64_t width,
                  llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> from) {
  Value result = sources[0];
  for (int64_t source = 1; source < static_cast<int64_t>(sources.size()); ++source) {
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < width; ++i) {
      auto [place, lane] = from(i);
      if (place == source)
        lanes.push_back(width + lane);
      else // what is there already; of the first source, lanes in their first order
        lanes.push_back(source == 1 ? lane : i);
    }
    result = shuffle(b, loc, result, sources[source], lanes);
  }
  return result;
}

/// Elements 0, step, 2 step .. from `first` on: of rows that touch, of which the last one ends at
/// the last of these elements, and so in the array. Behind a mask, only these elements are read.
Lane LaneEmitter::inSteps(Value base, Value first, int64_t step, Type elementType) {
  auto begin = [&](int64_t row) { return row + 1 < step ? row * width : row * (width - 1); };
  auto from = [&](int64_t lane) {
    int64_t at = lane * step, row = std::min(at / width, step - 1);
    return std::pair(row, at - begin(row));
  };
  Value lanes = mask;
  SmallVector<Value> rows;
  for (int64_t row = 0; row < step; ++row) {
    if (lanes) {
      SmallVector<int64_t> order(width, width); // a lane that is off
      for (int64_t lane = 0; lane < width; ++lane)
        if (auto [itsRow, place] = from(lane); itsRow == row)
          order[place] = lane;
      mask = shuffle(b, loc, lanes, maskOfLanes(b, loc, width, 0, 0), order);
    }
    Value index = arith::AddIOp::create(b, loc, first, constant(begin(row)));
    rows.push_back(loadWide(base, index, elementType).value);
  }
  mask = lanes;
  return {pick(b, loc, rows, width, from), Lane::Vector};
}

SmallVector<Value> LaneEmitter::readSquare(unsigned id, int64_t rows, int64_t steps) {
  const Place &p = places[id];
  Type elementType = p.access.elementType;
  auto type = cast<VectorType>(wide(elementType));
  Value row = views.flat(p.access.base), rest = harmlessLanes(elementType), few;
  if (steps < width) {
    SmallVector<bool> on(width);
    std::fill_n(on.begin(), steps, true);
    auto maskType = cast<VectorType>(wide(b.getI1Type()));
    few = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, on));
  }
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < width; ++i) {
    if (i >= rows) {
      vectors.push_back(rest);
      continue;
    }
    Value index = p.linear;
    if (i) {
      Value step = (p.access.strides[vectorLoop] * Extent(i)).materialize(b, loc);
      index = arith::AddIOp::create(b, loc, index, step);
    }
    vectors.push_back(
        few ? vector::MaskedLoadOp::create(b, loc, type, row, index, few, rest).getResult()
            : vector::LoadOp::create(b, loc, type, row, index).getResult());
  }
  vectors = transposed(b, loc, std::move(vectors));
  vectors.truncate(steps);
  return vectors;
}

/// Of all memory from the first of the elements to the last; the last vector ends there.
SmallVector<Value> LaneEmitter::readStrip(unsigned id, unsigned across, int64_t strip) {
  const Place &p = places[id];
  int64_t step = p.access.strides[vectorLoop].constant, stride = p.access.strides[across].constant;
  auto from = [](int64_t stride, int64_t count) {
    return std::min<int64_t>(0, stride * (count - 1));
  };
  int64_t start = from(step, width) + from(stride, strip);
  int64_t span = std::abs(step) * (width - 1) + std::abs(stride) * (strip - 1) + 1;
  int64_t count = llvm::divideCeil(span, width);
  auto begin = [&](int64_t row) { return row + 1 < count ? row * width : span - width; };
  SmallVector<Value> memory, vectors;
  for (int64_t row = 0; row < count; ++row) {
    Value index = arith::AddIOp::create(b, loc, p.linear, constant(start + begin(row)));
    memory.push_back(loadWide(p.access.base, index, p.access.elementType).value);
  }
  for (int64_t i = 0; i < strip; ++i)
    vectors.push_back(pick(b, loc, memory, width, [&](int64_t lane) {
      int64_t element = lane * step + i * stride - start, row = element / width;
      return std::pair(row, element - begin(row));
    }));
  return vectors;
}

void LaneEmitter::writeStrip(unsigned id, bool backwards) {
  const Place &p = places[id];
  SmallVector<Value> vectors = std::move(held[id]);
  held.erase(id);
  if (backwards)
    std::reverse(vectors.begin(), vectors.end());
  int64_t strip = vectors.size();
  for (int64_t i = 0; i < strip; ++i) {
    Value mixed = pick(b, loc, vectors, width, [&](int64_t lane) {
      int64_t element = i * width + lane;
      return std::pair(element % strip, element / strip);
    });
    Value index = arith::AddIOp::create(b, loc, p.linear, constant(i * width));
    vector::StoreOp::create(b, loc, mixed, views.flat(p.access.base), index);
  }
}
