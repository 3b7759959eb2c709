#include "CPU/BFloat16.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

static bool isBFloat16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// The type with `element` in place of its element type.
static Type with(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(element) : element;
}

static Type bitsOf(Type type) {
  return isBFloat16(type) ? with(type, IntegerType::get(type.getContext(), 16)) : type;
}

/// The bits of a constant; null: it is not one of bfloat16.
static TypedAttr bitsOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return IntegerAttr::get(bitsOf(number.getType()), number.getValue().bitcastToAPInt());
  if (auto numbers = dyn_cast<DenseFPElementsAttr>(value))
    return cast<DenseElementsAttr>(numbers.mapValues(
        bitsOf(numbers.getElementType()), [](const APFloat &x) { return x.bitcastToAPInt(); }));
  return {};
}

/// Whether the op only moves values, so that it may move their bits.
static bool isMove(Operation *op) {
  if (auto call = dyn_cast<LLVM::CallOp>(op)) {
    auto callee = call.getCallee();
    auto module = op->getParentOfType<ModuleOp>();
    auto function = callee ? module.lookupSymbol<LLVM::LLVMFuncOp>(*callee) : LLVM::LLVMFuncOp();
    return function && !function.isExternal();
  }
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::SelectOp, LLVM::BrOp, LLVM::CondBrOp,
             LLVM::SwitchOp, LLVM::ReturnOp, LLVM::InsertElementOp, LLVM::ExtractElementOp,
             LLVM::ShuffleVectorOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp, LLVM::FreezeOp,
             LLVM::MaskedLoadOp, LLVM::MaskedStoreOp, LLVM::masked_gather, LLVM::masked_scatter,
             LLVM::masked_expandload, LLVM::masked_compressstore, LLVM::vector_insert,
             LLVM::vector_extract>(op);
}

namespace {

/// An op and which of its values are of bfloat16.
struct Use {
  Operation *op;
  SmallVector<OpOperand *> operands;
  SmallVector<Value> results;
};

} // namespace

/// Rewrites an op whose operands are bits by now.
static void rewrite(Use &use) {
  Operation *op = use.op;
  OpBuilder b(op);
  if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
    if (TypedAttr bits = bitsOf(constant.getValue())) {
      op->replaceAllUsesWith(LLVM::ConstantOp::create(b, op->getLoc(), bits.getType(), bits));
      op->erase();
      return;
    }
  if (auto cast = dyn_cast<LLVM::BitcastOp>(op)) {
    cast.getResult().setType(bitsOf(cast.getType()));
    if (cast.getArg().getType() == cast.getType()) {
      op->replaceAllUsesWith(ValueRange(cast.getArg()));
      op->erase();
    }
    return;
  }
  if (isMove(op)) {
    for (Value result : use.results)
      result.setType(bitsOf(result.getType()));
    return;
  }
  for (OpOperand *operand : use.operands) {
    Value bits = operand->get();
    Type number = with(bits.getType(), b.getBF16Type());
    operand->set(LLVM::BitcastOp::create(b, op->getLoc(), number, bits));
  }
  b.setInsertionPointAfter(op);
  for (Value result : use.results) {
    auto bits = LLVM::BitcastOp::create(b, op->getLoc(), bitsOf(result.getType()), result);
    result.replaceAllUsesExcept(bits, bits);
  }
}

void xtensor::cpu::holdBFloat16AsBits(ModuleOp module) {
  SmallVector<Use> uses;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    function.walk([&](Operation *op) {
      Use use{op, {}, {}};
      for (OpOperand &operand : op->getOpOperands())
        if (isBFloat16(operand.get().getType()))
          use.operands.push_back(&operand);
      for (Value result : op->getResults())
        if (isBFloat16(result.getType()))
          use.results.push_back(result);
      if (!use.operands.empty() || !use.results.empty())
        uses.push_back(std::move(use));
    });
  }
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    LLVM::LLVMFunctionType type = function.getFunctionType();
    SmallVector<Type> parameters =
        llvm::map_to_vector(type.getParams(), [](Type t) { return bitsOf(t); });
    function.setFunctionType(
        LLVM::LLVMFunctionType::get(bitsOf(type.getReturnType()), parameters, type.isVarArg()));
    for (Block &block : function.getBody())
      for (BlockArgument argument : block.getArguments())
        argument.setType(bitsOf(argument.getType()));
  }
  for (Use &use : uses)
    rewrite(use);
}
