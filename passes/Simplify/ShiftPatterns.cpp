// Shifted reads of one array: rolls, and arrays padded with zeros that are added up, which come
// from derivatives of slices. Each would be an array of its own. Instead, one array with a margin
// is stored, and the shifts are slices of it, which are views: a stencil is then one copy and one
// loop.
#include "Estimates.h"
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// Smaller arrays stay in a cache or in registers however they are read.
constexpr int64_t kLeastElements = 4096;
/// A program may be one long sum, and the stack is not.
constexpr unsigned kMostLeaves = 64;
/// As many pads of one array make less work as slices of one margin than part by part
/// (PadPatterns.cpp).
constexpr size_t kLeastPads = 3;

bool isLarge(ArrayType type) {
  return type.hasStaticShape() && Amount::ofSizes(type.getShape()) >= kLeastElements;
}

/// The part of an array that neighbouring elements make up: an offset and a size for each dim.
struct Part {
  Value array;
  SmallVector<int64_t> offsets, sizes;

  explicit Part(Value v) : array(v), offsets(arrayType(v).getRank(), 0) {
    llvm::append_range(sizes, arrayType(v).getShape());
  }

  /// What a chain of slices with step 1 reads.
  static std::optional<Part> of(Value v) {
    auto slice = v.getDefiningOp<SliceOp>();
    if (!slice)
      return Part(v);
    if (llvm::any_of(slice.getStrides(), [](int64_t s) { return s != 1; }))
      return std::nullopt;
    std::optional<Part> part = of(slice.getX());
    if (part && part->array != v && arrayType(part->array).hasStaticShape())
      part->take(slice);
    else
      part.reset();
    return part;
  }

  void take(SliceOp slice) {
    for (auto [dim, offset, size] :
         llvm::zip_equal(slice.getDims(), slice.getOffsets(), slice.getSizes())) {
      int64_t i = arrayType(array).find(dim);
      offsets[i] += offset;
      sizes[i] = size;
    }
  }

  Value read(OpBuilder &b, Location loc) const {
    ArrayType type = arrayType(array);
    SmallVector<Attribute> dims;
    SmallVector<int64_t> from, count;
    for (auto [dim, have, offset, size] :
         llvm::zip_equal(dimsOf(type), type.getShape(), offsets, sizes))
      if (size != have) {
        dims.push_back(dim);
        from.push_back(offset);
        count.push_back(size);
      }
    return dims.empty() ? array
                        : SliceOp::create(b, loc, array, b.getArrayAttr(dims), from, count,
                                          SmallVector<int64_t>(dims.size(), 1))
                              .getResult();
  }
};

//===- rolls ---------------------------------------------------------------===//

/// concat (slice %x [n - shift, n)), (slice %x [0, n - shift)): element i is element i - shift.
struct Roll {
  ConcatOp op;
  Part part;
  int64_t axis, shift;

  static std::optional<Roll> of(ConcatOp op) {
    if (op.getInputs().size() != 2)
      return std::nullopt;
    std::optional<Part> first = Part::of(op.getInputs()[0]), second = Part::of(op.getInputs()[1]);
    if (!first || !second || first->array != second->array ||
        dimsOf(arrayType(op.getY())) != dimsOf(arrayType(first->array)))
      return std::nullopt;
    int64_t axis = arrayType(first->array).find(op.getDimAttr());
    int64_t n = arrayType(first->array).getShape()[axis], shift = first->sizes[axis];
    if (first->offsets[axis] != n - shift || second->offsets[axis] != 0 ||
        second->sizes[axis] != n - shift)
      return std::nullopt;
    first->offsets[axis] = 0;
    first->sizes[axis] = second->sizes[axis] = n;
    if (first->offsets != second->offsets || first->sizes != second->sizes)
      return std::nullopt;
    return Roll{op, *first, axis, 2 * shift <= n ? shift : shift - n};
  }
};

/// All concatenations of slices of `v`.
void collectConcats(Value v, llvm::SetVector<ConcatOp> &found) {
  for (Operation *user : v.getUsers()) {
    if (auto concat = dyn_cast<ConcatOp>(user))
      found.insert(concat);
    else if (auto slice = dyn_cast<SliceOp>(user))
      collectConcats(slice.getY(), found);
  }
}

