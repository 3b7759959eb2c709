#include "SPIRV/WideIntegers.h"
#include "SPIRV/VectorBuffers.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/WideIntEmulationConverter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {

bool isWide(Type type) { return type.isInteger(64); }

VectorType wordsType(MLIRContext *context) {
  return VectorType::get({2}, IntegerType::get(context, 32));
}

Value reinterpreted(OpBuilder &b, Location loc, Type type, Value v) {
  return UnrealizedConversionCastOp::create(b, loc, type, v).getResult(0);
}

//===- what is written in 64 bits first --------------------------------------===//

struct Division {
  Value quotient, rest;
};

/// Of unsigned numbers. Most fit in 32 bits; the others are divided bit by bit.
Division divide(ImplicitLocOpBuilder &b, Value x, Value y) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto number = [&](int64_t v) -> Value { return arith::ConstantIntOp::create(b, i64, v); };
  Value one = number(1), last = number(63);
  Value both = arith::OrIOp::create(b, x, y);
  Value high = arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, both, number(32)));
  Value zero = arith::ConstantIntOp::create(b, i32, 0);
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, high, zero);
  auto branch = scf::IfOp::create(b, TypeRange{i64, i64}, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value xs = arith::TruncIOp::create(b, i32, x), ys = arith::TruncIOp::create(b, i32, y);
  Value quotient = arith::ExtUIOp::create(b, i64, arith::DivUIOp::create(b, xs, ys));
  Value rest = arith::ExtUIOp::create(b, i64, arith::RemUIOp::create(b, xs, ys));
  scf::YieldOp::create(b, ValueRange{quotient, rest});
  b.setInsertionPointToStart(branch.elseBlock());
  auto index = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, v); };
  Value none = number(0);
  auto loop = scf::ForOp::create(b, index(0), index(64), index(1), ValueRange{x, none, none});
  scf::YieldOp::create(b, ValueRange{loop.getResult(2), loop.getResult(1)});
  b.setInsertionPointToStart(loop.getBody());
  Value left = loop.getRegionIterArg(0), old = loop.getRegionIterArg(1);
  auto shifted = [&](Value v) -> Value { return arith::ShLIOp::create(b, v, one); };
  auto top = [&](Value v) -> Value { return arith::ShRUIOp::create(b, v, last); };
  rest = arith::OrIOp::create(b, shifted(old), top(left));
  Value carried = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, old, none);
  Value reaches = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, rest, y);
  Value goes = arith::OrIOp::create(b, carried, reaches);
  Value less = arith::SubIOp::create(b, rest, y);
  quotient = arith::OrIOp::create(b, shifted(loop.getRegionIterArg(2)),
                                  arith::ExtUIOp::create(b, i64, goes));
  scf::YieldOp::create(
      b, ValueRange{shifted(left), arith::SelectOp::create(b, goes, less, rest), quotient});
  return {branch.getResult(0), branch.getResult(1)};
}

Value negatedIf(ImplicitLocOpBuilder &b, Value condition, Value x) {
  Value zero = arith::ConstantIntOp::create(b, x.getType(), 0);
  return arith::SelectOp::create(b, condition, arith::SubIOp::create(b, zero, x), x);
}

Value isNegative(ImplicitLocOpBuilder &b, Value x) {
  Value zero = arith::ConstantIntOp::create(b, x.getType(), 0);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, zero);
}

/// Division and |x|, by what upstream knows how to split.
void writeOut(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, math::AbsIOp>(op) ||
      !isWide(op->getResult(0).getType()))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(0), result;
  if (isa<math::AbsIOp>(op)) {
    result = negatedIf(b, isNegative(b, x), x);
  } else {
    Value y = op->getOperand(1);
    bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
    Value below, opposed;
    if (isSigned) {
      Value yBelow = isNegative(b, y);
      below = isNegative(b, x);
      opposed = arith::XOrIOp::create(b, below, yBelow);
      x = negatedIf(b, below, x);
      y = negatedIf(b, yBelow, y);
    }
    Division both = divide(b, x, y);
    result = isa<arith::DivSIOp, arith::DivUIOp>(op) ? both.quotient : both.rest;
    if (isSigned)
      result = negatedIf(b, isa<arith::DivSIOp>(op) ? opposed : below, result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// A vector of one number read as two words, and back: the words are what there is.
void readAsWords(vector::BitCastOp op) {
  OpBuilder b(op);
  VectorType words = wordsType(op.getContext());
  if (isWide(op.getSourceVectorType().getElementType())) {
    Operation *from = op.getSource().getDefiningOp();
    if (!isa_and_nonnull<vector::FromElementsOp, vector::BroadcastOp>(from) ||
        op.getResultVectorType() != words)
      return;
    op.replaceAllUsesWith(reinterpreted(b, op.getLoc(), words, from->getOperand(0)));
    op.erase();
    if (from->use_empty())
      from->erase();
  } else if (isWide(op.getResultVectorType().getElementType())) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (auto element = dyn_cast<vector::ExtractOp>(user)) {
        element.replaceAllUsesWith(
            reinterpreted(b, op.getLoc(), element.getType(), op.getSource()));
        element.erase();
      }
    if (op->use_empty())
      op->erase();
  }
}

void splitBuffer(BlockArgument buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !isWide(type.getElementType()))
    return;
  xtensor::spirv::accessByElement(buffer);
  VectorType words = wordsType(buffer.getContext());
  SmallVector<Operation *> users(buffer.getUsers());
  buffer.setType(
      MemRefType::get(type.getShape(), words, MemRefLayoutAttrInterface(), type.getMemorySpace()));
  for (Operation *user : users) {
    OpBuilder b(user);
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      Value both = memref::LoadOp::create(b, load.getLoc(), buffer, load.getIndices());
      load.replaceAllUsesWith(reinterpreted(b, load.getLoc(), load.getType(), both));
      load.erase();
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      store.getValueMutable().assign(reinterpreted(b, store.getLoc(), words, store.getValue()));
    }
  }
}

