// Trees of elementwise ops above arrays that are padded or concatenated: which ops belong to a
// tree, where it is cut, and what each part computes.
#include "Simplify/PadTree.h"
#include "Estimates.h"
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PriorityQueue.h"

using namespace mlir;
using namespace xtensor;

/// Ops that are looked at for a tree.
static constexpr size_t kMostOps = 512;
/// Of as many arrays a concatenation is cut, such as a roll of two slices.
static constexpr size_t kMostConcatenated = 4;
/// An array is cut at every end of a term if its parts are no more than this, and read no more than
/// this for each of its terms: windows one step apart overlap in all pairs.
static constexpr size_t kMostParts = 32, kFewReads = 64, kReadsPerTerm = 4;
/// So many simple instructions for each element cost less than to store it and to read it again.
static constexpr unsigned kMostRepeated = 6;
/// Readers of an array that are looked at, to count how often it is read, and places of each.
static constexpr unsigned kMostReaders = 32;

bool xtensor::isElementwiseArray(Operation *op) {
  return op && op->hasTrait<trait::Elementwise>() && op->getNumResults() == 1 &&
         arrayType(op->getResult(0)).hasStaticShape() && isMemoryEffectFree(op);
}

/// Whether only slices read an array with a margin: it is stored for them.
static bool isForSlices(Operation *op, unsigned least) {
  return llvm::all_of(op->getUsers(), llvm::IsaPred<SliceOp>) &&
         op->getResult(0).hasNUsesOrMore(least);
}

bool xtensor::isMover(Operation *op) {
  if (!op || op->getNumResults() != 1 || !isa<ArrayType>(op->getResult(0).getType()) ||
      !arrayType(op->getResult(0)).hasStaticShape())
    return false;
  if (auto slice = dyn_cast<SliceOp>(op))
    return llvm::all_of(slice.getStrides(), [](int64_t s) { return s == 1; });
  if (auto pad = dyn_cast<PadOp>(op))
    return isPositiveZero(pad.getValue()) && !isForSlices(op, 3);
  auto concat = dyn_cast<ConcatOp>(op);
  return concat && concat.getInputs().size() <= kMostConcatenated && !isForSlices(op, 2);
}

bool xtensor::isFree(Operation *op) {
  return isa<SliceOp, PadOp>(op) ||
         (isa<ConcatOp>(op) && llvm::all_of(op->getOperands(), [](Value x) {
            return isa_and_present<SliceOp>(x.getDefiningOp());
          }));
}

//===- the ops of a tree ---------------------------------------------------===//

/// Whether `op` takes many instructions for each element.
static bool isCostly(Operation *op) {
  return isElementwiseArray(op) &&
         !isa<AbsOp, AddOp, AndOp, CastOp, CompareOp, CopysignOp, MaximumOp, MinimumOp, MulOp,
              NegOp, NotOp, OrOp, ScaleOp, SelectOp, SignOp, SubOp, XorOp>(op);
}

/// In simple instructions for each element.
static unsigned costOf(Operation *op) { return isCostly(op) ? kMathCost : 1; }

namespace {
/// Elements of an array that an op reads: how far they move, and how many there are.
struct Read {
  SmallVector<int64_t> offsets;
  Amount count;

  void move(ArrayType type, ArrayAttr dims, ArrayRef<int64_t> by, int64_t sign) {
    for (auto [dim, n] : llvm::zip_equal(dims, by))
      if (int64_t axis = type.find(dim); axis >= 0)
        offsets[axis] += sign * n;
  }
};

/// How many elements of an array reach the op where all meets again that is computed of it. An
/// element counts once for each place where it arrives.
class Reads {
public:
  static Amount count(Operation *op) {
    if (op->hasOneUse() && isElementwiseArray(*op->user_begin()))
      return Amount::ofSizes(arrayType(op->getResult(0)).getShape());
    return Reads(arrayType(op->getResult(0))).countFrom(op);
  }

private:
  explicit Reads(ArrayType type) : type(type) {}

