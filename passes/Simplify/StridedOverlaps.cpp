// Transposes of strided convolutions. Elements of the result whose positions have the same
// remainder by the stride, a *phase*, are a convolution with stride 1: they read every `stride`-th
// tap of the kernel. So no zeros are put between the windows' starts, and no tap is multiplied that
// an element does not read.
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

#include <numeric>

using namespace mlir;
using namespace xtensor;

namespace {

/// Neighbouring phases that read as many taps, from the same start on.
struct Phases {
  int64_t first, count; // phases
  int64_t tap, step;    // the first tap of the first phase, and the distance of its taps
  int64_t taps, start;  // of a phase; element u reads windows from u - start on backwards
};

/// One dim along which windows are added up.
struct Axis {
  StringAttr dim, from, phase;
  int64_t stride, dilation, size, count, length;
  int64_t offset, kept;      // what is read of the result
  int64_t before;            // elements before the result, so that what is read starts with a phase
  int64_t rowsFrom, rows;    // of `stride` elements each, which hold what is read
  int64_t spread;            // distance of the windows that an element reads
  int64_t low = 0, high = 0; // zeros before the first window and behind the last
  SmallVector<Phases> groups;

  void split();
  int64_t firstWindow(const Phases &group) const {
    return low + rowsFrom - group.start - reach(group);
  }
  int64_t reach(const Phases &group) const { return (group.taps - 1) * spread; }
};

} // namespace

void Axis::split() {
  before = (stride - offset % stride) % stride;
  rowsFrom = (before + offset) / stride;
  rows = llvm::divideCeil(before + offset + kept, stride) - rowsFrom;
  int64_t common = std::gcd(stride, dilation), step = stride / common;
  spread = dilation / common;
  for (int64_t phase = 0; phase < stride; ++phase) {
    int64_t tap = 0;
    while (tap < size && (before + tap * dilation) % stride != phase)
      ++tap;
    Phases next{phase, 1, tap, step, 0, 0};
    if (tap < size) {
      next.taps = llvm::divideCeil(size - tap, step);
      next.start = (before + tap * dilation - phase) / stride;
    }
    if (!groups.empty()) {
      Phases &last = groups.back();
      bool follows = last.taps == 0 || (dilation == 1 && last.start == next.start);
      if (last.taps == next.taps && follows) {
        ++last.count;
        continue;
      }
    }
    groups.push_back(next);
  }
  for (const Phases &group : groups)
    if (group.taps)
      low = std::max(low, -firstWindow(group) + low);
  for (const Phases &group : groups)
    if (group.taps)
      high = std::max(high, firstWindow(group) + rows + reach(group) - low - count);
}

/// The axis along `dim`; the end if there is none.
template <typename Axes>
static auto *axisOf(Axes &axes, Attribute dim) {
  return llvm::find_if(axes, [&](const Axis &axis) { return axis.dim == dim; });
}

static Value sliced(OpBuilder &b, Location loc, Value x, StringAttr dim, int64_t from, int64_t size,
                    int64_t stride = 1) {
  if (from == 0 && stride == 1 && arrayType(x).getSize(dim) == size)
    return x;
  return SliceOp::create(b, loc, x, b.getArrayAttr({dim}), b.getDenseI64ArrayAttr({from}),
                         b.getDenseI64ArrayAttr({size}), b.getDenseI64ArrayAttr({stride}));
}

static Value paddedBy(OpBuilder &b, Location loc, Value x, ArrayRef<Attribute> dims,
                      ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (dims.empty())
    return x;
  return PadOp::create(b, loc, x, scalar(b, loc, arrayType(x).getElementType(), 0),
                       b.getArrayAttr(dims), low, high, SmallVector<int64_t>(dims.size(), 0));
}

/// The taps of some phases, backwards: a dim of the taps of one phase, and a dim of phases.
static Value tapsOf(OpBuilder &b, Location loc, Value kernel, const Axis &axis,
                    const Phases &group) {
  int64_t size = axis.size;
  if (group.count == 1) {
    kernel = sliced(b, loc, kernel, axis.from, group.tap, group.taps, group.step);
  } else {
    int64_t end = group.tap + group.taps * group.step;
    if (end > size)
      kernel = paddedBy(b, loc, kernel, {axis.from}, {0}, {end - size});
    kernel = sliced(b, loc, kernel, axis.from, group.tap, end - group.tap);
  }
  int64_t count = group.count == 1 ? 1 : group.step;
  kernel = SplitOp::create(b, loc, kernel, axis.from, b.getArrayAttr({axis.from, axis.phase}),
                           b.getDenseI64ArrayAttr({group.taps, count}));
  kernel = sliced(b, loc, kernel, axis.phase, 0, group.count);
  return group.taps == 1 ? kernel
                         : ReverseOp::create(b, loc, kernel, b.getArrayAttr({axis.from})).getY();
}

