// Loops that look for their work (Body): an update by position, by the workgroup that has some of
// the places. One step after another would wait for memory at each position of all; so threads look
// at many of them at once, note in order those that are the workgroup's, and only these are done
// one after another.
//
//   for i in n { c = ..x[i]..; if (c) work(i) }
//   ==>  for chunks of n { list = [i in chunk if ..x[i]..]; for i in list { work(i) } }
#include "GPU/Body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;

/// Steps that a thread looks at before the workgroup does what was found.
constexpr int64_t kStepsOfThread = 8;
/// A loop of fewer steps is done as it stands.
constexpr int64_t kLeastSteps = 128;
/// Threads count what they found in blocks of this many.
constexpr int64_t kCountBlock = 16;

static Value rootOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// The branch that is all that a loop does, if what it depends on can be known ahead; or null.
static scf::IfOp workOf(scf::ForOp loop) {
  if (loop.getNumResults() || getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return {};
  auto steps = getConstantIntValue(loop.getUpperBound());
  if (steps && *steps < kLeastSteps)
    return {};
  Block &body = *loop.getBody();
  if (body.getOperations().size() < 2)
    return {};
  auto work = dyn_cast<scf::IfOp>(body.getTerminator()->getPrevNode());
  if (!work || work.getNumResults())
    return {};
  if (Block *otherwise = work.elseBlock(); otherwise && !otherwise->without_terminator().empty())
    return {};
  llvm::DenseSet<Value> written;
  WalkResult known = work.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.insert(rootOf(store.getMemref()));
    else if (auto copy = dyn_cast<memref::CopyOp>(op))
      written.insert(rootOf(copy.getTarget()));
    else if (auto array = dyn_cast<linalg::LinalgOp>(op))
      for (Value out : array.getDpsInits())
        written.insert(rootOf(out));
    else if (!isMemoryEffectFree(op) && !isa<memref::LoadOp>(op) && !op->getNumRegions())
      return WalkResult::interrupt();
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  if (known.wasInterrupted())
    return {};
  for (Operation &op : body.without_terminator()) {
    if (&op == work)
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (written.contains(rootOf(load.getMemref())))
        return {};
    } else if (op.getNumRegions() || !isMemoryEffectFree(&op)) {
      return {};
    }
  }
  return work;
}

/// The store of `work`, if the work only changes one number. The loop must know the place of the
/// number before the condition, and read no other place of that memory. The thread that owns the
/// place can then do the work alone.
static memref::StoreOp numberOf(scf::IfOp work) {
  memref::StoreOp store;
  for (Operation &op : work.thenBlock()->without_terminator()) {
    if (auto here = dyn_cast<memref::StoreOp>(op)) {
      if (store)
        return {};
      store = here;
    } else if (!isa<memref::LoadOp>(op) && (op.getNumRegions() || !isMemoryEffectFree(&op))) {
      return {};
    }
  }
  if (!store)
    return {};
  for (Value index : store.getIndices())
    if (Operation *def = index.getDefiningOp(); def && work->isProperAncestor(def))
      return {};
  for (auto load : work.thenBlock()->getOps<memref::LoadOp>())
    if (rootOf(load.getMemref()) == rootOf(store.getMemref()) &&
        (load.getMemref() != store.getMemref() || load.getIndices() != store.getIndices()))
      return {};
  return store;
}

namespace {

/// The steps of a chunk that have work, written to a list by all threads together.
class Sifting {
public:
  Sifting(Kernel &kernel, Value thread, ArrayRef<FlatView> memory)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), thread(thread), list(memory[0]),
        counts(memory[1]), blocks(memory[2]) {}

  /// Each thread asks its steps, from `from` on, and counts those with work.
  void askSteps(Value from, Value end, llvm::function_ref<Value(Value)> ask) {
    Value count = number(0);
    for (int64_t i = 0; i < kStepsOfThread; ++i) {
      Value step = kernel.index(kernel.add(from, kernel.fixed(i))), there = less(step, end);
      // Behind the end, the first step is asked again.
      Value asked = ask(arith::SelectOp::create(b, loc, there, step, kernel.index(0)));
      steps.push_back(step);
      found.push_back(arith::AndIOp::create(b, loc, there, asked));
      count = plus(count, arith::ExtUIOp::create(b, loc, i32(), found.back()));
    }
    kernel.store(count, counts, thread);
    mlir::gpu::BarrierOp::create(b, loc);
  }

