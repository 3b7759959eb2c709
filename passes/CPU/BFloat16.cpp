#include "CPU/BFloat16.h"
#include "CPU/Processor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace xtensor;

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

//===- rounding ------------------------------------------------------------===//

static Value splat(ImplicitLocOpBuilder &b, Type words, int32_t word) {
  TypedAttr value = b.getI32IntegerAttr(word);
  if (auto vector = dyn_cast<VectorType>(words))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, value);
}

/// By integer arithmetic, to nearest or else even. NaN keeps its sign and upper bits, as by the
/// instruction, and the sum would overflow.
static Value roundByIntegers(ImplicitLocOpBuilder &b, Value x, Type to) {
  Type words = with(to, b.getI32Type());
  auto all = [&](int32_t word) { return splat(b, words, word); };
  auto upperHalf = [&](Value bits) { return arith::ShRUIOp::create(b, bits, all(16)); };
  Value bits = arith::BitcastOp::create(b, words, x), upper = upperHalf(bits);
  Value last = arith::AndIOp::create(b, upper, all(1));
  Value sum = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, last), all(0x7fff));
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  Value quiet = arith::OrIOp::create(b, upper, all(0x40));
  Value result = arith::SelectOp::create(b, isNaN, quiet, upperHalf(sum));
  return arith::BitcastOp::create(b, to, arith::TruncIOp::create(b, bitsOf(to), result));
}

/// By the instruction, unless a lane is subnormal.
static Value roundByInstruction(ImplicitLocOpBuilder &b, Value x, VectorType to) {
  constexpr int32_t kSubnormals = 0x20; // a class of vfpclassps
  auto call = [&](Type type, StringRef instruction, ValueRange operands) {
    StringAttr name = b.getStringAttr(instruction);
    return LLVM::CallIntrinsicOp::create(b, type, name, operands).getResult(0);
  };
  Value classes = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(kSubnormals));
  Value isSubnormal = call(to.clone(b.getI1Type()), "llvm.x86.avx512.fpclass.ps.512", {x, classes});
  Value isAny = vector::ReductionOp::create(b, vector::CombiningKind::OR, isSubnormal);
  auto branch = scf::IfOp::create(b, to, isAny, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, roundByIntegers(b, x, to));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, call(to, "llvm.x86.avx512bf16.cvtneps2bf16.512", x));
  return branch.getResult(0);
}

namespace {

struct RoundToBFloat16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    Type from = x.getType(), to = op.getType();
    // Upstream's arithmetic, which makes all NaN equal, takes less time than `roundByIntegers`.
    if (!getElementTypeOrSelf(from).isF32() || !isBFloat16(to) || !roundsToBFloat16(op))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto lanes = dyn_cast<VectorType>(to);
    bool hasInstruction = lanes && lanes.getShape() == ArrayRef<int64_t>(16);
    rewriter.replaceOp(op, hasInstruction ? roundByInstruction(b, x, lanes)
                                          : roundByIntegers(b, x, to));
    return success();
  }
};

} // namespace

void xtensor::cpu::populateBFloat16RoundingPatterns(RewritePatternSet &patterns) {
  patterns.add<RoundToBFloat16>(patterns.getContext(), /*benefit=*/2);
}
