// xtensor-emit-vectors: every linalg op on buffers becomes loops over vectors, or a library call.
#include "Buffers/Passes.h"
#include "CPU/Gemm.h"
#include "CPU/LoopEmitter.h"
#include "CPU/Passes.h"
#include "CPU/Processor.h"
#include "CPU/ReadAhead.h"
#include "CPU/WindowProduct.h"
#include "Estimates.h"
#include "KernelCalls.h"
#include "Schedule/Grain.h"
#include "XTensor/XTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace xtensor {
#define GEN_PASS_DEF_EMITVECTORS
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

namespace {

struct EmitVectorsPass : xtensor::impl::EmitVectorsBase<EmitVectorsPass> {
  using EmitVectorsBase::EmitVectorsBase;

  /// Of a module, because a product declares its routine there.
  void runOnOperation() override {
    KernelCalls kernels(getOperation());
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!func.isDeclaration() && failed(emit(func, kernels)))
        return signalPassFailure();
    kernels.finish(/*tellSizes=*/true);
  }

  LogicalResult emit(func::FuncOp func, KernelCalls &calls) {
    if (failed(checkBuffers(func)))
      return failure();
    func.walk([&](memref::CopyOp copy) {
      OpBuilder b(copy);
      linalg::CopyOp::create(b, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    });
    if (calls.areOn())
      callAround(func, calls);
    Views views;
    func.walk([&](scf::ForallOp forall) { setGrain(forall); });
    SmallVector<Block *> blocks;
    func.walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      if (failed(emitBlock(*block, views, calls)))
        return failure();
    eraseDead(func);
    return success();
  }

  /// Whether a number is computed from sizes and constants alone.
  static bool isOfSizes(Value value) {
    Operation *op = value.getDefiningOp();
    return op && (isa<memref::DimOp>(op) || (!op->getNumRegions() && isPure(op) &&
                                             llvm::all_of(op->getOperands(), isOfSizes)));
  }

  /// Whether the sizes of a call tell how many steps the loop takes.
  static bool hasKnownSteps(scf::ForOp loop) {
    return isOfSizes(loop.getLowerBound()) && isOfSizes(loop.getUpperBound()) &&
           isOfSizes(loop.getStep());
  }

  /// Whether a loop does nothing that could be a kernel of its own.
  static bool isOfNumbers(Operation *loop) {
    return !loop->walk([](Operation *op) {
                  bool isWork = isa<scf::ForallOp, LibraryOp, linalg::LinalgOp>(op);
                  return isWork ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }

  /// Whether a clock around the kernels of an iteration would take much of its time, or there are
  /// none. Not if there are some, and the steps are unknown: then the work of the loop is, too.
  static bool hasShortIterations(scf::ForOp loop) {
    Amount work = 0, most = kWorkOfChunk;
    return !loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
                  if (isa<scf::ForallOp, LibraryOp>(op))
                    return WalkResult::interrupt();
                  auto inner = dyn_cast<scf::ForOp>(op);
                  bool isOpen = inner && !inner.getStaticTripCount() && !hasKnownSteps(inner);
                  if (isOpen || isa<scf::WhileOp>(op))
                    return isOfNumbers(op) ? WalkResult::skip() : WalkResult::interrupt();
                  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
                  if (!linalgOp)
                    return WalkResult::advance();
                  work += workOf(linalgOp);
                  return work > most ? WalkResult::interrupt() : WalkResult::skip();
                })
                .wasInterrupted();
  }

  /// Parallel loops, routines, and sequential loops of short iterations or of numbers alone. The
  /// loops of other single ops are told apart when they are written.
  static void callAround(func::FuncOp func, KernelCalls &calls) {
    SmallVector<Operation *> ops;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto loop = dyn_cast<scf::ForOp>(op);
      bool isWhole = loop ? hasShortIterations(loop) : isa<scf::WhileOp>(op) && isOfNumbers(op);
      if (!isWhole && !isa<scf::ForallOp, LibraryOp>(op))
        return WalkResult::advance();
      ops.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : ops) {
      auto routine = dyn_cast<LibraryOp>(op);
      calls.around(op, routine ? routine.getRoutine() : "loops");
    }
  }

  /// Loops made after the schedule need one, too.
  static void setGrain(scf::ForallOp forall) {
    if (forall->hasAttr(kGrainAttribute))
      return;
    Amount work = 1;
    forall.walk([&](linalg::LinalgOp op) { work += workOf(op); });
    forall->setAttr(kGrainAttribute, Builder(forall).getI64IntegerAttr(grainFor(work).count()));
  }

