// A running combination takes in the ops that read its values in the same order. Its last value
// replaces a separate computation of the same value.
#include "Group/LinalgKinds.h"
#include "Group/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace xtensor {
#define GEN_PASS_DEF_FUSESCANS
#include "Group/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

/// A scan shows a value at each step, its first result, and ends with its second one.
static linalg::GenericOp scanOf(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  bool is = generic && generic->getAttrOfType<StringAttr>("xtensor.scan") &&
            generic->getNumResults() == 2 && generic.hasPureTensorSemantics();
  return is ? generic : linalg::GenericOp();
}

//===- readers -------------------------------------------------------------===//

/// The scan whose values `reader` alone reads, each at the step that shows it: the last of several.
static linalg::GenericOp readScan(linalg::GenericOp reader) {
  if (!isElementwise(reader) || reader.hasIndexSemantics() || hasExpensiveBody(reader))
    return {};
  linalg::GenericOp found;
  for (OpOperand *operand : reader.getDpsInputOperands()) {
    linalg::GenericOp scan = scanOf(operand->get().getDefiningOp());
    if (!scan || operand->get() != scan.getResult(0) || !scan.getResult(0).hasOneUse() ||
        !scan.getResult(1).use_empty() || scan->getBlock() != reader->getBlock() ||
        !scan.getMatchingBlockArgument(scan.getDpsInitOperand(0)).use_empty() ||
        !scan.getMatchingIndexingMap(scan.getDpsInitOperand(0)).isPermutation() ||
        !reader.getMatchingIndexingMap(operand).isPermutation())
      continue;
    if (!found || found->isBeforeInBlock(scan))
      found = scan;
  }
  return found;
}

/// One loop that shows what the reader makes of each value.
static void takeIn(linalg::GenericOp scan, linalg::GenericOp reader) {
  OpOperand *shown = nullptr;
  for (OpOperand *operand : reader.getDpsInputOperands())
    if (operand->get() == scan.getResult(0))
      shown = operand;
  // From the scan's loops to the reader's.
  AffineMap through = inversePermutation(reader.getMatchingIndexingMap(shown))
                          .compose(scan.getMatchingIndexingMap(scan.getDpsInitOperand(0)));
  SmallVector<Value> inputs(scan.getDpsInputs());
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : scan.getDpsInputOperands())
    maps.push_back(scan.getMatchingIndexingMap(operand));
  for (OpOperand *operand : reader.getDpsInputOperands())
    if (operand != shown) {
      inputs.push_back(operand->get());
      maps.push_back(reader.getMatchingIndexingMap(operand).compose(through));
    }
  SmallVector<Value> outs{reader.getDpsInits()[0], scan.getDpsInits()[1]};
  maps.push_back(reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)).compose(through));
  maps.push_back(scan.getMatchingIndexingMap(scan.getDpsInitOperand(1)));

  OpBuilder b(reader);
  SmallVector<Type> types{reader.getResult(0).getType(), scan.getResult(1).getType()};
  auto fused = linalg::GenericOp::create(b, reader.getLoc(), types, inputs, outs,
                                         b.getAffineMapArrayAttr(maps), scan.getIteratorTypes(),
                                         StringAttr(), StringAttr());
  fused->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  Block *body = b.createBlock(&fused.getRegion());
  IRMapping ofScan, ofReader;
  auto addArgument = [&](IRMapping &mapping, BlockArgument old) {
    mapping.map(old, body->addArgument(old.getType(), old.getLoc()));
  };
  for (BlockArgument old : scan.getRegionInputArgs())
    addArgument(ofScan, old);
  for (OpOperand *operand : reader.getDpsInputOperands())
    if (operand != shown)
      addArgument(ofReader, reader.getMatchingBlockArgument(operand));
  addArgument(ofReader, reader.getRegionOutputArgs()[0]);
  addArgument(ofScan, scan.getRegionOutputArgs()[1]);
  auto clone = [&](Block *from, IRMapping &mapping) {
    for (Operation &op : from->without_terminator())
      b.clone(op, mapping);
    return llvm::map_to_vector(from->getTerminator()->getOperands(),
                               [&](Value v) { return mapping.lookupOrDefault(v); });
  };
  SmallVector<Value> step = clone(scan.getBlock(), ofScan);
  ofReader.map(reader.getMatchingBlockArgument(shown), step[0]);
  SmallVector<Value> made = clone(reader.getBlock(), ofReader);
  linalg::YieldOp::create(b, reader.getLoc(), ValueRange{made[0], step[1]});
  reader.getResult(0).replaceAllUsesWith(fused.getResult(0));
  reader.erase();
  scan.erase();
}

