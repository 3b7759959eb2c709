#include "GPU/Epilogue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace xtensor::gpu;

static Value rootOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

static bool isArgumentOfFunction(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Whether two roots may be the same memory. Arguments of functions are memory of their own each,
/// those of loops may be anything that was there before.
static bool mayBeSame(Value x, Value y) {
  if (x == y)
    return true;
  auto isApart = [](Value fresh, Value other) {
    if (!fresh.getDefiningOp<memref::AllocOp>())
      return false;
    if (other.getDefiningOp<memref::AllocOp>() || other.getDefiningOp<memref::GetGlobalOp>() ||
        isArgumentOfFunction(other))
      return true;
    auto argument = dyn_cast<BlockArgument>(other);
    return argument && argument.getOwner()->findAncestorOpInBlock(*fresh.getDefiningOp());
  };
  auto isOutside = [](Value v) {
    return isArgumentOfFunction(v) || v.getDefiningOp<memref::GetGlobalOp>();
  };
  return !isApart(x, y) && !isApart(y, x) && !(isOutside(x) && isOutside(y));
}

bool xtensor::gpu::mayShareMemory(Value x, Value y) { return mayBeSame(rootOf(x), rootOf(y)); }

/// The operation that reads the product next, with nothing in between that it could notice.
static linalg::GenericOp readerOf(linalg::GenericOp product) {
  SmallVector<linalg::FillOp> fills;
  for (Operation *op = product->getNextNode(); op; op = op->getNextNode()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (linalg::FillOp fill : fills)
        for (Value operand : generic->getOperands())
          if (isa<MemRefType>(operand.getType()) && mayShareMemory(fill.getOutputs()[0], operand))
            return {};
      return generic;
    }
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      for (Value operand : product->getOperands())
        if (mayShareMemory(fill.getOutputs()[0], operand))
          return {};
      fills.push_back(fill);
    } else if (!isa<memref::AllocOp, ViewLikeOpInterface>(op) && !isPure(op)) {
      return {};
    }
  }
  return {};
}

/// Whether anything but the product, what it starts from and `reader` looks at this memory.
static bool hasOthers(Value sums, linalg::GenericOp product, linalg::GenericOp reader) {
  if (!sums.getDefiningOp<memref::AllocOp>())
    return true;
  return llvm::any_of(sums.getUsers(), [&](Operation *user) {
    bool before = isa<linalg::FillOp>(user) && user->getBlock() == product->getBlock() &&
                  user->isBeforeInBlock(product);
    return user != product && user != reader && !before;
  });
}

std::optional<Epilogue> Epilogue::of(linalg::GenericOp product) {
  linalg::GenericOp op = readerOf(product);
  if (!op || op.getNumReductionLoops() || op.hasIndexSemantics() ||
      // What it looks up elsewhere may be what other workgroups have not stored yet.
      !llvm::all_of(op.getRegion().front().without_terminator(),
                    [](Operation &inner) { return isPure(&inner); }))
    return std::nullopt;
  Value sums = product.getDpsInits()[0];
  AffineMap place = product.getIndexingMapsArray()[2]; // from the product's loops
  Epilogue result{op, 0, false, {}, {}};
  bool reads = false;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand->get() == sums) {
      if (reads)
        return std::nullopt;
      reads = true;
      result.sum = operand->getOperandNumber();
    }
  if (!reads)
    return std::nullopt;
  AffineMap readAt = op.getIndexingMapsArray()[result.sum];
  if (!readAt.isPermutation() || readAt.getNumDims() != place.getNumResults())
    return std::nullopt;
  // Its loops are those of the product that the output has.
  AffineMap loops = inversePermutation(readAt).compose(place);
  bool inPlace = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isOut = op.isDpsInit(&operand);
    if (type && !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return std::nullopt;
    if (isOut) {
      if (!map.isPermutation() || !op.getMatchingBlockArgument(&operand).use_empty())
        return std::nullopt;
      for (Value factor : product.getDpsInputs())
        if (mayShareMemory(operand.get(), factor))
          return std::nullopt;
      bool same = operand.get() == sums && map == readAt;
      if (!same && mayShareMemory(operand.get(), sums))
        return std::nullopt;
      inPlace |= same;
    } else if (type && operand.get() != sums && mayShareMemory(operand.get(), sums)) {
      return std::nullopt;
    }
    // The sums themselves are in registers.
    bool inMemory = type && (isOut || operand.get() != sums);
    (isOut ? result.writes : result.reads)
        .push_back(inMemory ? Beside{operand.get(), map.compose(loops)} : Beside{});
  }
  result.keepsSums = !inPlace && hasOthers(sums, product, op);
  return result;
}
