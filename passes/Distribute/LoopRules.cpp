// Ops with regions. All processes take the same branches and steps: what decides them is a number
// without dims, which every process has.
#include "Distribute/Distributor.h"

using namespace mlir;
using namespace xtensor;

static void setResults(Operation *op, ArrayRef<ArrayType> types) {
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    result.setType(type);
}

static LogicalResult regions(Distributor &t, Operation *op) {
  OpBuilder::InsertionGuard guard(t.b);
  for (Region &region : op->getRegions())
    if (failed(t.setArguments(region.front(), op)) || failed(t.run(region.front())))
      return failure();
  return success();
}

/// Regions yield parts, as the op's results are.
static LogicalResult byParts(Distributor &t, Operation *op) {
  auto wanted = t.wantedOf(op);
  if (failed(wanted) || failed(regions(t, op)))
    return failure();
  setResults(op, *wanted);
  return success();
}

/// The steps follow each other, so every process takes all of them.
static LogicalResult scan(Distributor &t, Operation *o) {
  auto op = cast<ScanOp>(o);
  StringAttr dim = op.getDimAttr();
  auto wanted = t.wantedOf(op);
  if (failed(wanted))
    return failure();
  for (OpOperand &operand : op.getOverMutable())
    operand.set(t.whole(operand.get(), {dim}));
  if (failed(regions(t, op)))
    return failure();
  SmallVector<ArrayType> types(*wanted);
  // Stacks have the steps of all processes; a carry that has the dim is a part like any other.
  size_t carries = op.getCarry().size();
  for (auto [type, result] : llvm::drop_begin(llvm::zip_equal(types, op.getResults()), carries))
    if (type.hasDim(dim))
      type = withSize(type, dim, t.wholeOf(result).getSize(dim));
  setResults(op, types);
  t.takeParts(op, *wanted);
  return success();
}

void xtensor::addLoopDistributeRules(DistributeRules &rules) {
  rules.add<ScanOp>(scan, "whole along its dim, each process takes all steps");
  rules.add<SwitchOp>(byParts, "all processes take one branch");
  rules.add<WhileOp>(byParts, "all processes take the same steps");
}
