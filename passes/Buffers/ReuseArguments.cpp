// A result takes the memory of an argument that the caller gives away.
#include "Buffers/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace xtensor {
#define GEN_PASS_DEF_REUSEARGUMENTS
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

/// One use of an array: the op that reads or writes it, by which operand.
struct Use {
  OpOperand *operand;
  bool isExact; // all views between are subviews and casts
  bool isRead;  // and nothing else
  Operation *op() const { return operand->getOwner(); }
};

/// Index values of a function as affine expressions: dims are an op's own loops, symbols are values
/// that it gets from outside.
class Coordinates {
public:
  explicit Coordinates(MLIRContext *context) : b(context) {}

  AffineExpr of(OpFoldResult index) {
    if (std::optional<int64_t> number = getConstantIntValue(index))
      return b.getAffineConstantExpr(*number);
    return of(cast<Value>(index));
  }

  /// Where an element of `memref` lies in `root`: its coordinates, given those in `memref`. Null:
  /// the views between are of another kind.
  std::optional<SmallVector<AffineExpr>> inRoot(Value memref, Value root,
                                                SmallVector<AffineExpr> at, unsigned dims) {
    while (memref != root) {
      Operation *op = memref.getDefiningOp();
      if (auto view = dyn_cast_or_null<memref::SubViewOp>(op)) {
        llvm::SmallBitVector dropped = view.getDroppedDims();
        SmallVector<AffineExpr> outer;
        unsigned next = 0;
        for (auto [d, offset, stride] :
             llvm::enumerate(view.getMixedOffsets(), view.getMixedStrides()))
          outer.push_back(dropped.test(d) ? of(offset) : of(offset) + at[next++] * of(stride));
        at = std::move(outer);
      } else if (!isa_and_nonnull<memref::CastOp>(op)) {
        return std::nullopt;
      }
      memref = op->getOperand(0);
    }
    for (AffineExpr &place : at) // equal places are equal expressions
      place = simplifyAffineExpr(place, dims, symbols.size());
    return at;
  }

  SmallVector<AffineExpr> identity(Value memref) {
    SmallVector<AffineExpr> at;
    for (int64_t d = 0; d < cast<MemRefType>(memref.getType()).getRank(); ++d)
      at.push_back(b.getAffineDimExpr(d));
    return at;
  }

  /// The coordinates in `root` of the elements of `memref`, of its own axes.
  std::optional<SmallVector<AffineExpr>> ofElements(Value memref, Value root) {
    SmallVector<AffineExpr> at = identity(memref);
    unsigned dims = at.size();
    return inRoot(memref, root, std::move(at), dims);
  }

  /// The coordinates that a use touches, of the loops of its op.
  std::optional<SmallVector<AffineExpr>> inRoot(const Use &use, Value root) {
    Value memref = use.operand->get();
    SmallVector<AffineExpr> at = identity(memref);
    unsigned dims = at.size();
    if (auto op = dyn_cast<linalg::LinalgOp>(use.op())) {
      AffineMap map = op.getMatchingIndexingMap(use.operand);
      if (map.getNumSymbols())
        return std::nullopt;
      at.assign(map.getResults().begin(), map.getResults().end());
      dims = map.getNumDims();
    }
    return inRoot(memref, root, std::move(at), dims);
  }

  /// The least (or most) that `place` can be, if that is known, where the loops of an op have
  /// these ranges.
  std::optional<int64_t> bound(AffineExpr place, ArrayRef<int64_t> ranges, bool isMost) const {
    SmallVector<std::optional<int64_t>> least(ranges.size(), 0), most;
    for (int64_t range : ranges)
      most.push_back(ShapedType::isDynamic(range) ? std::nullopt : std::optional(range - 1));
    for (Value symbol : symbols) {
      auto [first, last] = rangeOf(symbol);
      least.push_back(first);
      most.push_back(last);
    }
    return getBoundForAffineExpr(place, ranges.size(), symbols.size(), least, most, isMost);
  }