/// roll %x by 1, roll %x by -1 ==> slices of concat (the last of %x), %x, (the first of %x)
struct RollsOfOne : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    std::optional<Roll> roll = Roll::of(op);
    if (!roll || !isLarge(op.getType()))
      return failure();
    Value array = roll->part.array;
    ArrayType type = arrayType(array);
    int64_t n = type.getShape()[roll->axis], low = 0, high = 0;
    llvm::SetVector<ConcatOp> concats;
    collectConcats(array, concats);
    SmallVector<Roll> rolls;
    llvm::SmallDenseSet<int64_t> shifts;
    for (ConcatOp concat : concats) {
      std::optional<Roll> other = Roll::of(concat);
      if (!other || other->part.array != array || other->axis != roll->axis ||
          4 * std::abs(other->shift) > n)
        continue;
      low = std::max(low, other->shift);
      high = std::max(high, -other->shift);
      shifts.insert(other->shift);
      rolls.push_back(*other);
    }
    if (shifts.size() < 2)
      return failure();
    rewriter.setInsertionPointAfterValue(array);
    Part last(array), first(array);
    last.offsets[roll->axis] = n - low;
    last.sizes[roll->axis] = low;
    first.sizes[roll->axis] = high;
    SmallVector<Value> parts;
    if (low)
      parts.push_back(last.read(rewriter, op.getLoc()));
    parts.push_back(array);
    if (high)
      parts.push_back(first.read(rewriter, op.getLoc()));
    Value wide = ConcatOp::create(rewriter, op.getLoc(), parts, op.getDimAttr());
    for (Roll &each : rolls) {
      Part part(wide);
      part.offsets = each.part.offsets;
      part.sizes = each.part.sizes;
      part.offsets[each.axis] = low - each.shift;
      rewriter.setInsertionPoint(each.op);
      rewriter.replaceOp(each.op, part.read(rewriter, each.op.getLoc()));
    }
    return success();
  }
};

//===- pads ----------------------------------------------------------------===//

bool isPlain(PadOp pad) {
  return llvm::all_of(pad.getInterior(), [](int64_t n) { return n == 0; });
}

/// pad (pad %x [a]) [b] ==> pad %x [a, b], which is one copy
struct PadOfPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<PadOp>();
    if (!inner || !inner->hasOneUse() || inner.getValue() != op.getValue() || !isPlain(op) ||
        !isPlain(inner))
      return failure();
    SmallVector<Attribute> dims(inner.getDims().getValue());
    SmallVector<int64_t> low(inner.getLow()), high(inner.getHigh());
    for (auto [dim, before, after] : llvm::zip_equal(op.getDims(), op.getLow(), op.getHigh())) {
      size_t i = llvm::find(dims, dim) - dims.begin();
      if (i == dims.size()) {
        dims.push_back(dim);
        low.push_back(0);
        high.push_back(0);
      }
      low[i] += before;
      high[i] += after;
    }
    rewriter.replaceOpWithNewOp<PadOp>(op, inner.getX(), op.getValue(), rewriter.getArrayAttr(dims),
                                       low, high, SmallVector<int64_t>(dims.size(), 0));
    return success();
  }
};

/// Pads of one array with zeros that are terms of sums of one size.
struct Margin {
  SmallVector<PadOp> pads;
  SmallVector<int64_t> low, high; // by axis, as much as any of them has

  /// Those of the array that `op` pads, if slices of one array with a margin make less work.
  static std::optional<Margin> of(PadOp op) {
    ArrayType type = arrayType(op.getX());
    Margin found{
        {}, SmallVector<int64_t>(type.getRank(), 0), SmallVector<int64_t>(type.getRank(), 0)};
    if (!isLarge(type))
      return std::nullopt;
    for (Operation *user : op.getX().getUsers()) {
      auto pad = dyn_cast<PadOp>(user);
      if (!pad || !isShift(pad, op))
        continue;
      found.pads.push_back(pad);
      for (auto [dim, low, high] : llvm::zip_equal(pad.getDims(), pad.getLow(), pad.getHigh())) {
        int64_t i = type.find(dim);
        found.low[i] = std::max(found.low[i], low);
        found.high[i] = std::max(found.high[i], high);
      }
    }
    bool isSmall = true; // the margin beside the array
    for (auto [low, high, n] : llvm::zip_equal(found.low, found.high, type.getShape()))
      isSmall &= low <= n / 8 && high <= n / 8;
    if (!isSmall || found.pads.size() < kLeastPads)
      return std::nullopt;
    return found;
  }

  static bool isShift(PadOp pad, PadOp like) {
    return isPlain(pad) && pad.getY().getType() == like.getY().getType() &&
           isSplat(pad.getValue(), 0) && pad->hasOneUse() && isa<AddOp, SubOp>(*pad->user_begin());
  }
};

