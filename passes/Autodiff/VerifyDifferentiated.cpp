#include "Autodiff/Passes.h"
#include "Autodiff/Rules.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_VERIFYDIFFERENTIATED
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

namespace {
struct VerifyDifferentiated : xtensor::impl::VerifyDifferentiatedBase<VerifyDifferentiated> {
  void runOnOperation() final {
    getOperation()->walk([&](Operation *op) {
      if (!isRequest(op) && !isa<CheckpointOp, CustomDerivativeOp, SizedOp, StopGradientOp>(op))
        return;
      op->emitOpError("survived differentiation");
      signalPassFailure();
    });
  }
};
} // namespace
