// Updates by position whose order does not matter: a thread for each number that one changes, by
// atomic operations.
//
//   for i in n { p = ..x[i]..; y[p] = y[p] + z[i] }
//   ==>  thread i: p = ..x[i]..; atomic y[p] += z[i]
#include "GPU/Launches.h"

#include "Combiners.h"
#include "Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor::gpu;

namespace {

/// A nest of loops around one update of a number or of a row.
struct Updates {
  SmallVector<scf::ForOp> loops;
  memref::StoreOp store; // of a number, or null
  memref::LoadOp before; // what that held
  linalg::GenericOp row; // of numbers, or null
  Operation *combiner = nullptr;
  Value old;                         // what the combiner finds
  SmallVector<OpFoldResult> extents; // of the loops and of the row, by the host

  Value target() { return store ? store.getMemref() : row.getDpsInits()[0]; }
  Value update() { return combiner->getOperand(combiner->getOperand(0) == old ? 1 : 0); }
};

} // namespace

static bool isCombiner(Operation *op) {
  return op && xtensor::mayReorder(op) && op->hasOneUse() && op->getOperand(0) != op->getOperand(1);
}

/// Reads what the update does: false if threads cannot do it in parallel.
static bool findCombiner(Updates &found) {
  if (memref::StoreOp store = found.store) {
    found.combiner = store.getValue().getDefiningOp();
    if (!isCombiner(found.combiner))
      return false;
    for (Value operand : found.combiner->getOperands())
      if (auto load = operand.getDefiningOp<memref::LoadOp>();
          load && load->hasOneUse() && load.getMemref() == store.getMemref() &&
          load.getIndices() == store.getIndices()) {
        found.before = load;
        found.old = load;
      }
    return found.before != nullptr;
  }
  linalg::GenericOp row = found.row;
  if (!row || row.getNumDpsInits() != 1 || row.getNumReductionLoops())
    return false;
  found.combiner = row.getRegion().front().getTerminator()->getOperand(0).getDefiningOp();
  found.old = row.getRegionOutputArgs()[0];
  return isCombiner(found.combiner) && found.old.hasOneUse() &&
         llvm::is_contained(found.combiner->getOperands(), found.old);
}

/// The sizes of what a row writes, as numbers that are known before the loops.
static bool sizesOfRow(linalg::GenericOp row, SmallVectorImpl<OpFoldResult> &sizes) {
  Value out = row.getDpsInits()[0];
  auto type = cast<MemRefType>(out.getType());
  if (!row.getMatchingIndexingMap(&row.getDpsInitsMutable()[0]).isPermutation())
    return false;
  if (type.hasStaticShape()) {
    for (int64_t size : type.getShape())
      sizes.push_back(OpBuilder(row).getIndexAttr(size));
    return true;
  }
  auto part = out.getDefiningOp<memref::SubViewOp>();
  if (!part)
    return false;
  llvm::SmallBitVector dropped = part.getDroppedDims();
  for (auto [axis, size] : llvm::enumerate(part.getMixedSizes()))
    if (!dropped[axis])
      sizes.push_back(size);
  return true;
}

static std::optional<Updates> updatesOf(scf::ForOp first) {
  Updates found;
  SmallVector<Value> read;
  auto isOutside = [&](OpFoldResult v) {
    auto value = dyn_cast<Value>(v);
    return !value || getConstantIntValue(v) ||
           !first->isAncestor(value.getParentRegion()->getParentOp());
  };
  auto see = [&](auto &&see, Operation &op) -> bool {
    auto seeAll = [&](Block &block) {
      return llvm::all_of(block.without_terminator(),
                          [&](Operation &inner) { return see(see, inner); });
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      bool isNext = found.loops.empty() || loop->getParentOp() == found.loops.back();
      if (!isNext || loop.getNumResults() || getConstantIntValue(loop.getLowerBound()) != 0 ||
          getConstantIntValue(loop.getStep()) != 1 || !isOutside(loop.getUpperBound()))
        return false;
      found.loops.push_back(loop);
      found.extents.push_back(getAsOpFoldResult(loop.getUpperBound()));
      return seeAll(*loop.getBody());
    }
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getNumResults())
      return (!branch.elseBlock() || branch.elseBlock()->without_terminator().empty()) &&
             seeAll(*branch.thenBlock());
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      read.push_back(load.getMemref());
      return true;
    }
    if (isa<memref::StoreOp, linalg::GenericOp>(op)) {
      bool another = found.store || found.row;
      found.store = dyn_cast<memref::StoreOp>(op);
      found.row = dyn_cast<linalg::GenericOp>(op);
      return !another;
    }
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return isCopyToItself(copy);
    return isMemoryEffectFree(&op) && !op.getNumRegions();
  };
  if (!see(see, *first) || !findCombiner(found))
    return {};
  Type element = cast<MemRefType>(found.target().getType()).getElementType();
  if (!llvm::is_contained({32u, 64u}, element.getIntOrFloatBitWidth()))
    return {};
  if (found.row) {
    if (!sizesOfRow(found.row, found.extents) || !llvm::all_of(found.extents, isOutside))
      return {};
    for (Value in : found.row.getDpsInputs())
      if (isa<MemRefType>(in.getType()))
        read.push_back(in);
    bool looksUp = false;
    found.row.walk([&](memref::LoadOp load) { looksUp |= load->getParentOp() == found.row; });
    if (looksUp)
      return {};
  } else {
    read.erase(llvm::find(read, found.before.getMemref()));
  }
  // What others change meanwhile must not be asked for.
  for (Value memory : read)
    if (mayShareMemory(memory, found.target()))
      return {};
  return found;
}

