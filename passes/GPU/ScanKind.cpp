#include "GPU/ScanKind.h"

#include "Combiners.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::gpu;

//===- what kind of scan it is -----------------------------------------------===//

/// Whether the yielded `next` is linear in `running`, in steps that `coefficient` follows.
static bool isLinear(Block &body, Value running, Value next) {
  llvm::DenseSet<Value> follows = {running}, opaque;
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> from;
    bool unknown = false;
    for (Value v : op.getOperands()) {
      if (follows.contains(v))
        from.push_back(v);
      unknown |= opaque.contains(v);
    }
    if (from.empty() && !unknown)
      continue;
    bool known = !unknown && from.size() == 1 && isa<arith::AddFOp, arith::MulFOp>(op);
    if (auto choice = dyn_cast<arith::SelectOp>(op); choice && from.size() == 1 && !unknown)
      known = from[0] != choice.getCondition() &&
              matchPattern(from[0] == choice.getTrueValue() ? choice.getFalseValue()
                                                            : choice.getTrueValue(),
                           m_AnyZeroFloat());
    for (Value result : op.getResults())
      (known ? follows : opaque).insert(result);
  }
  return next != running && follows.contains(next);
}

/// Whether `v` is worked out from `running` in the body.
static bool dependsOn(Value v, Value running) {
  Operation *made = v.getDefiningOp();
  if (!made || made->getBlock() != running.getParentBlock())
    return v == running;
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return op->getBlock() == running.getParentBlock(); };
  (void)getBackwardSlice(v, &slice, options);
  return llvm::any_of(
      slice, [&](Operation *op) { return llvm::is_contained(op->getOperands(), running); });
}

/// The op that alone makes `next` of what output `out` held before. Others may look at that, too.
static Operation *stepOf(linalg::GenericOp generic, unsigned out, Value next) {
  if (Operation *combiner = combinerOf(generic, out))
    return combiner;
  Value running = generic.getRegionOutputArgs()[out];
  Operation *last = next.getDefiningOp();
  if (!last || last->getNumResults() != 1)
    return nullptr;
  Value other = otherOperand(last, running);
  return other && !dependsOn(other, running) ? last : nullptr;
}

/// The one output that carries the running value, where the others have an element per step.
static std::optional<unsigned> runningOutput(const Points &p) {
  linalg::GenericOp generic = p.generic;
  std::optional<unsigned> found;
  for (unsigned i = 0; i < p.outs.size(); ++i) {
    // One that looks at what it overwrites.
    if (p.streams(i) && !generic.getRegionOutputArgs()[i].use_empty())
      return std::nullopt;
    if (p.streams(i))
      continue;
    if (found)
      return std::nullopt;
    found = i;
  }
  return found;
}

std::optional<ScanKind> ScanKind::of(const Points &p) {
  linalg::GenericOp generic = p.generic;
  if (!generic || !generic->getAttrOfType<StringAttr>("xtensor.scan") ||
      p.reductionLoops().size() != 1)
    return std::nullopt;
  std::optional<unsigned> out = runningOutput(p);
  if (!out)
    return std::nullopt;
  Block &body = generic.getRegion().front();
  Value running = generic.getRegionOutputArgs()[*out];
  Value next = body.getTerminator()->getOperand(*out);
  Operation *step = stepOf(generic, *out, next);
  if (step && mayReorder(step))
    return ScanKind{*out, step};
  if (isa<FloatType>(running.getType()) && isLinear(body, running, next))
    return ScanKind{*out, nullptr};
  return std::nullopt;
}

bool ScanKind::isProduct() const { return isa_and_nonnull<arith::MulFOp>(combiner); }

Value ScanKind::coefficient(Points &p) const {
  Kernel &kernel = p.kernel;
  OpBuilder &b = p.b;
  Location loc = p.loc;
  linalg::GenericOp generic = p.generic;
  Block &body = generic.getRegion().front();
  // Null: 1.
  llvm::DenseMap<Value, Value> factor = {{generic.getRegionOutputArgs()[running], Value()}};
  for (Operation &op : body.without_terminator()) {
    auto from = llvm::find_if(op.getOperands(), [&](Value v) { return factor.count(v); });
    if (from == op.operand_end() || !isa<arith::AddFOp, arith::MulFOp, arith::SelectOp>(op))
      continue;
    Value before = factor.lookup(*from), after = before;
    if (isa<arith::MulFOp>(op)) {
      Value other = kernel.value(op.getOperand(op.getOperand(0) == *from ? 1 : 0));
      after = before ? arith::MulFOp::create(b, loc, before, other).getResult() : other;
    } else if (auto choice = dyn_cast<arith::SelectOp>(op)) {
      Type type = choice.getType();
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      if (!before)
        before = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
      Value condition = kernel.value(choice.getCondition());
      bool first = *from == choice.getTrueValue();
      after =
          arith::SelectOp::create(b, loc, condition, first ? before : zero, first ? zero : before);
    }
    factor[op.getResult(0)] = after;
  }
  Value all = factor.lookup(body.getTerminator()->getOperand(running));
  return all ? all
             : arith::ConstantOp::create(
                   b, loc, b.getFloatAttr(generic.getRegionOutputArgs()[running].getType(), 1))
                   .getResult();
}

