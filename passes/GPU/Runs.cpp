// Contiguous elements, several at a time (Points). A thread loads or stores 16 bytes at once if
// sizes and offsets are multiples of that.
#include "GPU/Points.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;

std::optional<Points::Linear> Points::linear(const Access &access) {
  Linear place{access.view.offset, SmallVector<OpFoldResult>(kinds.size(), kernel.fixed(0))};
  std::function<bool(AffineExpr, int64_t, OpFoldResult)> add = [&](AffineExpr e, int64_t factor,
                                                                   OpFoldResult stride) {
    if (auto dim = dyn_cast<AffineDimExpr>(e)) {
      OpFoldResult &step = place.steps[dim.getPosition()];
      step = kernel.add(step, kernel.mul(kernel.fixed(factor), stride));
      return true;
    }
    if (auto constant = dyn_cast<AffineConstantExpr>(e)) {
      place.base =
          kernel.add(place.base, kernel.mul(kernel.fixed(factor * constant.getValue()), stride));
      return true;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(e);
    if (!binary)
      return false;
    auto times = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (e.getKind() == AffineExprKind::Mul && times)
      return add(binary.getLHS(), factor * times.getValue(), stride);
    return e.getKind() == AffineExprKind::Add && add(binary.getLHS(), factor, stride) &&
           add(binary.getRHS(), factor, stride);
  };
  for (auto [e, stride] : llvm::zip_equal(access.map.getResults(), access.view.strides))
    if (!add(e, 1, stride))
      return std::nullopt;
  return place;
}

/// Whether a number is known to be a multiple of `by`.
static bool isMultiple(OpFoldResult v, int64_t by) {
  if (auto known = getConstantIntValue(v))
    return *known % by == 0;
  Operation *op = cast<Value>(v).getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return isMultiple(op->getOperand(0), by) || isMultiple(op->getOperand(1), by);
  return isa_and_nonnull<arith::AddIOp>(op) && isMultiple(op->getOperand(0), by) &&
         isMultiple(op->getOperand(1), by);
}

/// Whether `width` elements along this loop lie side by side in memory, from a multiple of their
/// number on.
bool Points::isRun(const Access &access, unsigned loop, int64_t width) {
  if (width == 1)
    return false;
  std::optional<Linear> place = linear(access);
  if (!place || getConstantIntValue(place->steps[loop]) != 1 || !isMultiple(place->base, width))
    return false;
  for (auto [i, step] : llvm::enumerate(place->steps))
    if (i != loop && !isMultiple(step, width))
      return false;
  return true;
}

int64_t Points::vectorWidth(unsigned loop) {
  auto size = getConstantIntValue(ranges[loop]);
  if (!size || *size == 0)
    return 1;
  int64_t bytes = 1;
  for (const Access &access : llvm::concat<const Access>(ins, outs)) {
    if (!access.map)
      continue;
    Type type = Kernel::stored(access.view.element);
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8)
      return 1;
    bytes = std::max<int64_t>(bytes, type.getIntOrFloatBitWidth() / 8);
  }
  int64_t width = std::min<int64_t>(4, kernel.limits.vectorBytes / bytes);
  if (width < 2 || *size % width)
    return 1;
  bool any = false;
  for (unsigned i = 0; i < ins.size(); ++i)
    any |= isRead(i) && isRun(ins[i], loop, width);
  if (kinds[loop] == IteratorType::parallel)
    for (const Access &out : outs) {
      if (!isRun(out, loop, width))
        return 1;
      any = true;
    }
  return any ? width : 1;
}

int64_t Points::pointsAtOnce() {
  SmallVector<unsigned> over = parallelLoops();
  if (over.empty() || !reductionLoops().empty())
    return 1;
  return vectorWidth(over.back());
}

/// The point that is `i` further.
static Value further(Kernel &kernel, Value at, int64_t i) {
  return kernel.index(kernel.add(at, kernel.fixed(i)));
}

SmallVector<SmallVector<Value>> Points::loadRun(ArrayRef<Access> accesses, const Point &point,
                                                unsigned loop, int64_t width) {
  SmallVector<SmallVector<Value>> values(width, SmallVector<Value>(accesses.size()));
  for (auto [n, access] : llvm::enumerate(accesses)) {
    if (accesses.data() == ins.data() ? !isRead(n) : !isStart(n))
      continue;
    if (isRun(access, loop, width)) {
      SmallVector<Value> run = kernel.loadRun(access.view, offset(access, point), width);
      for (int64_t i = 0; i < width; ++i)
        values[i][n] = run[i];
      continue;
    }
    bool same = !access.map.isFunctionOfDim(loop);
    for (int64_t i = 0; i < width; ++i) {
      Point at = point;
      at[loop] = further(kernel, point[loop], i);
      values[i][n] = same && i > 0 ? values[0][n] : load(access, at);
    }
  }
  return values;
}

Points::Point Points::pointOfRun(const Point &point, unsigned loop, int64_t i) {
  Point at = point;
  if (i > 0 && generic && generic.hasIndexSemantics())
    at[loop] = further(kernel, point[loop], i);
  return at;
}

void Points::storeRun(ArrayRef<SmallVector<Value>> results, const Point &point) {
  for (auto [n, access] : llvm::enumerate(outs)) {
    SmallVector<Value> run;
    for (const SmallVector<Value> &values : results)
      run.push_back(values[n]);
    kernel.storeRun(run, access.view, offset(access, point));
  }
}