  LogicalResult emitBlock(Block &block, Views &views, KernelCalls &calls) {
    SmallVector<linalg::LinalgOp> run;
    ReadAhead readAhead(dyn_cast<scf::ForallOp>(block.getParentOp()));
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
        run.push_back(linalgOp);
        continue;
      }
      bool passes = !op.getNumRegions() && (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op));
      if (passes && !op.hasTrait<OpTrait::IsTerminator>())
        continue;
      if (failed(emit(run, &op, views, readAhead, calls)))
        return failure();
      run.clear();
    }
    return success();
  }

  LogicalResult emit(ArrayRef<linalg::LinalgOp> ops, Operation *before, Views &views,
                     ReadAhead &readAhead, KernelCalls &calls) {
    if (ops.empty())
      return success();
    SmallVector<Kernel, 0> kernels;
    for (linalg::LinalgOp op : ops) {
      auto kernel = buildKernel(op, views);
      if (failed(kernel))
        return failure();
      if (copiesToItself(*kernel))
        op->erase();
      else
        kernels.push_back(std::move(*kernel));
    }
    OpBuilder b(before);
    int64_t bits = vectorBits ? vectorBits : vectorBitsFor(before);
    VectorTarget target{bits, bits == 512};
    kernels = fuseKernels(std::move(kernels));
    bool outer = !before->getParentOfType<scf::ForallOp>();
    bool isMeasured = outer && !calls.cover(before);
    for (Kernel &kernel : kernels) {
      if (isMeasured)
        calls.begin(before, kernel.isCall ? "product" : "loops", opsOf(kernel));
      Operation *last = before->getPrevNode();
      readAhead.mark(kernel);
      if (outer && isLargeTransfer(kernel)) {
        for (Stage &stage : kernel.stages)
          if (failed(emitBlock(*spread(b, stage.op), views, calls)))
            return failure();
        if (isMeasured)
          calls.end(before);
        continue;
      }
      if (!emitGemm(b, kernel) && !emitWindowProduct(b, kernel, views, target))
        emitLoops(b, kernel, views, target);
      for (Operation *op = before->getPrevNode(); outer && op && op != last; op = op->getPrevNode())
        if (op->getNumRegions())
          op->setAttr(kNestAttr, b.getUnitAttr());
      if (isMeasured)
        calls.end(before);
    }
    for (Kernel &kernel : kernels)
      for (Stage &stage : kernel.stages)
        stage.op->erase();
    return success();
  }

  static SmallVector<Operation *> opsOf(Kernel &kernel) {
    return llvm::map_to_vector(kernel.stages, [](Stage &stage) { return stage.op.getOperation(); });
  }

  /// Whether nothing but fills and copies has come together, of arrays that are worth several
  /// threads.
  static bool isLargeTransfer(Kernel &kernel) {
    return llvm::all_of(kernel.stages, [](Stage &stage) {
      auto type = dyn_cast<MemRefType>(stage.op.getDpsInits()[0].getType());
      return isa<linalg::FillOp, linalg::CopyOp>(stage.op.getOperation()) && type &&
             type.hasStaticShape() && Amount::ofSizes(type.getShape()) >= kSharedElements;
    });
  }

  /// The parts of `op` as iterations that threads share: the body of their loop.
  static Block *spread(OpBuilder &b, linalg::LinalgOp op) {
    Value target = op.getDpsInits()[0], source = op.getDpsInputs()[0];
    auto type = cast<MemRefType>(target.getType());
    int64_t dim =
        llvm::find_if(type.getShape(), [](int64_t n) { return n > 1; }) - type.getShape().begin();
    int64_t size = type.getDimSize(dim);
    Amount each = Amount::ofSizes(type.getShape()) / size;
    int64_t step = std::max<int64_t>(1, (kSharedElements / 4 / each).count());
    Location loc = op.getLoc();
    OpFoldResult zero = b.getIndexAttr(0), whole = b.getIndexAttr(size);
    auto forall = scf::ForallOp::create(b, loc, {zero}, {whole}, {b.getIndexAttr(step)},
                                        ValueRange(), std::nullopt);
    OpBuilder in = OpBuilder::atBlockBegin(forall.getBody());
    Value at = forall.getInductionVar(0);
    OpFoldResult length = b.getIndexAttr(step);
    if (size % step) {
      Value rest =
          arith::SubIOp::create(in, loc, arith::ConstantIndexOp::create(in, loc, size), at);
      length = arith::MinSIOp::create(in, loc, rest, arith::ConstantIndexOp::create(in, loc, step))
                   .getResult();
    }
    auto part = [&](Value memref) -> Value {
      SmallVector<OpFoldResult> offsets(type.getRank(), zero),
          ones(type.getRank(), b.getIndexAttr(1)), sizes;
      for (int64_t n : type.getShape())
        sizes.push_back(b.getIndexAttr(n));
      offsets[dim] = at;
      sizes[dim] = length;
      return memref::SubViewOp::create(in, loc, memref, offsets, sizes, ones);
    };
    if (isa<linalg::FillOp>(op.getOperation()))
      linalg::FillOp::create(in, loc, source, part(target));
    else
      linalg::CopyOp::create(in, loc, part(source), part(target));
    int64_t grain = divideUp(kSharedElements, each * step).count();
    forall->setAttr(kGrainAttribute, b.getI64IntegerAttr(grain));
    return forall.getBody();
  }

  /// What bufferization leaves of an insertion that was computed in place.
  static bool copiesToItself(Kernel &kernel) {
    Stage &stage = kernel.stages.front();
    return isa<linalg::CopyOp>(stage.op.getOperation()) &&
           stage.operands[0].samePlaces(stage.operands[1]);
  }

  /// Views that were folded into addresses, and buffers that nothing reads any more.
  static void eraseDead(func::FuncOp func) {
    // What is inside of an op comes before it in reverse: no op that is still listed goes with it.
    SmallVector<Operation *> ops;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && op->getNumResults() &&
          (isa<memref::AllocOp>(op) || isOpTriviallyDead(op)))
        op->erase();
  }
};

} // namespace
