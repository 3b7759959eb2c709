// Results of a function become buffers of the caller.
#include "Buffers/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace xtensor {
#define GEN_PASS_DEF_OUTPARAMS
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// The allocation that `value` shows as a whole, row-major; null if it shows anything else.
memref::AllocOp wholeAllocation(Value value) {
  while (true) {
    if (auto alloc = value.getDefiningOp<memref::AllocOp>())
      return alloc;
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op) ||
        !cast<MemRefType>(op->getOperand(0).getType()).getLayout().isIdentity())
      return {};
    value = op->getOperand(0);
  }
}

struct OutParamsPass : xtensor::impl::OutParamsBase<OutParamsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration() || func->hasAttr("xtensor.inputs"))
      return;
    auto returnOp = dyn_cast<func::ReturnOp>(func.getBody().back().getTerminator());
    if (!returnOp || !func.getBody().hasOneBlock()) {
      func.emitError("a function of several blocks, where control flow is ops of scf");
      return signalPassFailure();
    }
    unsigned inputs = func.getNumArguments();
    SmallPtrSet<Operation *, 8> taken;
    OpBuilder b(func.getContext());
    for (auto [i, result] : llvm::enumerate(returnOp.getOperands())) {
      auto type = dyn_cast<MemRefType>(result.getType());
      if (!type || !type.getLayout().isIdentity()) {
        returnOp.emitError("result ") << i << " is not a row-major buffer";
        return signalPassFailure();
      }
      DictionaryAttr attrs = func.getResultAttrDict(i);
      if (failed(func.insertArgument(func.getNumArguments(), type,
                                     attrs ? attrs : b.getDictionaryAttr({}), result.getLoc())))
        return signalPassFailure();
      if (attrs && attrs.contains(kReusedAttr))
        continue; // the caller passes the argument's memory for both
      Value out = func.getArguments().back();
      memref::AllocOp alloc = wholeAllocation(result);
      if (!alloc || alloc->getBlock() != &func.getBody().front() || !taken.insert(alloc).second) {
        b.setInsertionPoint(returnOp);
        // Of the op that gives the result, for profiles; an argument has no line.
        Location loc = result.getDefiningOp() ? result.getLoc() : returnOp.getLoc();
        memref::CopyOp::create(b, loc, result, out);
        continue;
      }
      b.setInsertionPoint(alloc);
      alloc.replaceAllUsesWith(asType(b, alloc, out));
      alloc.erase();
    }
    while (func.getNumResults())
      if (failed(func.eraseResult(0)))
        return signalPassFailure();
    returnOp->setOperands({});
    func->setAttr("xtensor.inputs", b.getI64IntegerAttr(inputs));
  }

  /// The out parameter with the type, and the dynamic sizes, of the allocation that it replaces.
  static Value asType(OpBuilder &b, memref::AllocOp alloc, Value out) {
    MemRefType type = alloc.getType();
    if (type.hasStaticShape() && type == out.getType())
      return out;
    Location loc = alloc.getLoc();
    SmallVector<OpFoldResult> sizes = alloc.getMixedSizes(), strides(type.getRank());
    OpFoldResult stride = b.getIndexAttr(1);
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      strides[d] = stride;
      stride = getAsOpFoldResult(
          b.createOrFold<arith::MulIOp>(loc, getValueOrCreateConstantIndexOp(b, loc, stride),
                                        getValueOrCreateConstantIndexOp(b, loc, sizes[d])));
    }
    return memref::ReinterpretCastOp::create(b, loc, type, out, OpFoldResult(b.getIndexAttr(0)),
                                             sizes, strides);
  }
};

} // namespace
