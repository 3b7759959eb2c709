#include "GPU/Points.h"

#include "Estimates.h"
#include "GPU/ArrayOp.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;

Value Team::isFirst(Kernel &kernel) const {
  return arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::eq, id, kernel.index(0));
}

//===- loops that become one ---------------------------------------------------===//

namespace {
/// Loops of known ranges, over accesses of known strides, as mergeLoops counts them.
struct KnownLoops {
  SmallVectorImpl<IteratorType> &kinds;
  SmallVectorImpl<OpFoldResult> &ranges;
  SmallVector<Access *> all; // those in memory

  unsigned count() const { return kinds.size(); }
  bool areAlike(unsigned outer, unsigned inner) const {
    return kinds[outer] == kinds[inner] && range(outer) && range(inner);
  }
  std::optional<int64_t> range(unsigned loop) const { return getConstantIntValue(ranges[loop]); }
  ArrayRef<Access *> accesses() const { return all; }
  std::optional<int64_t> stride(const Access *access, unsigned loop) const;
  bool isProduct(std::optional<int64_t> whole, std::optional<int64_t> a,
                 std::optional<int64_t> b) const {
    return whole && a && b && *whole == *a * *b;
  }
  void merge(unsigned outer, unsigned inner);
};
} // namespace

std::optional<int64_t> KnownLoops::stride(const Access *access, unsigned loop) const {
  int64_t total = 0;
  for (auto [axis, e] : llvm::enumerate(access->map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(e);
    if (!dim && !isa<AffineConstantExpr>(e))
      return std::nullopt;
    if (!dim || dim.getPosition() != loop)
      continue;
    auto known = getConstantIntValue(access->view.strides[axis]);
    if (!known)
      return std::nullopt;
    total += *known;
  }
  return total;
}

void KnownLoops::merge(unsigned outer, unsigned inner) {
  Builder b(ranges[inner].getContext());
  ranges[inner] = b.getIndexAttr(*range(outer) * *range(inner));
  for (Access *access : all) {
    SmallVector<AffineExpr> results;
    FlatView view = access->view;
    view.sizes.clear(), view.strides.clear();
    for (auto [axis, e] : llvm::enumerate(access->map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(e);
      if (dim && dim.getPosition() == outer)
        continue;
      results.push_back(dim && dim.getPosition() > outer ? b.getAffineDimExpr(dim.getPosition() - 1)
                                                         : e);
      view.sizes.push_back(access->view.sizes[axis]);
      view.strides.push_back(access->view.strides[axis]);
    }
    access->view = view;
    access->map = AffineMap::get(count() - 1, 0, results, b.getContext());
  }
  ranges.erase(ranges.begin() + outer);
  kinds.erase(kinds.begin() + outer);
}

//===- what the operation is -------------------------------------------------===//

Points::Points(Kernel &kernel, Operation *op, ArrayRef<Value> init, ArrayRef<Beside> readBeside,
               ArrayRef<Beside> writtenBeside)
    : kernel(kernel), b(kernel.b), loc(op->getLoc()), op(op), init(init) {
  auto access = [&](Value memref, AffineMap map) { return Access{kernel.view(memref), map}; };
  auto identity = [&](Value memref) {
    return b.getMultiDimIdentityMap(cast<MemRefType>(memref.getType()).getRank());
  };
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    ins.push_back(access(copy.getSource(), identity(copy.getSource())));
    outs.push_back(access(copy.getTarget(), identity(copy.getTarget())));
  } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    outs.push_back(access(fill.getOutputs()[0], identity(fill.getOutputs()[0])));
  } else {
    generic = cast<linalg::GenericOp>(op);
    for (OpOperand *operand : generic.getDpsInputOperands())
      ins.push_back(isa<MemRefType>(operand->get().getType())
                        ? access(operand->get(), generic.getMatchingIndexingMap(operand))
                        : Access{FlatView(), AffineMap()});
    for (OpOperand &operand : generic.getDpsInitsMutable())
      outs.push_back(access(operand.get(), generic.getMatchingIndexingMap(&operand)));
    kinds = generic.getIteratorTypesArray();
  }
  if (!generic)
    kinds.assign(outs[0].view.sizes.size(), IteratorType::parallel);
  this->init.resize(outs.size());
  for (auto [accesses, beside] : {std::pair{&ins, readBeside}, std::pair{&outs, writtenBeside}})
    for (const Beside &other : beside)
      accesses->push_back(other.memref ? access(other.memref, other.map)
                                       : Access{FlatView(), AffineMap()});
  findRanges();
  SmallVector<Access *> inMemory;
  for (Access &each : llvm::concat<Access>(ins, outs))
    if (each.map)
      inMemory.push_back(&each);
  // A point then costs fewer divisions to find.
  if (!generic || !generic.hasIndexSemantics())
    mergeLoops(KnownLoops{kinds, ranges, inMemory});
}

