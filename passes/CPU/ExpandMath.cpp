// xtensor-expand-math: polynomials for the math functions that are present, and arithmetic for the
// functions that the math dialect lacks.
#include "CPU/Passes.h"
#include "CPU/Processor.h"
#include "Functions/Functions.h"
#include "Functions/RoundToOdd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace xtensor {
#define GEN_PASS_DEF_EXPANDMATH
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

/// Whether the number is at most a factor of results that are rounded to 8 digits.
static bool endsInBFloat16(Value x, int depth = 3) {
  return depth && llvm::all_of(x.getUsers(), [&](Operation *user) {
           if (auto rounding = dyn_cast<arith::TruncFOp>(user))
             return getElementTypeOrSelf(rounding.getType()).isBF16();
           return isa<arith::MulFOp, arith::SelectOp>(user) &&
                  endsInBFloat16(user->getResult(0), depth - 1);
         });
}

/// Replaces an op by a function of passes/Functions of these operands. Functions of the math
/// dialect that it is written with stay ops, which are expanded next.
static void expand(Operation *op, ValueRange operands,
                   function_ref<Real(Scalars &, ArrayRef<Real>)> function) {
  OpBuilder b(op);
  auto call = [](Scalars &s, StringRef name, ArrayRef<Real> x) -> Real {
    OperationState state(s.getLoc(), ("math." + name).str());
    for (Real real : x)
      state.addOperands(real.value);
    state.addTypes(x.front().value.getType());
    return {s.create(state)->getResult(0), &s};
  };
  Scalars s(op->getLoc(), b, op->getResult(0).getType(), /*fuses=*/true, call);
  s.roundsOnce = hasFma(op);
  s.permutes = hasPermutes(op) && !s.wide;
  s.isRough = endsInBFloat16(op->getResult(0));
  SmallVector<Real> x;
  for (Value operand : operands)
    x.push_back({operand, &s});
  op->getResult(0).replaceAllUsesWith(function(s, x).value);
  op->erase();
}

/// The number that all lanes are, if it is finite.
static std::optional<double> finiteConstant(Value x) {
  if (auto copies = x.getDefiningOp<vector::BroadcastOp>()) // as the emitter writes it
    x = copies.getSource();
  APFloat number(0.0);
  if (!matchPattern(x, m_ConstantFloat(&number)) || !number.isFinite())
    return std::nullopt;
  return number.convertToDouble();
}

namespace {

/// `x < bound ? bound : x`, or of another comparison.
struct Clamp {
  Value x;
  double bound;
};

} // namespace

static std::optional<Clamp> clampOf(Value x, arith::CmpFPredicate predicate) {
  auto select = x.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  if (!compare || compare.getPredicate() != predicate ||
      compare.getLhs() != select.getFalseValue() || compare.getRhs() != select.getTrueValue())
    return std::nullopt;
  std::optional<double> bound = finiteConstant(select.getTrueValue());
  return bound ? std::optional<Clamp>({select.getFalseValue(), *bound}) : std::nullopt;
}

/// `x > bound ? x : product`, if nothing else uses the product.
static arith::SelectOp beyondBound(arith::MulFOp product, const Clamp &above) {
  auto select = product->hasOneUse() ? dyn_cast<arith::SelectOp>(*product->user_begin()) : nullptr;
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  bool isBeyond = compare && compare.getPredicate() == arith::CmpFPredicate::OGT &&
                  compare.getLhs() == above.x && finiteConstant(compare.getRhs()) == above.bound &&
                  select.getTrueValue() == above.x && select.getFalseValue() == product.getResult();
  return isBeyond ? select : nullptr;
}