  Amount countFrom(Operation *op) {
    SmallVector<Read> reads{
        {SmallVector<int64_t>(type.getRank(), 0), Amount::ofSizes(type.getShape())}};
    for (unsigned i = 0; i < kMostReaders; ++i) {
      if (!pass(op, reads) || open.empty())
        break;
      op = llvm::min_element(open, [](auto &a, auto &b) {
             return a.first->isBeforeInBlock(b.first);
           })->first;
      reads = std::move(open[op]);
      open.erase(op);
      if (open.empty() && isElementwiseArray(op)) {
        Amount all = 0;
        for (const Read &read : reads)
          all += read.count;
        return all;
      }
    }
    return Amount::kMost;
  }

  /// Hands what the result of `op` has of the array to its readers.
  bool pass(Operation *op, ArrayRef<Read> reads) {
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != op->getBlock() || !(isElementwiseArray(user) || isMover(user)))
        return false;
      SmallVector<Read> &found = open[user];
      for (Read read : reads) {
        moveThrough(use, read);
        if (llvm::none_of(found, [&](const Read &r) { return r.offsets == read.offsets; }))
          found.push_back(std::move(read));
      }
      if (found.size() > kMostReaders)
        return false;
    }
    return true;
  }

  void moveThrough(OpOperand &use, Read &read) const {
    Operation *user = use.getOwner();
    if (auto slice = dyn_cast<SliceOp>(user)) {
      read.move(type, slice.getDims(), slice.getOffsets(), -1);
      read.count = std::min(read.count, Amount::ofSizes(slice.getType().getShape()));
    } else if (auto pad = dyn_cast<PadOp>(user)) {
      read.move(type, pad.getDims(), pad.getLow(), 1);
    } else if (auto concat = dyn_cast<ConcatOp>(user)) {
      int64_t from = 0;
      for (Value input : concat.getInputs().take_front(use.getOperandNumber()))
        from += arrayType(input).getSize(concat.getDimAttr());
      read.move(type, ArrayAttr::get(concat.getContext(), {concat.getDimAttr()}), {from}, 1);
    }
  }

  ArrayType type;
  llvm::SmallMapVector<Operation *, SmallVector<Read>, 8> open;
};
} // namespace

/// Whether it is less work to store the result of `op` than to compute it wherever it is read.
bool PadTree::isStored(Operation *op, unsigned cost) const {
  Amount size = Amount::ofSizes(arrayType(op->getResult(0)).getShape()), reads = Reads::count(op);
  return Amount(cost) * reads > Amount(cost + kMostRepeated) * size;
}

PadTree::PadTree(Operation *root) : root(root), type(arrayType(root->getResult(0))) { grow(); }

/// The ops that `root` is computed of, as far as elements are only moved and computed with. Readers
/// come first.
static SmallVector<Operation *> opsBelow(Operation *root) {
  auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  llvm::PriorityQueue<Operation *, std::vector<Operation *>, decltype(isBefore)> open(isBefore);
  open.push(root);
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty() && ops.size() < kMostOps) {
    Operation *op = open.top();
    open.pop();
    ops.push_back(op);
    for (Value v : op->getOperands())
      if (Operation *next = v.getDefiningOp(); next && next->getBlock() == root->getBlock() &&
                                               seen.insert(next).second &&
                                               (isElementwiseArray(next) || isMover(next)))
        open.push(next);
  }
  return ops;
}

/// What is computed for an element, again for each reader. Nothing: it is stored.
struct PadTree::Work {
  unsigned cost = 0;
  bool hasFunction = false;

  static Work of(Operation *op, const llvm::DenseMap<Operation *, Work> &known) {
    Work work;
    llvm::SmallPtrSet<Operation *, 4> sources;
    for (Value v : op->getOperands())
      if (Operation *source = v.getDefiningOp(); source && sources.insert(source).second) {
        Work each = known.lookup(source);
        work.cost = isa<ConcatOp>(op) ? std::max(work.cost, each.cost) : work.cost + each.cost;
        work.hasFunction |= each.hasFunction;
      }
    if (!isMover(op)) {
      work.cost += costOf(op);
      work.hasFunction |= isCostly(op);
    }
    work.cost = std::min(work.cost, 1u << 16);
    return work;
  }
};