void Points::findRanges() {
  ranges.resize(kinds.size());
  auto from = [&](const Access &access) {
    if (!access.map)
      return;
    for (auto [axis, e] : llvm::enumerate(access.map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(e))
        // Of several sizes the known one.
        if (OpFoldResult &range = ranges[dim.getPosition()]; !range || !getConstantIntValue(range))
          range = access.view.sizes[axis];
  };
  for (const Access &access : outs)
    from(access);
  for (const Access &access : ins)
    from(access);
  assert(llvm::all_of(ranges, [](OpFoldResult r) { return bool(r); }) && "a loop without a range");
}

int64_t Points::product(ArrayRef<unsigned> loops) const {
  return knownProduct(llvm::map_to_vector(loops, [&](unsigned i) {
    return getConstantIntValue(ranges[i]).value_or(ShapedType::kDynamic);
  }));
}

OpFoldResult Points::parallelSize() {
  OpFoldResult total = kernel.fixed(1);
  for (unsigned i : parallelLoops())
    total = kernel.mul(total, ranges[i]);
  return total;
}

SmallVector<unsigned> Points::loops(IteratorType kind) const {
  SmallVector<unsigned> result;
  for (auto [i, k] : llvm::enumerate(kinds))
    if (k == kind)
      result.push_back(i);
  return result;
}

bool Points::streams(unsigned out) const {
  return llvm::any_of(reductionLoops(),
                      [&](unsigned i) { return outs[out].map.isFunctionOfDim(i); });
}

bool Points::reducesRows() const {
  SmallVector<unsigned> over = reductionLoops();
  if (over.empty())
    return false;
  // What is large counts, not a vector that all points share. Sizes that only the call knows are.
  bool rows = false;
  Amount largest = 0;
  for (const Access &access : ins) {
    if (!access.map)
      continue;
    Amount elements = 1;
    for (auto [i, range] : llvm::enumerate(ranges))
      if (access.map.isFunctionOfDim(i))
        elements *= getConstantIntValue(range).value_or(kOpenSize);
    if (elements < largest)
      continue;
    if (elements > largest)
      rows = false;
    largest = elements;
    for (auto [axis, e] : llvm::enumerate(access.map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(e); dim && dim.getPosition() == over.back())
        rows |= getConstantIntValue(access.view.strides[axis]) == 1;
  }
  return rows;
}

//===- one element -----------------------------------------------------------===//

Value Points::expression(AffineExpr e, const Point &point) {
  if (auto dim = dyn_cast<AffineDimExpr>(e))
    return point[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(e))
    return kernel.index(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(e);
  Value x = expression(binary.getLHS(), point), y = expression(binary.getRHS(), point);
  switch (e.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, x, y);
  // Positions are never negative.
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(b, loc, x, y);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(b, loc, x, y);
  default:
    llvm_unreachable("no map of this project rounds up");
  }
}

Value Points::offset(const Access &access, const Point &point) {
  OpFoldResult at = access.view.offset;
  for (auto [e, stride] : llvm::zip_equal(access.map.getResults(), access.view.strides)) {
    if (auto constant = dyn_cast<AffineConstantExpr>(e))
      at = kernel.add(at, kernel.mul(kernel.fixed(constant.getValue()), stride));
    else
      at = kernel.add(at, kernel.mul(expression(e, point), stride));
  }
  return kernel.index(at);
}

Value Points::load(const Access &access, const Point &point) {
  return kernel.load(access.view, offset(access, point));
}

void Points::store(Value v, const Access &access, const Point &point) {
  kernel.store(v, access.view, offset(access, point));
}

SmallVector<Value> Points::loadInputs(const Point &point) {
  SmallVector<Value> values;
  for (auto [i, access] : llvm::enumerate(ins))
    values.push_back(isRead(i) ? load(access, point) : Value());
  return values;
}

/// Whether the operand is memory whose elements somebody asks for.
bool Points::isRead(unsigned in) {
  return ins[in].map && (!generic || !generic.getRegion().front().getArgument(in).use_empty());
}

void Points::setInputs(ValueRange values) {
  for (auto [i, access] : llvm::enumerate(ins))
    if (BlockArgument argument = generic.getRegion().front().getArgument(i); !argument.use_empty())
      kernel.set(argument,
                 access.map ? values[i] : kernel.value(generic.getDpsInputOperand(i)->get()));
}

void Points::emitBodyOp(Operation &inner, ArrayRef<Value> point) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    kernel.set(index, point[index.getDim()]);
  else if (!emitScalar(kernel, inner))
    kernel.refuse(inner);
}

SmallVector<Value> Points::apply(ValueRange values, ArrayRef<Value> point, ValueRange old) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return {kernel.value(fill.getInputs()[0])};
  if (!generic)
    return {values[0]};
  Block &body = generic.getRegion().front();
  setInputs(values);
  for (auto [i, v] : llvm::enumerate(old))
    if (v)
      kernel.set(body.getArgument(ins.size() + i), v);
  for (Operation &inner : body.without_terminator())
    emitBodyOp(inner, point);
  SmallVector<Value> results;
  for (Value v : body.getTerminator()->getOperands())
    results.push_back(kernel.value(v));
  return results;
}

