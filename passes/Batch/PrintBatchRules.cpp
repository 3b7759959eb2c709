#include "Batch/BatchRules.h"
#include "Batch/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_PRINTBATCHRULES
#include "Batch/Passes.h.inc"
} // namespace xtensor

namespace {
struct PrintBatchRules : xtensor::impl::PrintBatchRulesBase<PrintBatchRules> {
  void runOnOperation() final {
    BatchRules::get().print(llvm::outs());
    for (StringRef name : BatchRules::get().missing(&getContext())) {
      getOperation()->emitError() << name << " is not in the table of how ops are vectorized";
      signalPassFailure();
    }
  }
};
} // namespace
