#include "Batch/Batcher.h"
#include "Batch/Passes.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_BATCH
#include "Batch/Passes.h.inc"
} // namespace xtensor

static LogicalResult expand(VectorizeOp op) {
  if (op.getNames().size() > 64)
    return op.emitOpError("at most 64 names can be batched at once");
  Batcher batcher(op);
  if (failed(batcher.run(*op.getBody())))
    return failure();
  batcher.b.setLoc(op.getLoc());
  SmallVector<Value> results;
  for (Value v : op.getBody()->getTerminator()->getOperands())
    results.push_back(batcher.spread(batcher.value(v), batcher.allNames()));
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Those whose body holds no request: neither for a derivative nor for another vectorize.
static SmallVector<VectorizeOp> readyOps(Operation *root) {
  SmallVector<VectorizeOp> ready;
  root->walk([&](VectorizeOp op) {
    WalkResult found = op.getBodyRegion().walk([](Operation *inner) {
      return isRequest(inner) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      ready.push_back(op);
  });
  return ready;
}

namespace {
struct Batch : xtensor::impl::BatchBase<Batch> {
  void runOnOperation() final {
    for (VectorizeOp op : readyOps(getOperation()))
      if (failed(expand(op)))
        return signalPassFailure();
  }
};
} // namespace