//===- last values ---------------------------------------------------------===//

/// The number that `v` holds everywhere, as an attribute where it is a constant.
static OpFoldResult numberIn(Value v) {
  OpFoldResult splat = splatOf(v);
  auto value = splat ? dyn_cast<Value>(splat) : Value();
  Attribute constant;
  return value && matchPattern(value, m_Constant(&constant)) ? OpFoldResult(constant) : splat;
}

/// Whether both start from the same number everywhere.
static bool startAlike(Value a, Value b) {
  OpFoldResult x = numberIn(a);
  return x && x == numberIn(b);
}

/// Whether `reduction` combines what `scan` does in the same way.
static bool isLastOf(linalg::GenericOp reduction, linalg::GenericOp scan) {
  if (reduction->getNumResults() != 1 || reduction.getDpsInputs() != scan.getDpsInputs() ||
      reduction.getIteratorTypes() != scan.getIteratorTypes() ||
      reduction.getResult(0).getType() != scan.getResult(1).getType() ||
      !startAlike(reduction.getDpsInits()[0], scan.getDpsInits()[1]))
    return false;
  SmallVector<AffineMap> own = reduction.getIndexingMapsArray(),
                         other = scan.getIndexingMapsArray();
  other.erase(other.end() - 2); // of what is shown
  if (own != other)
    return false;
  // What the scan shows takes no ops of its own in the bodies that are alike.
  DenseMap<Value, Value> same;
  for (auto [a, b] : llvm::zip(reduction.getRegionInputArgs(), scan.getRegionInputArgs()))
    same[a] = b;
  same[reduction.getRegionOutputArgs()[0]] = scan.getRegionOutputArgs()[1];
  auto alike = [&](Value a, Value b) {
    auto known = same.find(a);
    return success(known != same.end() ? known->second == b : a == b);
  };
  auto mark = [&](Value a, Value b) { same[a] = b; };
  auto mine = reduction.getBlock()->without_terminator();
  auto theirs = scan.getBlock()->without_terminator();
  if (std::distance(mine.begin(), mine.end()) != std::distance(theirs.begin(), theirs.end()))
    return false;
  for (auto [a, b] : llvm::zip(mine, theirs))
    if (!OperationEquivalence::isEquivalentTo(&a, &b, alike, mark,
                                              OperationEquivalence::IgnoreLocations))
      return false;
  return succeeded(alike(reduction.getBlock()->getTerminator()->getOperand(0),
                         scan.getBlock()->getTerminator()->getOperand(1)));
}

namespace {
/// Follows the last value of a scan, through one of its readers, to the ops that read the outputs
/// of the scan. Tells which parallel loops of the scan these ops still share with it.
class LastValuePaths {
public:
  explicit LastValuePaths(linalg::GenericOp scan) : scan(scan) {
    AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInitOperand(0));
    auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (last && scan.getNumParallelLoops() > 1)
      columns = last.getPosition();
  }

