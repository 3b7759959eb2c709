#include "Autodiff/Passes.h"
#include "Autodiff/Rules.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_PRINTRULES
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

namespace {
struct PrintRules : xtensor::impl::PrintRulesBase<PrintRules> {
  void runOnOperation() final {
    Rules::get().print(llvm::outs());
    for (const std::string &name : Rules::get().missing(&getContext())) {
      getOperation()->emitError() << "xtensor." << name << " is in no table of derivative rules";
      signalPassFailure();
    }
  }
};
} // namespace
