#include "Autodiff/Passes.h"
#include "Autodiff/Regions.h"
#include "XTensor/CallbackOps.h"
#include "XTensor/Endings.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_FUSELOOPS
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

//===- order ---------------------------------------------------------------===//

static bool usesAny(Operation *op, const DenseSet<Operation *> &producers) {
  bool any = false;
  forEachUse(op, [&](OpOperand &use) { any |= producers.contains(use.get().getDefiningOp()); });
  return any;
}

/// What depends on `first` moves to after `second`; false if `second` needs some of that. Ordered
/// calls depend on those before.
static bool makeAdjacent(Operation *first, Operation *second) {
  DenseSet<Operation *> dependent{first};
  SmallVector<Operation *> late;
  bool isOrdered = callsInOrder(first);
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (usesAny(op, dependent) || (isOrdered && callsInOrder(op))) {
      dependent.insert(op);
      late.push_back(op);
      isOrdered |= callsInOrder(op);
    }
  dependent.erase(first);
  // A loop that makes the calls of `first`, too, takes its place among them.
  if (usesAny(second, dependent) || (isOrdered && !callsInOrder(first) && callsInOrder(second)))
    return false;
  for (Operation *op : llvm::reverse(late))
    op->moveAfter(second);
  return true;
}

//===- scans ---------------------------------------------------------------===//

/// Whether all that `second` takes from `first` are stacked results, slice by slice, and one of
/// them is needed for nothing else.
static bool readsSlices(ScanOp first, ScanOp second) {
  unsigned slices = 0, uses = 0;
  bool saves = false;
  for (Value x : second.getOver())
    if (x.getDefiningOp() == first &&
        cast<OpResult>(x).getResultNumber() >= first.getNumCarries()) {
      ++slices;
      saves |= llvm::all_of(x.getUsers(), [&](Operation *user) { return user == second; });
    }
  forEachUse(second, [&](OpOperand &use) { uses += use.get().getDefiningOp() == first; });
  return saves && slices == uses;
}

namespace {
/// Two scans as one.
struct Fusion {
  ScanOp first, second;
  OpBuilder b;
  IRMapping map;
  SmallVector<Value> carry, over;
  SmallVector<Value> yields, replaced;
  Block *body = nullptr;

  Fusion(ScanOp first, ScanOp second) : first(first), second(second), b(second) {}

  void addArguments(ValueRange values, ValueRange arguments, SmallVectorImpl<Value> &operands) {
    for (auto [v, arg] : llvm::zip_equal(values, arguments)) {
      if (v.getDefiningOp() == first)
        continue;
      operands.push_back(v);
      map.map(arg, body->addArgument(arg.getType(), arg.getLoc()));
    }
  }
  void cloneBody(ScanOp op) {
    for (Operation &inner : op.getBody()->without_terminator())
      b.clone(inner, map);
  }
  void addYields(ValueRange values, ValueRange results, bool evenUnread) {
    for (auto [v, y] : llvm::zip_equal(values, results)) {
      bool isRead = llvm::any_of(y.getUsers(), [&](Operation *user) { return user != second; });
      if (!isRead && !evenUnread)
        continue;
      yields.push_back(map.lookupOrDefault(v));
      replaced.push_back(y);
    }
  }

  void run() {
    // The arguments go into a block of the new op, which is made when its types are known.
    Region region;
    body = &region.emplaceBlock();
    addArguments(first.getCarry(), first.getCarryArguments(), carry);
    addArguments(second.getCarry(), second.getCarryArguments(), carry);
    addArguments(first.getOver(), first.getOverArguments(), over);
    addArguments(second.getOver(), second.getOverArguments(), over);
    b.setInsertionPointToEnd(body);
    cloneBody(first);
    for (auto [x, arg] : llvm::zip_equal(second.getOver(), second.getOverArguments()))
      if (x.getDefiningOp() == first)
        map.map(arg, map.lookupOrDefault(
                         first.getYield().getValues()[cast<OpResult>(x).getResultNumber()]));
    cloneBody(second);
    addYields(first.getYieldedCarries(), first.getFinals(), true);
    addYields(second.getYieldedCarries(), second.getFinals(), true);
    addYields(first.getYieldedStacked(), first.getStacked(), false);
    addYields(second.getYieldedStacked(), second.getStacked(), true);
    YieldOp::create(b, first.getLoc(), yields);
    b.setInsertionPoint(second);
    IntegerAttr length = over.empty() ? first.getLengthAttr() : IntegerAttr();
    Value size = over.empty() ? first.getSize() : Value();
    auto fused = ScanOp::create(b, b.getFusedLoc({first.getLoc(), second.getLoc()}),
                                ValueRange(replaced).getTypes(), first.getDimAttr(),
                                first.getReverseAttr(), carry, over, length, size);
    fused->setDiscardableAttrs(first->getDiscardableAttrDictionary());
    fused.getBodyRegion().takeBody(region);
    for (auto [old, now] : llvm::zip_equal(replaced, fused.getResults()))
      old.replaceAllUsesWith(now);
    second.erase();
    first.erase();
  }
};
} // namespace