//===- conversion ------------------------------------------------------------===//

struct Words {
  Value low, high;
};

Words split(ImplicitLocOpBuilder &b, Value both) {
  return {vector::ExtractOp::create(b, both, 0), vector::ExtractOp::create(b, both, 1)};
}

Value word(ImplicitLocOpBuilder &b, int64_t v) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), v);
}

Words negatedIf(ImplicitLocOpBuilder &b, Value condition, Words x) {
  Value ones = word(b, -1), zero = word(b, 0);
  Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x.low, zero);
  Value low = arith::SubIOp::create(b, zero, x.low);
  Value high = arith::AddIOp::create(b, arith::XOrIOp::create(b, x.high, ones),
                                     arith::ExtUIOp::create(b, b.getI32Type(), none));
  return {arith::SelectOp::create(b, condition, low, x.low),
          arith::SelectOp::create(b, condition, high, x.high)};
}

Value number(ImplicitLocOpBuilder &b, Type type, double v) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, v));
}

/// Rounded once. A float64 holds either word; for float32 the number's first 32 bits are taken,
/// with the last of them set if any was cut off.
Value toFloat(ImplicitLocOpBuilder &b, Words x, Type type) {
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  if (type.isF64()) {
    Value high = arith::UIToFPOp::create(b, type, x.high);
    Value low = arith::UIToFPOp::create(b, type, x.low);
    return arith::AddFOp::create(b, arith::MulFOp::create(b, high, number(b, type, 0x1p32)), low);
  }
  Value zero = word(b, 0), most = word(b, 31);
  Value places = arith::AndIOp::create(b, math::CountLeadingZerosOp::create(b, x.high), most);
  Value others = arith::SubIOp::create(b, most, places);
  Value moved = arith::ShRUIOp::create(b, arith::ShRUIOp::create(b, x.low, word(b, 1)), others);
  Value first = arith::OrIOp::create(b, arith::ShLIOp::create(b, x.high, places), moved);
  Value cut = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                    arith::ShLIOp::create(b, x.low, places), zero);
  first = arith::OrIOp::create(b, first, arith::ExtUIOp::create(b, i32, cut));
  // 2^(32 - places), by its exponent.
  Value exponent = arith::SubIOp::create(b, word(b, 127 + 32), places);
  Value scale = arith::BitcastOp::create(b, f32, arith::ShLIOp::create(b, exponent, word(b, 23)));
  Value large = arith::MulFOp::create(b, arith::UIToFPOp::create(b, f32, first), scale);
  Value isSmall = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x.high, zero);
  Value result = arith::SelectOp::create(b, isSmall, arith::UIToFPOp::create(b, f32, x.low), large);
  return type == f32 ? result : arith::TruncFOp::create(b, type, result).getResult();
}

template <typename Op, bool isSigned>
struct ToFloat : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isWide(op.getIn().getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Words x = split(b, adaptor.getIn());
    Value below;
    if (isSigned) {
      below = isNegative(b, x.high);
      x = negatedIf(b, below, x);
    }
    Value result = toFloat(b, x, op.getType());
    if (isSigned)
      result = arith::SelectOp::create(b, below, arith::NegFOp::create(b, result), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

Value joined(ImplicitLocOpBuilder &b, Words x) {
  return vector::FromElementsOp::create(b, wordsType(b.getContext()), ValueRange{x.low, x.high});
}

template <typename Op, bool isSigned>
struct FromFloat : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isWide(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = adaptor.getIn();
    if (x.getType().isF16())
      x = arith::ExtFOp::create(b, b.getF32Type(), x);
    Type type = x.getType(), i32 = b.getI32Type();
    Value size = isSigned ? math::AbsFOp::create(b, x).getResult() : x;
    // Powers of two change no digit, so the rest is exact.
    Value high =
        arith::FPToUIOp::create(b, i32, arith::MulFOp::create(b, size, number(b, type, 0x1p-32)));
    Value done =
        arith::MulFOp::create(b, arith::UIToFPOp::create(b, type, high), number(b, type, 0x1p32));
    Value low = arith::FPToUIOp::create(b, i32, arith::SubFOp::create(b, size, done));
    Words result{low, high};
    if (isSigned) {
      Value below = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, number(b, type, 0));
      result = negatedIf(b, below, result);
    }
    rewriter.replaceOp(op, joined(b, result));
    return success();
  }
};

