// Names become axes (see Passes.td): each function is walked once, in order, and every op is
// handed to its family.
#include "ToLinalg/Lowering.h"
#include "ToLinalg/Passes.h"
#include "XTensor/Dims.h"
#include "XTensor/Fault.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace xtensor {
#define GEN_PASS_DEF_TOLINALG
#include "ToLinalg/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

static bool isArray(Value value) { return isa<ArrayType>(value.getType()); }

/// What the op family needs of a contract is made by xtensor-decompose-contract.
static bool isPair(ContractOp op) {
  if (op.getInputs().size() != 2)
    return false;
  return llvm::all_of(op.getInputs(), [&](Value input) {
    return llvm::all_of(op.getOver(), [&](Attribute dim) { return arrayType(input).hasDim(dim); });
  });
}

static void lowerCall(func::CallOp op, Lowering &to) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(isArray(operand) ? to.tensor(operand) : operand);
  auto call = func::CallOp::create(to.b, to.loc(), op.getCallee(),
                                   convertTypes(op.getResultTypes()), operands);
  for (auto [before, after] : llvm::zip_equal(op.getResults(), call.getResults())) {
    if (!isArray(before)) {
      before.replaceAllUsesWith(after);
      continue;
    }
    to.setTensor(before, after);
    to.noteSizes(after, arrayType(before));
  }
}

static LogicalResult lower(Operation *op, Lowering &to) {
  if (op->hasTrait<trait::Elementwise>()) {
    // Identities have the trait for its types alone.
    if (auto stop = dyn_cast<StopGradientOp>(op))
      to.set(stop.getY(), to.view(stop.getX()));
    else if (auto select = dyn_cast<SelectOp>(op); !select || !lowerShift(select, to))
      lowerElementwise(op, to);
    return success();
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return lowerReduce(reduce, to), success();
  if (auto cumulative = dyn_cast<CumulativeOp>(op))
    return lowerCumulative(cumulative, to), success();
  if (auto recurrence = dyn_cast<RecurrenceOp>(op))
    return lowerRecurrence(recurrence, to), success();
  if (auto window = dyn_cast<WindowOp>(op))
    return lowerWindow(window, to), success();
  if (auto overlapAdd = dyn_cast<OverlapAddOp>(op))
    return lowerOverlapAdd(overlapAdd, to), success();
  if (auto contract = dyn_cast<ContractOp>(op)) {
    if (!isPair(contract))
      return op->emitError("contract: only pairs that share what is summed have a lowering; run "
                           "xtensor-decompose-contract before xtensor-to-linalg");
    return lowerContract(contract, to), success();
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    if (!isPartOfShift(gather, to) && !lowerRoll(gather, to) && !lowerSort(gather, to))
      lowerGather(gather, to);
    return success();
  }
  if (auto argsort = dyn_cast<ArgsortOp>(op)) {
    if (!lowerSmallSort(argsort, to))
      lowerArgsort(argsort, to);
    return success();
  }
  if (auto fourier = dyn_cast<FourierOp>(op))
    return lowerFourier(fourier, to), success();
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    return lowerAccumulate(accumulate, to), success();
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    if (!lowerShiftBack(scatter, to))
      lowerScatter(scatter, to);
    return success();
  }
  if (auto callback = dyn_cast<CallbackOp>(op))
    return lowerCallback(callback, to), success();
  if (succeeded(lowerFactors(op, to)))
    return success();
  if (succeeded(lowerCollective(op, to)))
    return success();
  if (succeeded(lowerShape(op, to)))
    return success();
  return op->emitError() << "'" << op->getName() << "' has no lowering to linalg; if it is part "
                         << "of a derivative, xtensor-inline-derivatives should have expanded it";
}

/// More elements than any memory has, so that bytes and places of fewer are numbers of 64 bits.
static constexpr int64_t kTooMany = int64_t(1) << 59;

/// Whether the sizes that are known have a product below that.
static bool isAddressable(ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return true;
  int64_t product = 1;
  for (int64_t size : sizes)
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(product, size, product) || product >= kTooMany))
      return false;
  return true;
}

