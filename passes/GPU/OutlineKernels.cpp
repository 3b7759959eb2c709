// xtensor-outline-kernels: operations on memory become kernels. @main keeps the work of the host:
// it decides, allocates and launches.
#include "Buffers/Passes.h"
#include "CPU/Passes.h"
#include "GPU/Body.h"
#include "GPU/Contraction.h"
#include "GPU/Launches.h"
#include "GPU/Passes.h"
#include "KernelCalls.h"

#include "XTensor/XTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace xtensor {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "GPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;
using namespace xtensor::gpu;

namespace {

/// Points of work that one workgroup does at once rather than a launch of its own.
constexpr int64_t kSmallPoints = 16384;

/// What becomes of an op of the host.
enum class Place {
  host,    // stays
  small,   // one workgroup, together with its neighbours
  large,   // a launch of its own
  control, // control flow that the host follows
};

class Outliner {
public:
  Outliner(ModuleOp module, const KernelLimits &limits)
      : module(module), limits(limits), calls(module) {}

  LogicalResult process(Block &block);
  KernelCalls &kernelCalls() { return calls; }

private:
  using Segment = SmallVector<Operation *>;

  Place placeOf(Operation &op);
  bool isNumberOfKernel(Operation &op);
  bool fitsWith(Operation &op);
  bool fitsInKernel(ArrayRef<Operation *> ops);
  void bindingsOf(Operation &op, llvm::DenseSet<Value> &memory,
                  llvm::DenseSet<std::pair<Value, int64_t>> &numbers);
  LogicalResult close(Segment &segment, Operation *before);

  ModuleOp module;
  const KernelLimits &limits;
  KernelCalls calls;
  llvm::DenseSet<Operation *> pending; // ops of the segment
  llvm::DenseSet<Value> buffers;       // that they use
  int64_t steps = 0;                   // that a thread takes for them
  llvm::DenseSet<std::pair<Value, int64_t>> numbers;
};

} // namespace

//===- what goes where -------------------------------------------------------===//

static bool isSpill(Operation *op) {
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    op = cast.getIn().getDefiningOp();
  return op && op->hasAttr(kSpillAttr);
}

bool xtensor::gpu::fitsInWorkgroup(Operation &op) {
  // Loops that look positions up as they go take short steps, whatever the sizes.
  bool looksUp = false;
  op.walk([&](memref::LoadOp load) { looksUp |= !load->getParentOfType<linalg::LinalgOp>(); });
  return !op.walk([&](Operation *inner) {
              if (inner->hasAttr(kHostAttr) || isa<LibraryOp>(inner) || isUnordered(*inner) ||
                  (isa<func::CallOp>(inner) && !isReport(*inner)))
                return WalkResult::interrupt();
              // Addresses are the host's to choose.
              if (inner->getNumRegions() &&
                  llvm::any_of(inner->getResultTypes(), llvm::IsaPred<MemRefType>))
                return WalkResult::interrupt();
              if (auto alloc = dyn_cast<memref::AllocOp>(inner);
                  alloc && !alloc.getType().hasStaticShape())
                return WalkResult::interrupt();
              if (isa<linalg::LinalgOp, memref::CopyOp>(inner)) {
                int64_t points = pointsOf(*inner);
                if (ShapedType::isDynamic(points) ? !looksUp : points > kSmallPoints)
                  return WalkResult::interrupt();
                return WalkResult::skip();
              }
              if (auto forall = dyn_cast<scf::ForallOp>(inner)) {
                int64_t count = iterationsOf(forall);
                if (ShapedType::isDynamic(count) || count > 4)
                  return WalkResult::interrupt();
              }
              return WalkResult::advance();
            }).wasInterrupted();
}

/// Scalar code that depends on memory, or on what kernels left.
bool Outliner::isNumberOfKernel(Operation &op) {
  if (isa<memref::LoadOp>(op))
    return true;
  bool depends = llvm::any_of(op.getOperands(), [&](Value v) {
    Operation *def = v.getDefiningOp();
    return def && !isa<MemRefType>(v.getType()) && (pending.contains(def) || isSpill(def));
  });
  return depends && op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         !op.hasTrait<OpTrait::IsTerminator>() && !isa<ViewLikeOpInterface>(op);
}

Place Outliner::placeOf(Operation &op) {
  if (isAbsorbed(op))
    return Place::host;
  if (isArrayOp(op)) {
    int64_t points = pointsOf(op);
    return !ShapedType::isDynamic(points) && points <= kSmallPoints ? Place::small : Place::large;
  }
  if (isa<scf::ForallOp>(op) || isUnordered(op))
    return Place::large;
  if (isa<memref::StoreOp>(op) || isReport(op) || isNumberOfKernel(op))
    return Place::small;
  if (op.hasAttr(kHostAttr))
    return Place::control;
  if (isa<scf::IfOp, scf::ForOp, scf::IndexSwitchOp, scf::WhileOp>(op))
    return fitsInWorkgroup(op) && fitsInKernel(&op) ? Place::small : Place::control;
  return Place::host;
}