/// gelu: `x ndtr(x)` of a finite x is shorter than ndtr(x), because it does not need both tails. If
/// x is clamped only where the tail is 0, no clamp is needed.
static bool expandProduct(ElementaryOp op) {
  Value x = op.getOperands().front();
  if (op.getFunction() != "ndtr" || !op->hasOneUse() || !hasFma(op))
    return false;
  std::optional<Clamp> below = clampOf(x, arith::CmpFPredicate::OLT);
  std::optional<Clamp> above = below ? clampOf(below->x, arith::CmpFPredicate::OGT) : std::nullopt;
  auto product = dyn_cast<arith::MulFOp>(*op->user_begin());
  if (!above || !product || !llvm::is_contained(product->getOperands(), x))
    return false;
  auto times = [](Scalars &s, ArrayRef<Real> x) { return emitTimesNdtr(s, x.front()); };
  double end = getElementTypeOrSelf(x).isF64() ? kEndOfTail64 : kEndOfTail32;
  arith::SelectOp whole = beyondBound(product, *above);
  if (whole && std::min(above->bound, -below->bound) >= end) {
    expand(whole, above->x, times);
    product.erase();
  } else {
    expand(product, x, times);
  }
  op.erase();
  return true;
}

static void expand(ElementaryOp op) {
  if (expandProduct(op))
    return;
#define XTENSOR_ELEMENTARY_FUNCTION(Op, name, arity, function, isShort)                            \
  if (op.getFunction() == name)                                                                    \
    return expand(op, op.getOperands(), write<function, arity>);
#include "XTensor/XTensorElementwise.inc"
}

/// fmod of vectors: the rest after the rounded quotient's integer part, which may be one too large.
/// The rest is exact then, because one operation multiplies and subtracts. Where the quotient has
/// no places below one, or the divisor is infinite, each lane calls fmod.
static void expand(arith::RemFOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || !(type.getElementType().isF32() || type.getElementType().isF64()))
    return;
  OpBuilder b(op);
  Scalars s(op.getLoc(), b, type, /*fuses=*/true, nullptr);
  Real x{op.getLhs(), &s}, y{op.getRhs(), &s};
  Real size = abs(x), divisor = abs(y), ratio = size / divisor;
  Real rest{math::FmaOp::create(s, (-floor(ratio)).value, divisor.value, size.value), &s};
  rest = select(rest < 0.0, rest + divisor, rest);
  Real result{math::CopySignOp::create(s, rest.value, x.value), &s};
  Bit isFar = (ratio >= s.pick(0x1p22, 0x1p51)) | (divisor == s.infinity());
  result = s.choose(
      isFar, [&]() -> Real { return {arith::RemFOp::create(s, x.value, y.value), &s}; }, result);
  op.replaceAllUsesWith(result.value);
  op.erase();
}

/// The larger or smaller one of two numbers. The instruction of x86-64 gives the second one if both
/// are zeros or one is NaN. Zeros differ in the sign alone, so both orders together give the sign.
template <typename Op>
static void expandExtremum(Op op) {
  if (!op.getType().isF32() && !op.getType().isF64())
    return;
  constexpr bool isMax = std::is_same_v<Op, arith::MaximumFOp>;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x = op.getLhs(), y = op.getRhs();
  Type word = b.getIntegerType(op.getType().getIntOrFloatBitWidth());
  auto isUnordered = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, y);
  auto branch = scf::IfOp::create(b, op.getType(), isUnordered, /*withElseRegion=*/true);
  op.replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.elseBlock());
  auto bitsOf = [&](Value x, Value y) -> Value {
    auto predicate = isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value one = arith::SelectOp::create(b, arith::CmpFOp::create(b, predicate, x, y), x, y);
    return arith::BitcastOp::create(b, word, one);
  };
  Value one = bitsOf(x, y), other = bitsOf(y, x);
  Value bits = isMax ? arith::AndIOp::create(b, one, other).getResult()
                     : arith::OrIOp::create(b, one, other).getResult();
  scf::YieldOp::create(b, arith::BitcastOp::create(b, op.getType(), bits).getResult());
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, arith::AddFOp::create(b, x, y).getResult());
  op.erase();
}

