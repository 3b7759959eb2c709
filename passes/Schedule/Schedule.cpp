// Writes on each parallel loop how many iterations one chunk has at least, as the discardable
// attribute `xtensor.grain`.

#include "Schedule/Grain.h"
#include "Schedule/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace xtensor {
#define GEN_PASS_DEF_SCHEDULE
#include "Schedule/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

Amount xtensor::grainFor(Amount work) { return std::max<Amount>(1, divideUp(kWorkOfChunk, work)); }

namespace {

struct SchedulePass : xtensor::impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    getOperation()->walk([](scf::ForallOp forall) {
      Amount work = 1;
      if (auto known = forall->getAttrOfType<IntegerAttr>(kWorkAttribute))
        work = known.getInt();
      for (linalg::LinalgOp op : forall.getBody()->getOps<linalg::LinalgOp>())
        work += workOf(op);
      Builder b(forall);
      forall->setDiscardableAttr(kGrainAttribute, b.getI64IntegerAttr(grainFor(work).count()));
    });
  }
};

} // namespace
