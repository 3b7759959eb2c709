#include "CPU/Stage.h"
#include "CPU/Gemm.h"
#include "CPU/ProductTiles.h"
#include "Combiners.h"
#include "Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

//===- bodies --------------------------------------------------------------===//

/// Whether the body asks for the number of a step of the loop.
static bool isIndexed(linalg::LinalgOp op, unsigned loop) {
  return op.getBlock()
      ->walk([&](linalg::IndexOp index) {
        return index.getDim() == loop ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Ops that do to every lane what they do to a number; index and load are known to the emitter.
static bool isVectorizable(Operation &op) {
  if (op.getNumRegions())
    return false;
  return OpTrait::hasElementwiseMappableTraits(&op) ||
         isa<arith::ConstantOp, linalg::IndexOp, memref::LoadOp, linalg::YieldOp>(op);
}

/// Recognises yield(narrow(combine(widen(old), new))), with or without the conversions.
static Combiner findCombiner(Stage &stage, unsigned output) {
  Combiner c;
  Value result = stage.op.getBlock()->getTerminator()->getOperand(output);
  Value old = stage.outputArgument(output);
  if (auto narrow = result.getDefiningOp<arith::TruncFOp>()) {
    if (!old.hasOneUse() || !isa<arith::ExtFOp>(*old.user_begin()) || !result.hasOneUse())
      return {};
    c.widen = *old.user_begin();
    c.narrow = narrow;
    old = c.widen->getResult(0);
    result = narrow.getIn();
  }
  Operation *op = result.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || !old.hasOneUse() || *old.user_begin() != op ||
      !result.hasOneUse())
    return {};
  auto kind = linalg::getCombinerOpKind(op);
  c.neutral = kind ? neutralOf(op) : TypedAttr();
  if (!c.neutral)
    return {};
  c.kind = *kind;
  c.op = op;
  c.newOperand = op->getOperand(0) == old ? 1 : 0;
  return c;
}

static bool isZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number && number.getValue().isZero();
}

/// `product` as `decay` * x where a zero decay gives zero: x, or null.
static Value matchDecay(Value product, Value &decay) {
  auto select = product.getDefiningOp<arith::SelectOp>();
  if (!select || !isZero(select.getTrueValue()))
    return {};
  auto test = select.getCondition().getDefiningOp<arith::CmpFOp>();
  auto times = select.getFalseValue().getDefiningOp<arith::MulFOp>();
  if (!test || !times || test.getPredicate() != arith::CmpFPredicate::OEQ || !isZero(test.getRhs()))
    return {};
  decay = test.getLhs();
  return otherOperand(times, decay);
}

/// Recognises the steps that a vector can take several of at once (see Scan).
static Scan findScan(Stage &stage, bool reverse) {
  Operation *yield = stage.op.getBlock()->getTerminator();
  Scan scan;
  scan.reverse = reverse;
  scan.running = stage.outputArgument(1);
  scan.next = yield->getOperand(1);
  Operation *op = scan.next.getDefiningOp();
  if (!op || op->getBlock() != stage.op.getBlock())
    return scan;
  Operation *reader = nullptr; // of the running value, beside what is shown
  if (Value sum = matchDecay(scan.next, scan.decay)) {
    reader = sum.getDefiningOp<arith::AddFOp>();
    scan.element = reader ? otherOperand(reader, scan.running) : Value();
    scan.decaysElement = true;
  } else if (auto add = dyn_cast<arith::AddFOp>(op)) {
    for (Value side : {add.getLhs(), add.getRhs()})
      if (Value value = matchDecay(side, scan.decay); value && value == scan.running) {
        scan.element = otherOperand(add, side);
        reader = cast<arith::SelectOp>(side.getDefiningOp()).getFalseValue().getDefiningOp();
        break;
      }
  }
  if (!scan.element) {
    scan.decay = {};
    scan.decaysElement = false;
    auto kind = linalg::getCombinerOpKind(op);
    if (!kind)
      return scan;
    scan.kind = *kind;
    scan.element = otherOperand(op, scan.running);
    reader = op;
  }
  if (!scan.element)
    return scan;
  scan.neutral = neutralOf(scan.decaysElement ? reader : op);
  // What is combined must be known before the running value is.
  SmallPtrSet<Operation *, 8> early;
  SmallVector<Value> work{scan.element};
  if (scan.decay)
    work.push_back(scan.decay);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (value == scan.running)
      return scan;
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == stage.op.getBlock() && early.insert(def).second)
      llvm::append_range(work, def->getOperands());
  }
  scan.known = scan.neutral && reader;
  return scan;
}