  /// Whether an axis of a part, its elements at `place`, leaves all of them behind when the loop
  /// that counts `value` takes a step. `ranges`: of the part's own axes.
  bool movesOn(AffineExpr place, ArrayRef<int64_t> ranges, Value value,
               std::optional<int64_t> step) {
    unsigned dims = ranges.size();
    AffineExpr symbol = of(OpFoldResult(value));
    AffineExpr first = place;
    for (unsigned d = 0; d < dims; ++d)
      first = first.replace(b.getAffineDimExpr(d), b.getAffineConstantExpr(0));
    AffineExpr rest = first - first.replace(symbol, b.getAffineConstantExpr(0));
    // What else moves would move the part back.
    bool isAlone = true;
    first.walk([&](AffineExpr e) { isAlone &= !isa<AffineSymbolExpr>(e) || e == symbol; });
    AffineExpr each =
        simplifyAffineExpr(rest.replace(symbol, b.getAffineConstantExpr(1)), 0, symbols.size());
    auto factor = dyn_cast<AffineConstantExpr>(each);
    auto width = bound(simplifyAffineExpr(place - first, dims, symbols.size()), ranges, true);
    return isAlone && step && factor && width && factor.getValue() * *step > *width;
  }

private:
  AffineExpr of(Value value) {
    if (auto sum = value.getDefiningOp<arith::AddIOp>())
      return of(OpFoldResult(sum.getLhs())) + of(OpFoldResult(sum.getRhs()));
    if (auto difference = value.getDefiningOp<arith::SubIOp>())
      return of(OpFoldResult(difference.getLhs())) - of(OpFoldResult(difference.getRhs()));
    if (auto product = value.getDefiningOp<arith::MulIOp>())
      if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs()))
        return of(OpFoldResult(product.getLhs())) * *factor;
    symbols.insert(value);
    return b.getAffineSymbolExpr(llvm::find(symbols, value) - symbols.begin());
  }

  /// Of an index that a loop counts, which is all that is known of.
  static std::pair<std::optional<int64_t>, std::optional<int64_t>> rangeOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop =
        argument ? dyn_cast<scf::ForallOp>(argument.getOwner()->getParentOp()) : scf::ForallOp();
    if (!loop || argument.getArgNumber() >= loop.getRank())
      return {};
    unsigned i = argument.getArgNumber();
    auto first = getConstantIntValue(loop.getMixedLowerBound()[i]),
         end = getConstantIntValue(loop.getMixedUpperBound()[i]);
    return {first, end ? std::optional(*end - 1) : std::nullopt};
  }

  Builder b;
  llvm::SetVector<Value> symbols;
};

/// All uses of the memory of `root`; none if some value may be a view that is not followed.
std::optional<SmallVector<Use>> usesOf(Value root) {
  SmallVector<Use> uses;
  SmallVector<std::pair<Value, bool>> work{{root, true}};
  while (!work.empty()) {
    auto [value, isExact] = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (isa<memref::SubViewOp, memref::CastOp>(op)) {
        work.push_back({op->getResult(0), isExact});
        continue;
      }
      if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::ReinterpretCastOp>(op)) {
        work.push_back({op->getResult(0), false});
        continue;
      }
      if (isa<memref::DimOp>(op))
        continue;
      bool handsOn = llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
      if (handsOn || (op->hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp>(op)) ||
          isa<memref::ExtractAlignedPointerAsIndexOp, memref::ExtractStridedMetadataOp>(op))
        return std::nullopt;
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      auto copy = dyn_cast<memref::CopyOp>(op);
      bool isRead = isa<memref::LoadOp, func::ReturnOp>(op) ||
                    (linalgOp && linalgOp.isDpsInput(&use)) ||
                    (copy && use.getOperandNumber() == 0);
      uses.push_back({&use, isExact && (linalgOp || copy), isRead});
    }
  }
  return uses;
}

/// Whether an op does nothing but copy one operand to the other.
bool isCopy(Operation *op) {
  if (isa<memref::CopyOp, linalg::CopyOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic->getNumOperands() == 2 && generic.getNumDpsInputs() == 1 &&
         generic.getNumParallelLoops() == generic.getNumLoops() &&
         generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0);
}

/// Whether a result may lie where an argument does: whatever is read of the argument is read before
/// the same place of the result is written.
class Overwriting {
public:
  Overwriting(func::FuncOp func, Value argument, Value result)
      : body(&func.getBody().front()), argument(argument), result(result),
        coordinates(func.getContext()) {}

  bool isSafe() {
    auto reads = usesOf(argument), all = usesOf(result);
    if (!reads || !all)
      return false;
    SmallVector<Use> writes =
        llvm::to_vector(llvm::make_filter_range(*all, [](const Use &u) { return !u.isRead; }));
    // Each read against each write; a program of thousands of both is left as it is.
    if (reads->size() * writes.size() > kMostPairs)
      return false;
    return llvm::all_of(*reads, [&](const Use &read) {
      return read.isRead &&
             llvm::all_of(writes, [&](const Use &write) { return comesFirst(read, write); });
    });
  }

private:
  static constexpr size_t kMostPairs = 1 << 16;