namespace {

/// overlap_add (overlap_add (a[h, w] * k[y, x])), at least one of them strided ==> for each pair of
/// phases a contraction of windows of a with some taps of k; the phases are merged into h and w.
template <typename Product>
struct OverlapInPhases : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern<OverlapAddOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    SmallVector<Axis> axes;
    Product product = findAxes(op, axes);
    if (!product || !hasOneOrigin(product, axes))
      return failure();
    Operation *last = findCut(op, axes);
    if (!last)
      return failure();
    rewriter.setInsertionPoint(last);
    SmallVector<ArrayType> types{arrayType(product->getResult(0))};
    for (Value factor : product->getOperands())
      types.push_back(arrayType(factor));
    for (Axis &axis : axes) {
      axis.split();
      axis.phase = freshName(axis.dim, types);
      types.push_back(ArrayType::get(op.getContext(), {axis.phase}, {1},
                                     arrayType(op.getY()).getElementType()));
    }
    Location loc = op.getLoc();
    Value y = Phased{rewriter, loc, product, axes}.joined();
    for (const Axis &axis : axes) {
      y = MergeOp::create(rewriter, loc, y, rewriter.getArrayAttr({axis.dim, axis.phase}),
                          axis.dim);
      y = sliced(rewriter, loc, y, axis.dim,
                 axis.before + axis.offset - axis.rowsFrom * axis.stride, axis.kept);
    }
    rewriter.replaceOp(
        last, conform(rewriter, loc, y, arrayType(last->getResult(0)), sizesOf(rewriter, loc, y)));
    return success();
  }