void PadTree::grow() {
  SmallVector<Operation *> ops = opsBelow(root);
  llvm::DenseMap<Operation *, Work> works;
  for (Operation *op : llvm::reverse(ops)) {
    Work work = Work::of(op, works);
    works[op] = op != root && !isMover(op) && isStored(op, work.cost) ? Work() : work;
  }
  inner.insert(root);
  llvm::SmallPtrSet<Operation *, 16> whole{root}; // all readers belong to the tree
  llvm::SmallPtrSet<Operation *, 16> inFunction;  // functions are computed of them
  if (isCostly(root))
    inFunction.insert(root);
  for (Operation *op : llvm::drop_begin(ops)) {
    auto users = op->getUsers();
    if (llvm::none_of(users, [&](Operation *user) { return inner.contains(user); }))
      continue;
    bool isWhole = llvm::all_of(users, [&](Operation *user) { return whole.contains(user); });
    bool isArgument =
        llvm::any_of(users, [&](Operation *user) { return inFunction.contains(user); });
    Work work = works.lookup(op);
    // Functions of functions take no less time in one loop, and more if the parts are narrow.
    if (isArgument && work.hasFunction && isa<ConcatOp, PadOp>(op))
      continue;
    if (!isFree(op) && !(isWhole && (isMover(op) || work.cost)))
      continue;
    inner.insert(op);
    if (isWhole)
      whole.insert(op);
    if (isArgument || isCostly(op))
      inFunction.insert(op);
  }
}

bool PadTree::readsMargin() const {
  return llvm::any_of(inner, [](Operation *op) {
    auto pad = dyn_cast<PadOp>(op);
    return pad && becomesSlice(pad);
  });
}

/// What is concatenated, as far as `part` of the concatenation has elements of it.
SmallVector<PadTree::Piece> PadTree::piecesOf(ConcatOp concat, Extent part) const {
  SmallVector<Piece> pieces;
  int64_t from = 0;
  for (Value input : concat.getInputs()) {
    int64_t size = arrayType(input).getSize(dim);
    Extent both = part.in({from, from + size});
    if (both.size() > 0)
      pieces.push_back({input, from, both.movedBy(-from)});
    if (concat.getDimAttr() == dim)
      from += size;
  }
  return pieces;
}

//===- where a tree is cut -------------------------------------------------===//

struct PadTree::Cuts {
  SmallVector<int64_t> ends;                            // along the dim, but for the outer ones
  SmallVector<Extent> reads;                            // which elements of the result read a term
  llvm::SmallDenseSet<std::pair<Value, int64_t>> terms; // what elementwise ops read, and where
  llvm::DenseSet<std::tuple<Value, int64_t, int64_t, int64_t>> seen;
  bool hasGaps = false; // between neighbours

  bool isPadded() const { return !hasGaps && !ends.empty() && terms.size() > 1; }
  /// Whether the parts have few terms, all together.
  bool isLittleWork() const {
    size_t work = 0;
    for (Extent read : reads)
      work += llvm::lower_bound(ends, read.to) - llvm::lower_bound(ends, read.from);
    return work <= std::max(kFewReads, kReadsPerTerm * size_t(terms.size()));
  }
};

/// What is read of `v` in `window`, for the elements of the result that lie `shift` before it.
void PadTree::collect(Value v, int64_t shift, Extent window, Cuts &cuts) const {
  if (!arrayType(v).hasDim(dim) || window.size() <= 0 ||
      !cuts.seen.insert({v, shift, window.from, window.to}).second)
    return;
  auto end = [&](int64_t at) {
    if (window.from < at && at < window.to)
      cuts.ends.push_back(at - shift);
  };
  Operation *op = innerOf(v);
  if (!op) {
    cuts.reads.push_back(window.movedBy(-shift));
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    int64_t offset = 0;
    for (auto [name, from] : llvm::zip_equal(slice.getDims(), slice.getOffsets()))
      if (name == dim)
        offset = from;
    collect(slice.getX(), shift + offset, window.movedBy(offset), cuts);
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    int64_t low = 0, size = arrayType(pad.getX()).getSize(dim);
    for (size_t i = 0; i < pad.getDims().size(); ++i)
      if (pad.getDims()[i] == dim) {
        low = pad.getLow()[i];
        cuts.hasGaps |= pad.getInterior()[i] != 0;
      }
    end(low);
    end(low + size);
    collect(pad.getX(), shift - low, window.in({low, low + size}).movedBy(-low), cuts);
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (const Piece &piece : piecesOf(concat, window)) {
      end(piece.from);
      collect(piece.input, shift - piece.from, piece.part, cuts);
    }
  } else {
    for (Value x : op->getOperands()) {
      Operation *next = innerOf(x);
      if (arrayType(x).hasDim(dim) && !(next && isElementwiseArray(next)))
        cuts.terms.insert({x, shift});
      collect(x, shift, window, cuts);
    }
  }
}