/// A conversion by way of f32, which vectors have, where one of f64 is a call per lane. To bfloat16
/// it would round twice only where the f32 lies halfway between two.
static void expand(arith::TruncFOp op) {
  Type to = getElementTypeOrSelf(op.getType());
  Value x = op.getIn();
  if (!getElementTypeOrSelf(x.getType()).isF64() || !(to.isBF16() || to.isF16()))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type || !to.isBF16()) {
    op.getInMutable().assign(emitRoundToOdd(b, x));
    return;
  }
  VectorType words = type.clone(b.getI32Type()), singles = type.clone(b.getF32Type());
  auto all = [&](int32_t word) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(words, Attribute(b.getI32IntegerAttr(word))));
  };
  Scalars s(op.getLoc(), b, singles, /*fuses=*/true, nullptr);
  Value near = arith::TruncFOp::create(b, singles, x);
  Value cut = arith::AndIOp::create(b, arith::BitcastOp::create(b, words, near), all(0xffff));
  Bit isHalf{arith::CmpIOp::create(b, arith::CmpIPredicate::eq, cut, all(0x8000)), &s};
  Real once = s.choose(isHalf, [&]() -> Real { return {emitRoundToOdd(s, x), &s}; }, {near, &s});
  op.getInMutable().assign(once.value);
}

/// If `isOutside` holds in some lane, `call` gets `inside` as its first argument, and the result of
/// such lanes is that of `outside`, which gets the result of the call. Else it stays as it is.
static void callInside(Scalars &s, Operation *call, Bit isOutside, Real inside,
                       function_ref<Real(Real)> outside) {
  Type type = call->getResult(0).getType();
  auto branch = scf::IfOp::create(s, type, s.any(isOutside), /*withElseRegion=*/true);
  call->getResult(0).replaceAllUsesWith(branch.getResult(0));
  OpBuilder::InsertionGuard guard(s);
  s.setInsertionPointToStart(branch.thenBlock());
  Operation *copy = s.clone(*call);
  copy->setOperand(0, inside.value);
  Real result{copy->getResult(0), &s};
  scf::YieldOp::create(s, select(isOutside, outside(result), result).value);
  s.setInsertionPointToStart(branch.elseBlock());
  auto yield = scf::YieldOp::create(s, call->getResult(0));
  call->moveBefore(yield);
}

/// libmvec calls libm for each lane whose argument is at the end of the domain of a logarithm,
/// `least`, or outside of it. Such lanes get the argument 1, and their results are known.
static void keepInDomain(Operation *log, double least) {
  OpBuilder b(log);
  Scalars s(log->getLoc(), b, log->getResult(0).getType(), /*fuses=*/true, nullptr);
  Real x{log->getOperand(0), &s};
  Bit isOutside = !(x > least);
  callInside(s, log, isOutside, select(isOutside, 1.0, x),
             [&](Real) { return select(x == least, -s.infinity(), s.nan()); });
}

/// The same of powers: the library gets sizes above 0. A negative number has powers only if the
/// exponent is an integer.
static void keepInDomain(math::PowFOp op) {
  OpBuilder b(op);
  Scalars s(op.getLoc(), b, op.getType(), /*fuses=*/true, nullptr);
  Real x{op.getLhs(), &s}, y{op.getRhs(), &s};
  Bit isOutside = !(x > 0.0);
  callInside(s, op, isOutside, select(x < 0.0, abs(x), select(isOutside, 2.0, x)), [&](Real power) {
    Real half = y * 0.5;
    Bit isInteger = floor(y) == y, isOdd = isInteger & !(floor(half) == half);
    Bit isZero = x == 0.0, hasNone = (x < 0.0) & (x > -s.infinity()) & !isInteger;
    Real ofZero = select(y > 0.0, s.real(0.0), select(y < 0.0, s.infinity(), power));
    Real size = select(isZero, ofZero, power);
    Real signedSize = select(isOdd, withSignOf(size, x), size);
    return select(hasNone | (isNan(x) & !(y == 0.0)), s.nan(), signedSize);
  });
}

/// Whether the op is a power or logarithm of vectors, and they are a call of libmvec, if it is
/// there.
static bool isLibraryCall(Operation *op) {
  if (!isa<math::PowFOp, math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(op))
    return false;
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  return type && (isa<math::PowFOp, math::Log10Op>(op) || type.getElementType().isF64());
}

