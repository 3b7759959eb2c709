#include "SPIRV/KernelPatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {

/// A kernel takes nothing: buffers are variables of set 0, numbers lie in the push constants.
struct KernelFunction : OpConversionPattern<gpu::GPUFuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(gpu::GPUFuncOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    if (!op.isKernel())
      return failure();
    auto &types = *getTypeConverter<SPIRVTypeConverter>();
    Location loc = op.getLoc();
    auto func = mlir::spirv::FuncOp::create(b, loc, op.getName(),
                                            FunctionType::get(b.getContext(), {}, {}));
    b.inlineRegionBefore(op.getBody(), func.getBody(), func.end());
    SmallVector<int32_t> size(3, 1);
    if (auto known = op.getKnownBlockSize())
      size.assign(known->begin(), known->end());
    func->setAttr(mlir::spirv::getEntryPointABIAttrName(),
                  mlir::spirv::getEntryPointABIAttr(b.getContext(), size));
    Block &entry = func.front();
    TypeConverter::SignatureConversion signature(entry.getNumArguments());
    int64_t numbers =
        llvm::count_if(op.getArgumentTypes(), [](Type t) { return !isa<MemRefType>(t); });
    Value words;
    if (numbers)
      words = variable(b, func, op.getName() + "_numbers",
                       mlir::spirv::PointerType::get(numbersType(b, numbers),
                                                     mlir::spirv::StorageClass::PushConstant));
    int64_t buffer = 0, number = 0;
    for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
      Type type = types.convertType(argument.getType());
      if (!type)
        return op.emitError() << "no SPIR-V type for " << argument.getType();
      if (i >= op.getNumArguments()) {
        signature.remapInput(i, variable(b, func, op.getName() + "_memory" + Twine(i), type));
      } else if (isa<MemRefType>(argument.getType())) {
        signature.remapInput(
            i, variable(b, func, op.getName() + "_buffer" + Twine(buffer), type, buffer));
        ++buffer;
      } else {
        b.setInsertionPointToEnd(&entry);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointAfterValue(words);
        auto constant = [&](int64_t v) {
          return mlir::spirv::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(v))
              .getResult();
        };
        Value place = mlir::spirv::AccessChainOp::create(
            b, loc, words, ValueRange{constant(0), constant(number++)});
        signature.remapInput(i, mlir::spirv::LoadOp::create(b, loc, place).getResult());
      }
    }
    b.applySignatureConversion(&entry, signature, &types);
    b.eraseOp(op);
    return success();
  }

  static Type numbersType(OpBuilder &b, int64_t count) {
    Type array = mlir::spirv::ArrayType::get(b.getI32Type(), count, 4);
    return mlir::spirv::StructType::get(array, 0u);
  }

  /// A variable of the module, and its address in the function.
  static Value variable(ConversionPatternRewriter &b, mlir::spirv::FuncOp func, const Twine &name,
                        Type type, std::optional<int64_t> binding = std::nullopt) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(func);
    mlir::spirv::GlobalVariableOp global;
    if (binding)
      global =
          mlir::spirv::GlobalVariableOp::create(b, func.getLoc(), type, name.str(), 0, *binding);
    else
      global = mlir::spirv::GlobalVariableOp::create(b, func.getLoc(), type, name.str(), nullptr);
    b.setInsertionPointToStart(&func.front());
    return mlir::spirv::AddressOfOp::create(b, func.getLoc(), global);
  }
};

/// Upstream's orders workgroup memory only.
struct Barrier : OpConversionPattern<gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    b.replaceOpWithNewOp<mlir::spirv::ControlBarrierOp>(
        op, mlir::spirv::Scope::Workgroup, mlir::spirv::Scope::Workgroup,
        mlir::spirv::MemorySemantics::WorkgroupMemory |
            mlir::spirv::MemorySemantics::UniformMemory |
            mlir::spirv::MemorySemantics::AcquireRelease);
    return success();
  }
};

