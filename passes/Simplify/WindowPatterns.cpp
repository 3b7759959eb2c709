#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

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

bool isReorder(Operation *op) {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  return broadcast && arrayType(broadcast.getX()).getRank() == broadcast.getType().getRank();
}

/// Windows that start `stride` apart: element u * stride + r of the result adds up the places
/// q * stride + r of the windows. So the places are split into q and r, windows one apart are added
/// up along q, and r becomes a part of the dim. No zeros between the windows' starts are
/// multiplied.
template <typename Product>
struct OverlapInPhases : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern<OverlapAddOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    auto product = op.getX().getDefiningOp<Product>();
    ArrayType windows = arrayType(op.getX());
    StringAttr dim = op.getDimAttr(), from = op.getFromAttr();
    int64_t stride = op.getStride(), count = windows.getSize(dim), size = windows.getSize(from);
    // Of fewer places than there are phases, most phases would be multiplied by zeros.
    if (!product || !product->hasOneUse() || stride == 1 || op.getDilation() != 1 || count == 0 ||
        size < stride || !windows.isFloat())
      return failure();
    unsigned along = 0;
    SmallVector<ArrayType> types{windows};
    for (Value factor : product->getOperands()) {
      ArrayType type = arrayType(factor);
      types.push_back(type);
      along += type.hasDim(dim);
      if (type.hasDim(dim) && type.hasDim(from))
        return failure();
    }
    if (along != 1)
      return failure();
    int64_t before = (stride - cutOffset(op) % stride) % stride;
    int64_t steps = llvm::divideCeil(before + size, stride);
    StringAttr phase = freshName(dim, types);
    types.push_back(ArrayType::get(op.getContext(), {phase}, {1}, windows.getElementType()));
    SmallVector<Attribute> over, order;
    if (auto contract = dyn_cast<ContractOp>(*product))
      over = SmallVector<Attribute>(contract.getOver().getValue());
    for (StringAttr name : windows.getDimNames()) {
      order.push_back(name);
      if (name == dim)
        order.push_back(phase);
    }
    SmallVector<Value> factors(product->getOperands());
    for (Value &factor : factors)
      if (arrayType(factor).hasDim(from))
        factor = inPhases(rewriter, op, factor, phase, before, steps);
    Location loc = op.getLoc();
    Value y = ContractOp::create(rewriter, loc, factors, rewriter.getArrayAttr(over),
                                 rewriter.getArrayAttr(order));
    int64_t length = op.getLength(), whole = llvm::divideCeil(before + length, stride);
    y = OverlapAddOp::create(rewriter, loc, y, dim, from, whole, int64_t(1), int64_t(1));
    y = MergeOp::create(rewriter, loc, y, rewriter.getArrayAttr({dim, phase}), dim);
    y = Cut{dim, before, length}.slice(rewriter, loc, y, before, length);
    rewriter.replaceOp(op,
                       conform(rewriter, loc, y, arrayType(op.getY()), sizesOf(rewriter, loc, y)));
    return success();
  }

  /// Where the result is cut along the dim: phases that start there are cut as a whole.
  static int64_t cutOffset(OverlapAddOp op) {
    Operation *reader = op;
    while (reader->hasOneUse()) {
      reader = *reader->user_begin();
      if (auto slice = dyn_cast<SliceOp>(reader)) {
        for (auto [dim, offset, stride] :
             llvm::zip_equal(slice.getDims(), slice.getOffsets(), slice.getStrides()))
          if (dim == op.getDimAttr() && stride == 1)
            return offset;
      } else if (!isa<MergeOp, OverlapAddOp>(reader) && !isReorder(reader)) {
        break;
      }
    }
    return 0;
  }

  /// The places of the windows as (q, r), with zeros before the first one and behind the last.
  static Value inPhases(OpBuilder &b, OverlapAddOp op, Value factor, StringAttr phase,
                        int64_t before, int64_t steps) {
    Location loc = op.getLoc();
    ArrayType type = arrayType(factor);
    StringAttr from = op.getFromAttr();
    int64_t stride = op.getStride(), behind = steps * stride - before - type.getSize(from);
    if (before || behind)
      factor = PadOp::create(b, loc, factor, scalar(b, loc, type.getElementType(), 0),
                             b.getArrayAttr({from}), ArrayRef<int64_t>{before},
                             ArrayRef<int64_t>{behind}, ArrayRef<int64_t>{0});
    return SplitOp::create(b, loc, factor, from, b.getArrayAttr({from, phase}),
                           b.getDenseI64ArrayAttr({steps, stride}));
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
  return PadOp::create(b, loc, inner, pad.getValue(), pad.getDims(), low, high, pad.getInterior());
}

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
    if (last) {
      auto rest = rewriter.getArrayAttr(op.getDims().getValue().take_front(last));
      y = SliceOp::create(rewriter, op.getLoc(), y, rest,
                          rewriter.getDenseI64ArrayAttr(op.getOffsets().take_front(last)),
                          rewriter.getDenseI64ArrayAttr(op.getSizes().take_front(last)),
                          rewriter.getDenseI64ArrayAttr(op.getStrides().take_front(last)));
    }
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// A slice of a convolution whose result was merged or put in order moves up to the convolution.
struct SliceOfMovedConvolution : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Operation *move = op.getX().getDefiningOp();
    if (!move || !endsInConvolution(move, op->getBlock()) || llvm::is_contained(op.getSizes(), 0) ||
        llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; }))
      return failure();
    SmallVector<Attribute> dims(op.getDims().getValue());
    SmallVector<int64_t> offsets(op.getOffsets()), sizes(op.getSizes()), strides(op.getStrides());
    Value y;
    for (unsigned i = dims.size(); i-- > 0 && !y;) {
      y = cutAbove(rewriter, move, {cast<StringAttr>(dims[i]), offsets[i], sizes[i]});
      if (!y)
        continue;
      dims.erase(dims.begin() + i);
      offsets.erase(offsets.begin() + i);
      sizes.erase(sizes.begin() + i);
      strides.pop_back();
    }
    if (!y)
      return failure();
    Location loc = op.getLoc();
    if (!dims.empty())
      y = SliceOp::create(
          rewriter, loc, y, rewriter.getArrayAttr(dims), rewriter.getDenseI64ArrayAttr(offsets),
          rewriter.getDenseI64ArrayAttr(sizes), rewriter.getDenseI64ArrayAttr(strides));
    rewriter.replaceOp(op,
                       conform(rewriter, loc, y, arrayType(op.getY()), sizesOf(rewriter, loc, y)));
    return success();
  }

  /// Whether nothing else reads what lies between a convolution and the slice.
  static bool endsInConvolution(Operation *op, Block *block) {
    while (op && op->hasOneUse() && op->getBlock() == block) {
      if (auto contract = dyn_cast<ContractOp>(op))
        return llvm::any_of(contract.getInputs(),
                            [](Value v) { return bool(v.getDefiningOp<WindowOp>()); });
      if (!isa<SliceOp, MergeOp>(op) && !isReorder(op))
        return false;
      op = op->getOperand(0).getDefiningOp();
    }
    return false;
  }

  static Value cutAbove(OpBuilder &b, Operation *move, Cut cut) {
    Location loc = move->getLoc();
    Value x = move->getOperand(0);
    if (isReorder(move))
      return cut.slice(b, loc, x, cut.offset, cut.count);
    if (auto inner = dyn_cast<SliceOp>(move)) {
      SmallVector<Attribute> dims(inner.getDims().getValue());
      SmallVector<int64_t> offsets(inner.getOffsets()), sizes(inner.getSizes()),
          strides(inner.getStrides());
      unsigned i = llvm::find(dims, cut.dim) - dims.begin();
      if (i == dims.size()) {
        dims.push_back(cut.dim);
        offsets.push_back(0);
        sizes.push_back(0);
        strides.push_back(1);
      }
      if (strides[i] != 1)
        return {};
      offsets[i] += cut.offset;
      sizes[i] = cut.count;
      return SliceOp::create(b, loc, x, b.getArrayAttr(dims), b.getDenseI64ArrayAttr(offsets),
                             b.getDenseI64ArrayAttr(sizes), b.getDenseI64ArrayAttr(strides));
    }
    auto merge = dyn_cast<MergeOp>(move);
    if (!merge)
      return {};
    if (merge.getIntoAttr() != cut.dim)
      return MergeOp::create(b, loc, cut.slice(b, loc, x, cut.offset, cut.count),
                             merge.getDimsAttr(), merge.getIntoAttr());
    // Whole rows of what is merged.
    auto outer = cast<StringAttr>(merge.getDims()[0]);
    ArrayType from = arrayType(x);
    int64_t rows = from.getSize(outer);
    int64_t row = rows > 0 ? arrayType(merge.getY()).getSize(cut.dim) / rows : 0;
    if (merge.getDims().size() != 2 || row < 1)
      return {};
    int64_t begin = cut.offset / row, end = llvm::divideCeil(cut.offset + cut.count, row);
    if (begin == 0 && end == rows)
      return {};
    Value y =
        MergeOp::create(b, loc, Cut{outer, begin, end - begin}.slice(b, loc, x, begin, end - begin),
                        merge.getDimsAttr(), merge.getIntoAttr());
    return cut.slice(b, loc, y, cut.offset - begin * row, cut.count);
  }
};

} // namespace

void xtensor::addWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<SliceOfConvolution, SliceOfMovedConvolution, OverlapInPhases<ContractOp>,
               OverlapInPhases<MulOp>, OverlapOfMoved, OverlapOfProduct<ContractOp>,
               OverlapOfProduct<MulOp>, OverlapOfBroadcast, OverlapOfChoice>(patterns.getContext());
}
