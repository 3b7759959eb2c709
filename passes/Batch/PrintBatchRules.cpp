#include "Batch/BatchRules.h"
#include "Batch/Passes.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_PRINTBATCHRULES
#include "Batch/Passes.h.inc"
} // namespace xtensor

namespace {
struct PrintBatchRules : xtensor::impl::PrintBatchRulesBase<PrintBatchRules> {
  void runOnOperation() final {
    if (failed(BatchRules::get().report(getOperation(), "vectorized")))
      signalPassFailure();
  }
};
} // namespace
