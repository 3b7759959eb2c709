// What is computed, element by element, of arrays that are padded with zeros or concatenated:
// stencils, and sums from the derivatives of slices. Each such array would be stored and read
// again. Instead, the result is written once, part by part.
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// A tree of more than this is left as it is.
constexpr size_t kMostTerms = 256;
/// Of as many arrays a concatenation is cut, such as a roll of two slices.
constexpr size_t kMostConcatenated = 4;
/// An array is cut at every end of a term if its parts are no more than this, and read no more than
/// this for each of its terms: windows one step apart overlap in all pairs.
constexpr size_t kMostParts = 32, kLeastWork = 64, kWorkPerTerm = 4;

/// Where along a dim the elements of an array lie.
struct Extent {
  int64_t from, to;
};

/// Whether `op` computes an array of known sizes element by element.
bool isElementwise(Operation *op) {
  return op && op->hasTrait<trait::Elementwise>() && op->getNumResults() == 1 &&
         arrayType(op->getResult(0)).hasStaticShape() && isMemoryEffectFree(op);
}

/// The op that alone reads the result of `op`, if it is elementwise, too.
Operation *nextOf(Operation *op) {
  if (!op->hasOneUse())
    return nullptr;
  Operation *next = *op->user_begin();
  return isElementwise(next) && next->getBlock() == op->getBlock() ? next : nullptr;
}

/// A tree of elementwise ops, each of which only the next one reads.
class PadTree {
public:
  explicit PadTree(Operation *root) : root(root), type(arrayType(root->getResult(0))) {}

  bool isTooLarge() { return !collect(root->getResult(0)); }
  /// Whether terms become slices of one array (ShiftPatterns.cpp), which is less work.
  bool readsMargin() const {
    return llvm::any_of(terms, [](Value v) {
      PadOp pad = padOf(v);
      return pad && becomesSlice(pad);
    });
  }
  /// The result as a concatenation of parts; null if that is more work.
  Value concatenated(PatternRewriter &rewriter);

private:
  bool collect(Value v);
  bool isInner(Value v) const {
    Operation *op = v.getDefiningOp();
    return op && (op == root ||
                  (isElementwise(op) && op->hasOneUse() && op->getBlock() == root->getBlock()));
  }
  static PadOp padOf(Value v) {
    auto pad = v.getDefiningOp<PadOp>();
    return pad && isSplat(pad.getValue(), 0) ? pad : PadOp();
  }
  /// A concatenation of few along the dim that need not be stored: of slices, or read here alone.
  ConcatOp concatOf(Value v) const {
    auto concat = v.getDefiningOp<ConcatOp>();
    bool isFree = concat && concat.getDimAttr() == dim &&
                  concat.getInputs().size() <= kMostConcatenated &&
                  (concat->hasOneUse() || llvm::all_of(concat.getInputs(), [](Value x) {
                     return isa_and_present<SliceOp>(x.getDefiningOp());
                   }));
    return isFree ? concat : ConcatOp();
  }
  /// How far term `v` reaches along the dim; all of it where it is not padded.
  std::optional<Extent> extentOf(Value v) const;
  bool isPadded() const;
  SmallVector<int64_t> endsOfTerms() const;
  bool isLittleWork(ArrayRef<int64_t> ends) const;
  SmallVector<int64_t> endsOfParts();
  /// The elements of `v` in `part`; null: they are zeros.
  Value partOf(OpBuilder &b, Value v, Extent part) const;
  Value partOfInner(OpBuilder &b, Operation *op, Extent part) const;
  Value partOfTerm(OpBuilder &b, Value v, Extent part) const;

  Operation *root;
  ArrayType type;
  StringAttr dim;
  SmallVector<Value> terms;
  size_t inner = 0;
};

bool PadTree::collect(Value v) {
  if (!isInner(v)) {
    terms.push_back(v);
    return terms.size() <= kMostTerms;
  }
  // Counted before they are gone into: a program may be one long sum, and the stack is not.
  return ++inner <= kMostTerms &&
         llvm::all_of(v.getDefiningOp()->getOperands(), [&](Value x) { return collect(x); });
}

