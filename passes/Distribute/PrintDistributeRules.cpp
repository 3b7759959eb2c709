#include "Distribute/DistributeRules.h"
#include "Distribute/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_PRINTDISTRIBUTERULES
#include "Distribute/Passes.h.inc"
} // namespace xtensor

namespace {
struct PrintDistributeRules : xtensor::impl::PrintDistributeRulesBase<PrintDistributeRules> {
  void runOnOperation() final {
    DistributeRules::get().print(llvm::outs());
    for (StringRef name : DistributeRules::get().missing(&getContext())) {
      getOperation()->emitError() << name << " is not in the table of how ops are distributed";
      signalPassFailure();
    }
  }
};
} // namespace
