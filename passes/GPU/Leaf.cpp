#include "GPU/Leaf.h"

#include "Estimates.h"
#include "Loops.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;

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

Leaf::Leaf(Kernel &kernel, Operation *op, ArrayRef<Value> init, ArrayRef<Beside> readBeside,
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

void Leaf::findRanges() {
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

int64_t Leaf::product(IteratorType kind) const {
  SmallVector<int64_t> sizes;
  for (auto [k, range] : llvm::zip_equal(kinds, ranges))
    if (k == kind)
      sizes.push_back(getConstantIntValue(range).value_or(ShapedType::kDynamic));
  return knownProduct(sizes);
}

OpFoldResult Leaf::parallelSize() {
  OpFoldResult total = kernel.fixed(1);
  for (unsigned i : loops(IteratorType::parallel))
    total = kernel.mul(total, ranges[i]);
  return total;
}

SmallVector<unsigned> Leaf::loops(IteratorType kind) const {
  SmallVector<unsigned> result;
  for (auto [i, k] : llvm::enumerate(kinds))
    if (k == kind)
      result.push_back(i);
  return result;
}

/// Whether every point of the reduction has an element of its own in this output (a scan).
bool Leaf::streams(unsigned out) const {
  return llvm::any_of(loops(IteratorType::reduction),
                      [&](unsigned i) { return outs[out].map.isFunctionOfDim(i); });
}

bool Leaf::reducesRows() const {
  SmallVector<unsigned> over = loops(IteratorType::reduction);
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

Value Leaf::expression(AffineExpr e, const Point &point) {
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

Value Leaf::offset(const Access &access, const Point &point) {
  OpFoldResult at = access.view.offset;
  for (auto [e, stride] : llvm::zip_equal(access.map.getResults(), access.view.strides)) {
    if (auto constant = dyn_cast<AffineConstantExpr>(e))
      at = kernel.add(at, kernel.mul(kernel.fixed(constant.getValue()), stride));
    else
      at = kernel.add(at, kernel.mul(expression(e, point), stride));
  }
  return kernel.index(at);
}

Value Leaf::load(const Access &access, const Point &point) {
  return kernel.load(access.view, offset(access, point));
}

void Leaf::store(Value v, const Access &access, const Point &point) {
  kernel.store(v, access.view, offset(access, point));
}

SmallVector<Value> Leaf::compute(const Point &point, ValueRange old) {
  SmallVector<Value> values;
  for (auto [i, access] : llvm::enumerate(ins))
    values.push_back(isRead(i) ? load(access, point) : Value());
  return apply(values, point, old);
}

/// Whether the operand is memory whose elements somebody asks for.
bool Leaf::isRead(unsigned in) {
  return ins[in].map && (!generic || !generic.getRegion().front().getArgument(in).use_empty());
}

void Leaf::setInputs(ValueRange values) {
  for (auto [i, access] : llvm::enumerate(ins))
    if (BlockArgument argument = generic.getRegion().front().getArgument(i); !argument.use_empty())
      kernel.set(argument,
                 access.map ? values[i] : kernel.value(generic.getDpsInputOperand(i)->get()));
}

void Leaf::emitBodyOp(Operation &inner, ArrayRef<Value> point) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    kernel.set(index, point[index.getDim()]);
  else if (!emitScalar(kernel, inner))
    kernel.refuse(inner);
}

SmallVector<Value> Leaf::apply(ValueRange values, ArrayRef<Value> point, ValueRange old) {
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

/// What the outputs hold before; null where it is not used.
SmallVector<Value> Leaf::initial(const Point &point) {
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
bool Leaf::isStart(unsigned out) {
  return generic && !generic.getRegionOutputArgs()[out].use_empty() && !init[out];
}

//===- points ----------------------------------------------------------------===//

void Leaf::unflatten(Value flat, ArrayRef<unsigned> over, Point &point, int64_t width) {
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

/// The reduction at one point, in order. Accumulators go around in registers; a scan's outputs
/// are written as they come.
SmallVector<Value> Leaf::overReductions(Point point, ValueRange first) {
  SmallVector<unsigned> over = loops(IteratorType::reduction);
  SmallVector<unsigned> carried;
  SmallVector<Value> start;
  for (auto [i, v] : llvm::enumerate(first))
    if (v) {
      carried.push_back(i);
      start.push_back(v);
    }
  SmallVector<Value> last(outs.size());
  auto order = generic->getAttrOfType<StringAttr>("xtensor.scan");
  const bool backward = order && order.getValue() == "reverse";
  auto body = [&](ValueRange accumulators) -> SmallVector<Value> {
    SmallVector<Value> old(outs.size());
    for (auto [i, v] : llvm::zip_equal(carried, accumulators))
      old[i] = v;
    for (unsigned i = 0; i < outs.size(); ++i)
      if (streams(i) && !generic.getRegionOutputArgs()[i].use_empty())
        old[i] = load(outs[i], point);
    SmallVector<Value> results = compute(point, old), next;
    for (unsigned i = 0; i < outs.size(); ++i)
      if (streams(i) || !old[i])
        store(results[i], outs[i], point);
    for (unsigned i : carried)
      next.push_back(results[i]);
    return next;
  };
  std::function<SmallVector<Value>(unsigned, ValueRange)> nest =
      [&](unsigned depth, ValueRange accumulators) -> SmallVector<Value> {
    if (depth == over.size())
      return body(accumulators);
    Value zero = kernel.index(0), one = kernel.index(1), size = kernel.index(ranges[over[depth]]);
    auto loop = scf::ForOp::create(b, loc, zero, size, one, accumulators);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    point[over[depth]] = loop.getInductionVar();
    if (backward) {
      Value last = arith::SubIOp::create(b, loc, size, one);
      point[over[depth]] = arith::SubIOp::create(b, loc, last, loop.getInductionVar());
    }
    SmallVector<Value> next = nest(depth + 1, loop.getRegionIterArgs());
    if (!next.empty())
      scf::YieldOp::create(b, loc, next);
    return loop.getResults();
  };
  for (auto [i, v] : llvm::zip_equal(carried, nest(0, start)))
    last[i] = v;
  return last;
}

void Leaf::onePoint(Point point) {
  if (!loops(IteratorType::reduction).empty()) {
    SmallVector<Value> last = overReductions(point, initial(point));
    for (auto [i, v] : llvm::enumerate(last))
      if (v)
        store(v, outs[i], point);
    return;
  }
  for (auto [v, access] : llvm::zip_equal(compute(point, initial(point)), outs))
    store(v, access, point);
}

void Leaf::emitUpdate(Value number, Operation *combiner,
                      llvm::function_ref<void(const FlatView &, Value)> combine) {
  Point point(kinds.size());
  unflatten(number, loops(IteratorType::parallel), point);
  SmallVector<Value> values;
  for (auto [i, access] : llvm::enumerate(ins))
    values.push_back(isRead(i) ? load(access, point) : Value());
  setInputs(values);
  for (Operation &inner : generic.getRegion().front().without_terminator())
    if (&inner != combiner)
      emitBodyOp(inner, point);
  combine(outs[0].view, offset(outs[0], point));
}

void Leaf::emit(const Team &team) {
  if (!team.isWorkgroup)
    return emitFor(team);
  SmallVector<Value> reads, writes;
  accessesOf(kernel, *op, reads, writes);
  kernel.access(reads, writes);
  emitFor(team);
  // Where threads met in between, that was before they wrote.
  kernel.wrote(writes);
}

void Leaf::emitFor(const Team &team) {
  int64_t points = parallelPoints(), each = reductionPoints();
  if (points == 0)
    return;
  Point point(kinds.size());
  SmallVector<unsigned> over = loops(IteratorType::parallel);
  // Few columns that are long: the threads share each of them, all at once.
  if (team.isWorkgroup && !ShapedType::isDynamic(points) && points <= team.known / 2 &&
      columnsOfWorkgroup(team.known))
    return sideBySide(points, team);
  // A few long reductions: the threads share each of them.
  if (team.isWorkgroup && canCooperate() && points > 0 && points < team.known &&
      (each < 0 || each / team.known * points + points * 12 < each)) {
    Value count = kernel.index(points);
    if (points == 1) {
      unflatten(kernel.index(0), over, point);
      return together(point, team);
    }
    auto loop = scf::ForOp::create(b, loc, kernel.index(0), count, kernel.index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    unflatten(loop.getInductionVar(), over, point);
    together(point, team);
    mlir::gpu::BarrierOp::create(b, loc);
    return;
  }
  // Scans, too, if they are long.
  if (team.isWorkgroup && points > 0 && points < team.known &&
      (each < 0 || each / team.known * points * 2 + points * 24 < each) && scan()) {
    auto loop = scf::ForOp::create(b, loc, kernel.index(0), kernel.index(points), kernel.index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    unflatten(loop.getInductionVar(), over, point);
    return scanWhole(point, team);
  }
  OpBuilder::InsertionGuard guard(b);
  const int64_t width = pointsAtOnce();
  if (points > 0)
    points /= width;
  auto doPoint = [&](Value at) {
    unflatten(at, over, point, width);
    if (width > 1)
      onePoints(point, over.back(), width);
    else
      onePoint(point);
  };
  OpFoldResult items = kernel.fixed(1);
  for (unsigned i : over)
    items = kernel.mul(items, width > 1 && i == over.back()
                                  ? kernel.fixed(*getConstantIntValue(ranges[i]) / width)
                                  : ranges[i]);
  Value size = kernel.index(items);
  if (team.known && points > 0 && points <= team.known) {
    if (points < team.known) {
      Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, team.id, size);
      auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    return doPoint(team.id);
  }
  auto loop = scf::ForOp::create(b, loc, team.id, size, team.count);
  b.setInsertionPointToStart(loop.getBody());
  doPoint(loop.getInductionVar());
}

//===- scalar code -----------------------------------------------------------===//

bool xtensor::gpu::emitScalar(Kernel &kernel, Operation &op) {
  OpBuilder &b = kernel.b;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    FlatView view = kernel.view(load.getMemref());
    kernel.set(load, kernel.load(view, kernel.place(view, load.getIndices())));
    return true;
  }
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<ViewLikeOpInterface, memref::DimOp>(op))
    return true; // made where they are used
  if (op.getNumRegions() > 0 && !isa<scf::IfOp, scf::ForOp>(op))
    return false;
  if (op.getNumRegions() == 0 && !isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>())
    return false;
  IRMapping map;
  for (Value operand : op.getOperands())
    map.map(operand, kernel.value(operand));
  Operation *copy = b.cloneWithoutRegions(op, map);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    for (Block &block : from) {
      Block *body = b.createBlock(
          &to, to.end(), block.getArgumentTypes(),
          llvm::map_to_vector(block.getArguments(), [](BlockArgument a) { return a.getLoc(); }));
      for (auto [x, y] : llvm::zip_equal(block.getArguments(), body->getArguments()))
        kernel.set(x, y);
      for (Operation &inner : block)
        if (!emitScalar(kernel, inner))
          return false;
    }
  }
  b.setInsertionPointAfter(copy);
  for (auto [x, y] : llvm::zip_equal(op.getResults(), copy->getResults()))
    kernel.set(x, y);
  return true;
}

void xtensor::gpu::accessesOf(Kernel &kernel, Operation &op, SmallVectorImpl<Value> &reads,
                              SmallVectorImpl<Value> &writes) {
  auto flat = [&](Value v) { return kernel.view(v).flat; };
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    reads.push_back(flat(copy.getSource()));
    writes.push_back(flat(copy.getTarget()));
  } else if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    for (Value v : linalg.getDpsInputs())
      if (isa<MemRefType>(v.getType()))
        reads.push_back(flat(v));
    for (Value v : linalg.getDpsInits())
      writes.push_back(flat(v));
    op.walk([&](memref::LoadOp load) { reads.push_back(flat(load.getMemref())); });
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    reads.push_back(flat(load.getMemref()));
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    writes.push_back(flat(store.getMemref()));
  }
}