SmallVector<Value> Points::initial(const Point &point) {
  SmallVector<Value> result(outs.size());
  if (!generic)
    return result;
  for (auto [i, access] : llvm::enumerate(outs)) {
    if (generic.getRegionOutputArgs()[i].use_empty() || streams(i))
      continue;
    result[i] = isStart(i) ? load(access, point) : init[i];
  }
  return result;
}

/// Whether what the output holds before is read from memory.
bool Points::isStart(unsigned out) {
  return generic && !generic.getRegionOutputArgs()[out].use_empty() && !init[out];
}

//===- points ----------------------------------------------------------------===//

void Points::unflatten(Value flat, ArrayRef<unsigned> over, Point &point, int64_t width) {
  for (size_t n = over.size(); n-- > 0;) {
    const unsigned loop = over[n];
    const int64_t run = n + 1 == over.size() ? width : 1;
    auto known = getConstantIntValue(ranges[loop]);
    Value at = flat;
    if (n > 0 && known == run) {
      at = kernel.index(0);
    } else if (n > 0) {
      Value size = known ? kernel.index(*known / run) : kernel.index(ranges[loop]);
      at = arith::RemUIOp::create(b, loc, flat, size);
      flat = arith::DivUIOp::create(b, loc, flat, size);
    }
    point[loop] = kernel.index(kernel.mul(at, kernel.fixed(run)));
  }
}

Points::Point Points::parallelPoint(Value number, int64_t width) {
  Point point(kinds.size());
  unflatten(number, parallelLoops(), point, width);
  return point;
}

void Points::emitUpdate(Value number, Operation *combiner,
                        llvm::function_ref<void(const FlatView &, Value)> combine) {
  Point point = parallelPoint(number);
  setInputs(loadInputs(point));
  for (Operation &inner : generic.getRegion().front().without_terminator())
    if (&inner != combiner)
      emitBodyOp(inner, point);
  combine(outs[0].view, offset(outs[0], point));
}