/// Whether ops of the body compute `value` from `from`, constants and values of outside alone.
static bool isMadeOf(Value value, ArrayRef<Value> from, Block *block) {
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (llvm::is_contained(from, next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op ? next.getParentBlock() == block
            : op->getBlock() == block && isa<linalg::IndexOp, memref::LoadOp>(op))
      return false;
    if (op && op->getBlock() == block)
      llvm::append_range(work, op->getOperands());
  }
  return true;
}

/// Whether `better` orders elements: element > best or element < best, of numbers alone where
/// `best` is to be one.
static bool isOrder(Value better, Value element, Value best) {
  auto plain = [](Value value) {
    auto widen = value.getDefiningOp<arith::ExtFOp>();
    return widen ? widen.getIn() : value;
  };
  if (auto both = better.getDefiningOp<arith::AndIOp>()) {
    for (Value side : {both.getLhs(), both.getRhs()})
      if (auto test = side.getDefiningOp<arith::CmpFOp>();
          test && test.getPredicate() == arith::CmpFPredicate::ORD &&
          plain(test.getLhs()) == best && plain(test.getRhs()) == best) {
        auto order = otherOperand(both, side).getDefiningOp<arith::CmpFOp>();
        return order && plain(order.getLhs()) == element && plain(order.getRhs()) == best &&
               (order.getPredicate() == arith::CmpFPredicate::UGT ||
                order.getPredicate() == arith::CmpFPredicate::ULT);
      }
    return false;
  }
  using Predicate = arith::CmpIPredicate;
  auto order = better.getDefiningOp<arith::CmpIOp>();
  return order && order.getLhs() == element && order.getRhs() == best &&
         llvm::is_contained({Predicate::sgt, Predicate::slt, Predicate::ugt, Predicate::ult},
                            order.getPredicate());
}