/// GLSL has it, the dialect has not: the sign of x with the floor of |x|.
struct Truncate : OpConversionPattern<math::TruncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(math::TruncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Value x = adaptor.getOperand();
    Location loc = op.getLoc();
    Value size = mlir::spirv::GLFAbsOp::create(b, loc, x);
    Value whole = mlir::spirv::GLFloorOp::create(b, loc, size);
    Value zero = mlir::spirv::ConstantOp::getZero(x.getType(), loc, b);
    Value negative = mlir::spirv::FOrdLessThanOp::create(b, loc, x, zero);
    Value other = mlir::spirv::FNegateOp::create(b, loc, whole);
    Value result = mlir::spirv::SelectOp::create(b, loc, negative, other, whole);
    // NaN, and -0.0 as it was.
    Value small = mlir::spirv::FUnordEqualOp::create(b, loc, x, zero);
    b.replaceOpWithNewOp<mlir::spirv::SelectOp>(op, small, x, result);
    return success();
  }
};

/// The number that a scalar is known to be zero with, sign included, or null.
FloatAttr zeroOf(Value v) {
  FloatAttr known;
  return matchPattern(v, m_Constant(&known)) && known.getValue().isZero() ? known : FloatAttr();
}

/// A bfloat16 is represented by its bits alone.
struct SameBits : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (getTypeConverter()->convertType(op.getType()) != adaptor.getIn().getType())
      return failure();
    b.replaceOp(op, adaptor.getIn());
    return success();
  }
};

/// Positions have 32 bits: no device binds what has more, so a larger number is one of a call that
/// is refused.
struct ConstantBits : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    if (auto position = dyn_cast<IntegerAttr>(op.getValue());
        position && position.getType().isIndex() && !llvm::isInt<32>(position.getInt())) {
      b.replaceOpWithNewOp<mlir::spirv::ConstantOp>(
          op, b.getI32Type(),
          b.getI32IntegerAttr(static_cast<int32_t>(static_cast<uint32_t>(position.getInt()))));
      return success();
    }
    auto known = dyn_cast<FloatAttr>(op.getValue());
    if (!known || !known.getType().isBF16())
      return failure();
    APInt bits = known.getValue().bitcastToAPInt();
    b.replaceOpWithNewOp<mlir::spirv::ConstantOp>(op, b.getI16Type(),
                                                  b.getIntegerAttr(b.getI16Type(), bits));
    return success();
  }
};

/// x * 0: a zero with the product of the signs, or NaN.
Value timesZero(OpBuilder &b, Location loc, Value x, FloatAttr zero) {
  auto type = cast<FloatType>(zero.getType());
  if (type.isF16()) {
    // There may be no integers of 16 bits.
    Type f32 = b.getF32Type();
    Value wide = mlir::spirv::FConvertOp::create(b, loc, f32, x);
    auto known = b.getFloatAttr(f32, zero.getValue().isNegative() ? -0.0 : 0.0);
    return mlir::spirv::FConvertOp::create(b, loc, type, timesZero(b, loc, wide, known));
  }
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  auto constant = [&](APFloat v) -> Value {
    return mlir::spirv::ConstantOp::create(b, loc, type, b.getFloatAttr(type, v));
  };
  Type bits = b.getIntegerType(type.getWidth());
  APInt sign = APInt::getSignMask(type.getWidth());
  Value mask = mlir::spirv::ConstantOp::create(b, loc, bits, b.getIntegerAttr(bits, sign));
  Value word = mlir::spirv::BitcastOp::create(b, loc, bits, x);
  if (zero.getValue().isNegative())
    word = mlir::spirv::NotOp::create(b, loc, word);
  Value none = mlir::spirv::BitcastOp::create(
      b, loc, type, mlir::spirv::BitwiseAndOp::create(b, loc, word, mask).getResult());
  Value size = mlir::spirv::GLFAbsOp::create(b, loc, x);
  Value finite =
      mlir::spirv::FOrdLessThanOp::create(b, loc, size, constant(APFloat::getInf(semantics)));
  return mlir::spirv::SelectOp::create(b, loc, finite, none, constant(APFloat::getNaN(semantics)));
}

/// llvmpipe takes x / 0 for undefined and 0 / x for 0 where it sees the 0. x * inf is x / 0.
struct DivideZeros : OpConversionPattern<arith::DivFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type)
      return failure();
    auto constant = [&](APFloat v) -> Value {
      return mlir::spirv::ConstantOp::create(b, loc, type, b.getFloatAttr(type, v));
    };
    if (FloatAttr zero = zeroOf(op.getRhs())) {
      bool negative = zero.getValue().isNegative();
      Value infinity = constant(APFloat::getInf(type.getFloatSemantics(), negative));
      b.replaceOpWithNewOp<mlir::spirv::FMulOp>(op, adaptor.getLhs(), infinity);
      return success();
    }
    if (FloatAttr zero = zeroOf(op.getLhs())) {
      Value one = constant(APFloat::getOne(type.getFloatSemantics()));
      Value inverse = mlir::spirv::FDivOp::create(b, loc, one, adaptor.getRhs());
      b.replaceOp(op, timesZero(b, loc, inverse, zero));
      return success();
    }
    return failure();
  }
};