/// Where the parts end, along the first dim with a padded term. If all parts are too many, only
/// what lies between the edges is one. None: there are only edges.
SmallVector<int64_t> PadTree::endsOfParts() {
  SmallVector<std::pair<StringAttr, Cuts>> found;
  size_t number = 1;
  for (StringAttr name : type.getDimNames()) {
    dim = name;
    Cuts cuts;
    int64_t size = type.getSize(dim);
    collect(root->getResult(0), 0, {0, size}, cuts);
    if (!cuts.isPadded())
      continue;
    cuts.ends.append({0, size});
    llvm::sort(cuts.ends);
    cuts.ends.erase(llvm::unique(cuts.ends), cuts.ends.end());
    number *= cuts.ends.size() - 1;
    found.emplace_back(dim, std::move(cuts));
  }
  if (found.empty())
    return {};
  const Cuts &first = found.front().second;
  dim = found.front().first;
  if (first.isLittleWork() && (found.size() == 1 || number <= kMostParts))
    return first.ends;
  int64_t size = type.getSize(dim);
  for (auto [from, to] : llvm::zip(first.ends, ArrayRef(first.ends).drop_front()))
    if (to - from > size / 2) {
      SmallVector<int64_t> few{0, from, to, size};
      few.erase(llvm::unique(few), few.end());
      return few;
    }
  return {};
}

//===- what a part computes ------------------------------------------------===//

Value PadTree::partOf(OpBuilder &b, Value v, Extent part) {
  if (!arrayType(v).hasDim(dim))
    return v;
  std::tuple key{v, part.from, part.to};
  if (auto it = parts.find(key); it != parts.end())
    return it->second;
  Value made = makePart(b, v, part);
  parts[key] = made;
  return made;
}

Value PadTree::makePart(OpBuilder &b, Value v, Extent part) {
  Operation *op = innerOf(v);
  if (!op)
    return partOfTerm(b, v, part);
  if (auto slice = dyn_cast<SliceOp>(op))
    return partOfSlice(b, slice, part);
  if (auto pad = dyn_cast<PadOp>(op))
    return partOfPad(b, pad, part);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return partOfConcat(b, concat, part);
  return partOfInner(b, op, part);
}

/// With the dims of `v`, in its order.
Value PadTree::partOfOperand(OpBuilder &b, Value v, Extent part) {
  Value x = partOf(b, v, part);
  if (!x || !arrayType(v).hasDim(dim))
    return x;
  return conform(b, root->getLoc(), x, withSize(arrayType(v), dim, part.size()), {});
}

Value PadTree::partOfTerm(OpBuilder &b, Value v, Extent part) const {
  Location loc = root->getLoc();
  auto neg = v.getDefiningOp<NegOp>(); // of the part, a sum takes it in
  Value x = b.createOrFold<SliceOp>(loc, neg ? neg.getX() : v, b.getArrayAttr({dim}), part.from,
                                    part.size(), int64_t(1));
  return neg ? NegOp::create(b, loc, x).getResult() : x;
}

