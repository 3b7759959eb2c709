// scan: the primal loop gains stacked results that hold its residuals, and a second loop carries
// the tangents. The transpose of the second loop runs in the other direction.
#include "Autodiff/ControlRules.h"
#include "Autodiff/Residuals.h"
#include "XTensor/Endings.h"

using namespace mlir;
using namespace xtensor;

/// The array of which `v` is a slice in `op`'s body; null if it is not a slice.
static Value arrayOf(ScanOp op, Value v) {
  auto arg = dyn_cast<BlockArgument>(v);
  if (!arg || arg.getOwner() != op.getBody() || arg.getArgNumber() < op.getNumCarries())
    return {};
  return op.getOver()[arg.getArgNumber() - op.getNumCarries()];
}

//===- linearize -----------------------------------------------------------===//

/// The number of steps for a loop that has no array to take it from.
struct Steps {
  IntegerAttr length;
  Value size;
};

static Steps stepsOf(Linearizer &l, ScanOp op) {
  if (op.getSize() || op.getLength())
    return {op.getLengthAttr(), op.getSize()};
  if (op.getSteps() != ArrayType::kDynamic)
    return {l.primal.getI64IntegerAttr(op.getSteps()), Value()};
  return {IntegerAttr(), l.sizeOf(op.getOver().front(), op.getDimAttr())};
}

namespace {
/// What the linear loop reads, and which results the primal loop gets for it.
struct Stacks {
  ScanOp op;
  SmallVector<Value> outputs; ///< what the primal body yields
  SmallVector<Value> over;    ///< of the linear loop; null: a result of the primal one
  struct Result {
    unsigned position; ///< in `over`
    unsigned result;
  };
  SmallVector<Result> fromResults;

  explicit Stacks(ScanOp op) : op(op) {}

  SmallVector<Value>::iterator stacked(Value v) {
    return std::find(outputs.begin() + op.getNumCarries(), outputs.end(), v);
  }
  bool isFree(Value v) { return arrayOf(op, v) || stacked(v) != outputs.end(); }

  /// Makes `v` one of the arrays over which the linear loop goes. Returns the slice's type.
  Type add(Linearizer &l, Value v, StringAttr &fresh) {
    if (Value array = arrayOf(op, v)) {
      over.push_back(array);
      return v.getType();
    }
    // Stacking what has the dim itself would name it twice.
    if (StringAttr dim = op.getDimAttr(); arrayType(v).hasDim(dim)) {
      fresh = freshName(dim, arrayType(v));
      l.primal.setInsertionPoint(op.getYield());
      v = RenameOp::create(l.primal, v, l.primal.getArrayAttr({dim}),
                           l.primal.getArrayAttr({fresh}));
    }
    auto known = stacked(v);
    fromResults.push_back(
        {static_cast<unsigned>(over.size()), static_cast<unsigned>(known - outputs.begin())});
    over.push_back({});
    if (known == outputs.end())
      outputs.push_back(v);
    return v.getType();
  }
};
} // namespace

