// The contract of the linalg phase (see Passes.td).
#include "ToLinalg/Passes.h"
#include "XTensor/XTensor.h"

namespace xtensor {
#define GEN_PASS_DEF_VERIFYLINALG
#include "ToLinalg/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

static bool isNamed(Type type) { return isa<ArrayType, LinearType>(type); }

static StringRef likelyCause(Operation *op) {
  if (isa<PullbackOp, PushforwardOp, LinearOp, TransposedOp, ApplyOp>(op))
    return "a derivative that was not expanded: run the `differentiated` phase first";
  if (isa<XTensorDialect>(op->getDialect()))
    return "xtensor-to-linalg did not run, or the op came up after it";
  return "an op of another dialect took an array; only functions, calls and returns may";
}

namespace {
struct VerifyLinalgPass : xtensor::impl::VerifyLinalgBase<VerifyLinalgPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      bool named = (isa_and_nonnull<XTensorDialect>(op->getDialect()) &&
                    !isa<LibraryOp, ElementaryOp>(op)) ||
                   llvm::any_of(op->getOperandTypes(), isNamed) ||
                   llvm::any_of(op->getResultTypes(), isNamed);
      if (auto func = dyn_cast<func::FuncOp>(op))
        named |= llvm::any_of(func.getArgumentTypes(), isNamed) ||
                 llvm::any_of(func.getResultTypes(), isNamed);
      if (!named)
        return WalkResult::advance();
      op->emitError() << "'" << op->getName()
                      << "' is left in the linalg phase: " << likelyCause(op);
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
