#include "compiler/Cost.h"

#include "Buffers/Passes.h"
#include "XTensor/XTensor.h"
#include "compiler/Compiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace xtensor;

/// Comparisons, choices, logic, conversions and positions do not count as arithmetic; an extremum
/// does.
static bool isArithmetic(Operation *op) {
  if (isa<arith::ConstantOp, arith::SelectOp>(op) || isa<CastOpInterface>(op))
    return false;
  Type type = op->getResult(0).getType();
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !type.isIndex() &&
         !type.isInteger(1);
}

/// Of an m by n matrix, by the leading terms (Golub and Van Loan, chapters 3 to 8); for solves,
/// which may have batches of their own, of one column.
static double flopsOfMatrix(StringRef routine, double m, double n) {
  double k = std::min(m, n), lu = 2 * m * n * k - (m + n) * k * k + 2 * k * k * k / 3;
  return llvm::StringSwitch<double>(routine)
      .Case("xt_cholesky", n * n * n / 3)
      .Case("xt_cholesky_tangent", 2 * n * n * n / 3)
      .Case("xt_complex_cholesky", 4 * n * n * n / 3)
      .Case("xt_complex_eig", 100 * n * n * n)
      .Case("xt_complex_eigh", 36 * n * n * n)
      .Case("xt_complex_lu", 4 * lu)
      .Case("xt_complex_lu_solve", 4 * n * n)
      .Case("xt_complex_qr", 16 * m * n * k - 16 * k * k * k / 3)
      .Case("xt_complex_svd", 56 * m * n * k + 32 * k * k * k)
      .Case("xt_complex_triangular_solve", 2 * n * n)
      .Case("xt_eigh", 9 * n * n * n)
      .Case("xt_lu", lu)
      .Case("xt_lu_inverse", 4 * n * n * n / 3)
      .Case("xt_lu_solve", 2 * n * n)
      .Case("xt_lu_tangent", 2 * lu)
      .Cases({"xt_pinv", "xt_svd"}, 14 * m * n * k + 8 * k * k * k)
      .Case("xt_qr", 4 * m * n * k - 4 * k * k * k / 3)
      .Cases({"xt_triangular_product", "xt_triangular_solve"}, n * n)
      .Default(0);
}

/// 5 n log2(n) for each transform of n complex numbers, as is common, and half of that for one from
/// or to real numbers.
static double flopsOfFourier(LibraryOp op) {
  auto in = cast<ShapedType>(op.getInputs()[0].getType()),
       out = cast<ShapedType>(op.getOuts()[0].getType());
  if (!in.hasStaticShape() || !out.hasStaticShape())
    return 0;
  bool fromReal = in.getRank()<out.getRank(), toReal = in.getRank()> out.getRank();
  ShapedType whole = fromReal ? in : out;
  auto axes = cast<DenseI64ArrayAttr>((*op.getAxes())[fromReal ? 0 : 1]).asArrayRef();
  if (!fromReal && !toReal)
    axes = axes.drop_back();
  double size = 1;
  for (int64_t axis : axes.take_back(op.getOptions()[1]))
    size *= whole.getDimSize(axis);
  double numbers = double(whole.getNumElements()) / 2;
  return 5 * numbers * std::log2(std::max(size, 1.0));
}