LogicalResult xtensor::linearizeScan(Linearizer &l, Operation *o) {
  auto op = cast<ScanOp>(o);
  Block *body = op.getBody();
  unsigned carries = op.getNumCarries();
  Location loc = l.linear.getLoc(), primalLoc = l.primal.getLoc();
  OpBuilder::InsertPoint after = l.linear.saveInsertionPoint();

  DenseSet<Value> moving;
  auto hasTangent = [&](Value v) { return l.tangent(v) != nullptr; };
  for (auto [source, arg] :
       llvm::zip_equal(op.getOperands().take_front(body->getNumArguments()), body->getArguments()))
    if (isFloat(source) && l.tangent(source))
      moving.insert(arg);
  SmallVector<bool> active = activeCarries(*body, carries, moving, hasTangent);

  // The linear body takes active carries, active slices, and later slices of residuals.
  SmallVector<Value> inits;
  for (unsigned i = 0; i < carries; ++i)
    if (active[i])
      inits.push_back(l.tangentOrZero(op.getCarry()[i]));
  Draft draft(l.linear);
  l.linear.setInsertionPointToEnd(&*draft);
  Stacks stacks(op);
  for (unsigned i = 0; i < carries; ++i)
    if (Value arg = body->getArgument(i); active[i])
      l.setTangent(arg, draft->addArgument(arg.getType(), locOfArgument("tangent", arg, loc)));
  for (auto [x, arg] : llvm::zip_equal(op.getOver(), op.getOverArguments()))
    if (Value t = l.tangent(x)) {
      stacks.over.push_back(t);
      l.setTangent(arg, draft->addArgument(arg.getType(), locOfArgument("tangent", arg, loc)));
    }
  if (failed(l.runInside(*body)))
    return failure();
  l.linear.setLoc(loc);
  l.primal.setLoc(primalLoc);
  SmallVector<Value> yields;
  SmallVector<unsigned> places;
  for (auto [i, v] : llvm::enumerate(op.getYield().getValues()))
    if (i < carries ? active[i] : (isFloat(v) && l.tangent(v))) {
      yields.push_back(l.tangentOrZero(v));
      places.push_back(i);
    }
  YieldOp::create(l.linear, yields);
  l.linear.restoreInsertionPoint(after);

  // A value that does not change is not a residual of each step, and neither is an unused value.
  eraseUnused(l, *draft);
  hoistInvariants(*body, op);
  hoistInvariants(*draft, draft->getParentOp(), &op.getBodyRegion());
  llvm::append_range(stacks.outputs, op.getYield().getValues());
  SmallVector<Value> residuals =
      chooseResiduals(op.getBodyRegion(), *draft, [&](Value v) { return stacks.isFree(v); });
  for (Value v : residuals) {
    StringAttr fresh;
    Location of = isa<BlockArgument>(v) ? v.getLoc() : derived(v.getLoc(), "residual");
    Value inner = draft->addArgument(stacks.add(l, v, fresh), of);
    if (fresh) {
      OpBuilder::InsertionGuard guard(l.linear);
      l.linear.setInsertionPointToStart(&*draft);
      inner = RenameOp::create(l.linear, inner, l.linear.getArrayAttr({fresh}),
                               l.linear.getArrayAttr({op.getDimAttr()}));
    }
    replaceUsesInside(*draft->getParent(), v, inner);
  }

  // Both loops.
  op.getYield()->setOperands(stacks.outputs);
  SmallVector<Type> types(op.getResultTypes());
  for (Value v : ArrayRef(stacks.outputs).drop_front(types.size()))
    types.push_back(withLeading(arrayType(v), op.getDimAttr(), op.getSteps()));
  OpBuilder b(op);
  auto primal = ScanOp::create(b, op.getLoc(), types, op.getDimAttr(), op.getReverseAttr(),
                               op.getCarry(), op.getOver(), op.getLengthAttr(), op.getSize());
  primal->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  primal.getBodyRegion().takeBody(op.getBodyRegion());
  l.primal.setInsertionPointAfter(primal);
  for (auto [position, result] : stacks.fromResults)
    stacks.over[position] = primal.getResult(result);
  Steps steps = stacks.over.empty() ? stepsOf(l, primal) : Steps();
  SmallVector<Type> linearTypes = llvm::map_to_vector(places, [&](unsigned i) { return types[i]; });
  auto linear = ScanOp::create(l.linear, linearTypes, op.getDimAttr(), op.getReverseAttr(), inits,
                               stacks.over, steps.length, steps.size);
  linear->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  draft.moveTo(linear.getBodyRegion());
  for (auto [i, t] : llvm::zip_equal(places, linear.getResults()))
    l.setTangent(primal.getResult(i), t);
  op->replaceAllUsesWith(primal.getResults().take_front(op->getNumResults()));
  op->erase();
  return success();
}

//===- verify --------------------------------------------------------------===//

static LogicalResult verifyScan(Operation *o, DenseSet<Value> &linear) {
  auto op = cast<ScanOp>(o);
  Block *body = op.getBody();
  auto isLinear = [&](Value v) { return linear.contains(v); };
  for (auto [x, arg] : llvm::zip_equal(op.getOver(), op.getOverArguments()))
    if (isLinear(x))
      linear.insert(arg);
  FailureOr<SmallVector<bool>> carried = linearCarries(op, *body, op.getCarry(), linear);
  if (failed(carried))
    return failure();
  for (auto [is, result] : llvm::zip_equal(*carried, op.getFinals()))
    if (is)
      linear.insert(result);
  for (auto [v, y] : llvm::zip_equal(op.getYieldedStacked(), op.getStacked()))
    if (isLinear(v))
      linear.insert(y);
  return success();
}

