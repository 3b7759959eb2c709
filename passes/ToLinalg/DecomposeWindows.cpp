// Reductions of long windows become reductions of short ones (see Passes.td).
#include "ToLinalg/Passes.h"
#include "XTensor/Dims.h"
#include "XTensor/Products.h"

#include "llvm/ADT/DenseMap.h"

namespace xtensor {
#define GEN_PASS_DEF_DECOMPOSEWINDOWS
#include "ToLinalg/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// How windows of `size` elements along one dim are reduced, `stride` apart, elements `dilation`
/// apart.
class Steps {
public:
  /// `overlap`: elements may be taken twice, as in extrema.
  Steps(int64_t stride, int64_t dilation, bool overlap)
      : stride(stride), dilation(dilation), overlap(overlap) {}

  /// A window of `size` as `blocks` windows of `part`, which begin `step` elements apart, and a
  /// window of the last `rest` elements. All at once if blocks is 1.
  struct Cut {
    int64_t blocks = 1, part = 0, step = 0, rest = 0;
    double cost = 0;
  };

  /// The way that takes the fewest operations for `count` windows. A loop over memory counts as
  /// kLoop of them for each element: measured on x86-64 with AVX-512.
  Cut best(int64_t size, int64_t count) {
    auto [found, isNew] = known.try_emplace({size, count});
    if (!isNew)
      return found->second;
    Cut best;
    best.cost = double(count) * (size + kLoop);
    for (int64_t blocks = 2; size > kShort && blocks <= kShort; ++blocks) {
      Cut cut{blocks, size / blocks, size / blocks, size % blocks};
      if (overlap)
        cut.part += std::exchange(cut.rest, 0);
      // Parts are needed where windows start, and at steps from there.
      if (cut.step * dilation % stride != 0)
        continue;
      int64_t parts = count + (blocks - 1) * (cut.step * dilation / stride);
      cut.cost = this->best(cut.part, parts).cost + double(count) * (blocks + kLoop);
      if (cut.rest)
        cut.cost += double(count) * (cut.rest + kLoop);
      if (cut.cost < best.cost)
        best = cut;
    }
    return known[{size, count}] = best;
  }

  static constexpr double kLoop = 8;
  const int64_t stride, dilation;

private:
  const bool overlap;
  /// Windows of this size are not cut, and others into this many blocks at most.
  static constexpr int64_t kShort = 12;
  llvm::DenseMap<std::pair<int64_t, int64_t>, Cut> known;
};

/// Replaces a reduction of windows along one dim or several.
class WindowReduction {
public:
  explicit WindowReduction(ReduceOp op) : op(op), b(op), loc(op.getLoc()), kind(op.getKind()) {}

  /// Does nothing if the reduction is better left as it is.
  void replace() {
    if (!collect() || !pays())
      return;
    Value x = windows.back().getX();
    Type element = arrayType(x).getElementType();
    // Parts of a sum are not rounded.
    bool widens = !mayOverlap() && (element.isF16() || element.isBF16());
    if (widens)
      x = CastOp::create(b, loc, x, b.getF32Type());
    for (WindowOp window : llvm::reverse(windows))
      x = Parts{*this, window, stepsOf(window)}.reduce(x, window.getSize(), countOf(window));
    if (widens)
      x = CastOp::create(b, loc, x, element);
    op.getY().replaceAllUsesWith(conform(b, loc, x, arrayType(op.getY()), sizesOf(b, loc, x)));
    op.erase();
    for (WindowOp window : windows)
      if (window->use_empty())
        window.erase();
  }

private:
  static int64_t countOf(WindowOp window) {
    return arrayType(window.getY()).getSize(window.getDimAttr());
  }
  static int64_t lengthOf(WindowOp window) {
    return arrayType(window.getX()).getSize(window.getDimAttr());
  }
  bool mayOverlap() const { return kind != ReduceKind::sum && kind != ReduceKind::prod; }
  Steps stepsOf(WindowOp window) const {
    return {static_cast<int64_t>(window.getStride()), static_cast<int64_t>(window.getDilation()),
            mayOverlap()};
  }