/// Of what an op gives, and of the loops of a contract, which has dims that the result lacks.
static LogicalResult checkSizes(Operation *op) {
  for (Type type : op->getResultTypes())
    if (auto array = dyn_cast<ArrayType>(type); array && !isAddressable(array.getShape()))
      return op->emitOpError("gives an array (")
             << Fault::Size << describeDims(array) << ") that is larger than the address space";
  auto contract = dyn_cast<ContractOp>(op);
  if (!contract)
    return success();
  llvm::SmallMapVector<StringAttr, int64_t, 8> loops;
  for (Value input : contract.getInputs())
    for (auto [name, size] :
         llvm::zip_equal(arrayType(input).getDimNames(), arrayType(input).getShape()))
      loops.insert({name, size});
  if (isAddressable(llvm::to_vector(llvm::make_second_range(loops))))
    return success();
  return op->emitOpError("has more products than the address space has bytes") << Fault::Size;
}

static LogicalResult lowerBlock(Block &block, Lowering &to, SmallVectorImpl<Operation *> &dead) {
  SmallVector<Operation *> old;
  for (Operation &op : block)
    old.push_back(&op);
  for (Operation *op : old) {
    to.at(op);
    if (failed(checkSizes(op)))
      return failure();
    if (to.lowered.contains(op)) {
      dead.push_back(op);
      continue;
    }
    if (isa<ScanOp, SwitchOp, WhileOp>(op)) {
      // Before what its regions hold: in the end users go first.
      dead.push_back(op);
      if (failed(lowerControl(op, to, [&](Block &body) { return lowerBlock(body, to, dead); })))
        return failure();
      continue;
    }
    if (isa<YieldOp>(op)) {
      dead.push_back(op);
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      lowerCall(call, to);
    } else if (op->hasTrait<OpTrait::IsTerminator>()) {
      for (OpOperand &operand : op->getOpOperands())
        if (isArray(operand.get()))
          operand.set(to.tensor(operand.get()));
      continue;
    } else if (!isa<XTensorDialect>(op->getDialect()) || isa<LibraryOp, ElementaryOp>(op)) {
      continue;
    } else if (failed(lower(op, to))) {
      return failure();
    }
    dead.push_back(op);
  }
  return success();
}

static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    if (!isa<linalg::LinalgOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          eraseUnused(inner);
  }
}

static LogicalResult lowerFunction(func::FuncOp func, ArrayAttr &sites,
                                   const ToLinalgOptions &options) {
  convertSignature(func);
  if (func.isExternal())
    return success();
  if (!func.getBody().hasOneBlock())
    return func.emitError("expected a function with one block");
  Block &body = func.getBody().front();
  Lowering to(func, sites);
  to.updateBlocks = options.updateBlocks;
  to.atomicBits = options.atomicBits;
  to.inOrder = options.inOrder;
  to.bfloat16Products = options.bfloat16Products;
  to.b.setInsertionPointToStart(&body);
  unsigned count = func.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument before = body.getArgument(count + i), after = body.getArgument(i);
    if (!isArray(before)) {
      before.replaceAllUsesWith(after);
      continue;
    }
    to.setTensor(before, after);
    to.noteSizes(after, arrayType(before));
  }

  SmallVector<Operation *> dead;
  if (failed(lowerBlock(body, to, dead)))
    return failure();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  dropOldArguments(func);
  eraseUnused(body);
  return success();
}

namespace {
struct ToLinalgPass : xtensor::impl::ToLinalgBase<ToLinalgPass> {
  using ToLinalgBase::ToLinalgBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ArrayAttr sites = ArrayAttr::get(&getContext(), {});
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    ToLinalgOptions options{updateBlocks, atomicBits, inOrder, bfloat16Products};
    for (func::FuncOp func : functions)
      if (failed(lowerFunction(func, sites, options)))
        return signalPassFailure();
    if (!sites.empty())
      module->setAttr("xtensor.sites", sites);
  }
};
} // namespace

void xtensor::buildToLinalgPipeline(OpPassManager &pm, const ToLinalgOptions &options) {
  pm.addNestedPass<func::FuncOp>(createDecomposeContract());
  pm.addPass(createToLinalg(options));
  pm.addPass(createVerifyLinalg());
}