//===- transpose -----------------------------------------------------------===//

/// What `v` renames above the loop, or `v`.
static Value beforeRenames(Value v) {
  while (auto rename = v.getDefiningOp<RenameOp>())
    v = rename.getOperand();
  return v;
}

/// Renames of tangents that the body reads more than once go into the body. The shares of all
/// these reads are then added up at each step: over all steps each may be large, and what they sum
/// up to small. Returns what is read more than once.
static DenseSet<Value> joinReads(Transposer &t, ScanOp op) {
  SmallVector<Value> captured = capturedLinear(t, op);
  DenseSet<Value> once, several;
  for (Value v : captured)
    for (OpOperand &use : v.getUses())
      if (op.getBodyRegion().isAncestor(use.getOwner()->getParentRegion()))
        if (Value source = beforeRenames(v); !once.insert(source).second)
          several.insert(source);
  for (Value v : captured) {
    Value source = beforeRenames(v);
    if (v == source || !several.contains(source))
      continue;
    OpBuilder b = OpBuilder::atBlockBegin(op.getBody());
    Value inside = source;
    SmallVector<Operation *> renames;
    for (Value next = v; next != source; next = next.getDefiningOp()->getOperand(0))
      renames.push_back(next.getDefiningOp());
    for (Operation *rename : llvm::reverse(renames)) {
      IRMapping map;
      map.map(rename->getOperand(0), inside);
      inside = b.clone(*rename, map)->getResult(0);
      t.markLinear(inside);
    }
    replaceUsesInside(op.getBodyRegion(), v, inside);
  }
  return several;
}

namespace {

/// Shares of a cotangent that are worked out for all steps at once, after the loop: where a step
/// would add an outer product to what came before, the loop stacks the factors instead, and
/// one contraction over the scanned dim does the rest. Not where several outer products are added
/// at a step (`joinReads`).
class Deferred {
public:
  Deferred(Transposer &t, ScanOp op) : t(t), op(op), several(joinReads(t, op)) {
    op.getBody()->walk([&](Operation *user) {
      for (OpOperand &use : user->getOpOperands())
        if (isFactor(use))
          products.insert(&use);
    });
  }

  bool takes(OpOperand &use, Value ct) {
    if (!products.contains(&use))
      return false;
    auto [it, isNew] = index.try_emplace(ct, stacked.size());
    if (isNew)
      stacked.push_back(ct);
    shares.push_back({&use, it->second});
    return true;
  }

  /// The cotangents that the loop has to stack.
  ArrayRef<Value> getStacked() const { return stacked; }

  void finish(ArrayRef<Value> results) {
    for (auto [use, i] : shares) {
      SmallVector<Value> factors{results[i]};
      for (OpOperand &other : use->getOwner()->getOpOperands())
        if (&other != use)
          factors.push_back(t.residual(other.get()));
      Value array = arrayOf(op, use->get());
      Value target = array ? array : use->get();
      ArrayType keep = arrayType(target);
      t.accumulate(target, t.product(factors, keep));
    }
  }

private:
  bool isFromAbove(Value v) { return !op->isAncestor(v.getParentRegion()->getParentOp()); }

  /// Whether the use is one factor of a product whose other factors are there for all steps.
  bool isFactor(OpOperand &use) {
    Operation *user = use.getOwner();
    Value v = use.get();
    StringAttr dim = op.getDimAttr();
    if (user->getBlock() != op.getBody() || !isa<ContractOp, MulOp>(user) || !t.isLinear(v) ||
        arrayType(user->getResult(0)).hasDim(dim))
      return false;
    bool above = isFromAbove(v);
    if ((above && (arrayType(v).hasDim(dim) || several.contains(v))) || (!above && !arrayOf(op, v)))
      return false;
    for (OpOperand &other : user->getOpOperands()) {
      if (&other == &use)
        continue;
      if (isFromAbove(other.get()) ? arrayType(other.get()).hasDim(dim) : !arrayOf(op, other.get()))
        return false;
    }
    // Stacking must not take more room than it saves work.
    return isNoLarger(arrayType(user->getResult(0)), arrayType(v));
  }