  bool comesFirst(const Use &read, const Use &write) {
    // The innermost block that holds both, and where they are in it.
    Operation *r = read.op(), *w = nullptr;
    while (!(w = r->getBlock()->findAncestorOpInBlock(*write.op())))
      r = r->getParentOp();
    if (r == w)
      return r == read.op() && w == write.op() && areParallel(r) && readsWhereItWrites(read, write);
    bool isBefore = r->isBeforeInBlock(w);
    if (r->getBlock() == body)
      return isBefore || areApart(read, write);
    return isBefore && areParallel(r) && isOwnPart(read, write, r->getBlock());
  }

  /// Whether all loops around `op` are parallel, so that each of their iterations writes places of
  /// its own.
  bool areParallel(Operation *op) const {
    while (op->getBlock() != body)
      if (op = op->getParentOp(); !isa<scf::ForallOp>(op))
        return false;
    return true;
  }

  /// Whether an op reads an element only where it writes next.
  bool readsWhereItWrites(const Use &read, const Use &write) {
    Operation *op = read.op();
    if (auto generic = dyn_cast<linalg::LinalgOp>(op))
      if (generic.getNumParallelLoops() != generic.getNumLoops() ||
          !generic.getMatchingIndexingMap(write.operand).isPermutation())
        return false;
    if (!read.isExact || !write.isExact)
      return false;
    auto from = coordinates.inRoot(read, argument), to = coordinates.inRoot(write, result);
    return from && to && *from == *to;
  }

  /// Whether a read and a write never meet.
  bool areApart(const Use &read, const Use &write) {
    if (!read.isExact || !write.isExact)
      return false;
    auto from = coordinates.inRoot(read, argument), to = coordinates.inRoot(write, result);
    if (!from || !to)
      return false;
    SmallVector<int64_t> readRanges = rangesOf(read), writeRanges = rangesOf(write);
    for (auto [x, y] : llvm::zip_equal(*from, *to)) {
      auto isBelow = [&](AffineExpr a, ArrayRef<int64_t> as, AffineExpr b, ArrayRef<int64_t> bs) {
        auto most = coordinates.bound(a, as, true), least = coordinates.bound(b, bs, false);
        return most && least && *most < *least;
      };
      if (isBelow(x, readRanges, y, writeRanges) || isBelow(y, writeRanges, x, readRanges))
        return true;
    }
    return false;
  }

  static SmallVector<int64_t> rangesOf(const Use &use) {
    if (auto op = dyn_cast<linalg::LinalgOp>(use.op()))
      return op.getStaticLoopRanges();
    return llvm::to_vector(cast<MemRefType>(use.operand->get().getType()).getShape());
  }

  /// Whether the iterations of the loops around `block` read and write the same part, each another.
  bool isOwnPart(const Use &read, const Use &write, Block *block) {
    Value from = viewAt(read.operand->get(), block), to = viewAt(write.operand->get(), block);
    std::optional<SmallVector<AffineExpr>> sizes = sizesOf(to);
    if (!read.isExact || !write.isExact || !sizes || sizesOf(from) != sizes)
      return false;
    auto x = coordinates.ofElements(from, argument), y = coordinates.ofElements(to, result);
    if (!x || !y || *x != *y)
      return false;
    SmallVector<int64_t> ranges = mostSizesOf(to);
    for (Operation *op = block->getParentOp(); isa<scf::ForallOp>(op); op = op->getParentOp()) {
      auto loop = cast<scf::ForallOp>(op);
      for (auto [value, step] : llvm::zip_equal(loop.getInductionVars(), loop.getMixedStep()))
        if (!llvm::any_of(*y, [&, value = value, step = step](AffineExpr place) {
              return coordinates.movesOn(place, ranges, value, getConstantIntValue(step));
            }))
          return false;
    }
    return true;
  }

  /// What is seen of an array in `block`, of which `memref` is a part.
  static Value viewAt(Value memref, Block *block) {
    while (!memref.getParentBlock()->findAncestorOpInBlock(*block->getParentOp()) &&
           memref.getParentBlock() != block)
      memref = memref.getDefiningOp()->getOperand(0);
    return memref;
  }