/// Recognises yield(better ? element : best, better ? index : place).
static std::optional<Search> findSearch(Stage &stage) {
  Block *block = stage.op.getBlock();
  if (stage.numOutputs() != 2)
    return {};
  auto best = block->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto place = block->getTerminator()->getOperand(1).getDefiningOp<arith::SelectOp>();
  Value old = stage.outputArgument(0), oldPlace = stage.outputArgument(1);
  if (!best || !place || best.getCondition() != place.getCondition() ||
      best.getFalseValue() != old || place.getFalseValue() != oldPlace || !oldPlace.hasOneUse())
    return {};
  Search search{best.getCondition(), best.getTrueValue(), place.getTrueValue()};
  // The index grows along the loop: among equal elements the first has the least.
  Value index = search.at;
  while (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  if (!loop || !stage.reduced[loop.getDim()] || llvm::count(stage.reduced, true) != 1)
    return {};
  if (!isOrder(search.better, search.element, old) ||
      !isMadeOf(search.better, {search.element, old}, block))
    return {};
  return search;
}

//===- kernels -------------------------------------------------------------===//

bool Stage::joinsLanes(unsigned loop) const {
  if (!reduced[loop])
    return true;
  if (scan)
    return scan->known;
  return search || llvm::all_of(combiners, [](const Combiner &c) { return bool(c); });
}

void Kernel::note(Value base, llvm::function_ref<void(Uses &)> change) {
  auto [it, isNew] = uses.try_emplace(base);
  if (isNew && !Views::isIdentified(base))
    unidentified.push_back(base);
  change(it->second);
}

void Kernel::add(Stage stage) {
  for (auto [i, access] : llvm::enumerate(stage.operands))
    if (access.base)
      note(access.base, [&access = access, isWrite = i >= stage.numInputs()](Uses &u) {
        SmallVectorImpl<Access> &list = isWrite ? u.writes : u.reads;
        if (llvm::none_of(list, [&](const Access &a) { return a.samePlaces(access); }))
          list.push_back(access);
      });
  for (Value base : stage.gathered)
    note(base, [](Uses &u) { u.isGathered = true; });
  vectorizable &= stage.vectorizable;
  if (stage.scan)
    scansBack = stage.scan->reverse;
  hasScan |= stage.scan.has_value();
  hasReduction |= !stage.scan && stage.isReduction();
  stages.push_back(std::move(stage));
}

void Kernel::add(Kernel other) {
  for (Stage &stage : other.stages)
    add(std::move(stage));
}

void Kernel::remove(Stage *stage) {
  stage->op->erase();
  stages.erase(stage);
  SmallVector<Stage, 4> left = std::move(stages);
  stages.clear();
  uses.clear();
  unidentified.clear();
  for (Stage &other : left)
    add(std::move(other));
}

bool Kernel::anyUse(Value base, llvm::function_ref<bool(const Uses &)> f) const {
  if (!Views::isIdentified(base))
    return llvm::any_of(uses, [&](const auto &use) { return f(use.second); });
  auto it = uses.find(base);
  return (it != uses.end() && f(it->second)) ||
         llvm::any_of(unidentified, [&](Value v) { return f(uses.find(v)->second); });
}

bool Kernel::touches(Value base) const {
  return anyUse(base, [](const Uses &) { return true; });
}

bool Kernel::writes(Value base) const {
  return anyUse(base, [](const Uses &u) { return !u.writes.empty(); });
}

namespace {

/// Reorders, drops and merges the loops of a single stage.
class LoopSimplifier {
public:
  LoopSimplifier(SmallVector<Extent, 4> &ranges, Stage &stage) : ranges(ranges), stage(stage) {}

  void run() {
    stage.loopOf.resize(ranges.size());
    for (unsigned i = 0; i < stage.loopOf.size(); ++i)
      stage.loopOf[i] = i;
    for (unsigned loop = ranges.size(); loop-- > 0;)
      if (ranges[loop].is(1))
        drop(loop);
    for (unsigned loop = 0; loop < stage.loopOf.size(); ++loop)
      indexed.push_back(isIndexed(stage.op, loop));
    if (!llvm::is_contained(indexed, true) && !stage.scan)
      turnLoops();
    sortLoops();
    mergeLoops(*this);
  }

  //===- as mergeLoops counts ------------------------------------------------===//
  unsigned count() const { return ranges.size(); }
  bool areAlike(unsigned outer, unsigned inner) const {
    return stage.reduced[outer] == stage.reduced[inner] && !hasIndex(outer) && !hasIndex(inner);
  }
  Extent range(unsigned loop) const { return ranges[loop]; }
  auto accesses() const {
    return llvm::make_filter_range(stage.operands, [](const Access &a) { return bool(a.base); });
  }
  const Extent &stride(const Access &a, unsigned loop) const { return a.strides[loop]; }
  bool isProduct(const Extent &whole, const Extent &a, const Extent &b) const {
    return whole == a * b;
  }
  void merge(unsigned outer, unsigned inner) {
    ranges[inner] = ranges[outer] * ranges[inner];
    drop(outer);
  }

private:
  /// Whether the loop must stay as it is: merged loops have no index of their own.
  bool hasIndex(unsigned loop) const {
    return llvm::any_of(llvm::enumerate(stage.loopOf), [&](auto own) {
      return own.value() == static_cast<int>(loop) && indexed[own.index()];
    });
  }

  void drop(unsigned loop) {
    ranges.erase(ranges.begin() + loop);
    stage.reduced.erase(stage.reduced.begin() + loop);
    for (Access &a : stage.operands)
      if (a.base)
        a.strides.erase(a.strides.begin() + loop);
    for (int &l : stage.loopOf)
      l = l == static_cast<int>(loop) ? -1 : l > static_cast<int>(loop) ? l - 1 : l;
  }

  /// Loops that all operands walk backwards, such as those of a sum over a reversed array, go
  /// forwards, so that they can merge.
  void turnLoops() {
    Builder b(stage.op.getContext());
    for (unsigned loop = 0; loop < ranges.size(); ++loop) {
      auto walks = llvm::make_filter_range(accesses(),
                                           [&](const Access &a) { return !a.strides[loop].is(0); });
      auto isBackwards = [&](const Access &a) {
        return a.strides[loop].isConstant() && a.strides[loop].constant < 0;
      };
      if (!ranges[loop].isConstant() || !stage.joinsLanes(loop) ||
          !llvm::all_of(walks, isBackwards))
        continue;
      for (Access &a : stage.operands)
        if (a.base && !a.strides[loop].is(0)) {
          a.offset.add(b.getIndexAttr(ranges[loop].constant - 1), a.strides[loop]);
          a.strides[loop] = Extent(-a.strides[loop].constant);
        }
    }
  }

  /// Parallel loops as the output is stored, reduced loops as the first input is stored.
  void sortLoops() {
    auto weight = [&](unsigned loop) -> double { // of many open dims beyond 64 bits
      double most = 0;
      auto see = [&](const Access &a) {
        if (!a.base || a.strides[loop].is(0))
          return;
        double stride = std::abs(double(a.strides[loop].constant));
        for (unsigned i = 0; i < a.strides[loop].factors.size(); ++i)
          stride *= 4096;
        most = most != 0 ? most : stride;
      };
      for (unsigned i = 0; i < stage.numOutputs(); ++i)
        see(stage.output(i));
      for (unsigned i = 0; i < stage.numInputs(); ++i)
        see(stage.operands[i]);
      return most;
    };
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, ranges.size()));
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      if (stage.reduced[a] != stage.reduced[b])
        return !stage.reduced[a];
      return weight(a) > weight(b);
    });
    permute(ranges, order);
    permute(stage.reduced, order);
    for (Access &a : stage.operands)
      if (a.base)
        permute(a.strides, order);
    for (int &l : stage.loopOf)
      if (l >= 0)
        l = llvm::find(order, static_cast<unsigned>(l)) - order.begin();
  }

  template <typename T>
  static void permute(T &list, ArrayRef<unsigned> order) {
    T old = list;
    for (auto [to, from] : llvm::enumerate(order))
      list[to] = old[from];
  }

  SmallVector<Extent, 4> &ranges;
  Stage &stage;
  SmallVector<bool> indexed; // per loop of the op
};

} // namespace

