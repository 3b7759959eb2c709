#include "CPU/Gemm.h"
#include "CPU/ProductTiles.h"
#include "Estimates.h"
#include "Schedule/Grain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

namespace {

/// Products up to this size run one per thread rather than all threads on one.
constexpr int64_t kLargestBatched = 1 << 21;
/// Multiplications that a chunk of them holds: a few microseconds of about 20 per nanosecond.
constexpr int64_t kChunk = 1 << 16;

/// One operand as the library sees it.
struct Matrix {
  bool transposed;
  Extent leading;
};

/// A matrix whose rows are walked by `row` and whose columns by `column`; none if neither is
/// contiguous.
std::optional<Matrix> matrixOf(const Access &a, unsigned row, unsigned column,
                               const Kernel &kernel) {
  auto fits = [&](const Extent &leading, const Extent &length) {
    return leading.constant > 0 &&
           (!leading.isConstant() || !length.isConstant() || leading.constant >= length.constant);
  };
  if (a.strides[column].is(1) && fits(a.strides[row], kernel.ranges[column]))
    return Matrix{false, a.strides[row]};
  if (a.strides[row].is(1) && fits(a.strides[column], kernel.ranges[row]))
    return Matrix{true, a.strides[column]};
  return std::nullopt;
}

class GemmEmitter {
public:
  GemmEmitter(OpBuilder &b, Kernel &kernel)
      : b(b), kernel(kernel), stage(kernel.stages.front()), loc(stage.op.getLoc()) {}

  bool match();
  void emit();

private:
  bool classify();
  bool chooseLayout();
  bool chooseLayout(unsigned rowLoop, unsigned columnLoop);
  Value pointer(const Access &a, ArrayRef<Value> ivs);
  Value i64(int64_t v) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v)); }
  Value i64(const Extent &e) {
    return e.isConstant()
               ? i64(e.constant)
               : arith::IndexCastOp::create(b, loc, b.getI64Type(), e.materialize(b, loc));
  }
  void call(ArrayRef<Value> ivs);
  Amount work() const;

  OpBuilder &b;
  Kernel &kernel;
  Stage &stage;
  Location loc;
  SmallVector<unsigned> rows, columns, batch, others;
  unsigned m = 0, n = 0, k = 0;
  // The factors in the order of the call: the output may be stored transposed.
  Access *left = nullptr, *right = nullptr;
  Matrix leftMatrix, rightMatrix, outMatrix;
  bool accumulate = false;
};

bool GemmEmitter::classify() {
  unsigned contracted = 0;
  const Access &a = stage.operands[0], &bb = stage.operands[1], &c = stage.output(0);
  if (!a.base || !bb.base)
    return false;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop) {
    bool inA = !a.isInvariant(loop), inB = !bb.isInvariant(loop), inC = !c.isInvariant(loop);
    if (stage.reduced[loop]) {
      if (!inA || !inB || inC)
        return false;
      ++contracted;
      k = loop;
    } else if (!inC) {
      return false;
    } else {
      (inA && inB ? batch : inA ? rows : columns).push_back(loop);
    }
  }
  return contracted == 1 && !rows.empty() && !columns.empty();
}

bool GemmEmitter::chooseLayout(unsigned rowLoop, unsigned columnLoop) {
  Access &a = stage.operands[0], &bb = stage.operands[1], &c = stage.output(0);
  auto out = matrixOf(c, rowLoop, columnLoop, kernel);
  if (!out)
    return false;
  bool swap = out->transposed;
  m = swap ? columnLoop : rowLoop;
  n = swap ? rowLoop : columnLoop;
  left = swap ? &bb : &a;
  right = swap ? &a : &bb;
  auto l = matrixOf(*left, m, k, kernel), r = matrixOf(*right, k, n, kernel);
  if (!l || !r)
    return false;
  leftMatrix = *l;
  rightMatrix = *r;
  outMatrix = *out;
  return true;
}

bool GemmEmitter::chooseLayout() {
  for (unsigned row : llvm::reverse(rows))
    for (unsigned column : llvm::reverse(columns))
      if (chooseLayout(row, column)) {
        for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
          if (loop != m && loop != n && loop != k)
            others.push_back(loop);
        return true;
      }
  return false;
}

Amount GemmEmitter::work() const {
  Amount work = 1;
  for (unsigned loop : {m, n, k})
    work *= kernel.ranges[loop].isConstant() ? kernel.ranges[loop].constant : kOpenSide;
  return work;
}

