// Running combinations take in what reads their values in the same order, and give their last value
// to whoever would work it out again.
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
  bool is = generic && generic->hasAttr("xtensor.scan") && generic->getNumResults() == 2 &&
            generic.hasPureTensorSemantics();
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

/// A reduction beside the scan of the same elements is the scan's last value.
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
    bool later = llvm::all_of(reduction->getUsers(), [&](Operation *reader) {
      Operation *here = scan->getBlock()->findAncestorOpInBlock(*reader);
      return here && scan->isBeforeInBlock(here);
    });
    if (!later)
      continue;
    reduction.getResult(0).replaceAllUsesWith(scan.getResult(1));
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
