// Writes the choices of the schedule table on linalg ops and foralls, as the
// discardable attribute `xtensor.schedule`. Nothing else changes: a back end
// that ignores the attribute is slower, never wrong.

#include "Group/LinalgKinds.h"
#include "Schedule/Passes.h"
#include "Schedule/ScheduleTable.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace xtensor {
#define GEN_PASS_DEF_SCHEDULE
#include "Schedule/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

constexpr llvm::StringLiteral kAttribute = "xtensor.schedule";

/// The loop that walks memory element by element: the one that most operands have last, and no
/// operand has elsewhere; -1 if no loop does.
int64_t contiguousLoop(linalg::GenericOp op) {
  unsigned numLoops = op.getNumLoops();
  SmallVector<int> last(numLoops), elsewhere(numLoops);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [k, expr] : llvm::enumerate(map.getResults()))
      for (unsigned loop = 0; loop < numLoops; ++loop) {
        if (!expr.isFunctionOfDim(loop))
          continue;
        bool isLast = k + 1 == map.getNumResults() && isa<AffineDimExpr>(expr);
        ++(isLast ? last : elsewhere)[loop];
      }
  }
  int64_t best = -1;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (last[loop] && !elsewhere[loop] && (best < 0 || last[loop] >= last[best]))
      best = loop;
  if (best >= 0)
    return best;
  // A transposed operand: what is written is contiguous, what is read is not.
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (out.getNumResults())
    if (auto dim = dyn_cast<AffineDimExpr>(out.getResults().back()))
      return dim.getPosition();
  return -1;
}

Kind kindOf(linalg::GenericOp op, int64_t vector) {
  if (isGemm(op))
    return Kind::Contraction;
  if (op.getNumReductionLoops()) {
    if (!reductionCombiner(op) || vector < 0)
      return Kind::Other;
    return op.getIteratorTypesArray()[vector] == utils::IteratorType::reduction
               ? Kind::RowReduction
               : Kind::ColumnReduction;
  }
  return hasExpensiveBody(op) ? Kind::Math : Kind::Elementwise;
}

struct SchedulePass : xtensor::impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    const ScheduleTable *table = ScheduleTable::of(target);
    if (!table) {
      getOperation()->emitError() << "no schedules for target '" << target << "'";
      return signalPassFailure();
    }
    getOperation()->walk([&](Operation *op) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        schedule(generic, *table);
      else if (auto forall = dyn_cast<scf::ForallOp>(op))
        schedule(forall, *table);
    });
  }

  void schedule(linalg::GenericOp op, const ScheduleTable &table) {
    Builder b(op);
    int64_t vector = contiguousLoop(op);
    Kind kind = kindOf(op, vector);
    Schedule found = table.find(kind, getElementTypeOrSelf(op.getDpsInits()[0].getType()));
    SmallVector<NamedAttribute> fields = {b.getNamedAttr("kind", b.getStringAttr(toString(kind)))};
    bool isPlain = llvm::all_of(op.getIndexingMapsArray(),
                                [](AffineMap map) { return map.isProjectedPermutation(); });
    if (!found.library.empty() && isPlain && estimateIterations(op) >= found.libraryWork) {
      fields.push_back(b.getNamedAttr("library", b.getStringAttr(found.library)));
    } else {
      fields.push_back(b.getNamedAttr("unroll", b.getI64IntegerAttr(found.unroll)));
      fields.push_back(b.getNamedAttr("vector", b.getI64IntegerAttr(vector)));
    }
    op->setDiscardableAttr(kAttribute, b.getDictionaryAttr(fields));
  }

  /// Iterations per chunk, so that a chunk is worth a thread's while.
  void schedule(scf::ForallOp forall, const ScheduleTable &table) {
    Amount work = 1;
    if (auto known = forall->getAttrOfType<IntegerAttr>("xtensor.work"))
      work = known.getInt();
    for (linalg::LinalgOp op : forall.getBody()->getOps<linalg::LinalgOp>())
      work += workOf(op);
    int64_t grain = std::max<int64_t>(1, divideUp(table.grainWork(), work).count());
    Builder b(forall);
    NamedAttribute field = b.getNamedAttr("grain", b.getI64IntegerAttr(grain));
    forall->setDiscardableAttr(kAttribute, b.getDictionaryAttr(field));
  }
};

} // namespace