Value PadTree::partOfInner(OpBuilder &b, Operation *op, Extent part) {
  Location loc = op->getLoc();
  SmallVector<Value> parts;
  for (Value v : op->getOperands())
    parts.push_back(partOf(b, v, part));
  // Of -0.0, x + 0.0 is 0.0, and -0.0 here: sums of padded slices, which derivatives make, are
  // concatenations then. All other bits are kept.
  if (llvm::none_of(parts, [](Value x) { return bool(x); })) {
    if (isa<AddOp, SubOp, MulOp>(op))
      return {};
  } else if (isa<AddOp>(op) && !(parts[0] && parts[1])) {
    return parts[0] ? parts[0] : parts[1];
  } else if (isa<SubOp>(op) && !parts[1]) {
    return parts[0];
  } else if (isa<MulOp>(op) && !(parts[0] && parts[1]) &&
             isPositiveSplat(parts[0] ? parts[0] : parts[1])) {
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

Value PadTree::partOfSlice(OpBuilder &b, SliceOp slice, Extent part) {
  SmallVector<Attribute> dims;
  SmallVector<int64_t> offsets, sizes;
  for (auto [name, offset, size] :
       llvm::zip_equal(slice.getDims(), slice.getOffsets(), slice.getSizes())) {
    if (name == dim) {
      part = part.movedBy(offset);
      continue;
    }
    dims.push_back(name);
    offsets.push_back(offset);
    sizes.push_back(size);
  }
  Value x = partOfOperand(b, slice.getX(), part);
  if (!x || dims.empty())
    return x;
  return SliceOp::create(b, slice.getLoc(), x, b.getArrayAttr(dims), offsets, sizes,
                         SmallVector<int64_t>(dims.size(), 1));
}

Value PadTree::partOfPad(OpBuilder &b, PadOp pad, Extent part) {
  int64_t low = 0;
  SmallVector<Attribute> dims;
  SmallVector<int64_t> before, after, between;
  auto add = [&](Attribute name, int64_t low, int64_t high, int64_t interior) {
    dims.push_back(name);
    before.push_back(low);
    after.push_back(high);
    between.push_back(interior);
  };
  for (auto [name, lower, high, interior] :
       llvm::zip_equal(pad.getDims(), pad.getLow(), pad.getHigh(), pad.getInterior())) {
    if (name == dim)
      low = lower;
    else
      add(name, lower, high, interior);
  }
  Extent both = part.in(Extent{0, arrayType(pad.getX()).getSize(dim)}.movedBy(low));
  if (both.size() <= 0)
    return {};
  Value x = partOfOperand(b, pad.getX(), both.movedBy(-low));
  if (both.from != part.from || both.to != part.to)
    add(dim, both.from - part.from, part.to - both.to, 0);
  if (!x || dims.empty())
    return x;
  return PadOp::create(b, pad.getLoc(), x, pad.getValue(), b.getArrayAttr(dims), before, after,
                       between);
}

Value PadTree::partOfConcat(OpBuilder &b, ConcatOp concat, Extent part) {
  SmallVector<Piece> pieces = piecesOf(concat, part);
  SmallVector<Value> found;
  for (const Piece &piece : pieces)
    found.push_back(partOfOperand(b, piece.input, piece.part));
  if (llvm::none_of(found, [](Value x) { return bool(x); }))
    return {};
  for (auto [x, piece] : llvm::zip_equal(found, pieces))
    if (!x)
      x = zeros(b, concat.getLoc(), withSize(arrayType(piece.input), dim, piece.part.size()), {});
  return found.size() == 1
             ? found.front()
             : ConcatOp::create(b, concat.getLoc(), found, concat.getDimAttr()).getResult();
}

Value PadTree::concatenated(PatternRewriter &rewriter) {
  SmallVector<int64_t> ends = endsOfParts();
  if (ends.empty())
    return {};
  rewriter.setInsertionPoint(root);
  SmallVector<Value> found;
  for (auto [from, to] : llvm::zip(ends, ArrayRef(ends).drop_front())) {
    Value part = partOfOperand(rewriter, root->getResult(0), {from, to});
    if (!part)
      part = zeros(rewriter, root->getLoc(), withSize(type, dim, to - from), {});
    found.push_back(part);
  }
  return ConcatOp::create(rewriter, root->getLoc(), found, dim);
}
