#include "ToLinalg/Ending.h"
#include "XTensor/CallbackOps.h"
#include "XTensor/Endings.h"
#include "llvm/ADT/SetVector.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace xtensor;

/// The switch whose first branch hands on all carries that change; null if there is none.
static SwitchOp takesSteps(ScanOp op) {
  SwitchOp found;
  for (auto [carry, next] : llvm::zip_equal(
           op.getBody()->getArguments().take_front(op.getNumCarries()), op.getYieldedCarries())) {
    if (next == carry)
      continue;
    auto choice = next.getDefiningOp<SwitchOp>();
    if (!choice || choice->getBlock() != op.getBody() || (found && choice != found) ||
        choice.getBranches().size() != 2 ||
        yieldOf(choice.getBranches()[0].front())
                .getValues()[cast<OpResult>(next).getResultNumber()] != carry)
      return {};
    found = choice;
  }
  return found;
}

/// The loops that go over what `op` stacked, and over what those stacked; false if somebody else
/// reads any of it.
static bool collectReaders(ScanOp op, Attribute end, SmallVectorImpl<ScanOp> &readers) {
  for (Value stack : op.getStacked())
    for (OpOperand &use : stack.getUses()) {
      auto reader = dyn_cast<ScanOp>(use.getOwner());
      if (!reader || reader->getBlock() != op->getBlock() || reader->getAttr(kEndsEarly) != end ||
          !llvm::is_contained(reader.getOver(), stack) ||
          llvm::is_contained(reader.getCarry(), stack))
        return false;
      if (llvm::is_contained(readers, reader))
        continue;
      readers.push_back(reader);
      if (!collectReaders(reader, end, readers))
        return false;
    }
  return true;
}

std::optional<Ending> xtensor::endingOf(ScanOp op) {
  Attribute end = op->getAttr(kEndsEarly);
  if (!end || op.getReverse() || !op.getOver().empty())
    return std::nullopt;
  SwitchOp choice = takesSteps(op);
  Ending ending;
  if (!choice || !collectReaders(op, end, ending.readers))
    return std::nullopt;
  ending.choice = choice;
  ending.selector = choice.getSelector();
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> work{ending.selector};
  while (!work.empty()) {
    Operation *made = work.pop_back_val().getDefiningOp();
    if (!made || made->getBlock() != op.getBody() || !slice.insert(made))
      continue;
    if (made->getNumRegions() || !isMemoryEffectFree(made))
      return std::nullopt;
    llvm::append_range(work, made->getOperands());
  }
  for (Operation &inner : *op.getBody()) {
    if (slice.contains(&inner))
      ending.ops.push_back(&inner);
    if (&inner != choice && callsInOrder(&inner)) // the last condition's, too
      return std::nullopt;
  }
  return ending;
}

/// Whether `v`, in the body of a loop that goes over the steps of `op`, is at each of them what
/// `other` is in the body of `op`.
static bool isSameAtStep(Value v, Value other, ScanOp op) {
  if (v == other)
    return true;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto reader = dyn_cast<ScanOp>(arg.getOwner()->getParentOp());
    if (!reader || arg.getArgNumber() < reader.getNumCarries())
      return false;
    Value stack = reader.getOver()[arg.getArgNumber() - reader.getNumCarries()];
    auto from = stack.getDefiningOp<ScanOp>();
    if (!from || from->getAttr(kEndsEarly) != op->getAttr(kEndsEarly))
      return false;
    return isSameAtStep(
        yieldOf(*from.getBody()).getValues()[cast<OpResult>(stack).getResultNumber()], other, op);
  }
  Operation *made = v.getDefiningOp(), *like = other.getDefiningOp();
  if (!like || made->getName() != like->getName() || made->getNumRegions() ||
      made->getAttrDictionary() != like->getAttrDictionary() ||
      made->getResultTypes() != like->getResultTypes() ||
      made->getNumOperands() != like->getNumOperands() || !isMemoryEffectFree(made) ||
      cast<OpResult>(v).getResultNumber() != cast<OpResult>(other).getResultNumber())
    return false;
  return llvm::all_of(llvm::zip_equal(made->getOperands(), like->getOperands()), [&](auto pair) {
    return isSameAtStep(std::get<0>(pair), std::get<1>(pair), op);
  });
}

static void takeStep(SwitchOp choice) {
  Block &step = choice.getBranches()[1].front();
  YieldOp yield = yieldOf(step);
  choice->replaceAllUsesWith(yield.getValues());
  yield.erase();
  choice->getBlock()->getOperations().splice(choice->getIterator(), step.getOperations());
  choice.erase();
}

void xtensor::takeSteps(ScanOp op, const Ending &ending) {
  SmallVector<SwitchOp> known;
  for (ScanOp reader : ending.readers)
    for (auto choice : reader.getBody()->getOps<SwitchOp>())
      if (choice.getBranches().size() == 2 &&
          isSameAtStep(choice.getSelector(), ending.selector, op))
        known.push_back(choice);
  llvm::for_each(known, takeStep);
  takeStep(ending.choice);
}