//===- combining -------------------------------------------------------------===//

ScanArithmetic::ScanArithmetic(Points &points, const ScanKind &kind)
    : type(points.generic.getRegionOutputArgs()[kind.running].getType()), kind(kind), b(points.b),
      loc(points.loc) {}

Value ScanArithmetic::number(double v) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
}

Value ScanArithmetic::constant(const APFloat &v) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
}

Value ScanArithmetic::compare(arith::CmpFPredicate p, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, p, x, y);
}

Value ScanArithmetic::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }

Value ScanArithmetic::either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }

Value ScanArithmetic::choose(Value c, Value x, Value y) {
  return arith::SelectOp::create(b, loc, c, x, y);
}

Value ScanArithmetic::absolute(Value x) { return math::AbsFOp::create(b, loc, x); }

Value ScanArithmetic::no() { return arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0); }

ScanArithmetic::State ScanArithmetic::neutral() {
  if (!kind.combiner)
    return {number(1), number(0)};
  return {arith::ConstantOp::create(b, loc, startOf(kind.combiner))};
}

/// One that is too small to say still is not zero, which would
/// forget infinities.
Value ScanArithmetic::decays(Value x, Value y) {
  Value product = arith::MulFOp::create(b, loc, x, y), zero = number(0);
  Value inf = constant(APFloat::getInf(semantics()));
  Value least = constant(APFloat::getSmallestNormalized(semantics()));
  Value forgets = either(compare(arith::CmpFPredicate::OEQ, x, zero),
                         compare(arith::CmpFPredicate::OEQ, y, zero));
  Value size = absolute(product);
  Value over = both(compare(arith::CmpFPredicate::OEQ, size, inf),
                    both(compare(arith::CmpFPredicate::OLT, absolute(x), inf),
                         compare(arith::CmpFPredicate::OLT, absolute(y), inf)));
  bad = either(bad, over);
  Value tiny = math::CopySignOp::create(b, loc, least, product);
  Value some = choose(compare(arith::CmpFPredicate::OLT, size, least), tiny, product);
  return choose(forgets, zero, some);
}

void ScanArithmetic::checkProduct(Value product) {
  if (!kind.isProduct())
    return;
  Value size = absolute(product);
  bad = either(
      bad, compare(arith::CmpFPredicate::UGT, size, constant(APFloat::getLargest(semantics()))));
  small = either(small, compare(arith::CmpFPredicate::ULT, size,
                                constant(APFloat::getSmallestNormalized(semantics()))));
}

/// Nothing is as small as 0 or as large
/// as infinity, so that these need not.
Value ScanArithmetic::fails(Value carry) {
  if (!kind.isProduct())
    return bad;
  Value inf = constant(APFloat::getInf(semantics())), zero = number(0);
  Value finite = compare(arith::CmpFPredicate::OLT, absolute(carry), inf);
  Value counts = compare(arith::CmpFPredicate::ONE, carry, zero);
  return either(both(bad, finite), both(small, counts));
}

ScanArithmetic::State ScanArithmetic::combine(const State &x, const State &y) {
  if (kind.combiner) {
    Value v = combined(b, kind.combiner, x[0], y[0]);
    checkProduct(v);
    return {v};
  }
  return {decays(x[0], y[0]), enter(x[1], y)};
}

Value ScanArithmetic::enter(Value from, const State &y) {
  if (kind.combiner)
    return combined(b, kind.combiner, from, y[0]);
  // 0 times what is too large to say is 0.
  Value zero = number(0);
  Value none = either(compare(arith::CmpFPredicate::OEQ, from, zero),
                      compare(arith::CmpFPredicate::OEQ, y[0], zero));
  Value decayed = arith::MulFOp::create(b, loc, y[0], from);
  return choose(none, y[1], arith::AddFOp::create(b, loc, decayed, y[1]));
}
