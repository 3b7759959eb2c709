#include "Distribute/DistributeRules.h"
#include "Distribute/Passes.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_PRINTDISTRIBUTERULES
#include "Distribute/Passes.h.inc"
} // namespace xtensor

namespace {
struct PrintDistributeRules : xtensor::impl::PrintDistributeRulesBase<PrintDistributeRules> {
  void runOnOperation() final {
    if (failed(DistributeRules::get().report(getOperation(), "distributed")))
      signalPassFailure();
  }
};
} // namespace
