#include "SPIRV/NarrowIntegers.h"
#include "SPIRV/VectorBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {

/// What of few bits the device can do.
class Abilities {
public:
  explicit Abilities(const xtensor::Profile &device)
      : i8(device.has("i8")), i16(device.has("i16")), s8(device.has("s8")), s16(device.has("s16")) {
  }

  /// Whether values of this type are computed in 32 bits.
  bool isNarrow(Type type) const {
    return (type.isInteger(8) && !i8) || ((type.isInteger(16) || type.isBF16()) && !i16);
  }
  /// Whether memory has elements of this type.
  bool isElement(MemRefType memory) const {
    Type type = memory.getElementType();
    bool isBuffer = !memory.getMemorySpace();
    if (type.isInteger(1) || type.isInteger(8))
      return i8 && (s8 || !isBuffer);
    if (type.isInteger(16) || type.isBF16())
      return i16 && (s16 || !isBuffer);
    return !type.isF16() || s16 || !isBuffer;
  }

private:
  bool i8, i16, s8, s16;
};

int64_t bitsOf(Type type) { return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth(); }

Value word(ImplicitLocOpBuilder &b, int64_t v) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), v);
}

Value masked(ImplicitLocOpBuilder &b, Value v, Type type) {
  return arith::AndIOp::create(b, v, word(b, (int64_t(1) << bitsOf(type)) - 1));
}

/// The number that the lower bits are, its sign included.
Value withSign(ImplicitLocOpBuilder &b, Value v, Type type) {
  Value places = word(b, 32 - bitsOf(type));
  return arith::ShRSIOp::create(b, arith::ShLIOp::create(b, v, places), places);
}

/// A float16 has no integer of its size here, but two of them have.
Value halfOf(ImplicitLocOpBuilder &b, Value bits) {
  auto one = VectorType::get({1}, b.getI32Type()), two = VectorType::get({2}, b.getF16Type());
  Value both =
      vector::BitCastOp::create(b, two, vector::FromElementsOp::create(b, one, ValueRange{bits}));
  return vector::ExtractOp::create(b, both, 0);
}

Value bitsOfHalf(ImplicitLocOpBuilder &b, Value half) {
  auto one = VectorType::get({1}, b.getI32Type()), two = VectorType::get({2}, b.getF16Type());
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(b.getF16Type(), 0));
  Value both = vector::BitCastOp::create(
      b, one, vector::FromElementsOp::create(b, two, ValueRange{half, zero}));
  return vector::ExtractOp::create(b, both, 0);
}

//===- memory ----------------------------------------------------------------===//

Value asElement(ImplicitLocOpBuilder &b, Value bits, Type type, const Abilities &device) {
  if (type.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, word(b, 0));
  if (type.isF16())
    return halfOf(b, bits);
  if (device.isNarrow(type))
    return UnrealizedConversionCastOp::create(b, type, bits).getResult(0);
  return arith::TruncIOp::create(b, type, bits);
}

Value asBits(ImplicitLocOpBuilder &b, Value v, const Abilities &device) {
  Type type = v.getType();
  if (type.isF16())
    return bitsOfHalf(b, v);
  if (device.isNarrow(type))
    return UnrealizedConversionCastOp::create(b, b.getI32Type(), v).getResult(0);
  return arith::ExtUIOp::create(b, b.getI32Type(), v);
}