  /// Where a thread's part of the list begins: behind those of the threads before it, which are
  /// counted in its block, and by whole blocks. `total`: the length of the list.
  Value findPlace(Value &total) {
    Value size = kernel.index(kCountBlock), inBlock = arith::RemUIOp::create(b, loc, thread, size);
    Value block = arith::DivUIOp::create(b, loc, thread, size);
    Value blockStart = arith::SubIOp::create(b, loc, thread, inBlock);
    Value before = number(0), all = number(0);
    for (int64_t i = 0; i < kCountBlock; ++i) {
      Value other = kernel.load(counts, kernel.index(kernel.add(blockStart, kernel.fixed(i))));
      all = plus(all, other);
      before = plusIf(less(kernel.index(i), inBlock), before, other);
    }
    Value leads = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, inBlock, kernel.index(0));
    when(leads, [&] { kernel.store(all, blocks, block); });
    mlir::gpu::BarrierOp::create(b, loc);
    total = number(0);
    for (int64_t i = 0; i < kernel.threads / kCountBlock; ++i) {
      Value other = kernel.load(blocks, kernel.index(i));
      total = plus(total, other);
      before = plusIf(less(kernel.index(i), block), before, other);
    }
    return before;
  }

  /// Writes a thread's part of the list.
  void writeList(Value before) {
    for (auto [step, mine] : llvm::zip_equal(steps, found)) {
      when(mine, [&, step = step] {
        kernel.store(arith::IndexCastOp::create(b, loc, i32(), step), list,
                     arith::IndexCastOp::create(b, loc, b.getIndexType(), before));
      });
      before = plus(before, arith::ExtUIOp::create(b, loc, i32(), mine));
    }
    mlir::gpu::BarrierOp::create(b, loc);
  }

private:
  Type i32() { return b.getI32Type(); }
  Value number(int64_t v) { return arith::ConstantIntOp::create(b, loc, i32(), v); }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value plusIf(Value condition, Value x, Value y) {
    return plus(x, arith::SelectOp::create(b, loc, condition, y, number(0)));
  }
  void when(Value condition, llvm::function_ref<void()> body) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  Value thread;
  FlatView list, counts, blocks;
  SmallVector<Value> steps, found; // of this thread
};

} // namespace

/// The memory for the list, its threads' counts and those of blocks; false where there is too
/// little.
bool Body::findSiftedMemory() {
  const int64_t team = kernel.threads, chunk = team * kStepsOfThread;
  if (4 * (chunk + 2 * team) > kernel.workgroupBytesLeft())
    return false;
  if (!sifted[0].flat) {
    Type i32 = b.getI32Type();
    sifted[0] = kernel.workgroupMemory(chunk, i32);
    sifted[1] = kernel.workgroupMemory(team, i32);
    sifted[2] = kernel.workgroupMemory(team / kCountBlock, i32);
  }
  return true;
}

/// The work of one step, which all threads know to have some.
void Body::emitSiftedWork(scf::IfOp work) {
  memref::StoreOp store = numberOf(work);
  if (!store) {
    if (failed(emit(*work.thenBlock())))
      kernel.refuse(*work);
    kernel.meet();
    return;
  }
  Location loc = kernel.loc;
  FlatView view = kernel.view(store.getMemref());
  Value place = kernel.place(view, store.getIndices());
  Value owner = arith::RemUIOp::create(b, loc, place, kernel.index(kernel.threads));
  Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, owner, threads.id);
  auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  for (Operation &op : work.thenBlock()->without_terminator())
    if (&op != store && !emitScalar(kernel, op))
      kernel.refuse(op);
  kernel.store(kernel.value(store.getValue()), view, place);
  kernel.access({}, view.flat);
}

bool Body::emitSifted(scf::ForOp loop) {
  scf::IfOp work = workOf(loop);
  const int64_t team = kernel.threads, chunk = team * kStepsOfThread;
  if (!work || team < 2 * kCountBlock || team % kCountBlock || !findSiftedMemory())
    return false;
  kernel.meet();
  Location loc = kernel.loc;
  Value end = kernel.value(loop.getUpperBound());
  // What the loop does before it asks, at this step.
  auto ask = [&](Value step) {
    kernel.set(loop.getInductionVar(), step);
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op != work && !emitScalar(kernel, op))
        kernel.refuse(op);
    return kernel.value(work.getCondition());
  };

  auto chunks = scf::ForOp::create(b, loc, kernel.index(0), end, kernel.index(chunk));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(chunks.getBody());
  Value from = kernel.index(
      kernel.add(chunks.getInductionVar(), kernel.mul(threads.id, kernel.fixed(kStepsOfThread))));
  Sifting sifting(kernel, threads.id, sifted);
  Value total;
  sifting.askSteps(from, end, ask);
  sifting.writeList(sifting.findPlace(total));

  Value length = arith::IndexCastOp::create(b, loc, b.getIndexType(), total);
  auto items = scf::ForOp::create(b, loc, kernel.index(0), length, kernel.index(1));
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(items.getBody());
    ask(arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                   kernel.load(sifted[0], items.getInductionVar())));
    emitSiftedWork(work);
  }
  // The list is written again.
  mlir::gpu::BarrierOp::create(b, loc);
  return true;
}
