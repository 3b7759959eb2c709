#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

bool xtensor::isReorder(Operation *op) {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  return broadcast && arrayType(broadcast.getX()).getRank() == broadcast.getType().getRank();
}

namespace {

/// The windows of `x`, padded with zeros, that meet at each element which `op` adds up: place w of
/// a window is what place size - 1 - w of `op`'s operand was.
Value meetingWindows(OpBuilder &b, Value x, OverlapAddOp op) {
  Location loc = op.getLoc();
  StringAttr dim = op.getDimAttr();
  // Windows along other dims stay views: the padding goes beneath them.
  if (auto inner = x.getDefiningOp<WindowOp>();
      inner && inner.getDimAttr() != dim && inner.getIntoAttr() != dim)
    return WindowOp::create(b, loc, meetingWindows(b, inner.getX(), op), inner.getDim(),
                            inner.getInto(), inner.getSize(), inner.getStride(),
                            inner.getDilation());
  ArrayType type = arrayType(x);
  int64_t size = arrayType(op.getX()).getSize(op.getFromAttr());
  int64_t stride = op.getStride(), dilation = op.getDilation();
  int64_t low = (size - 1) * dilation;
  int64_t high = static_cast<int64_t>(op.getLength()) - (type.getSize(dim) - 1) * stride - 1;
  if (low || high || stride > 1) {
    SmallVector<Attribute> dims{dim};
    SmallVector<int64_t> lows{low}, highs{high}, interiors{stride - 1};
    if (auto pad = x.getDefiningOp<PadOp>();
        pad && isSplat(pad.getValue(), 0) && !llvm::is_contained(pad.getDims(), dim)) {
      llvm::append_range(dims, pad.getDims());
      llvm::append_range(lows, pad.getLow());
      llvm::append_range(highs, pad.getHigh());
      llvm::append_range(interiors, pad.getInterior());
      x = pad.getX();
    }
    x = PadOp::create(b, loc, x, scalar(b, loc, type.getElementType(), 0), b.getArrayAttr(dims),
                      lows, highs, interiors);
  }
  return WindowOp::create(b, loc, x, op.getDim(), op.getFrom(), size, int64_t(1), dilation);
}

/// overlap_add (a[t] * k[w]) ==> the windows of a, contracted with k backwards: nothing of the
/// size of all windows is stored.
template <typename Product>
struct OverlapOfProduct : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern<OverlapAddOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    auto product = op.getX().getDefiningOp<Product>();
    ArrayType windows = arrayType(op.getX());
    StringAttr dim = op.getDimAttr(), from = op.getFromAttr();
    // Zeros between the windows' starts would be multiplied as well.
    if (!product || op.getStride() != 1 || windows.getSize(dim) == 0 || windows.getSize(from) == 0)
      return failure();
    SmallVector<Attribute> over{from};
    if (auto contract = dyn_cast<ContractOp>(*product))
      llvm::append_range(over, contract.getOver());
    unsigned along = 0;
    for (Value factor : product->getOperands()) {
      ArrayType type = arrayType(factor);
      along += type.hasDim(dim);
      if (type.hasDim(dim) && type.hasDim(from))
        return failure();
    }
    if (along != 1)
      return failure();
    SmallVector<Value> factors(product->getOperands());
    for (Value &factor : factors) {
      if (arrayType(factor).hasDim(dim))
        factor = meetingWindows(rewriter, factor, op);
      else if (arrayType(factor).hasDim(from))
        factor = ReverseOp::create(rewriter, op.getLoc(), factor, rewriter.getArrayAttr({from}));
    }
    rewriter.replaceOpWithNewOp<ContractOp>(op, factors, rewriter.getArrayAttr(over),
                                            rewriter.getArrayAttr(dimsOf(arrayType(op.getY()))));
    return success();
  }
};

/// The same of windows that were broadcast over their places: a sum over windows.
struct OverlapOfBroadcast : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getX().getDefiningOp<BroadcastOp>();
    StringAttr dim = op.getDimAttr(), from = op.getFromAttr();
    if (!broadcast || llvm::is_contained(broadcast.getType().getShape(), 0))
      return failure();
    ArrayType type = arrayType(broadcast.getX());
    if (!type.hasDim(dim) || type.hasDim(from))
      return failure();
    Value sum = ReduceOp::create(rewriter, op.getLoc(), ReduceKind::sum,
                                 meetingWindows(rewriter, broadcast.getX(), op),
                                 rewriter.getArrayAttr({from}));
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), sum, broadcast.getSizes());
    return success();
  }
};