static bool fuse(ScanOp first, ScanOp second) {
  if (first->getBlock() != second->getBlock() || first.getDim() != second.getDim() ||
      first.getSteps() != second.getSteps() || first.getReverse() != second.getReverse() ||
      first->getAttr(kEndsEarly) != second->getAttr(kEndsEarly) ||
      (callsInOrder(first) && callsInOrder(second)) || !readsSlices(first, second) ||
      !makeAdjacent(first, second))
    return false;
  Fusion(first, second).run();
  return true;
}

//===- while loops ---------------------------------------------------------===//

/// Whether `block` is among what `larger` does: the same ops in the same order, others between.
/// `map` relates values of `block` to those of `larger`.
static bool isPartOf(Block &block, Block &larger, IRMapping &map) {
  auto next = larger.begin();
  for (Operation &op : block.without_terminator()) {
    auto isSame = [&](Operation &other) {
      return OperationEquivalence::isEquivalentTo(
          &op, &other, [&](Value a, Value b) { return success(map.lookupOrDefault(a) == b); },
          [&](Value a, Value b) { map.map(a, b); }, OperationEquivalence::IgnoreLocations);
    };
    while (next != larger.end() && !isSame(*next))
      ++next;
    if (next == larger.end())
      return false;
    map.map(op.getResults(), next->getResults());
    ++next;
  }
  return true;
}

/// Whether the first carries of `larger` are those of `loop`.
static bool repeats(WhileOp loop, WhileOp larger) {
  unsigned n = loop.getInit().size();
  if (larger.getInit().size() < n || larger.getInit().take_front(n) != loop.getInit() ||
      loop.getMaxSteps() != larger.getMaxSteps())
    return false;
  for (auto [a, b] : llvm::zip(loop->getRegions(), larger->getRegions())) {
    IRMapping map;
    map.map(a.getArguments(), b.getArguments().take_front(n));
    if (!isPartOf(a.front(), b.front(), map))
      return false;
    auto own = a.front().getTerminator()->getOperands();
    auto other = b.front().getTerminator()->getOperands();
    for (auto [x, y] : llvm::zip(own, other))
      if (map.lookupOrDefault(x) != y)
        return false;
  }
  return true;
}

static bool fuse(WhileOp first, WhileOp second) {
  if (first->getBlock() != second->getBlock() || !first->isBeforeInBlock(second) ||
      !repeats(first, second) || usesAny(second, DenseSet<Operation *>{first}) ||
      !makeAdjacent(first, second))
    return false;
  first->replaceAllUsesWith(second.getResults().take_front(first->getNumResults()));
  first.erase();
  return true;
}

namespace {
struct FuseLoops : xtensor::impl::FuseLoopsBase<FuseLoops> {
  void runOnOperation() final {
    while (fuseOne()) {
    }
  }

  bool fuseOne() {
    SmallVector<WhileOp> loops; // of the block at hand
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<LinearOp>(op))
        return WalkResult::skip();
      if (auto second = dyn_cast<ScanOp>(op)) {
        for (Value x : second.getOver())
          if (auto first = x.getDefiningOp<ScanOp>(); first && fuse(first, second))
            return WalkResult::interrupt();
      } else if (auto second = dyn_cast<WhileOp>(op)) {
        for (WhileOp first : loops)
          if (fuse(first, second))
            return WalkResult::interrupt();
        loops.push_back(second);
      }
      return WalkResult::advance();
    });
    return result.wasInterrupted();
  }
};
} // namespace
