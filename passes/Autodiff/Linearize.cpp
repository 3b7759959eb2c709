#include "Autodiff/Linearizer.h"
#include "Autodiff/Passes.h"
#include "Autodiff/Regions.h"
#include "XTensor/Fault.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_LINEARIZE
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

Location xtensor::derived(Location loc, StringRef how) {
  auto mark = StringAttr::get(loc.getContext(), how);
  if (auto fused = dyn_cast<FusedLoc>(loc))
    if (fused.getMetadata() == mark)
      return loc;
  return FusedLoc::get({loc}, mark, loc.getContext());
}

Location xtensor::locOfArgument(StringRef what, Value argument, Location otherwise) {
  auto name = dyn_cast<NameLoc>(argument.getLoc());
  if (!name || name == argument.getParentBlock()->getParentOp()->getLoc()) // of a pass
    return otherwise;
  StringRef of = name.getName();
  if (what == "cotangent")
    of.consume_front("tangent of ");
  auto all = StringAttr::get(name.getContext(), what + " of " + of);
  return NameLoc::get(all, name.getChildLoc());
}

//===- sizes ---------------------------------------------------------------===//

Linearizer::Linearizer(Operation *request)
    : primal(request->getLoc(), request->getContext()),
      linear(derived(request->getLoc(), "tangent"), request->getContext()), request(request) {}

void Linearizer::knowSizes(ArrayType type, ValueRange sizes) {
  for (auto [name, size] : llvm::zip_equal(dynamicDims(type), sizes))
    sizeOfName.try_emplace(name, size);
}

/// A region's argument is there from the region's start on.
static void moveAfter(Operation *op, Value v) {
  if (Operation *source = v.getDefiningOp())
    op->moveAfter(source);
  else
    op->moveBefore(&v.getParentBlock()->front());
}

SmallVector<Value> Linearizer::sizes(Value v) {
  SmallVector<StringAttr> names = dynamicDims(arrayType(v));
  auto known = [&](StringAttr name) { return sizeOfName.lookup(name); };
  if (!llvm::all_of(names, known)) {
    OpBuilder::InsertionGuard guard(primal);
    primal.setInsertionPointAfterValue(v);
    SmallVector<Value> found = sizesOf(primal, derived(v.getLoc(), "residual"), v);
    for (Value size : found)
      if (auto op = size.getDefiningOp<SizeOp>(); op && op.getX() != v)
        moveAfter(op, op.getX()); // where all can see it that see the array
    knowSizes(arrayType(v), found);
  }
  return llvm::map_to_vector(names, known);
}

Value Linearizer::sizeOf(Value v, StringAttr dim) {
  sizes(v);
  return sizeOfName.lookup(dim);
}

//===- tangents ------------------------------------------------------------===//

Value Linearizer::zeroLike(Value v) {
  return zeros(linear, linear.getLoc(), arrayType(v), sizes(v));
}

Value Linearizer::tangentOrZero(Value v) {
  Value t = tangent(v);
  return t ? t : zeroLike(v);
}

void Linearizer::setInput(Value v, Value t) {
  tangents[v] = t;
  for (StringAttr name : dynamicDims(arrayType(v)))
    namesOfInputs.insert(name);
}

void Linearizer::setTangent(Value v, Value t) {
  // A size that the map does not list would be lost once the primal value is gone.
  bool pinned = llvm::any_of(dynamicDims(arrayType(v)),
                             [&](StringAttr name) { return !namesOfInputs.contains(name); });
  tangents[v] = pinned ? SizedOp::create(linear, t.getType(), t, sizes(v)).getResult() : t;
}

//===- the walk ------------------------------------------------------------===//

bool Linearizer::isActive(Operation *op) const {
  bool active = false;
  forEachUse(op, [&](OpOperand &operand) { active |= tangents.contains(operand.get()); });
  return active && llvm::any_of(op->getResults(), isFloat);
}

/// The first of the ops that take the place of `op`, or null if it stays.
Operation *Linearizer::expand(Operation *op) {
  const Rule *rule = Rules::get().lookup(op);
  if (!rule || !(rule->expand || rule->rewrite))
    return nullptr;
  Operation *before = op->getPrevNode();
  if (rule->rewrite) {
    Block *block = op->getBlock();
    if (!rule->rewrite(*this, op))
      return nullptr;
    return before ? before->getNextNode() : &block->front();
  }
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value result = rule->expand(b, op);
  if (!result)
    return nullptr;
  Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return first;
}