/// llvmpipe takes x * 0 for 0 where it sees the 0, whatever x is.
struct MultiplyByZero : OpConversionPattern<arith::MulFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::MulFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    FloatAttr left = zeroOf(op.getLhs()), right = zeroOf(op.getRhs());
    if (!left && !right)
      return failure();
    Value x = right ? adaptor.getLhs() : adaptor.getRhs();
    b.replaceOp(op, timesZero(b, op.getLoc(), x, right ? right : left));
    return success();
  }
};

/// The address of an element of flat memory.
Value addressOf(ConversionPatternRewriter &b, Location loc, const TypeConverter *types,
                TypedValue<MemRefType> memory, Value converted, ValueRange at) {
  const auto &known = *static_cast<const SPIRVTypeConverter *>(types);
  return mlir::spirv::getElementPtr(known, memory.getType(), converted, at, loc, b);
}

/// Upstream converts those of integers.
struct AtomicSum : OpConversionPattern<memref::AtomicRMWOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (op.getKind() != arith::AtomicRMWKind::addf)
      return failure();
    Value place = addressOf(b, op.getLoc(), getTypeConverter(), op.getMemref(), adaptor.getMemref(),
                            adaptor.getIndices());
    if (!place)
      return failure();
    b.replaceOpWithNewOp<mlir::spirv::EXTAtomicFAddOp>(
        op, op.getType(), place, mlir::spirv::Scope::Device, mlir::spirv::MemorySemantics::None,
        adaptor.getValue());
    return success();
  }
};

/// Retries until no other thread has changed the number in between; each try starts from the
/// current number. The result has no users.
///
///   old = load; while (true) { now = compare_exchange(old, f(old)); if (now == old) break; old =
///   now }
struct CompareAndExchange : OpConversionPattern<memref::GenericAtomicRMWOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(memref::GenericAtomicRMWOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Type type = op.getCurrentValue().getType();
    Value place = addressOf(b, loc, getTypeConverter(), op.getMemref(), adaptor.getMemref(),
                            adaptor.getIndices());
    if (!place || !isa<IntegerType>(type) || !op->use_empty())
      return failure();
    Value first = mlir::spirv::LoadOp::create(b, loc, place);
    auto loop = mlir::spirv::LoopOp::create(b, loc, mlir::spirv::LoopControl::None);
    loop.addEntryAndMergeBlock(b);
    Region &region = loop.getBody();
    Block *merge = loop.getMergeBlock();
    Block *header = b.createBlock(&region, merge->getIterator(), type, loc);
    Block *again = b.createBlock(&region, merge->getIterator(), type, loc);
    b.setInsertionPointToEnd(loop.getEntryBlock());
    mlir::spirv::BranchOp::create(b, loc, header, first);

    auto yield = cast<memref::AtomicYieldOp>(op.getBody()->getTerminator());
    Value next = yield.getResult();
    b.eraseOp(yield);
    b.inlineBlockBefore(op.getBody(), header, header->end(), header->getArgument(0));
    b.setInsertionPointToEnd(header);
    Value old = header->getArgument(0);
    auto none = mlir::spirv::MemorySemantics::None;
    Value now = mlir::spirv::AtomicCompareExchangeOp::create(
        b, loc, type, place, mlir::spirv::Scope::Device, none, none, next, old);
    Value done = mlir::spirv::IEqualOp::create(b, loc, now, old);
    mlir::spirv::BranchConditionalOp::create(b, loc, done, merge, ValueRange(), again,
                                             ValueRange(now));
    b.setInsertionPointToEnd(again);
    mlir::spirv::BranchOp::create(b, loc, header, again->getArgument(0));
    b.eraseOp(op);
    return success();
  }
};

} // namespace

void xtensor::spirv::populateKernelPatterns(const SPIRVTypeConverter &types,
                                            RewritePatternSet &patterns) {
  patterns.add<KernelFunction, Barrier, Truncate, DivideZeros, MultiplyByZero, SameBits,
               ConstantBits, AtomicSum, CompareAndExchange>(types, patterns.getContext(),
                                                            /*benefit=*/10);
}