bool xtensor::gpu::isUnordered(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop->hasAttr(kUnorderedAttr) && updatesOf(loop).has_value();
}

//===- the kernel ------------------------------------------------------------===//

/// What devices do in one step; none: a loop that compares and exchanges.
static std::optional<arith::AtomicRMWKind> kindOf(Operation *combiner, const KernelLimits &limits) {
  using arith::AtomicRMWKind;
  bool isF32 = combiner->getResult(0).getType().isF32();
  return llvm::TypeSwitch<Operation *, std::optional<AtomicRMWKind>>(combiner)
      .Case([](arith::AddIOp) { return AtomicRMWKind::addi; })
      .Case([](arith::MaxSIOp) { return AtomicRMWKind::maxs; })
      .Case([](arith::MaxUIOp) { return AtomicRMWKind::maxu; })
      .Case([](arith::MinSIOp) { return AtomicRMWKind::mins; })
      .Case([](arith::MinUIOp) { return AtomicRMWKind::minu; })
      .Case([&](arith::AddFOp) -> std::optional<AtomicRMWKind> {
        if (isF32 ? limits.addsF32 : limits.addsF64)
          return AtomicRMWKind::addf;
        return std::nullopt;
      })
      .Default(std::nullopt);
}

namespace {

class UpdateKernel {
public:
  UpdateKernel(Updates &updates, Kernel &kernel) : updates(updates), kernel(kernel), b(kernel.b) {
    Value root = updates.target();
    while (auto view = root.getDefiningOp<ViewLikeOpInterface>())
      root = view.getViewSource();
    kind = kindOf(updates.combiner, kernel.limits);
    FlatView whole = kernel.view(root);
    // What is compared and exchanged are words.
    if (Type type = whole.element; !kind && isa<FloatType>(type))
      cast<BlockArgument>(whole.flat)
          .setType(MemRefType::get({ShapedType::kDynamic},
                                   b.getIntegerType(type.getIntOrFloatBitWidth())));
  }

  OpFoldResult total() {
    OpFoldResult all = kernel.fixed(1);
    for (OpFoldResult extent : updates.extents)
      all = kernel.mul(all, kernel.value(extent));
    return all;
  }

  /// The update of one number.
  void emit(Value number) {
    size_t depth = updates.loops.size();
    OpFoldResult row = kernel.fixed(1);
    for (OpFoldResult extent : llvm::drop_begin(updates.extents, depth))
      row = kernel.mul(row, kernel.value(extent));
    inRow = number;
    number = divided(number, row, inRow);
    for (size_t i = depth; i-- > 0;) {
      Value at = number;
      if (i > 0)
        number = divided(number, kernel.value(updates.extents[i]), at);
      kernel.set(updates.loops[i].getInductionVar(), at);
    }
    emit(*updates.loops[0].getBody());
  }

private:
  /// The quotient; what is left goes to `rest`.
  Value divided(Value number, OpFoldResult by, Value &rest) {
    if (getConstantIntValue(by) == 1) {
      rest = kernel.index(0);
      return number;
    }
    Value size = kernel.index(by);
    rest = arith::RemUIOp::create(b, kernel.loc, number, size);
    return arith::DivUIOp::create(b, kernel.loc, number, size);
  }