LogicalResult Linearizer::run(Block &block) {
  Operation *next = &block.front();
  while (Operation *op = next) {
    next = op->getNextNode();
    if (!next) // the terminator
      return success();
    if (!isActive(op))
      continue;
    if (Operation *first = expand(op))
      next = first;
    else if (failed(visit(op)))
      return failure();
  }
  return success();
}

LogicalResult Linearizer::runInside(Block &block) {
  auto outside = sizeOfName;
  LogicalResult result = run(block);
  sizeOfName = std::move(outside);
  return result;
}

bool Linearizer::isForward() const {
  auto pullback = dyn_cast<PullbackOp>(request);
  return isa<PushforwardOp>(request) ||
         (pullback && !pullback.getBack().use_empty() &&
          llvm::all_of(pullback.getBack().getUsers(),
                       [](Operation *user) { return isa<TransposedOp>(user); }));
}

LogicalResult Linearizer::visit(Operation *op) {
  const Rule *rule = Rules::get().lookup(op);
  if (!rule || rule->table == Table::Request || rule->table == Table::NoTangent) {
    auto callback = dyn_cast<CallbackOp>(op);
    InFlightDiagnostic error = callback ? op->emitError() : op->emitOpError("has no derivative");
    if (callback)
      error << Fault::Rule << "xt.callback(" << callback.getLabel()
            << ") has no derivative. Give it one, derivative=.., or stop the gradient of its "
               "arguments, xt.stop_gradient(x)";
    error.attachNote(request->getLoc()) << "needed by this " << request->getName();
    return error;
  }
  primal.setInsertionPointAfter(op);
  std::string name = op->getName().stripDialect().str();
  primal.setLoc(derived(op->getLoc(), "residual of " + name));
  linear.setLoc(derived(op->getLoc(), "tangent of " + name));
  if (rule->tangents) {
    SmallVector<Value> tangents(op->getNumResults());
    rule->tangents(*this, op, tangents);
    for (auto [y, t] : llvm::zip_equal(op->getResults(), tangents))
      if (t)
        setConformed(y, t);
    return success();
  }
  Value t;
  switch (rule->table) {
  case Table::Elementwise:
    t = linearizeElementwise(op, *rule);
    break;
  case Table::Linear:
    // Linear in some operands only: the others need residuals.
    t = rule->choose ? rule->choose(*this, op) : linearizeLinear(op, *rule);
    break;
  case Table::Chooser:
    t = rule->choose(*this, op);
    break;
  case Table::Control:
    return rule->linearizeControl(*this, op);
  case Table::NoTangent:
  case Table::Request:
    break;
  }
  if (t)
    setConformed(op->getResult(0), t);
  return success();
}

/// A rule's result may lack dims or have them in another order.
void Linearizer::setConformed(Value y, Value t) {
  if (t.getType() != y.getType())
    t = conform(linear, linear.getLoc(), t, arrayType(y), sizes(y));
  setTangent(y, t);
}

static Value plus(ImplicitLocOpBuilder &b, Value sum, Value term) {
  return sum ? AddOp::create(b, sum, term).getResult() : term;
}

/// d * t in the order of `like` where one of the two orders has it.
static Value times(ImplicitLocOpBuilder &b, Value d, Value t, ArrayType like) {
  bool swap = unionOf({arrayType(d), arrayType(t)}, like.getElementType()) != like;
  return swap ? MulOp::create(b, t, d) : MulOp::create(b, d, t);
}

/// Whether a formula computes something between the operands and the derivative.
static bool isComposed(const Rule &rule) {
  return rule.linearity == Linearity::None && llvm::any_of(rule.partials, [](const Partial &p) {
           return p.text != "0" && p.text != "1" && p.text != "y";
         });
}

/// The result of the op in a wider type. An op of one operand is computed again: its rounded result
/// lacks the digits of what 1 - y * y is near an end.
static Value widened(ImplicitLocOpBuilder &b, Operation *op, Type element) {
  Value y = op->getResult(0);
  if (op->getNumOperands() > 1)
    return CastOp::create(b, y, element);
  Value x = CastOp::create(b, op->getOperand(0), element);
  Operation *wide = b.clone(*op);
  wide->setLoc(b.getLoc());
  wide->setOperand(0, x);
  wide->getResult(0).setType(arrayType(y).withElement(element));
  return wide->getResult(0);
}

