#include "Autodiff/Passes.h"
#include "Autodiff/Regions.h"
#include "XTensor/Fault.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_TRANSPOSE
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

Transposer::Transposer(LinearOp map)
    : b(derived(map.getLoc(), "cotangent"), map.getContext()),
      linear(std::make_shared<DenseSet<Value>>()), full(std::make_shared<DenseMap<Value, bool>>()) {
  auto known = map.getSizes().begin();
  auto know = [&](Type type) {
    for (StringAttr name : dynamicDims(cast<ArrayType>(type)))
      sizeOfName.try_emplace(name, *known++);
  };
  llvm::for_each(map.getMap().getType().getMap().getInputs(), know);
  llvm::for_each(map.getMap().getType().getMap().getResults(), know);
  knowPinnedSizes(*map.getBody());
}

Transposer::Transposer(Transposer &outer, Block &block)
    : b(outer.b.getLoc(), outer.b.getContext()), outer(&outer), linear(outer.linear),
      full(outer.full) {
  knowPinnedSizes(block);
}

void Transposer::knowPinnedSizes(Block &block) {
  for (auto op : block.getOps<SizedOp>())
    for (auto [name, size] : llvm::zip_equal(dynamicDims(op.getType()), op.getSizes()))
      sizeOfName.try_emplace(name, size);
}

LogicalResult Transposer::markLinear(LinearOp map) { return collectLinear(map, *linear); }

Value Transposer::residual(Value v) const {
  for (const Transposer *scope = this; scope; scope = scope->outer)
    if (Value now = scope->residuals.lookupOrNull(v))
      return now;
  return v;
}

Value Transposer::sizeOf(StringAttr name) const {
  for (const Transposer *scope = this; scope; scope = scope->outer)
    if (Value size = scope->sizeOfName.lookup(name))
      return residual(size);
  return {};
}

SmallVector<Value> Transposer::sizes(ArrayType type) {
  return llvm::map_to_vector(dynamicDims(type), [&](StringAttr name) { return sizeOf(name); });
}

void Transposer::cloneResidual(Operation &op) {
  // The copy looks no further than this scope's table.
  forEachUse(&op, [&](OpOperand &operand) {
    if (Value now = residual(operand.get()); now != operand.get())
      residuals.map(operand.get(), now);
  });
  b.clone(op, residuals);
}

Value Transposer::rowMajor(ArrayType type, Type element) {
  Location loc = b.getLoc();
  Type i64 = b.getI64Type();
  if (!element)
    element = i64;
  Value position, stride = scalar(b, loc, element, 1);
  for (auto [name, size] : llvm::reverse(llvm::zip_equal(type.getDimNames(), type.getShape()))) {
    auto along = ArrayType::get(b.getContext(), {name}, {size}, element);
    SmallVector<Value> known = sizes(along);
    Value term = IotaOp::create(b, along, known.empty() ? Value() : known[0]);
    term = MulOp::create(b, term, stride);
    position = position ? AddOp::create(b, position, term).getResult() : term;
    Value extent = known.empty() ? scalar(b, loc, element, static_cast<double>(size)) : known[0];
    stride = MulOp::create(b, stride, extent);
  }
  return position;
}

Value Transposer::zero(ArrayType type) { return zeros(b, b.getLoc(), type, sizes(type)); }

Value Transposer::cotangentOrZero(Value v) {
  Value ct = cotangent(v);
  return ct ? ct : zero(arrayType(v));
}

void Transposer::accumulate(Value v, Value ct) {
  if (ct.getType() != v.getType())
    ct = conform(b, b.getLoc(), ct, arrayType(v), sizes(arrayType(v)));
  Value &all = cotangents[v];
  all = all ? sum(all, ct) : ct;
  isFull(all); // while all that it is made of is near
}

void Transposer::setInput(Value v, Value ct) {
  (*full)[ct] = true;
  accumulate(v, ct);
}

Value Transposer::product(ValueRange inputs, ArrayType keep) {
  SmallVector<ArrayType> types = llvm::map_to_vector(inputs, arrayType);
  ArrayType all = unionOf(types, keep.getElementType());
  SmallVector<Attribute> over = lacking(all, keep);
  SmallVector<Attribute> order;
  for (StringAttr name : keep.getDimNames())
    if (all.hasDim(name))
      order.push_back(name);
  if (inputs.size() == 1 && over.empty())
    return inputs[0];
  if (inputs.size() == 2 && over.empty()) {
    if (dimsOf(all) == order)
      return MulOp::create(b, inputs[0], inputs[1]);
    if (dimsOf(unionOf({types[1], types[0]}, keep.getElementType())) == order)
      return MulOp::create(b, inputs[1], inputs[0]);
  }
  bool natural = dimsOf(minus(all, over)) == order;
  return ContractOp::create(b, inputs, b.getArrayAttr(over),
                            natural ? ArrayAttr() : b.getArrayAttr(order));
}

LogicalResult Transposer::run(Block &block) {
  auto isLinearOp = [&](Operation &op) {
    return llvm::any_of(op.getResults(), [&](Value v) { return isLinear(v); });
  };
  // Coefficients that are worked out inside of the map are worked out first here, too.
  for (Operation &op : block.without_terminator()) {
    bool isCoefficient = !isLinearOp(op);
    forEachUse(&op, [&](OpOperand &operand) {
      isCoefficient &= !isLinear(operand.get()) || isa<SizeOp>(operand.getOwner());
    });
    if (isCoefficient)
      cloneResidual(op);
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (!isLinearOp(op) ||
        llvm::none_of(op.getResults(), [&](Value v) { return cotangents.contains(v); }))
      continue;
    const Rule *rule = Rules::get().lookup(&op);
    b.setLoc(derived(op.getLoc(), "cotangent"));
    if (rule->transposeControl) {
      if (failed(rule->transposeControl(*this, &op)))
        return failure();
      continue;
    }
    Value ct = cotangent(op.getResult(0));
    for (OpOperand &operand : op.getOpOperands())
      if (isLinear(operand.get()) && !(isDeferred && isDeferred(operand, ct)))
        accumulate(operand.get(), rule->transpose(*this, &op, operand.getOperandNumber(), ct));
  }
  return success();
}