private:
  /// The product whose windows are added up along all axes, if one of them is strided.
  static Product findAxes(OverlapAddOp op, SmallVectorImpl<Axis> &axes) {
    for (OverlapAddOp next = op; next; next = next.getX().template getDefiningOp<OverlapAddOp>()) {
      if (next != op && !next->hasOneUse())
        return {};
      ArrayType windows = arrayType(next.getX());
      Axis axis;
      axis.dim = next.getDimAttr();
      axis.from = next.getFromAttr();
      axis.stride = next.getStride();
      axis.dilation = next.getDilation();
      axis.size = windows.getSize(axis.from);
      axis.count = windows.getSize(axis.dim);
      axis.length = axis.kept = next.getLength();
      axis.offset = 0;
      if (axis.count < 1 || axis.size < 1 || axis.length < 1)
        return {};
      axes.push_back(axis);
      op = next;
    }
    auto product = op.getX().template getDefiningOp<Product>();
    bool isStrided = llvm::any_of(axes, [](const Axis &axis) { return axis.stride > 1; });
    if (!product || !product->hasOneUse() || !isStrided || !arrayType(op.getX()).isFloat())
      return {};
    return product;
  }

  /// Whether each axis is a dim of one factor, and this factor has no place of a window.
  static bool hasOneOrigin(Product product, ArrayRef<Axis> axes) {
    for (const Axis &axis : axes) {
      unsigned along = 0;
      for (Value factor : product->getOperands()) {
        ArrayType type = arrayType(factor);
        if (!type.hasDim(axis.dim))
          continue;
        ++along;
        if (llvm::any_of(axes, [&](const Axis &other) { return type.hasDim(other.from); }))
          return false;
      }
      if (along != 1)
        return false;
    }
    return true;
  }

  /// Notes what is read of the result, and returns the op that gives it. Null if other windows are
  /// added up above it, which then move here.
  static Operation *findCut(OverlapAddOp op, MutableArrayRef<Axis> axes) {
    Operation *last = op, *reader = op;
    bool isCut = false;
    while (reader->hasOneUse()) {
      Operation *next = *reader->user_begin();
      if (next->getBlock() != op->getBlock())
        break;
      if (isa<OverlapAddOp>(next))
        return nullptr;
      auto slice = dyn_cast<SliceOp>(next);
      if (!slice && !isReorder(next))
        break;
      reader = next;
      if (!slice || isCut)
        continue;
      // Further slices follow on this one.
      isCut = true;
      bool isWhole = true;
      for (auto [dim, offset, size, stride] : llvm::zip_equal(
               slice.getDims(), slice.getOffsets(), slice.getSizes(), slice.getStrides())) {
        Axis *axis = axisOf(axes, dim);
        isWhole &= axis != axes.end() && stride == 1 && size > 0;
      }
      if (!isWhole)
        continue;
      for (auto [dim, offset, size] :
           llvm::zip_equal(slice.getDims(), slice.getOffsets(), slice.getSizes())) {
        Axis *axis = axisOf(axes, dim);
        axis->offset = offset;
        axis->kept = size;
      }
      last = reader;
    }
    return last;
  }

  /// The contractions of all phases.
  struct Phased {
    PatternRewriter &b;
    Location loc;
    Product product;
    ArrayRef<Axis> axes;
    SmallVector<Value> padded = {};
    SmallVector<Attribute> over = {}, order = {};
    ArrayType type = {}; // of the product

    Value joined() {
      type = arrayType(product->getResult(0));
      if (auto contract = dyn_cast<ContractOp>(*product))
        over = SmallVector<Attribute>(contract.getOver().getValue());
      for (const Axis &axis : axes)
        over.push_back(axis.from);
      SmallVector<StringAttr> kept;
      for (StringAttr name : type.getDimNames())
        if (llvm::none_of(axes, [&](const Axis &axis) { return axis.from == name; }))
          kept.push_back(name);
      for (StringAttr name : kept) {
        order.push_back(name);
        auto *axis = axisOf(axes, name);
        // Vectors run along the last dim, so phases lie before it.
        if (axis != axes.end())
          order.insert(order.end() - (name == kept.back() ? 1 : 0), axis->phase);
      }
      for (Value factor : product->getOperands()) {
        SmallVector<Attribute> dims;
        SmallVector<int64_t> low, high;
        for (const Axis &axis : axes)
          if (arrayType(factor).hasDim(axis.dim) && (axis.low || axis.high)) {
            dims.push_back(axis.dim);
            low.push_back(axis.low);
            high.push_back(axis.high);
          }
        padded.push_back(paddedBy(b, loc, factor, dims, low, high));
      }
      return joined({});
    }

    /// The phases along the axes behind those whose phases are `chosen`.
    Value joined(ArrayRef<const Phases *> chosen) {
      if (chosen.size() == axes.size())
        return one(chosen);
      const Axis &axis = axes[chosen.size()];
      SmallVector<Value> parts;
      for (const Phases &group : axis.groups) {
        SmallVector<const Phases *> next(chosen);
        next.push_back(&group);
        parts.push_back(joined(next));
      }
      return parts.size() == 1 ? parts.front() : ConcatOp::create(b, loc, parts, axis.phase).getY();
    }

    Value one(ArrayRef<const Phases *> chosen) {
      if (llvm::any_of(chosen, [](const Phases *group) { return group->taps == 0; }))
        return nothing(chosen);
      SmallVector<Value> factors(padded);
      for (Value &factor : factors)
        for (auto [axis, group] : llvm::zip_equal(axes, chosen)) {
          if (arrayType(factor).hasDim(axis.dim)) {
            factor = sliced(b, loc, factor, axis.dim, axis.firstWindow(*group),
                            axis.rows + axis.reach(*group));
            factor = WindowOp::create(b, loc, factor, axis.dim, axis.from, group->taps, int64_t(1),
                                      axis.spread);
          } else if (arrayType(factor).hasDim(axis.from)) {
            factor = tapsOf(b, loc, factor, axis, *group);
          }
        }
      return ContractOp::create(b, loc, factors, b.getArrayAttr(over), b.getArrayAttr(order));
    }

    /// Zeros for phases that no tap reaches.
    Value nothing(ArrayRef<const Phases *> chosen) {
      SmallVector<StringAttr> names;
      SmallVector<int64_t> shape;
      for (Attribute attr : order) {
        auto name = cast<StringAttr>(attr);
        names.push_back(name);
        shape.push_back(type.hasDim(name) ? type.getSize(name) : 0);
        for (auto [axis, group] : llvm::zip_equal(axes, chosen)) {
          if (name == axis.dim)
            shape.back() = axis.rows;
          if (name == axis.phase)
            shape.back() = group->count;
        }
      }
      auto array = ArrayType::get(b.getContext(), names, shape, type.getElementType());
      return zeros(b, loc, array, sizesOf(b, loc, product->getResult(0)));
    }
  };
};

} // namespace

void xtensor::addStridedOverlapPatterns(RewritePatternSet &patterns) {
  patterns.add<OverlapInPhases<ContractOp>, OverlapInPhases<MulOp>>(patterns.getContext());
}
