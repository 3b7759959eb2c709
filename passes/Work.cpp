// The arithmetic of ops, and the memory that they read and write.
#include "Work.h"

#include "CallSizes.h"
#include "XTensor/XTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace xtensor;

//===- arithmetic ----------------------------------------------------------===//

/// Comparisons, choices, logic, conversions and positions do not count as arithmetic; an extremum
/// does.
static bool isArithmetic(Operation *op) {
  if (isa<arith::ConstantOp, arith::SelectOp>(op) || isa<CastOpInterface>(op))
    return false;
  Type type = op->getResult(0).getType();
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !type.isIndex() &&
         !type.isInteger(1);
}

/// Nothing if a size is not known, or if it is no array.
static std::optional<SmallVector<double>> shapeOf(Value array) {
  auto type = dyn_cast<ShapedType>(array.getType());
  if (!type)
    return std::nullopt;
  SmallVector<double> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    auto size = sizeInCall(array, axis);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

static double elementsOf(ArrayRef<double> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<>());
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
  auto in = shapeOf(op.getInputs()[0]), out = shapeOf(op.getOuts()[0]);
  if (!in || !out)
    return 0;
  bool fromReal = in->size()<out->size(), toReal = in->size()> out->size();
  const SmallVector<double> &whole = fromReal ? *in : *out;
  auto axes = cast<DenseI64ArrayAttr>((*op.getAxes())[fromReal ? 0 : 1]).asArrayRef();
  if (!fromReal && !toReal)
    axes = axes.drop_back();
  double size = 1;
  for (int64_t axis : axes.take_back(op.getOptions()[1]))
    size *= whole[axis];
  double numbers = elementsOf(whole) / 2;
  return 5 * numbers * std::log2(std::max(size, 1.0));
}

