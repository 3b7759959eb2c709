// Loops that carry buffers, and branches that return them, get one fixed place per buffer.
#include "Buffers/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace xtensor {
#define GEN_PASS_DEF_LOOPBUFFERS
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

Value xtensor::allocateRowMajor(OpBuilder &b, Location loc, Value like) {
  auto type = cast<MemRefType>(like.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(memref::DimOp::create(b, loc, like, d));
  return memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()),
                                 sizes);
}

namespace {

Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

/// A row-major buffer shaped like `like`, of its type.
Value allocateLike(OpBuilder &b, Location loc, Value like) {
  Value place = xtensor::allocateRowMajor(b, loc, like);
  if (place.getType() != like.getType())
    place = memref::CastOp::create(b, loc, like.getType(), place);
  return place;
}

/// Copies each buffer to its place before `end`. A source that lives in another place may be
/// overwritten by an earlier copy, and is saved first.
void copyToPlaces(OpBuilder &b, Location loc, ArrayRef<std::pair<Value, Value>> copies) {
  SmallVector<Value> sources;
  for (auto [i, copy] : llvm::enumerate(copies)) {
    Value source = copy.first, root = rootOf(source);
    bool overwritten = llvm::any_of(
        copies.take_front(i), [&](const auto &earlier) { return rootOf(earlier.second) == root; });
    if (overwritten || !root.getDefiningOp<memref::AllocOp>()) {
      Value saved = allocateLike(b, loc, source);
      memref::CopyOp::create(b, loc, source, saved);
      source = saved;
    }
    sources.push_back(source);
  }
  for (auto [source, copy] : llvm::zip(sources, copies))
    memref::CopyOp::create(b, loc, source, copy.second);
}

struct LoopBuffersPass : xtensor::impl::LoopBuffersBase<LoopBuffersPass> {
  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation()->walk([&](Operation *op) { // inner loops first
      if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op) &&
          llvm::any_of(op->getResultTypes(), isMemRef))
        loops.push_back(op);
    });
    for (Operation *op : loops)
      if (auto loop = dyn_cast<scf::ForOp>(op))
        settle(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        settle(loop);
      else
        settleBranches(op);
  }

  /// A buffer that every branch has written to and gives is known outside.
  static void settleBranches(Operation *op) {
    SmallVector<Operation *> yields;
    for (Region &region : op->getRegions())
      yields.push_back(region.front().getTerminator());
    BitVector known(op->getNumResults());
    for (OpResult result : op->getResults()) {
      unsigned i = result.getResultNumber();
      Value first = yields.front()->getOperand(i);
      if (!isBuffer(first) || op->isAncestor(first.getParentBlock()->getParentOp()) ||
          !llvm::all_of(yields, [&](Operation *y) { return y->getOperand(i) == first; }))
        continue;
      result.replaceAllUsesWith(first);
      known.set(i);
    }
    if (known.none())
      return;
    for (Operation *yield : yields)
      yield->eraseOperands(known);
    OperationState state(op->getLoc(), op->getName(), op->getOperands(), {}, op->getAttrs());
    for (OpResult result : op->getResults())
      if (!known.test(result.getResultNumber()))
        state.addTypes(result.getType());
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    OpBuilder b(op);
    Operation *slim = b.create(state);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), slim->getRegions()))
      to.takeBody(from);
    unsigned next = 0;
    for (OpResult result : op->getResults())
      if (!known.test(result.getResultNumber()))
        result.replaceAllUsesWith(slim->getResult(next++));
    op->erase();
  }

  static bool isMemRef(Type type) { return isa<MemRefType>(type); }

  void settle(scf::ForOp loop) {
    OpBuilder b(loop);
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    SmallVector<std::pair<Value, Value>> copies;
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Value init = loop.getInitArgs()[i], arg = loop.getRegionIterArg(i),
            next = yield.getOperand(i);
      if (!isBuffer(init))
        continue;
      Value place = init;
      if (next != arg) {
        place = allocateLike(b, loop.getLoc(), init);
        memref::CopyOp::create(b, loop.getLoc(), init, place);
        copies.push_back({next, place});
      }
      arg.replaceAllUsesWith(place);
      loop.getResult(i).replaceAllUsesWith(place);
      for (auto &copy : copies)
        if (copy.first == arg)
          copy.first = place;
    }
    b.setInsertionPoint(yield);
    copyToPlaces(b, loop.getLoc(), copies);
    dropBuffers(loop);
  }

  /// Rebuilds the loop without its buffers, which nothing uses any more.
  void dropBuffers(scf::ForOp loop) {
    IRRewriter rewriter(loop);
    SmallVector<Value> inits, yields;
    SmallVector<unsigned> kept;
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (!isBuffer(loop.getInitArgs()[i])) {
        kept.push_back(i);
        inits.push_back(loop.getInitArgs()[i]);
        yields.push_back(yield.getOperand(i));
      }
    yield->setOperands(yields);
    auto slim = scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
    slim->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block *body = slim.getBody();
    while (!body->empty())
      body->front().erase();
    SmallVector<Value> args(loop.getBody()->getNumArguments(), slim.getInductionVar());
    for (auto [k, i] : llvm::enumerate(kept)) {
      args[1 + i] = slim.getRegionIterArg(k);
      loop.getResult(i).replaceAllUsesWith(slim.getResult(k));
    }
    // Arguments without users only need some value of their type.
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (isBuffer(loop.getInitArgs()[i]))
        args[1 + i] = loop.getInitArgs()[i];
    rewriter.inlineBlockBefore(loop.getBody(), body, body->end(), args);
    rewriter.eraseOp(loop);
  }

  void settle(scf::WhileOp loop) {
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    auto condition = loop.getConditionOp();
    auto yield = loop.getYieldOp();
    SmallVector<Value> places(loop.getInits().size());
    for (auto [i, init] : llvm::enumerate(loop.getInits())) {
      if (!isBuffer(init))
        continue;
      if (isUpdatedInPlace(loop, i)) {
        places[i] = init;
      } else {
        places[i] = allocateLike(b, loc, init);
        memref::CopyOp::create(b, loc, init, places[i]);
      }
      loop.getBeforeArguments()[i].replaceAllUsesWith(places[i]);
    }
    // What the condition hands on: a carried buffer as it is, anything else through its own place.
    SmallVector<std::pair<Value, Value>> handed;
    for (auto [j, value] : llvm::enumerate(condition.getArgs())) {
      if (!isBuffer(value))
        continue;
      Value place = value;
      if (!llvm::is_contained(places, value) &&
          loop->isAncestor(rootOf(value).getParentBlock()->getParentOp())) {
        b.setInsertionPoint(loop);
        auto type = cast<MemRefType>(value.getType());
        if (type.hasStaticShape()) {
          place = memref::AllocOp::create(b, loc,
                                          MemRefType::get(type.getShape(), type.getElementType()));
        } else if (j < places.size() && places[j] &&
                   cast<MemRefType>(places[j].getType()).getShape() == type.getShape()) {
          place = allocateLike(b, loc, places[j]); // a carry keeps its sizes
        } else {
          loop.emitError("a loop condition hands on a new buffer of unknown size");
          return signalPassFailure();
        }
        if (place.getType() != type)
          place = memref::CastOp::create(b, loc, type, place);
        handed.push_back({value, place});
      }
      loop.getAfterArguments()[j].replaceAllUsesWith(place);
      loop.getResult(j).replaceAllUsesWith(place);
    }
    b.setInsertionPoint(condition);
    copyToPlaces(b, loc, handed);
    SmallVector<std::pair<Value, Value>> copies;
    for (auto [i, next] : llvm::enumerate(yield.getOperands()))
      if (places[i] && next != places[i])
        copies.push_back({next, places[i]});
    b.setInsertionPoint(yield);
    copyToPlaces(b, loc, copies);
    dropBuffers(loop);
  }

  /// Both regions hand on the buffer that they were given.
  static bool isUpdatedInPlace(scf::WhileOp loop, unsigned i) {
    return i < loop.getNumResults() &&
           loop.getConditionOp().getArgs()[i] == loop.getBeforeArguments()[i] &&
           loop.getYieldOp().getOperand(i) == loop.getAfterArguments()[i];
  }

  void dropBuffers(scf::WhileOp loop) {
    IRRewriter rewriter(loop);
    auto condition = loop.getConditionOp();
    auto yield = loop.getYieldOp();
    SmallVector<Value> inits, handed, yields;
    SmallVector<Type> types;
    SmallVector<Location> beforeLocs, afterLocs;
    BitVector before(loop.getInits().size()), after(loop.getNumResults());
    for (auto [i, init] : llvm::enumerate(loop.getInits())) {
      if (isBuffer(init)) {
        before.set(i);
        continue;
      }
      inits.push_back(init);
      yields.push_back(yield.getOperand(i));
    }
    for (auto [j, value] : llvm::enumerate(condition.getArgs())) {
      if (isBuffer(value)) {
        after.set(j);
        continue;
      }
      handed.push_back(value);
      types.push_back(value.getType());
    }
    auto slim = scf::WhileOp::create(rewriter, loop.getLoc(), types, inits);
    slim->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    condition.getArgsMutable().assign(handed);
    yield->setOperands(yields);
    slim.getBefore().takeBody(loop.getBefore());
    slim.getAfter().takeBody(loop.getAfter());
    slim.getBefore().front().eraseArguments(before);
    slim.getAfter().front().eraseArguments(after);
    for (unsigned j = 0, k = 0; j < loop.getNumResults(); ++j)
      if (!after.test(j))
        loop.getResult(j).replaceAllUsesWith(slim.getResult(k++));
    rewriter.eraseOp(loop);
  }
};

} // namespace