LogicalResult Outliner::process(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  Segment segment;
  // By what is done with its sums: a product waits for that.
  llvm::DenseMap<Operation *, std::pair<linalg::GenericOp, Epilogue>> waiting;
  for (Operation *op : ops) {
    if (auto it = waiting.find(op); it != waiting.end()) {
      if (failed(close(segment, op)))
        return failure();
      auto &[product, epilogue] = it->second;
      const Tile *tile = Contraction::tileFor(Contraction::shapeOf(product), limits);
      Operation *next = op->getNextNode();
      calls.begin(op, "launch", {product, op});
      if (failed(launchContraction(product, *tile, module, limits, &epilogue)))
        return failure();
      calls.end(next);
      continue;
    }
    if (auto copy = dyn_cast<memref::CopyOp>(op); copy && isCopyToItself(copy)) {
      op->erase();
      continue;
    }
    switch (placeOf(*op)) {
    case Place::small:
      if (!fitsWith(*op) && failed(close(segment, op)))
        return failure();
      bindingsOf(*op, buffers, numbers);
      if (int64_t more = stepsOf(*op); ShapedType::isDynamic(more))
        steps = limits.steps;
      else
        steps += more;
      segment.push_back(op);
      pending.insert(op);
      break;
    case Place::host: {
      // What needs a number of the segment, or the memory it works on, has to wait for it.
      bool waits = isa<LibraryOp>(op) || op->hasTrait<OpTrait::IsTerminator>();
      if (!isa<ViewLikeOpInterface>(op))
        for (Value v : op->getOperands())
          waits |= v.getDefiningOp() && pending.contains(v.getDefiningOp());
      if (waits && failed(close(segment, op)))
        return failure();
      if (auto routine = dyn_cast<LibraryOp>(op))
        calls.around(op, routine.getRoutine());
      break;
    }
    case Place::large:
      if (std::optional<Epilogue> epilogue = epilogueOf(*op, limits);
          epilogue && fitsInKernel({op, epilogue->op})) {
        waiting.insert({epilogue->op, {cast<linalg::GenericOp>(op), *epilogue}});
        break;
      }
      if (failed(close(segment, op)))
        return failure();
      {
        Operation *next = op->getNextNode();
        calls.begin(op, "launch", op);
        if (failed(launchOperation(*op, module, limits)))
          return failure();
        calls.end(next);
      }
      break;
    case Place::control:
      if (failed(close(segment, op)))
        return failure();
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          if (failed(process(inner)))
            return failure();
      break;
    }
  }
  return close(segment, block.empty() ? nullptr : &block.back());
}

/// What a kernel for `op` binds: the memory of the host that it uses, and numbers (sizes of that
/// memory, scalars), regions included.
void Outliner::bindingsOf(Operation &op, llvm::DenseSet<Value> &memory,
                          llvm::DenseSet<std::pair<Value, int64_t>> &numbers) {
  op.walk([&](Operation *inner) {
    for (Value v : inner->getOperands()) {
      if (!isa<MemRefType>(v.getType())) {
        Operation *def = v.getDefiningOp();
        if (memref::LoadOp spill = spillOf(v); spill && !op.isAncestor(spill)) {
          memory.insert(spill.getMemref());
          continue;
        }
        bool isNumber = def && !def->hasTrait<OpTrait::ConstantLike>() && !op.isAncestor(def) &&
                        !pending.contains(def);
        if (isNumber)
          numbers.insert({v, -1});
        continue;
      }
      while (auto view = v.getDefiningOp<ViewLikeOpInterface>()) {
        for (Value number : llvm::drop_begin(view->getOperands()))
          if (Operation *def = number.getDefiningOp();
              def && !def->hasTrait<OpTrait::ConstantLike>() && !op.isAncestor(def))
            numbers.insert({number, -1});
        v = view.getViewSource();
      }
      Operation *def = v.getDefiningOp();
      if (def && op.isAncestor(def))
        continue;
      memory.insert(v);
      auto type = cast<MemRefType>(v.getType());
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        if (type.isDynamicDim(axis))
          numbers.insert({v, axis});
    }
  });
}

/// A number counts once for each memory that has it as a size: an estimate from above.
static bool canBind(size_t buffers, size_t numbers) {
  return buffers <= KernelLimits::kBuffers && numbers <= KernelLimits::kNumbers;
}

/// Whether `op` can join the segment.
bool Outliner::fitsWith(Operation &op) {
  llvm::DenseSet<Value> memory = buffers;
  llvm::DenseSet<std::pair<Value, int64_t>> counted = numbers;
  bindingsOf(op, memory, counted);
  // What is unknown is as large as it may be.
  if (limits.steps && !pending.empty()) {
    int64_t more = stepsOf(op);
    if (ShapedType::isDynamic(more) || steps + more > limits.steps)
      return false;
  }
  return canBind(memory.size(), counted.size());
}

/// Whether these can be one kernel at all.
bool Outliner::fitsInKernel(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Value> memory;
  llvm::DenseSet<std::pair<Value, int64_t>> counted;
  for (Operation *op : ops)
    bindingsOf(*op, memory, counted);
  return canBind(memory.size(), counted.size());
}