std::optional<Extent> PadTree::extentOf(Value v) const {
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

/// Whether a term is padded or concatenated along the dim, and there is another one.
bool PadTree::isPadded() const {
  int padded = 0, whole = 0;
  for (Value term : terms) {
    if (!arrayType(term).hasDim(dim))
      continue;
    std::optional<Extent> extent = extentOf(term);
    if (!extent)
      return false;
    bool isWhole = extent->to - extent->from == type.getSize(dim) && !concatOf(term);
    ++(isWhole ? whole : padded);
  }
  return padded > 0 && padded + whole > 1;
}

Value PadTree::partOf(OpBuilder &b, Value v, Extent part) const {
  return isInner(v) ? partOfInner(b, v.getDefiningOp(), part) : partOfTerm(b, v, part);
}

Value PadTree::partOfInner(OpBuilder &b, Operation *op, Extent part) const {
  Location loc = op->getLoc();
  SmallVector<Value> parts;
  for (Value v : op->getOperands())
    parts.push_back(partOf(b, v, part));
  if (llvm::none_of(parts, [](Value x) { return bool(x); })) {
    if (isa<AddOp, SubOp, NegOp, MulOp>(op))
      return {};
  } else if (isa<AddOp, SubOp>(op) && !(parts[0] && parts[1])) {
    return parts[0] ? parts[0] : isa<AddOp>(op) ? parts[1] : NegOp::create(b, loc, parts[1]);
  } else if (isa<MulOp>(op) && !(parts[0] && parts[1]) &&
             isFiniteSplat(parts[0] ? parts[0] : parts[1])) {
    return {};
  }
  for (auto [x, v] : llvm::zip_equal(parts, op->getOperands()))
    if (!x)
      x = scalar(b, loc, arrayType(v).getElementType(), 0);
  Operation *copy = b.clone(*op);
  copy->setOperands(parts);
  SmallVector<Type> types;
  (void)cast<InferTypeOpInterface>(copy).inferReturnTypes(
      op->getContext(), loc, parts, copy->getAttrDictionary(), copy->getPropertiesStorage(),
      copy->getRegions(), types);
  copy->getResult(0).setType(types.front());
  return copy->getResult(0);
}

Value PadTree::partOfTerm(OpBuilder &b, Value v, Extent part) const {
  if (!arrayType(v).hasDim(dim))
    return v;
  Location loc = root->getLoc();
  Extent extent = *extentOf(v);
  Extent both{std::max(part.from, extent.from), std::min(part.to, extent.to)};
  if (both.from >= both.to)
    return {};
  if (ConcatOp concat = concatOf(v)) {
    int64_t end = 0;
    for (Value input : concat.getInputs()) {
      int64_t from = end;
      end += arrayType(input).getSize(dim);
      if (from <= part.from && part.to <= end)
        return b.createOrFold<SliceOp>(loc, input, b.getArrayAttr({dim}), part.from - from,
                                       part.to - part.from, int64_t(1));
    }
  }
  PadOp pad = padOf(v);
  Value x = pad ? pad.getX() : v;
  auto neg = x.getDefiningOp<NegOp>(); // of the part, a sum takes it in
  if (neg)
    x = neg.getX();
  x = b.createOrFold<SliceOp>(loc, x, b.getArrayAttr({dim}), both.from - extent.from,
                              both.to - both.from, int64_t(1));
  if (neg)
    x = NegOp::create(b, loc, x);
  SmallVector<Attribute> dims;
  SmallVector<int64_t> low, high, interior;
  auto add = [&](Attribute name, int64_t before, int64_t after, int64_t between) {
    dims.push_back(name);
    low.push_back(before);
    high.push_back(after);
    interior.push_back(between);
  };
  for (size_t i = 0; pad && i < pad.getDims().size(); ++i)
    if (pad.getDims()[i] != dim)
      add(pad.getDims()[i], pad.getLow()[i], pad.getHigh()[i], pad.getInterior()[i]);
  if (both.from != part.from || both.to != part.to)
    add(dim, both.from - part.from, part.to - both.to, 0);
  return dims.empty()
             ? x
             : PadOp::create(b, loc, x, pad.getValue(), b.getArrayAttr(dims), low, high, interior)
                   .getResult();
}

/// All ends of terms along the dim.
SmallVector<int64_t> PadTree::endsOfTerms() const {
  SmallVector<int64_t> ends{0, type.getSize(dim)};
  for (Value term : terms) {
    Extent extent = *extentOf(term);
    ends.append({extent.from, extent.to});
    int64_t end = 0;
    if (ConcatOp concat = concatOf(term))
      for (Value input : concat.getInputs())
        ends.push_back(end += arrayType(input).getSize(dim));
  }
  llvm::sort(ends);
  ends.erase(llvm::unique(ends), ends.end());
  return ends;
}

/// Whether the parts have few terms, all together.
bool PadTree::isLittleWork(ArrayRef<int64_t> ends) const {
  size_t work = 0, read = 0;
  for (Value term : terms)
    if (arrayType(term).hasDim(dim)) {
      Extent extent = *extentOf(term);
      work += llvm::lower_bound(ends, extent.to) - llvm::lower_bound(ends, extent.from);
      ++read;
    }
  return work <= std::max(kLeastWork, kWorkPerTerm * read);
}

/// Where the parts end, along the first dim with a padded term. If all parts are too many, only
/// what lies between the edges is one. None: there are only edges.
SmallVector<int64_t> PadTree::endsOfParts() {
  SmallVector<std::pair<StringAttr, SmallVector<int64_t>>> ends;
  size_t parts = 1;
  for (StringAttr name : type.getDimNames()) {
    dim = name;
    if (!isPadded())
      continue;
    ends.emplace_back(dim, endsOfTerms());
    parts *= ends.back().second.size() - 1;
  }
  if (ends.empty())
    return {};
  auto [first, all] = ends.front();
  dim = first;
  if (isLittleWork(all) && (ends.size() == 1 || parts <= kMostParts))
    return all;
  int64_t size = type.getSize(dim);
  for (auto [from, to] : llvm::zip(all, ArrayRef(all).drop_front()))
    if (to - from > size / 2) {
      SmallVector<int64_t> few{0, from, to, size};
      few.erase(llvm::unique(few), few.end());
      return few;
    }
  return {};
}

Value PadTree::concatenated(PatternRewriter &rewriter) {
  SmallVector<int64_t> ends = endsOfParts();
  if (ends.empty())
    return {};
  rewriter.setInsertionPoint(root);
  SmallVector<Value> parts;
  for (auto [from, to] : llvm::zip(ends, ArrayRef(ends).drop_front())) {
    Value part = partOf(rewriter, root->getResult(0), {from, to});
    if (!part)
      part = scalar(rewriter, root->getLoc(), type.getElementType(), 0);
    parts.push_back(conform(rewriter, root->getLoc(), part, withSize(type, dim, to - from), {}));
  }
  return ConcatOp::create(rewriter, root->getLoc(), parts, dim);
}

/// The derivative of the padded arrays is simpler than that of their parts, and made of pads.
bool isDifferentiated(Operation *op) {
  return op->getParentOfType<PullbackOp>() || op->getParentOfType<PushforwardOp>() ||
         op->getParentOfType<LinearOp>();
}

/// Rewrites the largest tree above `op`.
LogicalResult rewriteAbove(Operation *op, PatternRewriter &rewriter) {
  SmallVector<Operation *> roots{op};
  while (Operation *next = roots.size() < kMostTerms ? nextOf(roots.back()) : nullptr)
    roots.push_back(next);
  for (Operation *root : llvm::reverse(roots)) {
    ArrayType type = arrayType(root->getResult(0));
    PadTree tree(root);
    if (!type.isFloat() || llvm::is_contained(type.getShape(), 0) || tree.isTooLarge())
      continue;
    if (tree.readsMargin())
      return failure();
    Value whole = tree.concatenated(rewriter);
    if (!whole)
      return failure();
    rewriter.replaceOp(root, whole);
    return success();
  }
  return failure();
}

LogicalResult rewriteReaders(Operation *op, PatternRewriter &rewriter) {
  for (Operation *user : op->getUsers())
    if (user->getBlock() == op->getBlock() && isElementwise(user) &&
        succeeded(rewriteAbove(user, rewriter)))
      return success();
  return failure();
}

/// add (pad %a low [0] high [2]), (pad %b low [2] high [0]) ==> concat %a, %b, and where they
/// overlap, sums of slices; other elementwise ops likewise.
struct PadsBesideEachOther : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isFloat() || !isSplat(op.getValue(), 0) || isDifferentiated(op))
      return failure();
    return rewriteReaders(op, rewriter);
  }
};

/// add (concat %a, %b), %c ==> concat (add %a, (slice %c)), (add %b, (slice %c))
struct ConcatsBesideEachOther : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    return isDifferentiated(op) ? failure() : rewriteReaders(op, rewriter);
  }
};

} // namespace

void xtensor::addPadPatterns(RewritePatternSet &patterns) {
  patterns.add<ConcatsBesideEachOther, PadsBesideEachOther>(patterns.getContext());
}
