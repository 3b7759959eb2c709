#include "Distribute/CombineReductions.h"
#include "Distribute/Distributor.h"
#include "Distribute/Order.h"
#include "Distribute/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <map>

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_DISTRIBUTE
#include "Distribute/Passes.h.inc"
} // namespace xtensor

/// The sum across processes that only `user` reads.
static AllReduceOp sumFor(AddOp user, Value v) {
  auto sum = v.getDefiningOp<AllReduceOp>();
  bool isOwn = sum && sum->hasOneUse() && sum->getBlock() == user->getBlock();
  return isOwn && sum.getKind() == ReduceKind::sum ? sum : AllReduceOp();
}

/// Adds the operands of two sums across the same processes before they are sent: the gradient of an
/// array that several contractions read is a sum of such sums. Returns whether it did.
static bool joinSums(AddOp add, unsigned place) {
  AllReduceOp sum = sumFor(add, add->getOperand(place));
  if (!sum)
    return false;
  Value rest, beside = add->getOperand(1 - place);
  AllReduceOp other = sumFor(add, beside);
  auto inner = beside.getDefiningOp<AddOp>();
  if (inner && inner->hasOneUse() && inner->getBlock() == add->getBlock())
    for (unsigned i = 0; i < 2 && !other; ++i) {
      other = sumFor(inner, inner->getOperand(i));
      rest = inner->getOperand(1 - i);
    }
  bool isAlike = other && other->getOperandTypes() == sum->getOperandTypes() &&
                 other.getCommunicator() == sum.getCommunicator();
  if (!isAlike)
    return false;
  OpBuilder b(add);
  Location loc = add.getLoc();
  Value joined = AddOp::create(b, loc, other.getXs().front(), sum.getXs().front());
  joined = AllReduceOp::create(b, loc, ReduceKind::sum, ValueRange(joined), sum.getAxis(),
                               sum.getCommunicator())
               .getResult(0);
  if (rest)
    joined = AddOp::create(b, loc, rest, joined);
  if (joined.getType() != add.getType()) // the dims in another order
    joined = BroadcastOp::create(b, loc, add.getType(), joined, ValueRange());
  add->replaceAllUsesWith(ValueRange(joined));
  add->erase();
  if (rest)
    inner->erase();
  other->erase();
  sum->erase();
  return true;
}

static void joinSums(func::FuncOp func) {
  SmallVector<AddOp> adds;
  func.walk([&](AddOp add) { adds.push_back(add); });
  for (AddOp add : adds)
    if (!joinSums(add, 0))
      joinSums(add, 1);
}

/// Processes whose parts differ in size compile different programs, which must run the same
/// collectives. So later passes must not merge two of them in only one process, as where both send
/// an empty part. Only those that have the same operands here get one number.
static void numberCollectives(func::FuncOp func) {
  std::map<std::tuple<SmallVector<void *>, Block *, void *, void *>, int64_t> numbers;
  Builder b(func.getContext());
  func.walk([&](Operation *op) {
    if (!isa<AllGatherOp, AllReduceOp, AllToAllOp, HaloOp>(op))
      return;
    SmallVector<void *> operands;
    for (Value x : op->getOperands())
      operands.push_back(x.getAsOpaquePointer());
    void *name = op->getName().getAsOpaquePointer();
    auto key =
        std::make_tuple(std::move(operands), op->getBlock(),
                        const_cast<void *>(op->getAttrDictionary().getAsOpaquePointer()), name);
    int64_t next = static_cast<int64_t>(numbers.size());
    int64_t number = numbers.try_emplace(key, next).first->second;
    op->setAttr(kOrderAttr, b.getI64IntegerAttr(number));
  });
}

/// Whether parts may differ in size.
static bool isUneven(func::FuncOp func) {
  auto mesh = func->getAttrOfType<DictionaryAttr>(kMeshAttr);
  return mesh && llvm::any_of(mesh, [](NamedAttribute dim) {
           auto numbers = dyn_cast<DenseI64ArrayAttr>(dim.getValue());
           return numbers && numbers.size() == 3;
         });
}

namespace {
struct Distribute : xtensor::impl::DistributeBase<Distribute> {
  LogicalResult initialize(MLIRContext *context) final {
    cleanup = OpPassManager(ModuleOp::getOperationName());
    cleanup.addPass(createCanonicalizerPass());
    cleanup.addPass(createCSEPass());
    return success();
  }

  void runOnOperation() final {
    bool changed = false;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (!func->hasAttr(kMeshAttr) || func.isDeclaration())
        continue;
      changed = true;
      bool isNumbered = isUneven(func);
      if (failed(Distributor(func).run()))
        return signalPassFailure();
      joinSums(func);
      combineReductions(func);
      if (isNumbered)
        numberCollectives(func);
    }
    // A program without a mesh pays nothing.
    if (!changed)
      return markAllAnalysesPreserved();
    if (failed(runPipeline(cleanup, getOperation())))
      signalPassFailure();
  }

  OpPassManager cleanup;
};
} // namespace

void xtensor::buildDistributePipeline(OpPassManager &pm) { pm.addPass(createDistribute()); }