/// The sum of partial * tangent, over the operands that have one. Formulas of 16-bit floats are
/// computed in f32: a square in them may be beyond all 16-bit floats.
Value Linearizer::linearizeElementwise(Operation *op, const Rule &rule) {
  Value y = op->getResult(0), sum;
  Type element = arrayType(y).getElementType();
  bool widens = (element.isF16() || element.isBF16()) && isComposed(rule);
  Expr::Context context{primal, widens ? primal.getF32Type() : element};
  SmallVector<Expr, 5> x(5, Expr(0));
  for (auto [operand, i] : llvm::zip(op->getOperands(), llvm::seq(5))) {
    x[i] = Expr(context, operand);
    if (widens && !x[i].isNumber())
      x[i] = Expr(context, CastOp::create(primal, operand, context.element));
  }
  Value result = widens ? widened(primal, op, context.element) : y;
  auto apply = [&](const Partial &partial) {
    return partial.formula(x[0], x[1], x[2], x[3], x[4], Expr(context, result));
  };
  auto valueOf = [&](const Expr &d) {
    Value value = d.materialize(context);
    return widens ? CastOp::create(primal, value, element).getResult() : value;
  };
  for (auto [operand, partial] : llvm::zip_equal(op->getOperands(), rule.partials)) {
    Value t = tangent(operand);
    if (!t)
      continue;
    Expr d = apply(partial);
    if (d.is(0))
      continue;
    if (d.is(-1))
      t = NegOp::create(linear, t);
    else if (!d.is(1))
      t = times(linear, valueOf(d), t, arrayType(y));
    sum = plus(linear, sum, t);
  }
  if (sum && rule.factor) {
    Expr d = apply(*rule.factor);
    sum = times(linear, valueOf(d), sum, arrayType(y));
  }
  return sum;
}

