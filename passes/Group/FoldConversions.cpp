// xtensor-fold-conversions: matrix products read narrow numbers and widen them themselves.
#include "Group/LinalgKinds.h"
#include "Group/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xtensor {
#define GEN_PASS_DEF_FOLDCONVERSIONS
#include "Group/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

/// The op that widens each element of its one input, if that is what `op` does.
static Operation *wideningOf(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() || op.hasIndexSemantics() ||
      !isa<RankedTensorType>(op.getDpsInputs()[0].getType()) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isProjectedPermutation())
    return nullptr;
  Block &body = op.getRegion().front();
  Operation *widen = body.getTerminator()->getOperand(0).getDefiningOp();
  bool all = widen && isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(widen) &&
             widen->getOperand(0) == body.getArgument(0) && body.getOperations().size() == 2;
  return all ? widen : nullptr;
}

/// An elementwise operation that widens what it has computed, for products alone, computes it as
/// it is, and another one widens it: a gradient's factors, say, that are float16 and no argument.
static void splitWidening(linalg::GenericOp op) {
  if (!op || wideningOf(op) || !op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() || op->use_empty() ||
      !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty() ||
      !llvm::all_of(op->getUsers(), [](Operation *user) {
        auto product = dyn_cast<linalg::GenericOp>(user);
        return product && isGemm(product);
      }))
    return;
  Operation *yield = op.getRegion().front().getTerminator();
  Operation *widen = yield->getOperand(0).getDefiningOp();
  if (!widen || !isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(widen))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value wide = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(wide.getType());
  Type element = widen->getOperand(0).getType();
  Value narrow = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, wide), element);
  op.getDpsInitsMutable()[0].set(narrow);
  op->getResult(0).setType(narrow.getType());
  op.getRegion().front().getArguments().back().setType(element);
  yield->setOperand(0, widen->getOperand(0));
  b.setInsertionPointAfter(op);
  AffineMap same = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto widened =
      linalg::GenericOp::create(b, loc, type, op->getResult(0), wide, {same, same}, loops,
                                [&](OpBuilder &inner, Location at, ValueRange arguments) {
                                  Operation *again = inner.clone(*widen);
                                  again->setOperand(0, arguments[0]);
                                  linalg::YieldOp::create(inner, at, again->getResults());
                                });
  op->getResult(0).replaceAllUsesExcept(widened.getResult(0), widened);
  if (widen->use_empty())
    widen->erase();
}

static void fold(linalg::GenericOp product) {
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  Block &body = product.getRegion().front();
  OpBuilder b(product.getContext());
  for (OpOperand *operand : product.getDpsInputOperands()) {
    splitWidening(operand->get().getDefiningOp<linalg::GenericOp>());
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    Operation *widen = wideningOf(producer);
    if (!widen)
      continue;
    unsigned i = operand->getOperandNumber();
    maps[i] = producer.getMatchingIndexingMap(producer.getDpsInputOperand(0)).compose(maps[i]);
    operand->set(producer.getDpsInputs()[0]);
    BlockArgument argument = body.getArgument(i);
    Type wide = argument.getType();
    argument.setType(widen->getOperand(0).getType());
    b.setInsertionPointToStart(&body);
    Operation *again = b.clone(*widen);
    again->setOperand(0, argument);
    again->getResult(0).setType(wide);
    argument.replaceAllUsesExcept(again->getResult(0), again);
    if (producer.use_empty())
      producer.erase();
  }
  product.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

namespace {
struct FoldConversionsPass : xtensor::impl::FoldConversionsBase<FoldConversionsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && isGemm(op))
        products.push_back(op);
    });
    for (linalg::GenericOp op : products)
      fold(op);
  }
};
} // namespace