//===- kernels ---------------------------------------------------------------===//

/// One workgroup does the ops of `segment`, which stand before `before`, in order.
LogicalResult Outliner::close(Segment &segment, Operation *before) {
  if (segment.empty())
    return success();
  Segment ops;
  std::swap(ops, segment);
  buffers.clear();
  numbers.clear();
  steps = 0;
  for (Operation *op : ops)
    pending.erase(op);
  int64_t points = 1;
  for (Operation *op : ops)
    points = std::max(points, mostPointsIn(op, limits.threads));
  calls.begin(before, "launch", ops);
  OpBuilder host(before);
  Location loc = ops.front()->getLoc();
  Kernel kernel(host, loc, limits.threadsFor(points), limits);
  Body body(kernel, host);
  llvm::SmallPtrSet<Operation *, 16> members(ops.begin(), ops.end());
  // Numbers that others need, by the types of the memory that they are left in: one for each.
  llvm::MapVector<Type, SmallVector<Value>> left;
  for (Operation *op : ops) {
    if (failed(body.emit(*op)))
      return failure();
    for (Value result : op->getResults()) {
      bool escapes = llvm::any_of(result.getUsers(), [&](Operation *user) {
        Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
        return !at || !members.contains(at);
      });
      if (!escapes)
        continue;
      // Views of memory inside of kernels ask for their offsets by the host's value.
      Type type = result.getType().isIndex() ? host.getI32Type() : result.getType();
      left[type].push_back(result);
    }
  }
  SmallVector<std::tuple<Value, Value, SmallVector<Value, 1>>> places;
  for (auto &[type, results] : left) {
    SmallVector<int64_t, 1> shape;
    if (results.size() > 1)
      shape.push_back(results.size());
    Value memory = memref::AllocOp::create(host, loc, MemRefType::get(shape, type));
    for (auto [i, number] : llvm::enumerate(results)) {
      SmallVector<Value, 1> at;
      if (!shape.empty())
        at.push_back(constant(host, loc, i));
      body.leave(number, memory, at);
      places.push_back({number, memory, at});
    }
  }
  if (kernel.isBroken())
    return failure();
  // Host code of the kernel was added before `before`, and so is the launch.
  kernel.launch(module, constant(host, loc, 1));
  calls.end(before);
  for (auto &[number, memory, at] : places) {
    auto load = memref::LoadOp::create(host, loc, memory, at);
    load->setAttr(kSpillAttr, host.getUnitAttr());
    Value again = load;
    if (number.getType().isIndex())
      again = arith::IndexCastOp::create(host, loc, number.getType(), load);
    number.replaceUsesWithIf(again, [&, made = number](OpOperand &use) {
      Operation *user = made.getDefiningOp()->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return !user || !members.contains(user);
    });
  }
  for (Operation *op : llvm::reverse(ops))
    eraseWithFills(*op);
  return success();
}

//===- pass ------------------------------------------------------------------===//

namespace {
struct OutlineKernelsPass : xtensor::impl::OutlineKernelsBase<OutlineKernelsPass> {
  using OutlineKernelsBase::OutlineKernelsBase;

  /// Kernels are written from linalg.generic, fills and scalar code.
  static LogicalResult prepare(ModuleOp module) {
    SmallVector<linalg::LinalgOp> named;
    WalkResult result = module.walk([&](Operation *op) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
          linalgOp && !isa<linalg::GenericOp, linalg::FillOp>(op))
        named.push_back(linalgOp);
      for (Type type : op->getResultTypes())
        if (isa<VectorType, LLVM::LLVMPointerType>(type)) {
          op->emitError() << "'" << op->getName() << "' has " << type
                          << ", and kernels are written from scalar code";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    IRRewriter rewriter(module.getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return op.emitError() << "'" << op->getName() << "' is not written as a kernel";
    }
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkBuffers(module)) || failed(prepare(module)))
      return signalPassFailure();
    Builder b(&getContext());
    module->setAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
    module->setAttr(kDeviceAttr, b.getUnitAttr());
    KernelLimits limits = KernelLimits::of(Profile::of(module));
    Outliner outliner(module, limits);
    markAbsorbedFills(module);
    for (auto func : module.getOps<func::FuncOp>())
      for (Block &block : func.getBody())
        if (failed(outliner.process(block)))
          return signalPassFailure();
    outliner.kernelCalls().finish(/*tellSizes=*/false);
    // Views that only kernels read are dead now. Some depend on a number that stands behind them:
    // it was computed by the host before, and is read from a kernel's memory now.
    for (auto func : module.getOps<func::FuncOp>())
      func->walk<WalkOrder::PostOrder, ReverseIterator>([](ViewLikeOpInterface op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
    // Numbers that only kernels wanted need no reading. The walk stands at an op that goes, not
    // before it: it would go on there.
    module.walk([](arith::IndexCastOp op) {
      if (isSpill(op) && op->use_empty())
        op->erase();
    });
    module.walk([](memref::LoadOp op) {
      if (op->hasAttr(kSpillAttr) && op->use_empty())
        op->erase();
    });
  }
};
} // namespace
