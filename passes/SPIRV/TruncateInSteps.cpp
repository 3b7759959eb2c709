// xtensor-truncate-in-steps: float64 to bfloat16 by way of float32, rounded once.
#include "Functions/RoundToOdd.h"
#include "SPIRV/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace xtensor {
#define GEN_PASS_DEF_TRUNCATEINSTEPS
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {
struct TruncateInStepsPass : xtensor::impl::TruncateInStepsBase<TruncateInStepsPass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::TruncFOp op) {
      if (!op.getIn().getType().isF64() || !op.getType().isBF16())
        return;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.getInMutable().assign(emitRoundToOdd(b, op.getIn()));
    });
  }
};
} // namespace