  void emit(Block &block) {
    for (Operation &op : block.without_terminator()) {
      kernel.loc = op.getLoc();
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        emit(*loop.getBody());
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        auto here = scf::IfOp::create(b, kernel.loc, kernel.value(branch.getCondition()),
                                      /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(here.thenBlock());
        emit(*branch.thenBlock());
      } else if (&op == updates.store) {
        FlatView view = kernel.view(updates.store.getMemref());
        Value at = kernel.place(view, updates.store.getIndices());
        combine(kernel.value(updates.update()), view, at);
      } else if (&op == updates.row) {
        Points points(kernel, &op);
        points.emitUpdate(inRow, updates.combiner, [&](const FlatView &view, Value at) {
          combine(kernel.value(updates.update()), view, at);
        });
      } else if (&op != updates.before && &op != updates.combiner && !isa<memref::CopyOp>(op) &&
                 !emitScalar(kernel, op)) {
        kernel.refuse(op);
      }
    }
  }

  void combine(Value update, const FlatView &view, Value at) {
    Location loc = kernel.loc;
    if (kind) {
      memref::AtomicRMWOp::create(b, loc, *kind, update, view.flat, at);
      return;
    }
    auto step = memref::GenericAtomicRMWOp::create(b, loc, view.flat, at);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(step.getBody());
    Value words = step.getCurrentValue(), old = words;
    Type type = view.element;
    if (words.getType() != type)
      old = arith::BitcastOp::create(b, loc, type, words);
    IRMapping map;
    map.map(updates.old, old);
    map.map(updates.update(), update);
    Value next = b.clone(*updates.combiner, map)->getResult(0);
    if (words.getType() != type) {
      next = arith::BitcastOp::create(b, loc, words.getType(), next);
      if (isa<arith::MaximumFOp, arith::MinimumFOp>(updates.combiner))
        next = ofZeros(words, old, update, next);
    }
    memref::AtomicYieldOp::create(b, loc, next);
  }

  /// Which of two zeros devices take for the larger one is theirs to choose: in any order it is the
  /// same, if equal numbers keep the bits that both have, or for a minimum those of either.
  Value ofZeros(Value words, Value old, Value update, Value otherwise) {
    Location loc = kernel.loc;
    Value other = arith::BitcastOp::create(b, loc, words.getType(), update);
    Value both = isa<arith::MaximumFOp>(updates.combiner)
                     ? arith::AndIOp::create(b, loc, words, other).getResult()
                     : arith::OrIOp::create(b, loc, words, other).getResult();
    Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, old, update);
    return arith::SelectOp::create(b, loc, same, both, otherwise);
  }

  Updates &updates;
  Kernel &kernel;
  OpBuilder &b;
  std::optional<arith::AtomicRMWKind> kind;
  Value inRow;
};

} // namespace

LogicalResult xtensor::gpu::launchUpdates(scf::ForOp loop, ModuleOp module,
                                          const KernelLimits &limits) {
  Updates updates = *updatesOf(loop);
  OpBuilder host(loop);
  Location loc = loop.getLoc();
  Value all = constant(host, loc, 1);
  SmallVector<int64_t> sizes;
  for (OpFoldResult extent : updates.extents) {
    auto known = getConstantIntValue(extent);
    sizes.push_back(known.value_or(ShapedType::kDynamic));
    Value size = known ? constant(host, loc, *known) : cast<Value>(extent);
    all = arith::MulIOp::create(host, loc, all, size);
  }
  int64_t points = knownProduct(sizes);
  if (points == 0) {
    loop.erase();
    return success();
  }
  Kernel kernel(host, loc, limits.threadsFor(points), limits);
  UpdateKernel body(updates, kernel);
  OpBuilder &b = kernel.b;
  Value groups;
  if (!ShapedType::isDynamic(points)) {
    int64_t most = llvm::divideCeil(points, kernel.threads);
    groups = constant(host, loc, std::min(most, limits.maxGroups));
  } else {
    Value up = arith::AddIOp::create(host, loc, all, constant(host, loc, kernel.threads - 1));
    groups = arith::DivUIOp::create(host, loc, up, constant(host, loc, kernel.threads));
    groups = arith::MinUIOp::create(host, loc, groups, constant(host, loc, limits.maxGroups));
  }
  Value begin = arith::MulIOp::create(b, loc, kernel.groupId(), kernel.index(kernel.threads));
  Value number = arith::AddIOp::create(b, loc, begin, kernel.threadId());
  Value end = kernel.index(body.total());
  {
    OpBuilder::InsertionGuard guard(b);
    auto known = getConstantIntValue(groups);
    if (known && *known * kernel.threads >= points) {
      Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, end);
      auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    } else {
      Value step = arith::MulIOp::create(b, loc, kernel.index(kernel.value(OpFoldResult(groups))),
                                         kernel.index(kernel.threads));
      auto steps = scf::ForOp::create(b, loc, number, end, step);
      b.setInsertionPointToStart(steps.getBody());
      number = steps.getInductionVar();
    }
    body.emit(number);
  }
  if (kernel.isBroken())
    return failure();
  kernel.launch(module, groups);
  loop.erase();
  return success();
}