/// add (pad %x low [0] high [2]), (pad %x low [2] high [0]), (pad %x low [1] high [1]) ==> the sum
/// of slices of pad %x low [2] high [2]
struct PadsOfOne : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    std::optional<Margin> margin = Margin::of(op);
    if (!margin || !llvm::is_contained(margin->pads, op))
      return failure();
    ArrayType type = arrayType(op.getX());
    rewriter.setInsertionPointAfterValue(op.getX());
    Location loc = op.getLoc();
    Value zero = scalar(rewriter, loc, type.getElementType(), 0);
    Value wide = PadOp::create(rewriter, loc, op.getX(), zero, rewriter.getArrayAttr(dimsOf(type)),
                               margin->low, margin->high, SmallVector<int64_t>(type.getRank(), 0));
    for (PadOp pad : margin->pads) {
      Part part(wide);
      part.offsets = margin->low;
      part.sizes = SmallVector<int64_t>(arrayType(pad.getY()).getShape());
      for (auto [dim, low] : llvm::zip_equal(pad.getDims(), pad.getLow()))
        part.offsets[type.find(dim)] -= low;
      rewriter.setInsertionPoint(pad);
      rewriter.replaceOp(pad, part.read(rewriter, pad.getLoc()));
    }
    return success();
  }
};

//===- slices of sums ------------------------------------------------------===//

/// Whether `v` is a sum of slices which only the next op reads.
bool isSumOfSlices(Value v, unsigned &leaves, unsigned depth = 0) {
  Operation *op = v.getDefiningOp();
  if (isa_and_present<SliceOp>(op))
    return ++leaves <= kMostLeaves;
  return isa_and_present<AddOp, SubOp>(op) && op->hasOneUse() && depth < kMostLeaves &&
         arrayType(op->getOperand(0)) == arrayType(v) &&
         arrayType(op->getOperand(1)) == arrayType(v) &&
         isSumOfSlices(op->getOperand(0), leaves, depth + 1) &&
         isSumOfSlices(op->getOperand(1), leaves, depth + 1);
}

/// slice (add (slice %x), (slice %y)) ==> add (slice %x), (slice %y)
struct SliceOfSum : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    unsigned leaves = 0;
    if (!isLarge(op.getType()) || !isa_and_present<AddOp, SubOp>(op.getX().getDefiningOp()) ||
        !isSumOfSlices(op.getX(), leaves))
      return failure();
    rewriter.replaceOp(op, sliced(rewriter, op.getX(), op));
    return success();
  }

  static Value sliced(PatternRewriter &rewriter, Value v, SliceOp slice) {
    Operation *op = v.getDefiningOp();
    if (isa<SliceOp>(op)) {
      Operation *copy = rewriter.clone(*slice);
      copy->setOperand(0, v);
      Value read = copy->getResult(0);
      if (std::optional<Part> part = Part::of(read)) {
        Value merged = part->read(rewriter, slice.getLoc());
        rewriter.eraseOp(copy);
        return merged;
      }
      return read;
    }
    Value x = sliced(rewriter, op->getOperand(0), slice);
    Value y = sliced(rewriter, op->getOperand(1), slice);
    Operation *copy = rewriter.clone(*op);
    copy->setOperands({x, y});
    copy->getResult(0).setType(slice.getType());
    return copy->getResult(0);
  }
};

/// slice (mul %x, 2) ==> mul (slice %x), 2
///
/// Of an array that only slices read, so that it need not be stored.
struct SliceOfScaled : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Operation *scaled = op.getX().getDefiningOp();
    if (!isa_and_present<NegOp, MulOp>(scaled) || !isLarge(arrayType(op.getX())) ||
        !llvm::all_of(scaled->getUsers(), llvm::IsaPred<SliceOp>))
      return failure();
    unsigned x = 0;
    if (isa<MulOp>(scaled)) {
      x = arrayType(scaled->getOperand(0)).getRank() == 0 ? 1 : 0;
      if (arrayType(scaled->getOperand(1 - x)).getRank() != 0)
        return failure();
    }
    Operation *slice = rewriter.clone(*op);
    slice->setOperand(0, scaled->getOperand(x));
    slice->getResult(0).setType(
        withShape(arrayType(scaled->getOperand(x)), op.getType().getShape()));
    Operation *copy = rewriter.clone(*scaled);
    copy->setOperand(x, slice->getResult(0));
    copy->getResult(0).setType(op.getType());
    rewriter.replaceOp(op, copy);
    return success();
  }
};

} // namespace

bool xtensor::becomesSlice(PadOp pad) { return Margin::of(pad).has_value(); }

void xtensor::addShiftPatterns(RewritePatternSet &patterns) {
  patterns.add<PadOfPad, PadsOfOne, RollsOfOne, SliceOfScaled, SliceOfSum>(patterns.getContext());
}