/// The op itself on the tangents: once if it is linear in all operands together, once per
/// operand (the product rule) otherwise.
Value Linearizer::linearizeLinear(Operation *op, const Rule &rule) {
  SmallVector<Value> present(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    if (rule.isLinearIn(operand.getOperandNumber()))
      present[operand.getOperandNumber()] = tangent(operand.get());
  // Such a function may ask for tangents of operands in which the op is not linear, too.
  if (rule.forward)
    return rule.forward(*this, op, present);
  if (llvm::none_of(present, [](Value t) { return t != nullptr; }))
    return {};

  Value sum;
  if (rule.linearity == Linearity::Jointly) {
    assert(llvm::count(present, Value()) == static_cast<int64_t>(op->getNumOperands()) - 1 &&
           "ops with several tangents say what to do with absent ones");
    Operation *copy = linear.clone(*op);
    copy->setLoc(linear.getLoc());
    for (auto [i, t] : llvm::enumerate(present))
      if (t)
        copy->setOperand(i, t);
    return copy->getResult(0);
  }
  // Set one operand, not one value: y * y has two terms.
  for (auto [i, t] : llvm::enumerate(present)) {
    if (!t)
      continue;
    Operation *copy = linear.clone(*op);
    copy->setLoc(linear.getLoc());
    copy->setOperand(i, t);
    sum = plus(linear, sum, copy->getResult(0));
  }
  return sum;
}

//===- parts of a map ------------------------------------------------------===//

LogicalResult xtensor::separate(LinearOp map) {
  Linearizer l(map);
  Block *body = map.getBody();
  Operation *yield = body->getTerminator();
  l.linear.setInsertionPoint(map);
  Draft draft(l.linear);
  Location loc = l.linear.getLoc();
  for (auto [i, arg] : llvm::enumerate(body->getArguments())) {
    l.knowSizes(arrayType(arg), map.getSizesOfInput(i));
    l.setInput(arg, draft->addArgument(arg.getType(), locOfArgument("tangent", arg, loc)));
  }
  l.linear.setInsertionPointToEnd(&*draft);
  if (failed(l.run(*body)))
    return failure();
  l.linear.setLoc(loc);
  SmallVector<Value> tangents;
  for (Value v : yield->getOperands())
    tangents.push_back(l.tangentOrZero(v));
  YieldOp::create(l.linear, tangents);
  // A coefficient is the same at any argument. The walk has put the sizes of arguments first, so
  // what they are sizes of comes before them.
  for (Value arg : body->getArguments()) {
    l.primal.setInsertionPointToStart(body);
    arg.replaceAllUsesWith(zeros(l.primal, loc, arrayType(arg), l.sizes(arg)));
  }
  yield->erase();
  draft->getOperations().splice(draft->begin(), body->getOperations());
  map.getBodyRegion().front().erase();
  draft.moveTo(map.getBodyRegion());
  eraseUnused(l, *map.getBody());
  return success();
}

//===- requests ------------------------------------------------------------===//

/// Moves the body of `op` before it and makes its linear map; `results` receives the primal
/// results.
static FailureOr<LinearOp> linearize(Operation *op, Block *body, ValueRange args,
                                     ArrayRef<int64_t> wrt, SmallVectorImpl<Value> &results) {
  MLIRContext *context = op->getContext();
  Linearizer l(op);
  Location loc = l.linear.getLoc();

  // The map's sizes are known only at the end; so far it has inputs alone.
  Operation *yield = body->getTerminator();
  SmallVector<Type> inputs, outputs;
  for (int64_t i : wrt)
    inputs.push_back(args[i].getType());
  for (Value v : yield->getOperands())
    if (isFloat(v))
      outputs.push_back(v.getType());
  OpBuilder b(op);
  auto type = LinearType::get(context, FunctionType::get(context, inputs, outputs));
  auto map = LinearOp::create(b, loc, type, ValueRange());
  Block *linearBody = l.linear.createBlock(&map.getBodyRegion());

  b.setInsertionPoint(map);
  for (Value arg : args)
    if (!arrayType(arg).hasStaticShape())
      l.knowSizes(arrayType(arg), sizesOf(b, loc, arg));
  SmallVector<Value> sizes;
  for (int64_t i : wrt) {
    BlockArgument arg = body->getArgument(i);
    l.setInput(arg, linearBody->addArgument(arg.getType(), locOfArgument("tangent", arg, loc)));
    llvm::append_range(sizes, l.sizes(arg));
  }
  if (failed(inlineCalls(op, *body)) || failed(l.run(*body)))
    return failure();

  l.linear.setLoc(loc);
  SmallVector<Value> tangents;
  for (Value v : yield->getOperands())
    if (isFloat(v)) {
      tangents.push_back(l.tangentOrZero(v));
      llvm::append_range(sizes, l.sizes(v));
    }
  YieldOp::create(l.linear, tangents);
  map.getSizesMutable().assign(sizes);

  for (auto [arg, value] : llvm::zip_equal(body->getArguments(), args))
    arg.replaceAllUsesWith(value);
  llvm::append_range(results, yield->getOperands());
  yield->erase();
  op->getBlock()->getOperations().splice(map->getIterator(), body->getOperations());
  return map;
}

static LogicalResult linearize(PullbackOp op) {
  SmallVector<Value> results;
  auto map = linearize(op, op.getBody(), op.getArgs(), op.getWrt(), results);
  if (failed(map))
    return failure();
  OpBuilder b(op);
  results.push_back(TransposedOp::create(b, op.getLoc(), op.getBack().getType(), *map));
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

static LogicalResult linearize(PushforwardOp op) {
  SmallVector<Value> results;
  auto map = linearize(op, op.getBody(), op.getArgs(), op.getWrt(), results);
  if (failed(map))
    return failure();
  OpBuilder b(op);
  auto apply =
      ApplyOp::create(b, derived(op.getLoc(), "tangent"),
                      map->getMap().getType().getMap().getResults(), *map, op.getTangents());
  llvm::append_range(results, apply.getResults());
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Requests whose region holds no derivative op at all, neither another request nor the
/// application of a handle: those have to be expanded first.
static SmallVector<Operation *> readyRequests(Operation *root) {
  SmallVector<Operation *> ready;
  DenseSet<Operation *> blocked;
  root->walk([&](Operation *op) { // innermost first
    if (!isRequest(op))
      return;
    if (isa<PullbackOp, PushforwardOp>(op) && !blocked.contains(op))
      ready.push_back(op);
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (!blocked.insert(parent).second)
        break;
  });
  return ready;
}

namespace {
struct Linearize : xtensor::impl::LinearizeBase<Linearize> {
  void runOnOperation() final {
    for (Operation *op : readyRequests(getOperation())) {
      auto pullback = dyn_cast<PullbackOp>(op);
      if (failed(pullback ? linearize(pullback) : linearize(cast<PushforwardOp>(op))))
        return signalPassFailure();
    }
  }
};
} // namespace