  static bool isNoLarger(ArrayType a, ArrayType b) {
    if (a.hasStaticShape() && b.hasStaticShape())
      return elements(a) <= elements(b);
    return lacking(a, b).empty();
  }
  static int64_t elements(ArrayType type) {
    int64_t count = 1;
    for (int64_t size : type.getShape())
      count *= size;
    return count;
  }

  Transposer &t;
  ScanOp op;
  DenseSet<Value> several; ///< what the body reads more than once
  llvm::SmallPtrSet<OpOperand *, 8> products;
  SmallVector<std::pair<OpOperand *, unsigned>> shares;
  SmallVector<Value> stacked;
  DenseMap<Value, unsigned> index;
};

} // namespace

/// Which carries get cotangents: those whose last value has one, and those that one with a
/// cotangent is made of.
static SmallVector<bool> carriesWithCotangents(Transposer &t, ScanOp op) {
  Block *body = op.getBody();
  unsigned carries = op.getNumCarries();
  SmallVector<bool> live(carries);
  SmallVector<Value> work;
  DenseSet<Value> seen;
  auto add = [&](Value v) {
    if (t.isLinear(v) && seen.insert(v).second)
      work.push_back(v);
  };
  for (auto [v, y] : llvm::zip_equal(op.getYield().getValues(), op.getResults()))
    if (t.isLinear(y) && t.cotangent(y))
      add(v);
  for (auto [is, y] : llvm::zip_equal(live, op.getFinals()))
    is = t.isLinear(y) && t.cotangent(y);
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (arg.getOwner() != body || arg.getArgNumber() >= carries)
        continue;
      live[arg.getArgNumber()] = true;
      add(op.getYield().getValues()[arg.getArgNumber()]);
    } else if (body->getParent()->isAncestor(v.getParentRegion())) {
      forEachUse(v.getDefiningOp(), [&](OpOperand &operand) { add(operand.get()); });
    }
  }
  return live;
}

namespace {

/// The transpose of a scan: a scan the other way round, of cotangents.
class TransposedScan {
public:
  TransposedScan(Transposer &t, ScanOp op)
      : t(t), op(op), dim(op.getDimAttr()), loc(t.b.getLoc()), deferred(t, op), live(liveCarries()),
        inits(llvm::map_to_vector(live,
                                  [&](unsigned i) { return t.cotangentOrZero(op.getResult(i)); })),
        inner(t, *op.getBody()), draft(t.b) {}

  LogicalResult run() {
    if (failed(transposeBody()))
      return failure();
    yieldCarries();
    findFactors();
    yieldSums();
    yieldStacked();
    emit();
    return success();
  }

private:
  SmallVector<unsigned> liveCarries() {
    SmallVector<unsigned> found;
    for (auto [i, is] : llvm::enumerate(carriesWithCotangents(t, op)))
      if (is)
        found.push_back(i);
    return found;
  }

  LogicalResult transposeBody();
  void yieldCarries();
  void findFactors();
  void yieldSums();
  void yieldStacked();
  Steps stepsOf();
  void emit();

  Transposer &t;
  ScanOp op;
  StringAttr dim;
  Location loc;
  Deferred deferred;
  SmallVector<unsigned> live; ///< carries with cotangents, which are carried
  SmallVector<Value> inits;
  /// Read step by step: the cotangents of what was stacked, then the residuals.
  SmallVector<Value> over;
  Transposer inner;
  Draft draft;
  /// What the body yields, and the values of the forward loop whose cotangents the results are.
  SmallVector<Value> yields, targets;
  SmallVector<Type> types;    ///< of the results
  SmallVector<Value> factors; ///< what deferred shares need: an array, or null: it is stacked
};

} // namespace