/// The same of values of each window that were given to the places which a comparison with the
/// window's elements chooses, as the shares of an extremum are. Zeros between the windows' starts
/// are chosen or not, and stay zeros.
struct OverlapOfChoice : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    auto select = op.getX().getDefiningOp<SelectOp>();
    auto compare = select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
    StringAttr dim = op.getDimAttr(), from = op.getFromAttr();
    if (!compare || llvm::is_contained(arrayType(op.getX()).getShape(), 0))
      return failure();
    auto isOfWindow = [&](Value v) {
      return arrayType(v).hasDim(dim) && !arrayType(v).hasDim(from);
    };
    Value compared[] = {compare.getLhs(), compare.getRhs()};
    Value chosen[] = {select.getLhs(), select.getRhs()};
    for (Value v : compared)
      if (!isOfWindow(v) && !isWindows(v, op))
        return failure();
    for (Value v : chosen)
      if (!isOfWindow(v) && !isSplat(v, 0))
        return failure();
    for (Value &v : compared)
      v = isOfWindow(v) ? meetingWindows(rewriter, v, op) : v.getDefiningOp<WindowOp>().getX();
    for (Value &v : chosen)
      v = isOfWindow(v) ? meetingWindows(rewriter, v, op)
                        : scalar(rewriter, op.getLoc(), arrayType(v).getElementType(), 0);
    Value owns =
        CompareOp::create(rewriter, op.getLoc(), compare.getPredicate(), compared[0], compared[1]);
    Value shares = SelectOp::create(rewriter, op.getLoc(), owns, chosen[0], chosen[1]);
    Value sum = ReduceOp::create(rewriter, op.getLoc(), ReduceKind::sum, shares,
                                 rewriter.getArrayAttr({from}));
    rewriter.replaceOp(
        op, conform(rewriter, op.getLoc(), sum, op.getType(), sizesOf(rewriter, op.getLoc(), sum)));
    return success();
  }

  /// The windows that `op` puts back where they were.
  static bool isWindows(Value v, OverlapAddOp op) {
    auto window = v.getDefiningOp<WindowOp>();
    return window && window.getDimAttr() == op.getDimAttr() &&
           window.getIntoAttr() == op.getFromAttr() && window.getStride() == op.getStride() &&
           window.getDilation() == op.getDilation() &&
           arrayType(window.getX()).getSize(op.getDimAttr()) ==
               static_cast<int64_t>(op.getLength());
  }
};

/// A part of an array along a dim.
struct Cut {
  StringAttr dim;
  int64_t offset, count;

  /// What it is of the array that `window` reads.
  Cut beneath(WindowOp window) const {
    if (window.getDimAttr() != dim)
      return *this;
    int64_t stride = window.getStride(), reach = (window.getSize() - 1) * window.getDilation();
    return {dim, offset * stride, (count - 1) * stride + reach + 1};
  }
  /// The elements of the padded array that lie in it: from, to.
  std::pair<int64_t, int64_t> inside(PadOp pad, unsigned i) const {
    int64_t low = pad.getLow()[i], size = arrayType(pad.getX()).getSize(dim);
    return {std::max<int64_t>(0, offset - low), std::min<int64_t>(size, offset + count - low)};
  }
  std::optional<unsigned> placeIn(PadOp pad) const {
    auto at = llvm::find(pad.getDims(), dim);
    if (at == pad.getDims().end())
      return std::nullopt;
    return at - pad.getDims().begin();
  }
  Value slice(OpBuilder &b, Location loc, Value x, int64_t from, int64_t size) const {
    return b.createOrFold<SliceOp>(loc, x, b.getArrayAttr({dim}), b.getDenseI64ArrayAttr({from}),
                                   b.getDenseI64ArrayAttr({size}), b.getDenseI64ArrayAttr({1}));
  }
};

/// overlap_add of what was put in order along other dims ==> the same order of what adds up.
struct OverlapOfMoved : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    Operation *move = op.getX().getDefiningOp();
    if (!move || !move->hasOneUse() || move->getBlock() != op->getBlock() || !isBeside(move, op))
      return failure();
    Location loc = op.getLoc();
    Value y = OverlapAddOp::create(rewriter, loc, move->getOperand(0), op.getDim(), op.getFrom(),
                                   op.getLength(), op.getStride(), op.getDilation());
    if (auto merge = dyn_cast<MergeOp>(move))
      y = MergeOp::create(rewriter, loc, y, merge.getDims(), merge.getInto());
    else if (auto slice = dyn_cast<SliceOp>(move))
      y = SliceOp::create(rewriter, loc, y, slice.getDims(), slice.getOffsets(), slice.getSizes(),
                          slice.getStrides());
    rewriter.replaceOp(op,
                       conform(rewriter, loc, y, arrayType(op.getY()), sizesOf(rewriter, loc, y)));
    return success();
  }

  static bool isBeside(Operation *move, OverlapAddOp op) {
    auto isOther = [&](Attribute dim) { return dim != op.getDimAttr() && dim != op.getFromAttr(); };
    if (auto merge = dyn_cast<MergeOp>(move))
      return isOther(merge.getIntoAttr()) && llvm::all_of(merge.getDims(), isOther);
    if (auto slice = dyn_cast<SliceOp>(move))
      return llvm::all_of(slice.getDims(), isOther);
    return isReorder(move);
  }
};