FailureOr<Kernel> xtensor::cpu::buildKernel(linalg::LinalgOp op, Views &views) {
  Kernel kernel;
  Stage stage;
  stage.op = op;
  stage.inputs = op.getNumDpsInputs();
  kernel.ranges.resize(op.getNumLoops());
  SmallVector<bool> known(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    // The access of a number; and of an array that is not read, but gives the loops their ranges.
    Access nowhere;
    nowhere.scalar = operand.get();
    nowhere.elementType = getElementTypeOrSelf(operand.get());
    nowhere.strides.assign(op.getNumLoops(), Extent(0));
    if (!isa<MemRefType>(operand.get().getType())) {
      stage.operands.push_back(nowhere);
      continue;
    }
    StridedView view = views.of(operand.get());
    auto access = Views::access(view, map);
    if (!access)
      return op->emitError("operand ")
             << operand.getOperandNumber()
             << " is read in a pattern that is not linear: " << AffineMapAttr::get(map);
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !known[dim.getPosition()]) {
        kernel.ranges[dim.getPosition()] = view.sizes[d];
        known[dim.getPosition()] = true;
      }
    bool isUsed = op.isDpsInit(&operand) || !op.getMatchingBlockArgument(&operand).use_empty();
    stage.operands.push_back(isUsed ? *access : nowhere);
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (!ShapedType::isDynamic(range))
      kernel.ranges[loop] = Extent(range);
    else if (!known[loop])
      return op->emitError("the range of loop ") << loop << " cannot be told";
  }
  for (utils::IteratorType type : op.getIteratorTypesArray())
    stage.reduced.push_back(type == utils::IteratorType::reduction);
  stage.inits.resize(op.getNumDpsInits());
  stage.vectorizable = llvm::all_of(*op.getBlock(), isVectorizable);
  op.getBlock()->walk([&](Operation *inner) {
    if (auto load = dyn_cast<memref::LoadOp>(inner))
      stage.gathered.push_back(views.of(load.getMemRef()).base);
  });
  auto order = op->getAttrOfType<StringAttr>("xtensor.scan");
  if (order && stage.isReduction())
    stage.scan = findScan(stage, order.getValue() == "reverse");
  for (unsigned i = 0; i < stage.numOutputs(); ++i)
    stage.combiners.push_back(stage.isReduction() && !stage.scan ? findCombiner(stage, i)
                                                                 : Combiner());
  if (stage.isReduction() && !stage.scan)
    stage.search = findSearch(stage);
  LoopSimplifier(kernel.ranges, stage).run();
  kernel.add(std::move(stage));
  return kernel;
}

//===- fusion --------------------------------------------------------------===//

bool xtensor::cpu::conflict(const Kernel &a, const Kernel &b) {
  const Kernel &small = a.uses.size() < b.uses.size() ? a : b, &large = &small == &a ? b : a;
  return llvm::any_of(small.uses, [&](const auto &use) {
    return large.writes(use.first) || (!use.second.writes.empty() && large.touches(use.first));
  });
}

/// True if every iteration has its own place.
static bool isInjective(const Access &access, const Kernel &kernel) {
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    if (access.strides[loop].is(0) && !kernel.ranges[loop].is(1))
      return false;
  return true;
}