bool GemmEmitter::match() {
  if (stage.numInputs() != 2 || !isProductSum(kernel) || !classify() || !chooseLayout() ||
      work() < kSmallestGemm || isFasterInTiles(kernel))
    return false;
  if (Value init = stage.inits[0]) {
    if (!matchPattern(init, m_AnyZeroFloat()))
      return false;
  } else {
    accumulate = true;
  }
  return true;
}

/// The address of the first element, as an integer: that is how a pointer is passed.
Value GemmEmitter::pointer(const Access &a, ArrayRef<Value> ivs) {
  Offset offset = a.offset;
  for (auto [loop, iv] : llvm::zip(others, ivs))
    offset.add(iv, a.strides[loop]);
  Value bytes = arith::MulIOp::create(
      b, loc, offset.materialize(b, loc),
      arith::ConstantIndexOp::create(b, loc, a.elementType.getIntOrFloatBitWidth() / 8));
  Value address = arith::AddIOp::create(
      b, loc, memref::ExtractAlignedPointerAsIndexOp::create(b, loc, a.base), bytes);
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
}

void GemmEmitter::call(ArrayRef<Value> ivs) {
  SmallVector<Value> arguments = {
      i64(int64_t(leftMatrix.transposed)),
      i64(int64_t(rightMatrix.transposed)),
      i64(kernel.ranges[m]),
      i64(kernel.ranges[n]),
      i64(kernel.ranges[k]),
      pointer(*left, ivs),
      i64(leftMatrix.leading),
      pointer(*right, ivs),
      i64(rightMatrix.leading),
      pointer(stage.output(0), ivs),
      i64(outMatrix.leading),
      i64(int64_t(accumulate)),
  };
  StringRef name = stage.output(0).elementType.isF32() ? "xt_gemm_f32" : "xt_gemm_f64";
  auto module = stage.op->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    callee = func::FuncOp::create(
        b, loc, name, b.getFunctionType(SmallVector<Type>(arguments.size(), b.getI64Type()), {}));
    callee.setPrivate();
  }
  func::CallOp::create(b, loc, callee, arguments);
}

void GemmEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> ivs;
  auto constant = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
  bool parallel = !stage.op->getParentOfType<scf::ForallOp>() && work() <= kLargestBatched;
  for (unsigned loop : others) {
    Value range = kernel.ranges[loop].materialize(b, loc);
    if (parallel) {
      auto forall =
          scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{range}, ValueRange(), std::nullopt);
      forall->setAttr(kGrainAttribute,
                      b.getI64IntegerAttr(std::max<int64_t>(1, (kChunk / work()).count())));
      b.setInsertionPointToStart(forall.getBody());
      ivs.push_back(forall.getInductionVar(0));
      parallel = false;
      continue;
    }
    auto op = scf::ForOp::create(b, loc, constant(0), range, constant(1));
    b.setInsertionPointToStart(op.getBody());
    ivs.push_back(op.getInductionVar());
  }
  call(ivs);
}

} // namespace

bool xtensor::cpu::isProductSum(Kernel &kernel) {
  Stage &stage = kernel.stages.front();
  if (kernel.stages.size() != 1 || stage.numInputs() < 2 || stage.numOutputs() != 1)
    return false;
  for (unsigned i = 2; i < stage.numInputs(); ++i)
    if (!stage.op.getBlock()->getArgument(i).use_empty())
      return false;
  const Combiner &c = stage.combiners[0];
  Type type = stage.output(0).elementType;
  if (!c || !isa<arith::AddFOp>(c.op) || c.widen || !(type.isF32() || type.isF64()))
    return false;
  auto product = c.op->getOperand(c.newOperand).getDefiningOp<arith::MulFOp>();
  Block *block = stage.op.getBlock();
  if (!product || block->getOperations().size() != 3)
    return false;
  auto isArgument = [&](Value v, unsigned i) { return v == block->getArgument(i); };
  return (isArgument(product.getLhs(), 0) && isArgument(product.getRhs(), 1)) ||
         (isArgument(product.getLhs(), 1) && isArgument(product.getRhs(), 0));
}

bool xtensor::cpu::isGemm(Kernel &kernel) {
  OpBuilder b(kernel.stages.front().op);
  return GemmEmitter(b, kernel).match();
}

bool xtensor::cpu::emitGemm(OpBuilder &b, Kernel &kernel) {
  GemmEmitter emitter(b, kernel);
  if (!emitter.match())
    return false;
  emitter.emit();
  return true;
}