/// Whether a part can be cut out beneath windows and padding.
bool canCut(Value x, Cut cut) {
  if (auto window = x.getDefiningOp<WindowOp>())
    return window.getIntoAttr() != cut.dim && canCut(window.getX(), cut.beneath(window));
  auto pad = x.getDefiningOp<PadOp>();
  auto place = pad ? cut.placeIn(pad) : std::nullopt;
  if (!place)
    return true;
  auto [from, to] = cut.inside(pad, *place);
  return pad.getInterior()[*place] == 0 && from < to;
}

Value cutBeneath(OpBuilder &b, Location loc, Value x, Cut cut) {
  if (auto window = x.getDefiningOp<WindowOp>())
    return WindowOp::create(b, loc, cutBeneath(b, loc, window.getX(), cut.beneath(window)),
                            window.getDim(), window.getInto(), window.getSize(), window.getStride(),
                            window.getDilation());
  auto pad = x.getDefiningOp<PadOp>();
  auto place = pad ? cut.placeIn(pad) : std::nullopt;
  if (!place)
    return cut.slice(b, loc, x, cut.offset, cut.count);
  auto [from, to] = cut.inside(pad, *place);
  SmallVector<int64_t> low(pad.getLow()), high(pad.getHigh());
  low[*place] = std::max<int64_t>(0, low[*place] - cut.offset);
  high[*place] = cut.count - low[*place] - (to - from);
  Value inner = cut.slice(b, loc, pad.getX(), from, to - from);
  auto isZero = [](int64_t n) { return n == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) &&
      llvm::all_of(pad.getInterior(), isZero))
    return inner;
  return PadOp::create(b, loc, inner, pad.getValue(), pad.getDims(), low, high, pad.getInterior());
}

/// What is left of a slice without the last of its dims.
Value sliceBefore(OpBuilder &b, Value x, SliceOp op, unsigned last) {
  if (!last)
    return x;
  return SliceOp::create(b, op.getLoc(), x,
                         b.getArrayAttr(op.getDims().getValue().take_front(last)),
                         b.getDenseI64ArrayAttr(op.getOffsets().take_front(last)),
                         b.getDenseI64ArrayAttr(op.getSizes().take_front(last)),
                         b.getDenseI64ArrayAttr(op.getStrides().take_front(last)));
}

/// slice (window %x) ==> window (slice %x): what moves elements meets the windows' reader, so that
/// neither these nor their cotangents are stored.
struct SliceOfWindows : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto window = op.getX().getDefiningOp<WindowOp>();
    if (!window || !window->hasOneUse() || window->getBlock() != op->getBlock() ||
        llvm::is_contained(op.getSizes(), 0))
      return failure();
    if (auto pad = window.getX().getDefiningOp<PadOp>(); pad && !pad->hasOneUse())
      return failure(); // it would be made twice
    // One dim at a time: a further slice follows, and moves after that.
    unsigned last = op.getDims().size() - 1;
    auto dim = cast<StringAttr>(op.getDims()[last]);
    int64_t step = op.getStrides()[last];
    Cut cut{dim, op.getOffsets()[last], (op.getSizes()[last] - 1) * step + 1};
    if (step < 1 || (step > 1 && dim != window.getDimAttr()) || dim == window.getIntoAttr() ||
        arrayType(window.getX()).isDynamic(dim) || !canCut(window, cut))
      return failure();
    Value part = cutBeneath(rewriter, op.getLoc(), window.getX(), cut.beneath(window));
    Value y = WindowOp::create(rewriter, op.getLoc(), part, window.getDim(), window.getInto(),
                               window.getSize(), window.getStride() * step, window.getDilation());
    rewriter.replaceOp(op, sliceBefore(rewriter, y, op, last));
    return success();
  }
};

/// slice (contract %windows, %k) ==> contract of fewer windows: a convolution's gradient is cut to
/// the image that was padded before.
struct SliceOfConvolution : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getX().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse() || contract->getBlock() != op->getBlock() ||
        llvm::is_contained(op.getSizes(), 0) ||
        llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; }) ||
        llvm::none_of(contract.getInputs(),
                      [](Value v) { return bool(v.getDefiningOp<WindowOp>()); }))
      return failure();
    SmallVector<Value> inputs(contract.getInputs());
    // One dim at a time: a further slice follows, and is taken in after that.
    unsigned last = op.getDims().size() - 1;
    Cut cut{cast<StringAttr>(op.getDims()[last]), op.getOffsets()[last], op.getSizes()[last]};
    for (Value input : inputs)
      if (arrayType(input).hasDim(cut.dim) && !canCut(input, cut))
        return failure();
    for (Value &input : inputs)
      if (arrayType(input).hasDim(cut.dim))
        input = cutBeneath(rewriter, op.getLoc(), input, cut);
    Value y = ContractOp::create(rewriter, op.getLoc(), inputs, contract.getOverAttr(),
                                 contract.getOrderAttr());
    rewriter.replaceOp(op, sliceBefore(rewriter, y, op, last));
    return success();
  }
};

} // namespace

void xtensor::addWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<SliceOfConvolution, SliceOfWindows, OverlapOfMoved, OverlapOfProduct<ContractOp>,
               OverlapOfProduct<MulOp>, OverlapOfBroadcast, OverlapOfChoice>(patterns.getContext());
}