/// The first operand's axes end with the matrix's rows and columns.
static double flopsOfRoutine(LibraryOp op) {
  if (op.getRoutine() == "xt_fourier")
    return flopsOfFourier(op);
  if (op.getRoutine() == "xt_callback")
    return 0; // what Python does is not known
  auto matrix = dyn_cast_if_present<ShapedType>(
      op.getInputs().empty() ? Type() : op.getInputs()[0].getType());
  auto result = cast<ShapedType>(op.getOuts().back().getType());
  auto axes = op.getAxes();
  if (!matrix || !axes || !matrix.hasStaticShape() || !result.hasStaticShape())
    return 0;
  SmallVector<double> sizes;
  for (int64_t axis : cast<DenseI64ArrayAttr>((*axes)[0]).asArrayRef())
    sizes.push_back(axis < 0 ? 1 : matrix.getDimSize(axis));
  double elements = result.getNumElements();
  if (op.getRoutine().starts_with("xt_complex") && !sizes.empty())
    sizes.pop_back(); // the parts
  if (op.getRoutine() == "xt_triangle_of_product") {
    // What is summed over follows the rows.
    for (double size : ArrayRef<double>(sizes).drop_front(result.getRank() - 1))
      elements *= size;
    return elements;
  }
  if (sizes.size() < 2)
    return 0;
  double n = sizes.pop_back_val(), m = sizes.pop_back_val();
  double each = flopsOfMatrix(op.getRoutine(), m, n);
  if (op.getRoutine().ends_with("solve"))
    return n ? elements / n * each : 0;
  if (op.getRoutine().ends_with("tangent"))
    return elements ? elements / (m * n) * each : 0;
  for (double size : sizes)
    each *= size;
  return each;
}

/// How often the body of `op` runs, 1 if that is not known.
static int64_t stepsOf(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return 1;
  auto begin = getConstantIntValue(loop.getLowerBound()),
       end = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  if (!begin || !end || !step || *step <= 0)
    return 1;
  return std::max<int64_t>(0, (*end - *begin + *step - 1) / *step);
}

static double flopsOf(Region &region) {
  double sum = 0;
  for (Block &block : region)
    for (Operation &op : block) {
      if (op.getNumResults() && isArithmetic(&op))
        sum += isa<math::FmaOp>(op) ? 2 : 1;
      if (auto routine = dyn_cast<LibraryOp>(op))
        sum += flopsOfRoutine(routine);
      double inside = 0, times = 1;
      for (Region &nested : op.getRegions())
        inside += flopsOf(nested);
      if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
        for (int64_t range : loops.getStaticLoopRanges())
          times *= ShapedType::isDynamic(range) ? 1 : range;
      } else {
        times = stepsOf(op);
      }
      sum += times * inside;
    }
  return sum;
}

/// What the host of a device starts, `times` over.
static void countStarts(Region &region, int64_t times, Cost &cost) {
  for (Operation &op : region.getOps()) {
    if (isa<mlir::gpu::LaunchFuncOp>(op))
      cost.launches += times;
    if (auto routine = dyn_cast<LibraryOp>(op))
      cost.onHost[routine.getRoutine().str()] += times;
    for (Region &nested : op.getRegions())
      countStarts(nested, times * stepsOf(op), cost);
  }
}

FailureOr<Cost> xtensor::costOf(ModuleOp module, StringRef target) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  Cost cost;
  if (failed(runPhases(*copy, "traced", "linalg", "", target)))
    return failure();
  double flops = 0;
  for (Operation &function : copy->getOps())
    for (Region &region : function.getRegions())
      flops += flopsOf(region);
  cost.flops = static_cast<int64_t>(flops);
  if (target == "cpu") {
    if (failed(runPhases(*copy, "linalg", "cpu")))
      return failure();
  } else {
    PassManager arena(copy->getContext());
    arena.enableVerifier(false); // it refuses slices of empty arrays
    buildDeviceArenaPipeline(arena);
    if (failed(runPhases(*copy, "linalg", "gpu", "", target)))
      return failure();
    for (auto function : copy->getOps<func::FuncOp>())
      countStarts(function.getBody(), 1, cost);
    if (failed(arena.run(*copy)))
      return failure();
  }
  if (auto main = copy->lookupSymbol<func::FuncOp>("main"))
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (auto type = dyn_cast<MemRefType>(main.getArgumentTypes()[i]);
          type && type.hasStaticShape() && main.getArgAttr(i, kReusedAttr))
        cost.reused += type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  copy->walk([&](memref::AllocOp alloc) {
    if (alloc->hasAttr("xtensor.arena") && alloc.getDynamicSizes().size() == 1)
      cost.arena += getConstantIntValue(alloc.getDynamicSizes()[0]).value_or(0);
  });
  return cost;
}