void packBuffer(BlockArgument buffer, const Abilities &device) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || device.isElement(type))
    return;
  xtensor::spirv::accessByElement(buffer);
  Type element = type.getElementType();
  int64_t bits = bitsOf(element), count = 32 / bits;
  bool isPacked = !type.getMemorySpace(); // a workgroup has a word for each
  SmallVector<Operation *> users(buffer.getUsers());
  buffer.setType(MemRefType::get(type.getShape(), IntegerType::get(buffer.getContext(), 32),
                                 MemRefLayoutAttrInterface(), type.getMemorySpace()));
  for (Operation *user : users) {
    ImplicitLocOpBuilder b(user->getLoc(), user);
    auto load = dyn_cast<memref::LoadOp>(user);
    auto store = dyn_cast<memref::StoreOp>(user);
    if (!load && !store)
      continue;
    Value at = load ? load.getIndices().front() : store.getIndices().front();
    if (!isPacked && load) {
      Value own = memref::LoadOp::create(b, buffer, at);
      load.replaceAllUsesWith(asElement(b, own, element, device));
    } else if (!isPacked) {
      memref::StoreOp::create(b, asBits(b, store.getValue(), device), buffer, at);
    }
    if (!isPacked) {
      user->erase();
      continue;
    }
    Value each = arith::ConstantIndexOp::create(b, count);
    Value place = arith::DivUIOp::create(b, at, each);
    Value lane = arith::IndexCastOp::create(b, b.getI32Type(), arith::RemUIOp::create(b, at, each));
    Value shift = arith::MulIOp::create(b, lane, word(b, bits));
    if (load) {
      Value all = memref::LoadOp::create(b, buffer, place);
      Value own = masked(b, arith::ShRUIOp::create(b, all, shift), element);
      load.replaceAllUsesWith(asElement(b, own, element, device));
    } else {
      Value mask = arith::ShLIOp::create(b, word(b, (int64_t(1) << bits) - 1), shift);
      Value others = arith::XOrIOp::create(b, mask, word(b, -1));
      Value own = arith::ShLIOp::create(b, asBits(b, store.getValue(), device), shift);
      memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::andi, others, buffer, place);
      memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::ori, own, buffer, place);
    }
    user->erase();
  }
}

//===- arithmetic ------------------------------------------------------------===//

/// Any op of narrow integers. An op that reads signs takes them from the lower bits. An op that may
/// write further bits clears them.
class Widen : public ConversionPattern {
public:
  Widen(const TypeConverter &types, MLIRContext *context, const Abilities &device)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/1, context), device(device) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> in,
                                ConversionPatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumRegions())
      return failure();
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    Value result = widened(b, op, in);
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// The 32 bits of an integer of up to 32.
  Value extended(ImplicitLocOpBuilder &b, Value v, Type from, bool isSigned) const {
    if (device.isNarrow(from))
      return isSigned ? withSign(b, v, from) : v;
    if (from.isInteger(32))
      return v;
    if (from.isInteger(64))
      return arith::TruncIOp::create(b, b.getI32Type(), v);
    if (isSigned)
      return arith::ExtSIOp::create(b, b.getI32Type(), v);
    return arith::ExtUIOp::create(b, b.getI32Type(), v);
  }

  /// A number of 32 bits as one of another type.
  Value resized(ImplicitLocOpBuilder &b, Value v, Type to, bool isSigned) const {
    if (device.isNarrow(to))
      return masked(b, v, to);
    if (to.isInteger(32))
      return v;
    if (!to.isInteger(64))
      return arith::TruncIOp::create(b, to, v);
    if (isSigned)
      return arith::ExtSIOp::create(b, to, v);
    return arith::ExtUIOp::create(b, to, v);
  }

  Value widened(ImplicitLocOpBuilder &b, Operation *op, ArrayRef<Value> in) const;
  Value reread(ImplicitLocOpBuilder &b, arith::BitcastOp op, Value x) const;

  Abilities device;
};