  std::optional<SmallVector<AffineExpr>> sizesOf(Value memref) {
    SmallVector<AffineExpr> sizes;
    auto view = memref.getDefiningOp<memref::SubViewOp>();
    auto type = cast<MemRefType>(memref.getType());
    if (!view && !type.hasStaticShape())
      return std::nullopt;
    if (!view)
      for (int64_t size : type.getShape())
        sizes.push_back(getAffineConstantExpr(size, memref.getContext()));
    else
      for (auto [d, size] : llvm::enumerate(view.getMixedSizes()))
        if (!view.getDroppedDims().test(d))
          sizes.push_back(coordinates.of(size));
    return sizes;
  }

  /// The same as the numbers that they do not exceed.
  static SmallVector<int64_t> mostSizesOf(Value memref) {
    SmallVector<int64_t> most(cast<MemRefType>(memref.getType()).getShape());
    auto view = memref.getDefiningOp<memref::SubViewOp>();
    unsigned next = 0;
    for (unsigned d = 0; view && d < view.getSourceType().getRank(); ++d) {
      if (view.getDroppedDims().test(d))
        continue;
      // The last part of a loop that does not come out even.
      auto size = dyn_cast<Value>(view.getMixedSizes()[d]);
      if (auto rest = size ? size.getDefiningOp<arith::MinSIOp>() : arith::MinSIOp())
        for (Value side : rest->getOperands())
          if (std::optional<int64_t> number = getConstantIntValue(side))
            most[next] = *number;
      ++next;
    }
    return most;
  }

  Block *body;
  Value argument, result;
  Coordinates coordinates;
};

/// Erases what copies an array to itself, and the loops of which nothing is left.
void eraseSelfCopies(func::FuncOp func, Value array) {
  Coordinates coordinates(func.getContext());
  std::optional<SmallVector<Use>> uses = usesOf(array);
  if (!uses)
    return;
  llvm::DenseMap<Operation *, SmallVector<const Use *>> byOp;
  for (const Use &use : *uses)
    byOp[use.op()].push_back(&use);
  SmallVector<Operation *> dead;
  for (const Use &use : *uses) {
    Operation *op = use.op();
    ArrayRef<const Use *> both = byOp.at(op);
    if (both.size() != 2 || &use != both[0] || !isCopy(op) || !both[0]->isExact ||
        !both[1]->isExact)
      continue;
    auto x = coordinates.inRoot(*both[0], array), y = coordinates.inRoot(*both[1], array);
    if (x && y && *x == *y)
      dead.push_back(op);
  }
  for (Operation *op : dead) {
    Operation *loop = op->getParentOp();
    op->erase();
    while (isa<scf::ForallOp>(loop) && wouldOpBeTriviallyDead(loop)) {
      Operation *outer = loop->getParentOp();
      loop->erase();
      loop = outer;
    }
  }
}

struct ReuseArgumentsPass : xtensor::impl::ReuseArgumentsBase<ReuseArgumentsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration() || !func.getBody().hasOneBlock())
      return;
    auto end = dyn_cast<func::ReturnOp>(func.getBody().front().getTerminator());
    SmallVector<unsigned> free;
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (func.getArgAttr(i, xtensor::kDonatedAttr) && isa<MemRefType>(func.getArgumentTypes()[i]))
        free.push_back(i);
    for (unsigned i = 0; end && i < end->getNumOperands(); ++i) {
      auto found =
          llvm::find_if(free, [&](unsigned argument) { return reuse(func, argument, end, i); });
      if (found == free.end())
        continue;
      func.setResultAttr(i, xtensor::kReusedAttr,
                         Builder(func.getContext()).getI64IntegerAttr(*found));
      eraseSelfCopies(func, func.getArgument(*found));
      free.erase(found);
    }
  }

  /// Makes result `i` lie where an argument does, if it can.
  static bool reuse(func::FuncOp func, unsigned number, func::ReturnOp end, unsigned i) {
    Value argument = func.getArgument(number), result = end.getOperand(i);
    // One that is returned as it came.
    if (result == argument)
      return llvm::count(end.getOperands(), argument) == 1;
    auto place = result.getDefiningOp<memref::AllocOp>();
    auto type = cast<MemRefType>(argument.getType());
    if (!place || place.getType() != type || place->getBlock() != end->getBlock())
      return false;
    // Equal names have equal sizes.
    if (!type.hasStaticShape() &&
        func.getArgAttr(number, "xtensor.type") != func.getResultAttr(i, "xtensor.type"))
      return false;
    eraseSelfCopies(func, result); // an insertion in place leaves one: it writes nothing
    if (!Overwriting(func, argument, result).isSafe())
      return false;
    place.replaceAllUsesWith(argument);
    place.erase();
    return true;
  }
};

} // namespace