namespace {

bool hasPolynomial(StringRef name) {
  return llvm::is_contained(
      {"math.tanh", "math.log", "math.log1p", "math.log2", "math.erf", "math.acos"}, name);
}

/// The polynomial of erf takes the sign by `x < 0`: erf(-0.0) would be 0.0.
void keepSignOfZero(math::ErfOp op) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Value y = math::CopySignOp::create(b, op.getLoc(), op.getResult(), op.getOperand());
  op.getResult().replaceAllUsesExcept(y, y.getDefiningOp());
}

/// The polynomials of log and log2 read the exponent, which numbers below the smallest normal one
/// do not have: these are scaled up before, and what that adds is taken off the result.
template <typename LogOp>
void scaleSubnormals(LogOp op, double shift) {
  constexpr double kScale = 1 << 24, kSmallestNormal = 0x1p-126;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getType();
  auto constant = [&](double value) -> Value {
    TypedAttr attr = b.getF32FloatAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, cast<FloatAttr>(attr).getValue());
    return arith::ConstantOp::create(b, loc, attr);
  };
  Value x = op.getOperand();
  Value small =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, constant(kSmallestNormal));
  Value scaled = arith::MulFOp::create(b, loc, x, constant(kScale));
  op.getOperandMutable().assign(arith::SelectOp::create(b, loc, small, scaled, x));
  b.setInsertionPointAfter(op);
  Value excess = arith::SelectOp::create(b, loc, small, constant(shift), constant(0.0));
  Value y = arith::SubFOp::create(b, loc, op.getResult(), excess);
  op.getResult().replaceAllUsesExcept(y, y.getDefiningOp());
}

struct ExpandMathPass : xtensor::impl::ExpandMathBase<ExpandMathPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateMathPolynomialApproximationPatterns(set, hasPolynomial);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(set));
    return success();
  }

  void runOnOperation() override {
    SmallVector<ElementaryOp> functions; // an expansion may erase the op behind it
    SmallVector<Operation *> exact;      // and not the calls that they become
    getOperation().walk([&](Operation *op) {
      if (auto function = dyn_cast<ElementaryOp>(op))
        functions.push_back(function);
      else if (isa<arith::RemFOp, arith::TruncFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
        exact.push_back(op);
    });
    for (ElementaryOp function : functions)
      expand(function);
    getOperation().walk([&](Operation *op) { // also those that functions above are written with
      if (isa<math::TanhOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isF64())
        expand(op, op->getOperands(), write<emitTanh, 1>);
      else if (isa<math::ErfOp>(op) && hasPermutes(op) &&
               getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        expand(op, op->getOperands(), write<emitErf, 1>);
      else if (isa<math::ExpM1Op>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        expand(op, op->getOperands(), write<emitExpm1, 1>);
      else if (isa<math::ExpOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        expand(op, op->getOperands(), write<emitExp, 1>);
    });
    for (Operation *op : exact)
      if (auto rest = dyn_cast<arith::RemFOp>(op))
        expand(rest);
      else if (auto greater = dyn_cast<arith::MaximumFOp>(op))
        expandExtremum(greater);
      else if (auto less = dyn_cast<arith::MinimumFOp>(op))
        expandExtremum(less);
      else
        expand(cast<arith::TruncFOp>(op));
    SmallVector<Operation *> calls, ops; // the driver visits `ops` and what replaces them
    getOperation().walk([&](Operation *op) {
      if (isLibraryCall(op))
        calls.push_back(op);
      else if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
               hasPolynomial(op->getName().getStringRef()) &&
               getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        ops.push_back(op);
    });
    for (Operation *op : calls)
      if (auto power = dyn_cast<math::PowFOp>(op))
        keepInDomain(power);
      else
        keepInDomain(op, isa<math::Log1pOp>(op) ? -1.0 : 0.0);
    if (ops.empty())
      return;
    for (Operation *op : ops) {
      if (auto log = dyn_cast<math::LogOp>(op))
        scaleSubnormals(log, 24 * std::log(2.0));
      else if (auto log2 = dyn_cast<math::Log2Op>(op))
        scaleSubnormals(log2, 24);
      else if (auto erf = dyn_cast<math::ErfOp>(op))
        keepSignOfZero(erf);
    }
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    (void)applyOpPatternsGreedily(ops, *patterns, config);
  }

  std::shared_ptr<FrozenRewritePatternSet> patterns;
};

} // namespace