Value Widen::widened(ImplicitLocOpBuilder &b, Operation *op, ArrayRef<Value> in) const {
  Type type = op->getResult(0).getType();
  Type from = op->getNumOperands() ? op->getOperand(0).getType() : type, i32 = b.getI32Type();
  auto sign = [&](unsigned i) { return withSign(b, in[i], from); };
  auto same = [&](bool isSigned, bool overflows) {
    SmallVector<Value> operands(in);
    if (isSigned)
      for (Value &v : operands)
        v = withSign(b, v, from);
    Value v = b.create(op->getLoc(), op->getName().getIdentifier(), operands, {i32})->getResult(0);
    return isSigned || overflows ? masked(b, v, type) : v;
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::ConstantOp c) -> Value {
        if (auto known = dyn_cast<IntegerAttr>(c.getValue()))
          return word(b, known.getValue().getZExtValue());
        auto known = cast<FloatAttr>(c.getValue());
        return word(b, known.getValue().bitcastToAPInt().getZExtValue());
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(
          [&](auto) { return same(false, true); })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShRUIOp, arith::DivUIOp,
            arith::RemUIOp, arith::MinUIOp, arith::MaxUIOp, math::CtPopOp>(
          [&](auto) { return same(false, false); })
      .Case<arith::DivSIOp, arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp, math::AbsIOp>(
          [&](auto) { return same(true, true); })
      .Case([&](arith::ShRSIOp) -> Value {
        return masked(b, arith::ShRSIOp::create(b, sign(0), in[1]), type);
      })
      .Case([&](math::CountLeadingZerosOp) -> Value {
        Value zeros = math::CountLeadingZerosOp::create(b, in[0]);
        return arith::SubIOp::create(b, zeros, word(b, 32 - bitsOf(type)));
      })
      .Case([&](arith::CmpIOp compare) -> Value {
        arith::CmpIPredicate p = compare.getPredicate();
        bool isSigned = p >= arith::CmpIPredicate::slt && p <= arith::CmpIPredicate::sge;
        return arith::CmpIOp::create(b, p, isSigned ? sign(0) : in[0], isSigned ? sign(1) : in[1]);
      })
      .Case(
          [&](arith::SelectOp) -> Value { return arith::SelectOp::create(b, in[0], in[1], in[2]); })
      .Case<arith::ExtUIOp, arith::TruncIOp>(
          [&](auto) { return resized(b, extended(b, in[0], from, false), type, false); })
      .Case([&](arith::ExtSIOp) { return resized(b, extended(b, in[0], from, true), type, true); })
      .Case([&](arith::SIToFPOp) -> Value { return arith::SIToFPOp::create(b, type, sign(0)); })
      .Case([&](arith::UIToFPOp) -> Value { return arith::UIToFPOp::create(b, type, in[0]); })
      .Case([&](arith::FPToSIOp) -> Value {
        return masked(b, arith::FPToSIOp::create(b, i32, in[0]), type);
      })
      .Case([&](arith::FPToUIOp) -> Value {
        return masked(b, arith::FPToUIOp::create(b, i32, in[0]), type);
      })
      .Case([&](arith::IndexCastOp) -> Value {
        if (type.isIndex())
          return arith::IndexCastOp::create(b, type, sign(0));
        return masked(b, arith::IndexCastOp::create(b, i32, in[0]), type);
      })
      .Case([&](arith::IndexCastUIOp) -> Value {
        if (type.isIndex())
          return arith::IndexCastUIOp::create(b, type, in[0]);
        return masked(b, arith::IndexCastUIOp::create(b, i32, in[0]), type);
      })
      .Case([&](arith::BitcastOp bits) { return reread(b, bits, in[0]); })
      .Case([&](ub::PoisonOp) -> Value { return ub::PoisonOp::create(b, i32); })
      .Default(Value());
}

Value Widen::reread(ImplicitLocOpBuilder &b, arith::BitcastOp op, Value x) const {
  if (op.getIn().getType().isF16())
    return bitsOfHalf(b, x);
  return op.getType().isF16() ? halfOf(b, x) : x;
}

} // namespace

LogicalResult xtensor::spirv::widenNarrowIntegers(gpu::GPUModuleOp kernel, const Profile &profile) {
  Abilities device(profile);
  MLIRContext *context = kernel.getContext();
  kernel.walk([&](gpu::GPUFuncOp func) {
    for (BlockArgument argument : func.getBody().getArguments())
      packBuffer(argument, device);
  });
  TypeConverter types;
  types.addConversion([](Type type) { return type; });
  types.addConversion([&](Type type) -> std::optional<Type> {
    if (device.isNarrow(type))
      return IntegerType::get(context, 32);
    return std::nullopt;
  });
  auto cast = [](OpBuilder &b, Type type, ValueRange inputs, Location loc) {
    return UnrealizedConversionCastOp::create(b, loc, type, inputs).getResult(0);
  };
  types.addSourceMaterialization(cast);
  types.addTargetMaterialization(cast);
  RewritePatternSet patterns(context);
  patterns.add<Widen>(types, context, device);
  scf::populateSCFStructuralTypeConversions(types, patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) { return types.isLegal(op); });
  target.addLegalOp<UnrealizedConversionCastOp, gpu::GPUModuleOp, gpu::GPUFuncOp>();
  if (failed(applyFullConversion(kernel, target, std::move(patterns))))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts;
  kernel.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts);
  return success();
}