/// Upstream's shift a word by its whole width where the amount is 0.
template <typename Op>
struct Shift : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isWide(op.getType()))
      return failure();
    constexpr bool isLeft = std::is_same_v<Op, arith::ShLIOp>;
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Words x = split(b, adaptor.getLhs());
    Value amount = split(b, adaptor.getRhs()).low, most = word(b, 31), one = word(b, 1);
    Value places = arith::AndIOp::create(b, amount, most);
    Value others = arith::SubIOp::create(b, most, places);
    Value isFar = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                        arith::AndIOp::create(b, amount, word(b, 32)), word(b, 0));
    // Bits move from one word to the other: `to`.
    Value from = isLeft ? x.low : x.high, to = isLeft ? x.high : x.low;
    Value moved, rest, kept, fill;
    kept = Op::create(b, from, places);
    if constexpr (isLeft) {
      moved = arith::ShRUIOp::create(b, arith::ShRUIOp::create(b, from, one), others);
      rest = arith::ShLIOp::create(b, to, places);
    } else {
      moved = arith::ShLIOp::create(b, arith::ShLIOp::create(b, from, one), others);
      rest = arith::ShRUIOp::create(b, to, places);
    }
    if constexpr (std::is_same_v<Op, arith::ShRSIOp>)
      fill = arith::ShRSIOp::create(b, from, most);
    else
      fill = word(b, 0);
    Value both = arith::OrIOp::create(b, rest, moved);
    Value there = arith::SelectOp::create(b, isFar, kept, both);
    Value here = arith::SelectOp::create(b, isFar, fill, kept);
    rewriter.replaceOp(op, joined(b, isLeft ? Words{here, there} : Words{there, here}));
    return success();
  }
};

/// The bits of a float64.
struct SameBits : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (isWide(op.getIn().getType()) && op.getType().isF64()) {
      auto one = VectorType::get({1}, op.getType());
      Value bits = vector::BitCastOp::create(b, one, adaptor.getIn());
      rewriter.replaceOp(op, vector::ExtractOp::create(b, bits, 0).getResult());
      return success();
    }
    if (isWide(op.getType()) && op.getIn().getType().isF64()) {
      auto one = VectorType::get({1}, op.getIn().getType());
      Value bits = vector::FromElementsOp::create(b, one, ValueRange{adaptor.getIn()});
      rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, wordsType(b.getContext()), bits);
      return success();
    }
    return failure();
  }
};

struct Poison : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isWide(op.getType()))
      return failure();
    rewriter.replaceOpWithNewOp<ub::PoisonOp>(op, wordsType(op.getContext()));
    return success();
  }
};

} // namespace

LogicalResult xtensor::spirv::splitWideIntegers(mlir::gpu::GPUModuleOp kernel) {
  MLIRContext *context = kernel.getContext();
  kernel.walk([](mlir::gpu::GPUFuncOp func) {
    for (BlockArgument argument : func.getBody().getArguments())
      splitBuffer(argument);
  });
  // Each takes others with it, none of which is one of these.
  SmallVector<vector::BitCastOp> casts;
  kernel.walk([&](vector::BitCastOp op) { casts.push_back(op); });
  llvm::for_each(casts, readAsWords);
  kernel.walk([](Operation *op) { writeOut(op); });

  arith::WideIntEmulationConverter types(/*widestIntSupportedByTarget=*/32);
  auto cast = [](OpBuilder &b, Type type, ValueRange inputs, Location loc) {
    return UnrealizedConversionCastOp::create(b, loc, type, inputs).getResult(0);
  };
  types.addSourceMaterialization(cast);
  types.addTargetMaterialization(cast);
  RewritePatternSet patterns(context);
  arith::populateArithWideIntEmulationPatterns(types, patterns);
  scf::populateSCFStructuralTypeConversions(types, patterns);
  patterns
      .add<ToFloat<arith::SIToFPOp, true>, ToFloat<arith::UIToFPOp, false>,
           FromFloat<arith::FPToSIOp, true>, FromFloat<arith::FPToUIOp, false>,
           Shift<arith::ShLIOp>, Shift<arith::ShRUIOp>, Shift<arith::ShRSIOp>, SameBits, Poison>(
          types, context, /*benefit=*/10);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) { return types.isLegal(op); });
  target.addLegalOp<UnrealizedConversionCastOp, mlir::gpu::GPUModuleOp, mlir::gpu::GPUFuncOp>();
  if (failed(applyFullConversion(kernel, target, std::move(patterns))))
    return failure();
  SmallVector<UnrealizedConversionCastOp> left;
  kernel.walk([&](UnrealizedConversionCastOp op) { left.push_back(op); });
  reconcileUnrealizedCasts(left);
  return success();
}