bool xtensor::cpu::canFuse(const Kernel &earlier, const Kernel &later) {
  if (earlier.ranges != later.ranges || earlier.ranges.empty() || earlier.isCall || later.isCall)
    return false;
  // A nest of one loop may reduce for one stage and not for another; deeper nests agree.
  if (earlier.ranges.size() > 1 && earlier.stages.front().reduced != later.stages.front().reduced)
    return false;
  if (!earlier.vectorizable || !later.vectorizable)
    return false;
  // A scan sets the order of the steps; what else is reduced has its own.
  if (earlier.hasScan && later.hasScan && earlier.scansBack != later.scansBack)
    return false;
  if ((earlier.hasScan && later.hasReduction) || (later.hasScan && earlier.hasReduction))
    return false;
  // What one writes the other may only use at the same places, each of them its own.
  auto differ = [&](ArrayRef<Access> xs, ArrayRef<Access> ys) {
    return llvm::any_of(xs, [&](const Access &x) {
      return llvm::any_of(
          ys, [&](const Access &y) { return !x.samePlaces(y) || !isInjective(x, earlier); });
    });
  };
  return llvm::none_of(later.uses, [&](const auto &use) {
    const Uses &y = use.second;
    return earlier.anyUse(use.first, [&](const Uses &x) {
      return (x.isGathered && !y.writes.empty()) || (y.isGathered && !x.writes.empty()) ||
             differ(x.writes, y.reads) || differ(x.writes, y.writes) || differ(x.reads, y.writes);
    });
  });
}

static bool isFill(const Stage &stage) { return isa<linalg::FillOp>(stage.op.getOperation()); }

/// If `kernel` does nothing but fill buffers: the last stage that fills `buffer`.
static Stage *fillOf(Kernel &kernel, Value buffer) {
  if (!llvm::all_of(kernel.stages, isFill))
    return nullptr;
  auto fills = llvm::reverse(kernel.stages);
  auto fill = llvm::find_if(fills, [&](Stage &s) { return s.op.getDpsInits()[0] == buffer; });
  return fill == fills.end() ? nullptr : &*fill;
}

namespace {

/// The kernels of a block that are done so far, and the fills among them that may yet be taken by
/// a reduction.
class Fusion {
public:
  void add(Kernel kernel) {
    takeFills(kernel);
    kernel.isCall = isGemm(kernel) || hasProductTiles(kernel);
    Kernel *host = hostOf(kernel);
    unsigned place = host ? host - done.data() : done.size();
    for (Stage &stage : llvm::make_filter_range(kernel.stages, isFill))
      fills[stage.op.getDpsInits()[0]] = place;
    if (host)
      host->add(std::move(kernel));
    else
      done.push_back(std::move(kernel));
  }

  SmallVector<Kernel, 0> take() {
    llvm::erase_if(done, [](const Kernel &kernel) { return kernel.stages.empty(); });
    return std::move(done);
  }

private:
  /// Lets the outputs of `reader` start from the scalar they were just filled with.
  void takeFills(Kernel &reader) {
    Stage &stage = reader.stages.front();
    for (unsigned i = 0; i < stage.numOutputs(); ++i) {
      auto fill = fills.find(stage.op.getDpsInits()[i]);
      // The loops must write all of it, or what was filled remains.
      if (fill == fills.end() ||
          !stage.op.getMatchingIndexingMap(stage.op.getDpsInitOperand(i)).isProjectedPermutation())
        continue;
      Kernel &kernel = done[fill->second];
      Stage *filled = fillOf(kernel, fill->first);
      Value base = stage.output(i).base;
      if (filled && llvm::none_of(ArrayRef<Kernel>(done).drop_front(fill->second + 1),
                                  [&](const Kernel &k) { return k.touches(base); })) {
        // Other stages must not count on the fill.
        stage.inits[i] = filled->op.getDpsInputs()[0];
        kernel.remove(filled);
      }
      fills.erase(fill);
    }
  }

  /// The nearest earlier kernel that `kernel` may join, past those that it may change places with.
  Kernel *hostOf(const Kernel &kernel) {
    unsigned left = kFurthest;
    for (Kernel &candidate : llvm::reverse(done)) {
      if (candidate.stages.empty())
        continue;
      if (canFuse(candidate, kernel))
        return &candidate;
      if (!--left || conflict(candidate, kernel))
        break;
    }
    return nullptr;
  }

  /// A program of thousands of kernels that do not touch each other takes linear time.
  static constexpr unsigned kFurthest = 64;

  SmallVector<Kernel, 0> done;           // without stages: taken by a reduction
  llvm::DenseMap<Value, unsigned> fills; // what was filled, and where
};

} // namespace

SmallVector<Kernel, 0> xtensor::cpu::fuseKernels(SmallVector<Kernel, 0> kernels) {
  Fusion fusion;
  for (Kernel &kernel : kernels)
    fusion.add(std::move(kernel));
  return fusion.take();
}
