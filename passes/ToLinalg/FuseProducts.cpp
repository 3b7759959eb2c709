// xtensor-fuse-products: marks the sums that take a product as it is, without rounding it.
#include "ToLinalg/Passes.h"
#include "XTensor/Products.h"

namespace xtensor {
#define GEN_PASS_DEF_FUSEPRODUCTS
#include "ToLinalg/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {
struct FuseProductsPass : xtensor::impl::FuseProductsBase<FuseProductsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (getOperation()->removeAttr(kUnfusedAttr))
      return;
    Builder b(&getContext());
    getOperation().walk([&](Operation *op) {
      if (MulOp product = fusedProduct(op))
        op->setAttr(kFusedAttr, b.getI64IntegerAttr(op->getOperand(0) == product ? 0 : 1));
    });
  }
};
} // namespace