  /// Whether a loop that makes `last`, has `first` and reads what the scan shows would wait for
  /// itself.
  bool needsAllOf(Value last, AffineMap map, Operation *first) {
    loopsOf.clear();
    SmallVector<int> loops;
    for (AffineExpr expr : map.getResults())
      loops.push_back(cast<AffineDimExpr>(expr).getPosition());
    loopsOf[last] = loops;
    if (visit(first))
      return true;
    loopsOf.erase(last);
    for (Operation *op = first->getNextNode(); op; op = op->getNextNode())
      if (visit(op))
        return true;
    return false;
  }

private:
  /// True if `op` reads what the scan shows and has no loop in common with what it comes from.
  bool visit(Operation *op) {
    SmallVector<OpOperand *> from;
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (loopsOf.contains(operand.get()))
          from.push_back(&operand);
    });
    if (from.empty())
      return false;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    SmallVector<int> loops;
    if (generic && llvm::all_of(from, [&](OpOperand *o) { return o->getOwner() == op; }))
      loops = loopsThrough(generic, from);
    bool reads = llvm::is_contained(op->getOperands(), scan.getResult(0));
    if (reads && llvm::none_of(loops, [&](int loop) { return loop >= 0 && loop != columns; }))
      return true;
    for (OpResult result : op->getResults())
      loopsOf[result] = resultLoops(result, loops, from);
    return false;
  }

  /// For each loop of `op` the scan's, or -1.
  SmallVector<int> loopsThrough(linalg::GenericOp op, ArrayRef<OpOperand *> from) {
    constexpr int kAny = -2;
    SmallVector<int> loops(op.getNumLoops(), kAny);
    for (OpOperand *operand : from) {
      SmallVector<int> mine(op.getNumLoops(), -1);
      ArrayRef<int> theirs = loopsOf.find(operand->get())->second;
      for (auto [expr, loop] : llvm::zip(op.getMatchingIndexingMap(operand).getResults(), theirs))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          mine[dim.getPosition()] = loop;
      for (auto [all, one] : llvm::zip(loops, mine))
        all = all == kAny || all == one ? one : -1;
    }
    for (auto [loop, kind] : llvm::zip(loops, op.getIteratorTypesArray()))
      if (kind != utils::IteratorType::parallel)
        loop = -1;
    return loops;
  }

  SmallVector<int> resultLoops(OpResult result, ArrayRef<int> loops, ArrayRef<OpOperand *> from) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    SmallVector<int> dims(type ? type.getRank() : 0, -1);
    Operation *op = result.getOwner();
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && !loops.empty()) {
      AffineMap map = generic.getIndexingMapMatchingResult(result);
      for (auto [dim, expr] : llvm::zip(dims, map.getResults()))
        if (auto plain = dyn_cast<AffineDimExpr>(expr))
          dim = loops[plain.getPosition()];
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      for (auto [group, loop] :
           llvm::zip(expand.getReassociationIndices(), loopsOf.find(from[0]->get())->second))
        if (group.size() == 1)
          dims[group[0]] = loop;
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      for (auto [dim, group] : llvm::zip(dims, collapse.getReassociationIndices()))
        if (group.size() == 1)
          dim = loopsOf.find(from[0]->get())->second[group[0]];
    }
    return dims;
  }

  linalg::GenericOp scan;
  int columns = -1; // the loop along which elements are stored; cannot be the only shared loop
  llvm::DenseMap<Value, SmallVector<int>> loopsOf; // per dim of what depends on the last value
};
} // namespace

/// A reduction beside the scan of the same elements is the scan's last value. Where what the scan
/// shows has to wait for all of them, though, it would be stored meanwhile: both are worked out,
/// the scan in the loop of its readers.
static void takeLast(linalg::GenericOp scan) {
  if (scan->getAttrOfType<StringAttr>("xtensor.scan").getValue() != "forward" ||
      scan.getDpsInputs().empty())
    return;
  for (Operation *user : scan.getDpsInputs()[0].getUsers()) {
    auto reduction = dyn_cast<linalg::GenericOp>(user);
    if (!reduction || reduction == scan || scanOf(reduction) ||
        reduction->getBlock() != scan->getBlock() || !reduction.hasPureTensorSemantics() ||
        !reduction.getNumReductionLoops() || !isLastOf(reduction, scan))
      continue;
    AffineMap map = reduction.getMatchingIndexingMap(reduction.getDpsInitOperand(0));
    bool isSmall = !scan.getNumParallelLoops() || estimateIterations(scan) < cut::kStoredScan;
    LastValuePaths paths(scan);
    for (OpOperand &use : llvm::make_early_inc_range(reduction.getResult(0).getUses())) {
      Operation *reader = scan->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (reader && scan->isBeforeInBlock(reader) &&
          (isSmall || !paths.needsAllOf(reduction.getResult(0), map, reader)))
        use.set(scan.getResult(1));
    }
    if (reduction->use_empty())
      reduction.erase();
    return;
  }
}

namespace {
struct FuseScans : xtensor::impl::FuseScansBase<FuseScans> {
  void runOnOperation() override {
    forEachBlock(getOperation(), [](Block &block) {
      SmallVector<linalg::GenericOp> scans, readers;
      for (auto generic : block.getOps<linalg::GenericOp>())
        (scanOf(generic) ? scans : readers).push_back(generic);
      if (scans.empty())
        return;
      for (linalg::GenericOp reader : readers)
        if (linalg::GenericOp scan = readScan(reader)) {
          llvm::erase(scans, scan);
          takeIn(scan, reader);
        }
      for (linalg::GenericOp scan : scans)
        takeLast(scan);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<linalg::FillOp, tensor::EmptyOp>(op) && isOpTriviallyDead(&op))
          op.erase();
    });
  }
};
} // namespace