/// The first operand's axes end with the matrix's rows and columns.
static double flopsOfRoutine(LibraryOp op) {
  if (op.getRoutine() == "xt_fourier")
    return flopsOfFourier(op);
  if (op.getRoutine() == "xt_callback")
    return 0; // what Python does is not known
  auto matrix = op.getInputs().empty() ? std::nullopt : shapeOf(op.getInputs()[0]);
  auto result = shapeOf(op.getOuts().back());
  auto axes = op.getAxes();
  if (!matrix || !axes || !result)
    return 0;
  SmallVector<double> sizes;
  for (int64_t axis : cast<DenseI64ArrayAttr>((*axes)[0]).asArrayRef())
    sizes.push_back(axis < 0 ? 1 : (*matrix)[axis]);
  double elements = elementsOf(*result);
  if (op.getRoutine().starts_with("xt_complex") && !sizes.empty())
    sizes.pop_back(); // the parts
  if (op.getRoutine() == "xt_bfloat16_product") {
    // What is summed over follows the rows.
    elements *= 2;
    for (double size : ArrayRef<double>(sizes).drop_front(op.getOptions()[0] + op.getOptions()[1]))
      elements *= size;
    return elements;
  }
  if (op.getRoutine() == "xt_triangle_of_product") {
    // What is summed over follows the rows.
    for (double size : ArrayRef<double>(sizes).drop_front(result->size() - 1))
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

/// Steps from `begin` to `end`, if they are known.
static std::optional<double> countOf(OpFoldResult begin, OpFoldResult end, OpFoldResult step) {
  auto from = valueInCall(begin), to = valueInCall(end), by = valueInCall(step);
  if (!from || !to || !by || *by <= 0)
    return std::nullopt;
  return std::max<int64_t>(0, (*to - *from + *by - 1) / *by);
}

/// The induction variables that a number is computed from. False if it is computed from something
/// else that the sizes of a call do not tell.
static bool findInductions(Value value, llvm::SetVector<Value> &found) {
  if (valueInCall(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    auto variables = loop ? loop.getLoopInductionVars() : std::nullopt;
    if (!variables || !llvm::is_contained(*variables, value))
      return false;
    found.insert(value);
    return true;
  }
  Operation *op = value.getDefiningOp();
  return !op->getNumRegions() && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return findInductions(v, found); });
}

namespace {
/// What an induction variable is in some steps of its loop, and how many steps each stands for.
struct Variable {
  Value value;
  SmallVector<std::pair<int64_t, double>> steps;
};
} // namespace

/// All steps if they are few. Else the first one, the last one, which may do less, and some of
/// those between.
static std::optional<Variable> stepsOf(Value variable, int64_t most) {
  auto loop = cast<LoopLikeOpInterface>(cast<BlockArgument>(variable).getOwner()->getParentOp());
  SmallVector<Value> variables = *loop.getLoopInductionVars();
  size_t i = llvm::find(variables, variable) - variables.begin();
  OpFoldResult begin = (*loop.getLoopLowerBounds())[i], step = (*loop.getLoopSteps())[i];
  auto count = countOf(begin, (*loop.getLoopUpperBounds())[i], step);
  if (!count || !*count)
    return std::nullopt;
  auto total = int64_t(*count), inner = std::min(total, most) - 2;
  Variable found{variable, {}};
  auto add = [&](int64_t at, double weight) {
    found.steps.push_back({*valueInCall(begin) + at * *valueInCall(step), weight});
  };
  add(0, 1);
  for (int64_t k = 0; k < inner; ++k)
    add(1 + k * (total - 2) / inner, double(total - 2) / inner);
  if (total > 1)
    add(total - 1, 1);
  return found;
}

/// The mean of a number over the steps of the loops that it depends on. Nothing if it is not known.
static std::optional<double> meanOf(ArrayRef<Value> values,
                                    llvm::function_ref<double(ArrayRef<int64_t>)> number) {
  constexpr int64_t kMostSteps = 256; // of all loops together
  llvm::SetVector<Value> depends;
  for (Value v : values)
    if (!findInductions(v, depends))
      return std::nullopt;
  int64_t most = std::pow(kMostSteps, 1.0 / std::max<size_t>(depends.size(), 1));
  SmallVector<Variable> variables;
  for (Value v : depends) {
    auto found = stepsOf(v, std::max<int64_t>(most, 3));
    if (!found)
      return std::nullopt;
    variables.push_back(std::move(*found));
  }
  if (variables.size() > 5)
    return std::nullopt;
  double sum = 0, weights = 0;
  llvm::DenseMap<Value, int64_t> at;
  auto visit = [&](auto &self, size_t i, double weight) -> bool {
    if (i < variables.size())
      return llvm::all_of(variables[i].steps, [&](auto &step) {
        at[variables[i].value] = step.first;
        return self(self, i + 1, weight * step.second);
      });
    SmallVector<int64_t> known;
    for (Value v : values) {
      auto value = valueInStep(v, at);
      if (!value)
        return false;
      known.push_back(*value);
    }
    sum += weight * number(known);
    weights += weight;
    return true;
  };
  if (!visit(visit, 0, 1) || !weights)
    return std::nullopt;
  return sum / weights;
}

/// Of a loop whose bounds depend on the steps of the loops around it, on average. 1 if it is not
/// known.
static double meanStepsOf(scf::ForOp loop) {
  return meanOf({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                [](ArrayRef<int64_t> v) {
                  return v[2] > 0 ? double(std::max<int64_t>(0, (v[1] - v[0] + v[2] - 1) / v[2]))
                                  : 1.0;
                })
      .value_or(1);
}

double xtensor::stepsOf(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto steps = countOf(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    return steps ? *steps : meanStepsOf(loop);
  }
  double steps = 1;
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    for (auto [begin, end, step] :
         llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep()))
      steps *= countOf(begin, end, step).value_or(1);
  return steps;
}

/// What a size is on average over the steps of the loops that cut it into parts. 1 if it is not
/// known.
static double meanOf(OpFoldResult size) {
  if (auto known = valueInCall(size))
    return *known;
  return meanOf({cast<Value>(size)}, [](ArrayRef<int64_t> v) { return double(v[0]); }).value_or(1);
}

/// The elements of memory along axis `axis`, on average.
static double extentOf(Value memory, int64_t axis) {
  auto type = cast<ShapedType>(memory.getType());
  if (auto known = sizeInCall(memory, axis))
    return *known;
  if (auto view = memory.getDefiningOp<memref::SubViewOp>())
    return meanOf(view.getSizes()[type.getDynamicDimIndex(axis)]);
  return 1;
}

double xtensor::pointsOf(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  double points = 1;
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (!ShapedType::isDynamic(range)) {
      points *= range;
      continue;
    }
    std::optional<double> size; // 0 where the arrays are empty
    for (OpOperand &operand : op->getOpOperands())
      for (auto [axis, place] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (place == getAffineDimExpr(loop, op.getContext()))
          size = std::max(size.value_or(0), extentOf(operand.get(), axis));
    points *= size.value_or(1);
  }
  return points;
}

double xtensor::flopsOf(Operation *op) {
  double sum = 0, inside = 0;
  if (op->getNumResults() && isArithmetic(op))
    sum += isa<math::FmaOp>(op) ? 2 : 1;
  if (auto routine = dyn_cast<LibraryOp>(op))
    sum += flopsOfRoutine(routine);
  for (Region &nested : op->getRegions())
    inside += flopsOf(nested);
  if (!inside)
    return sum;
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  return sum + inside * (loops ? pointsOf(loops) : stepsOf(*op));
}

double xtensor::flopsOf(Region &region) {
  double sum = 0;
  for (Block &block : region)
    for (Operation &op : block)
      sum += flopsOf(&op);
  return sum;
}

//===- memory --------------------------------------------------------------===//

namespace {

/// Adds up the bytes that some ops read and write. What they have written, they read from caches.
class TrafficCount {
public:
  explicit TrafficCount(ArrayRef<Operation *> ops) : ops(ops) {}

  Traffic count() {
    for (Operation *op : ops)
      visit(op, 1);
    Traffic found;
    for (auto [side, roots] : {std::pair(&reads, &found.reads), std::pair(&writes, &found.writes)})
      for (auto &[root, bytes] : *side)
        if (!isLocal(root)) {
          found.bytes += std::min(bytes, bytesOf(root));
          roots->push_back(root);
        }
    return found;
  }

private:
  static double bytesOf(Value memory) {
    auto type = cast<MemRefType>(memory.getType());
    double bytes = elementBytes(type);
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      bytes *= extentOf(memory, axis);
    return bytes;
  }
  static double elementBytes(MemRefType type) {
    Type element = type.getElementType();
    return element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }
  static Value rootOf(Value memory) {
    while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
      memory = view.getViewSource();
    return memory;
  }
  /// Whether nothing but these ops sees the memory.
  bool isLocal(Value root) const {
    Operation *maker = root.getDefiningOp();
    if (!isa_and_present<memref::AllocOp, memref::AllocaOp>(maker))
      return false;
    SmallVector<Value> views = {root};
    while (!views.empty())
      for (Operation *user : views.pop_back_val().getUsers()) {
        if (isa<ViewLikeOpInterface>(user) && user->getNumResults())
          views.push_back(user->getResult(0));
        else if (!llvm::any_of(ops, [&](Operation *op) { return op->isAncestor(user); }))
          return false;
      }
    return true;
  }

  static bool isSamePlace(Value a, Value b) {
    if (a == b)
      return true;
    auto x = a.getDefiningOp<memref::SubViewOp>(), y = b.getDefiningOp<memref::SubViewOp>();
    return x && y && x.getType() == y.getType() && x.getMixedOffsets() == y.getMixedOffsets() &&
           x.getMixedSizes() == y.getMixedSizes() && x.getMixedStrides() == y.getMixedStrides() &&
           isSamePlace(x.getSource(), y.getSource());
  }
  /// The first view that was met of the same place.
  Value placeOf(Value memory) {
    auto found = llvm::find_if(places, [&](Value v) { return isSamePlace(v, memory); });
    return found != places.end() ? *found : places.emplace_back(memory);
  }

  void read(Value memory, double bytes) {
    Value root = rootOf(memory);
    if (!writes.contains(root) && seen.insert({placeOf(memory), 0}).second)
      reads[root] += bytes;
  }
  void write(Value memory, double bytes) {
    if (seen.insert({placeOf(memory), 1}).second)
      writes[rootOf(memory)] += bytes;
  }

  void visit(Operation *op, double times) {
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      if (rootOf(copy.getSource()) == rootOf(copy.getTarget()))
        return;
      read(copy.getSource(), times * bytesOf(copy.getSource()));
      return write(copy.getTarget(), times * bytesOf(copy.getTarget()));
    }
    // What bufferization leaves of an insertion that was computed in place.
    if (auto copy = dyn_cast<linalg::CopyOp>(op);
        copy && isSamePlace(copy.getInputs()[0], copy.getOutputs()[0]))
      return;
    if (isa<linalg::LinalgOp, LibraryOp>(op)) {
      auto destinations = cast<DestinationStyleOpInterface>(op);
      auto loops = dyn_cast<linalg::LinalgOp>(op);
      for (OpOperand *operand : destinations.getDpsInputOperands())
        if (isa<MemRefType>(operand->get().getType()))
          read(operand->get(), times * bytesOf(operand->get()));
      for (OpOperand &operand : destinations.getDpsInitsMutable()) {
        if (loops && !loops.getNumReductionLoops() && loops.payloadUsesValueFromOperand(&operand))
          read(operand.get(), times * bytesOf(operand.get()));
        write(operand.get(), times * bytesOf(operand.get()));
      }
      times *= loops ? pointsOf(loops) : 1;
    } else {
      times *= stepsOf(*op);
    }
    if (auto load = dyn_cast<memref::LoadOp>(op))
      read(load.getMemRef(), times * elementBytes(load.getMemRefType()));
    if (auto store = dyn_cast<memref::StoreOp>(op))
      write(store.getMemRef(), times * elementBytes(store.getMemRefType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          visit(&inner, times);
  }

  ArrayRef<Operation *> ops;
  llvm::MapVector<Value, double> reads, writes; // by the memory of which they see a part
  llvm::DenseSet<std::pair<Value, int>> seen;   // and whether it was written
  SmallVector<Value> places;                    // views of different places
};

} // namespace

Traffic xtensor::trafficOf(ArrayRef<Operation *> ops) { return TrafficCount(ops).count(); }