/// A user's rule is taken at its word until its transpose is needed.
static LogicalResult checkTrusted(LinearOp map) {
  std::optional<Diagnostic> why;
  {
    ScopedDiagnosticHandler handler(map.getContext(), [&](Diagnostic &found) {
      if (!why)
        why.emplace(std::move(found));
      return success();
    });
    DenseSet<Value> linear;
    if (succeeded(collectLinear(map, linear)))
      return success();
  }
  InFlightDiagnostic error =
      emitError(map.getLoc(), "this derivative is needed forwards, but its pullback rule is not "
                              "linear in the cotangents: give a pushforward rule, too")
      << Fault::Rule;
  if (why)
    error.attachNote(why->getLocation()) << why->str();
  return error;
}

/// Whether `op` has linear results and no transpose as it is: a loop that carries other values,
/// too, or that may end early, a quotient.
static bool isMixed(Operation *op, const Transposer &t) {
  auto isLinear = [&](Value v) { return t.isLinear(v); };
  if (isSameForAllTangents(op) && !isa<SizeOp>(op))
    return llvm::any_of(op->getOperands(), isLinear);
  if (llvm::none_of(op->getResults(), isLinear))
    return false;
  if (auto scan = dyn_cast<ScanOp>(op))
    return !llvm::all_of(scan.getCarryArguments(), isLinear);
  if (isa<WhileOp>(op))
    return true;
  const Rule *rule = Rules::get().lookup(op);
  return rule && rule->linearity != Linearity::None && !rule->transpose;
}

/// Marks the linear values of `map`, as a map that may be transposed op by op.
static LogicalResult prepare(LinearOp map, std::optional<Transposer> &t) {
  if (map.getTrusted() && failed(checkTrusted(map)))
    return failure();
  map.setTrusted(false);
  t.emplace(map);
  if (failed(t->markLinear(map)))
    return failure();
  bool isMixed = map->walk([&](Operation *op) {
                      return ::isMixed(op, *t) ? WalkResult::interrupt() : WalkResult::advance();
                    })
                     .wasInterrupted();
  if (!isMixed)
    return success();
  if (failed(separate(map)))
    return failure();
  t.emplace(map);
  return t->markLinear(map);
}

static LogicalResult transpose(TransposedOp op) {
  auto map = op.getMap().getDefiningOp<LinearOp>();
  if (!map)
    return success(); // of a map that is itself still a request
  std::optional<Transposer> prepared;
  if (failed(prepare(map, prepared)))
    return failure();
  Transposer &t = *prepared;
  Block *body = map.getBody();

  unsigned numInputSizes = 0;
  for (Type type : body->getArgumentTypes())
    numInputSizes += dynamicDims(cast<ArrayType>(type)).size();
  SmallVector<Value> sizes(map.getSizes().drop_front(numInputSizes));
  llvm::append_range(sizes, map.getSizes().take_front(numInputSizes));

  Location loc = t.b.getLoc();
  t.b.setInsertionPoint(op);
  auto result = LinearOp::create(t.b, op.getBack().getType(), sizes);
  Block *block = t.b.createBlock(&result.getBodyRegion());
  for (Value v : body->getTerminator()->getOperands()) {
    Value ct = block->addArgument(v.getType(), loc);
    if (t.isLinear(v))
      t.setInput(v, ct);
  }
  if (failed(t.run(*body)))
    return failure();
  t.b.setLoc(loc);
  SmallVector<Value> yields;
  for (Value arg : body->getArguments())
    yields.push_back(t.cotangentOrZero(arg));
  YieldOp::create(t.b, yields);
  op.replaceAllUsesWith(result.getMap());
  op.erase();
  if (map->use_empty())
    map->erase();
  return success();
}

/// Outermost first: the transpose of a map applies the transposes of those that are applied
/// inside of it, so that these may never be needed themselves.
static SmallVector<TransposedOp> ready(Operation *root) {
  SmallVector<TransposedOp> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto transposed = dyn_cast<TransposedOp>(op)) {
      if (transposed.getMap().getDefiningOp<LinearOp>() ||
          transposed.getMap().getDefiningOp<TransposedOp>())
        ops.push_back(transposed);
    } else if (auto map = dyn_cast<LinearOp>(op)) {
      if (llvm::any_of(map->getUsers(), [](Operation *user) { return isa<TransposedOp>(user); }))
        return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  auto twice = [](TransposedOp op) { return op.getMap().getDefiningOp<TransposedOp>(); };
  if (llvm::any_of(ops, twice))
    llvm::erase_if(ops, [&](TransposedOp op) { return !twice(op); });
  return ops;
}

namespace {
struct Transpose : xtensor::impl::TransposeBase<Transpose> {
  void runOnOperation() final {
    for (SmallVector<TransposedOp> ops = ready(getOperation()); !ops.empty();
         ops = ready(getOperation()))
      for (TransposedOp op : ops) {
        if (op.use_empty()) {
          op.erase();
        } else if (auto inner = op.getMap().getDefiningOp<TransposedOp>()) {
          op.replaceAllUsesWith(inner.getMap());
          op.erase();
        } else if (failed(transpose(op))) {
          return signalPassFailure();
        }
      }
  }
};
} // namespace
