// Sums of arrays that are padded with zeros, which come from the derivatives of slices. Each would
// be an array of the full size, filled with zeros and read again. Instead, the sum is written
// once, part by part.
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// A sum of more than this is left as it is, and so is one whose parts would add up more than this
/// for each of its terms: windows one step apart overlap in all pairs.
constexpr size_t kMostTerms = 256, kLeastWork = 64, kWorkPerTerm = 4;

/// Where along a dim the elements of an array lie.
struct Extent {
  int64_t from, to;
};

/// A tree of additions, each of which only the next one reads.
class SumTree {
public:
  explicit SumTree(AddOp root) : root(root), type(root.getType()) {}

  bool isTooLarge() { return !collect(root); }
  /// Whether terms become slices of one array (ShiftPatterns.cpp), which is less work.
  bool readsMargin() const {
    return llvm::any_of(terms, [](Value v) {
      PadOp pad = padOf(v);
      return pad && becomesSlice(pad);
    });
  }
  Value sum(PatternRewriter &rewriter);

private:
  bool collect(Value v);
  bool isInner(Value v) const {
    auto add = v.getDefiningOp<AddOp>();
    return add && (add == root || (add->hasOneUse() && add->getBlock() == root->getBlock()));
  }
  static PadOp padOf(Value v) {
    auto pad = v.getDefiningOp<PadOp>();
    return pad && isSplat(pad.getValue(), 0) ? pad : PadOp();
  }
  /// How far term `v` reaches along the dim; all of it where it is not padded.
  std::optional<Extent> extentOf(Value v) const;
  bool chooseDim();
  /// What `v` adds to the elements of `part`; null: nothing.
  Value partOf(OpBuilder &b, Value v, Extent part) const;

  mutable AddOp root; // a handle: MLIR's accessors are not const
  ArrayType type;
  StringAttr dim;
  SmallVector<Value> terms;
  size_t additions = 0;
};

bool SumTree::collect(Value v) {
  if (!isInner(v)) {
    terms.push_back(v);
    return terms.size() <= kMostTerms;
  }
  // Counted before they are gone into: a program may be one long sum, and the stack is not.
  if (++additions > kMostTerms)
    return false;
  auto add = v.getDefiningOp<AddOp>();
  return collect(add.getLhs()) && collect(add.getRhs());
}

std::optional<Extent> SumTree::extentOf(Value v) const {
  PadOp pad = padOf(v);
  for (size_t i = 0; pad && i < pad.getDims().size(); ++i)
    if (pad.getDims()[i] == dim) {
      int64_t low = pad.getLow()[i], size = arrayType(pad.getX()).getSize(dim);
      if (pad.getInterior()[i] != 0)
        return std::nullopt;
      return Extent{low, low + size};
    }
  return Extent{0, type.getSize(dim)};
}

/// The first dim along which two terms are padded.
bool SumTree::chooseDim() {
  for (StringAttr name : type.getDimNames()) {
    dim = name;
    int padded = 0;
    bool known = true;
    for (Value term : terms) {
      std::optional<Extent> extent = extentOf(term);
      known &= extent.has_value();
      padded += extent && extent->to - extent->from < type.getSize(dim);
    }
    if (known && padded > 1)
      return true;
  }
  return false;
}

Value SumTree::partOf(OpBuilder &b, Value v, Extent part) const {
  Location loc = root.getLoc();
  if (isInner(v)) {
    auto add = v.getDefiningOp<AddOp>();
    Value x = partOf(b, add.getLhs(), part), y = partOf(b, add.getRhs(), part);
    return x && y ? AddOp::create(b, loc, x, y).getResult() : x ? x : y;
  }
  Extent extent = *extentOf(v);
  if (part.from < extent.from || part.to > extent.to)
    return {};
  PadOp pad = padOf(v);
  Value x = pad ? pad.getX() : v;
  auto neg = x.getDefiningOp<NegOp>(); // of the part, a sum takes it in
  if (neg)
    x = neg.getX();
  if (arrayType(x).hasDim(dim))
    x = b.createOrFold<SliceOp>(loc, x, b.getArrayAttr({dim}), part.from - extent.from,
                                part.to - part.from, int64_t(1));
  if (neg)
    x = NegOp::create(b, loc, x);
  SmallVector<Attribute> dims;
  SmallVector<int64_t> low, high, interior;
  for (size_t i = 0; pad && i < pad.getDims().size(); ++i)
    if (pad.getDims()[i] != dim) {
      dims.push_back(pad.getDims()[i]);
      low.push_back(pad.getLow()[i]);
      high.push_back(pad.getHigh()[i]);
      interior.push_back(pad.getInterior()[i]);
    }
  return dims.empty()
             ? x
             : PadOp::create(b, loc, x, pad.getValue(), b.getArrayAttr(dims), low, high, interior)
                   .getResult();
}

Value SumTree::sum(PatternRewriter &rewriter) {
  if (!chooseDim())
    return {};
  SmallVector<int64_t> ends{0, type.getSize(dim)};
  for (Value term : terms) {
    Extent extent = *extentOf(term);
    ends.append({extent.from, extent.to});
  }
  llvm::sort(ends);
  ends.erase(llvm::unique(ends), ends.end());
  size_t work = 0;
  for (Value term : terms) {
    Extent extent = *extentOf(term);
    work += llvm::lower_bound(ends, extent.to) - llvm::lower_bound(ends, extent.from);
  }
  if (work > std::max(kLeastWork, kWorkPerTerm * terms.size()))
    return {};
  SmallVector<Value> parts;
  for (auto [from, to] : llvm::zip(ends, ArrayRef(ends).drop_front())) {
    Value part = partOf(rewriter, root, {from, to});
    if (!part)
      part = scalar(rewriter, root.getLoc(), type.getElementType(), 0);
    parts.push_back(conform(rewriter, root.getLoc(), part, withSize(type, dim, to - from), {}));
  }
  return ConcatOp::create(rewriter, root.getLoc(), parts, dim);
}

/// add (pad %a low [0] high [2]), (pad %b low [2] high [0]) ==> concat %a, %b, and where they
/// overlap, sums of slices.
struct SumOfPads : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isFloat() || !op.getType().hasStaticShape() ||
        llvm::is_contained(op.getType().getShape(), 0))
      return failure();
    if (op->hasOneUse())
      if (auto next = dyn_cast<AddOp>(*op->user_begin());
          next && next->getBlock() == op->getBlock())
        return failure();
    SumTree tree(op);
    if (tree.isTooLarge() || tree.readsMargin())
      return failure();
    Value sum = tree.sum(rewriter);
    if (!sum)
      return failure();
    rewriter.replaceOp(op, sum);
    return success();
  }
};

} // namespace

void xtensor::addPadPatterns(RewritePatternSet &patterns) {
  patterns.add<SumOfPads>(patterns.getContext());
}
