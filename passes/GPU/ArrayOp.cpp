#include "GPU/ArrayOp.h"

#include "GPU/SharedReduction.h"
#include "GPU/SharedScan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor::gpu;

//===- array operations ------------------------------------------------------===//

/// What the threads of a workgroup do side by side, the points of the op being many.
static void emitFor(Points &p, const Team &team) {
  Kernel &kernel = p.kernel;
  const int64_t points = p.parallelPoints(), each = p.reductionPoints();
  if (points == 0)
    return;
  const bool areFew = team.isWorkgroup && points > 0 && points < team.known;
  auto reduction = team.isWorkgroup ? SharedReduction::of(p) : std::nullopt;
  // Few columns that are long: the threads share each of them, all at once.
  if (reduction && points > 0 && points <= team.known / 2 &&
      reduction->columnsOfWorkgroup(team.known))
    return reduction->emitColumns(points, team);
  // A few long reductions: the threads share each of them.
  if (reduction && areFew && (each < 0 || each / team.known * points + points * 12 < each)) {
    Value count = kernel.index(points);
    if (points == 1)
      return reduction->emitPoint(p.parallelPoint(kernel.index(0)), team);
    return reduction->emitPoints(team, kernel.index(0), count, kernel.index(1));
  }
  // Scans, too, if they are long.
  if (areFew && (each < 0 || each / team.known * points * 2 + points * 24 < each))
    if (auto kind = ScanKind::of(p))
      return SharedScan(p, *kind).emitPoints(team, kernel.index(0), kernel.index(points),
                                             kernel.index(1));
  emitPointLoop(p, team);
}

void xtensor::gpu::emitArrayOp(Points &points, const Team &team) {
  if (!team.isWorkgroup)
    return emitFor(points, team);
  SmallVector<Value> reads, writes;
  accessesOf(points.kernel, *points.op, reads, writes);
  points.kernel.access(reads, writes);
  emitFor(points, team);
  // Where threads met in between, that was before they wrote.
  points.kernel.wrote(writes);
}

//===- scalar code -----------------------------------------------------------===//

bool xtensor::gpu::emitScalar(Kernel &kernel, Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    FlatView view = kernel.view(load.getMemref());
    kernel.set(load, kernel.load(view, kernel.place(view, load.getIndices())));
    return true;
  }
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<ViewLikeOpInterface, memref::DimOp>(op))
    return true; // made where they are used
  if (op.getNumRegions() > 0 && !isa<scf::IfOp, scf::ForOp>(op))
    return false;
  if (op.getNumRegions() == 0 && !isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>())
    return false;
  return cloneInto(kernel, op, [&](Block &block) {
    return llvm::all_of(block, [&](Operation &inner) { return emitScalar(kernel, inner); });
  });
}

bool xtensor::gpu::cloneInto(Kernel &kernel, Operation &op,
                             llvm::function_ref<bool(Block &)> emitBlock) {
  OpBuilder &b = kernel.b;
  IRMapping map;
  for (Value operand : op.getOperands())
    map.map(operand, kernel.value(operand));
  Operation *copy = b.cloneWithoutRegions(op, map);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(b);
      Block *body = b.createBlock(
          &to, to.end(), block.getArgumentTypes(),
          llvm::map_to_vector(block.getArguments(), [](BlockArgument a) { return a.getLoc(); }));
      for (auto [x, y] : llvm::zip_equal(block.getArguments(), body->getArguments()))
        kernel.set(x, y);
      if (!emitBlock(block))
        return false;
    }
  }
  b.setInsertionPointAfter(copy);
  for (auto [x, y] : llvm::zip_equal(op.getResults(), copy->getResults()))
    kernel.set(x, y);
  return true;
}

void xtensor::gpu::accessesOf(Kernel &kernel, Operation &op, SmallVectorImpl<Value> &reads,
                              SmallVectorImpl<Value> &writes) {
  auto flat = [&](Value v) { return kernel.view(v).flat; };
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    reads.push_back(flat(copy.getSource()));
    writes.push_back(flat(copy.getTarget()));
  } else if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    for (Value v : linalg.getDpsInputs())
      if (isa<MemRefType>(v.getType()))
        reads.push_back(flat(v));
    for (Value v : linalg.getDpsInits())
      writes.push_back(flat(v));
    op.walk([&](memref::LoadOp load) { reads.push_back(flat(load.getMemref())); });
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    reads.push_back(flat(load.getMemref()));
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    writes.push_back(flat(store.getMemref()));
  }
}