LogicalResult TransposedScan::transposeBody() {
  SmallVector<std::pair<Value, Value>> seeds;
  for (unsigned i : live) {
    Value next = op.getYieldedCarries()[i];
    Location of = locOfArgument("cotangent", op.getCarryArguments()[i], loc);
    seeds.push_back({next, draft->addArgument(next.getType(), of)});
  }
  for (auto [v, y] : llvm::zip_equal(op.getYieldedStacked(), op.getStacked()))
    if (Value ct = t.isLinear(y) ? t.cotangent(y) : Value()) {
      over.push_back(ct);
      seeds.push_back({v, draft->addArgument(v.getType(), loc)});
    }
  for (auto [x, arg] : llvm::zip_equal(op.getOver(), op.getOverArguments())) {
    if (t.isLinear(x))
      continue;
    over.push_back(t.residual(x));
    t.setResidual(arg, over.back());
    inner.setResidual(arg, draft->addArgument(arg.getType(), arg.getLoc()));
  }

  inner.b.setInsertionPointToEnd(&*draft);
  inner.isDeferred = [&](OpOperand &use, Value ct) { return deferred.takes(use, ct); };
  for (auto [v, ct] : seeds)
    if (t.isLinear(v))
      inner.accumulate(v, ct);
  if (failed(inner.run(*op.getBody())))
    return failure();
  inner.b.setLoc(loc);
  return success();
}

void TransposedScan::yieldCarries() {
  for (unsigned i : live) {
    yields.push_back(inner.cotangentOrZero(op.getCarryArguments()[i]));
    targets.push_back(op.getCarry()[i]);
  }
}

/// What deferred shares need is stacked, unless it was read from an array.
void TransposedScan::findFactors() {
  for (Value ct : deferred.getStacked()) {
    auto arg = dyn_cast<BlockArgument>(ct);
    bool isSlice = arg && arg.getOwner() == &*draft && arg.getArgNumber() >= inits.size();
    factors.push_back(isSlice ? over[arg.getArgNumber() - inits.size()] : Value());
  }
}

/// Sums for what the body captures.
void TransposedScan::yieldSums() {
  for (Value v : capturedLinear(t, op))
    if (Value ct = inner.cotangent(v)) {
      Value sum = draft->insertArgument(inits.size(), v.getType(), loc);
      yields.push_back(AddOp::create(inner.b, sum, ct));
      inits.push_back(t.zero(arrayType(v)));
      targets.push_back(v);
    }
}

void TransposedScan::yieldStacked() {
  types = llvm::map_to_vector(yields, [](Value v) { return v.getType(); });
  for (auto [x, arg] : llvm::zip_equal(op.getOver(), op.getOverArguments()))
    if (Value ct = t.isLinear(x) ? inner.cotangent(arg) : Value()) {
      yields.push_back(ct);
      targets.push_back(x);
    }
  for (auto [ct, factor] : llvm::zip_equal(deferred.getStacked(), factors))
    if (!factor)
      yields.push_back(ct);
  for (Value v : ArrayRef(yields).drop_front(types.size()))
    types.push_back(withLeading(arrayType(v), dim, op.getSteps()));
  YieldOp::create(inner.b, yields);
}

/// How often the loop runs, where no array tells.
Steps TransposedScan::stepsOf() {
  Steps steps;
  if (!over.empty())
    return steps;
  if (op.getSize())
    steps.size = t.residual(op.getSize());
  else if (op.getSteps() != ArrayType::kDynamic)
    steps.length = t.b.getI64IntegerAttr(op.getSteps());
  else
    steps.size =
        t.sizes(ArrayType::get(op.getContext(), {dim}, {op.getSteps()}, t.b.getI64Type()))[0];
  return steps;
}

void TransposedScan::emit() {
  Steps steps = stepsOf();
  UnitAttr reverse = op.getReverse() ? UnitAttr() : t.b.getUnitAttr();
  auto result = ScanOp::create(t.b, types, dim, reverse, inits, over, steps.length, steps.size);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  draft.moveTo(result.getBodyRegion());
  for (auto [v, ct] : llvm::zip(targets, result.getResults()))
    if (t.isLinear(v))
      t.accumulate(v, ct);
  unsigned next = targets.size();
  for (Value &factor : factors)
    if (!factor)
      factor = result.getResult(next++);
  deferred.finish(factors);
}

static LogicalResult transposeScan(Transposer &t, Operation *op) {
  return TransposedScan(t, cast<ScanOp>(op)).run();
}

Rule xtensor::scanRule() {
  Rule rule{Table::Control};
  rule.linearizeControl = linearizeScan;
  rule.transposeControl = transposeScan;
  rule.verifyControl = verifyScan;
  rule.text = "stacked residuals; transpose: the other way round";
  return rule;
}