  /// Finds the windows, the last first. False if the op reduces anything else, or if windows slide
  /// over windows.
  bool collect() {
    if (kind == ReduceKind::argmax || kind == ReduceKind::argmin)
      return false;
    for (Value x = op.getX(); auto window = x.getDefiningOp<WindowOp>(); x = window.getX()) {
      auto isAlong = [&](WindowOp other) { return other.getDimAttr() == window.getDimAttr(); };
      if (!llvm::is_contained(op.getDims(), window.getIntoAttr()) ||
          llvm::is_contained(op.getDims(), window.getDimAttr()) || llvm::any_of(windows, isAlong))
        return false;
      windows.push_back(window);
      if (windows.size() == op.getDims().size())
        return !llvm::is_contained(arrayType(op.getX()).getShape(), 0);
    }
    return false;
  }

  /// Whether windows one dim after the other, and in parts, take fewer operations.
  bool pays() const {
    double cost = 0, elements = 1, places = 1;
    for (WindowOp window : windows) {
      elements *= countOf(window);
      places *= window.getSize();
    }
    double direct = elements * (places + Steps::kLoop);
    // The last window is reduced last: its dim and those before it have their whole length.
    for (WindowOp window : windows) {
      elements /= countOf(window);
      cost += elements * stepsOf(window).best(window.getSize(), countOf(window)).cost;
      elements *= lengthOf(window);
    }
    return cost < direct;
  }

  /// The windows of one dim.
  struct Parts {
    WindowReduction &whole;
    WindowOp window;
    Steps steps;

    Value reduce(Value x, int64_t size, int64_t count) {
      Steps::Cut cut = steps.best(size, count);
      if (cut.blocks == 1)
        return once(x, size, steps.stride, steps.dilation);
      OpBuilder &b = whole.b;
      StringAttr dim = window.getDimAttr();
      int64_t length = arrayType(x).getSize(dim), end = length - cut.rest * steps.dilation;
      int64_t between = cut.step * steps.dilation / steps.stride;
      Value parts = reduce(sliced(x, 0, end, 1), cut.part, count + (cut.blocks - 1) * between);
      Value y = once(parts, cut.blocks, 1, between);
      if (!cut.rest)
        return y;
      int64_t start = cut.blocks * cut.part * steps.dilation;
      Value rest = cut.rest == 1 ? sliced(x, start, count, steps.stride)
                                 : once(sliced(x, start, length - start, 1), cut.rest, steps.stride,
                                        steps.dilation);
      return whole.kind == ReduceKind::sum ? AddOp::create(b, whole.loc, y, rest).getResult()
                                           : MulOp::create(b, whole.loc, y, rest).getResult();
    }
    Value sliced(Value x, int64_t from, int64_t size, int64_t stride) {
      OpBuilder &b = whole.b;
      return b.createOrFold<SliceOp>(whole.loc, x, b.getArrayAttr({window.getDimAttr()}),
                                     b.getDenseI64ArrayAttr({from}), b.getDenseI64ArrayAttr({size}),
                                     b.getDenseI64ArrayAttr({stride}));
    }
    Value once(Value x, int64_t size, int64_t stride, int64_t dilation) {
      OpBuilder &b = whole.b;
      Value all = WindowOp::create(b, whole.loc, x, window.getDim(), window.getInto(), size, stride,
                                   dilation);
      return ReduceOp::create(b, whole.loc, whole.kind, all,
                              b.getArrayAttr({window.getIntoAttr()}));
    }
  };

  ReduceOp op;
  OpBuilder b;
  Location loc;
  ReduceKind kind;
  SmallVector<WindowOp> windows;
};

struct DecomposeWindowsPass : xtensor::impl::DecomposeWindowsBase<DecomposeWindowsPass> {
  void runOnOperation() override {
    // The lengths of a dim decide: those of one process give other sums than those of all.
    if (getOperation()->hasAttr(kUnfusedAttr))
      return;
    SmallVector<ReduceOp> ops;
    getOperation().walk([&](ReduceOp op) { ops.push_back(op); });
    for (ReduceOp op : ops)
      WindowReduction(op).replace();
  }
};

} // namespace
