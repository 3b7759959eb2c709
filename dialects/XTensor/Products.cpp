// Which products are fused with a sum. The one place that decides it.
#include "XTensor/Products.h"

#include "XTensor/Dims.h"

using namespace mlir;
using namespace xtensor;

SmallVector<MulOp, 2> xtensor::productsOf(Operation *sum) {
  SmallVector<MulOp, 2> products;
  if (!isa<AddOp, SubOp>(sum))
    return products;
  ArrayType type = arrayType(sum->getResult(0));
  // Halves are rounded after each op.
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return products;
  for (Value operand : sum->getOperands()) {
    auto product = operand.getDefiningOp<MulOp>();
    // What has fewer dims is computed once, not for each element of the sum.
    if (product && product->getBlock() == sum->getBlock() &&
        arrayType(operand).getRank() == type.getRank())
      products.push_back(product);
  }
  return products;
}

MulOp xtensor::fusedProduct(Operation *sum) {
  SmallVector<MulOp, 2> products = productsOf(sum);
  if (products.size() != 1)
    return {};
  // The loop of updates multiplies the states that it finds, and stores the products alone.
  auto isState = [](Value factor) { return factor.getDefiningOp<AccumulateOp>() != nullptr; };
  return llvm::any_of(products.front()->getOperands(), isState) ? MulOp() : products.front();
}

MulOp xtensor::markedProduct(Operation *sum) {
  auto operand = sum->getAttrOfType<IntegerAttr>(kFusedAttr);
  return operand ? sum->getOperand(operand.getInt()).getDefiningOp<MulOp>() : MulOp();
}
