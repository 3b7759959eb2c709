#include "Batch/Batcher.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

Batcher::Batcher(VectorizeOp op) : b(op.getLoc(), op), vectorize(op) {
  for (StringAttr name : op.getNames().getAsRange<StringAttr>()) {
    order.push_back(name);
    for (Value arg : op.getArgs())
      if (arrayType(arg).hasDim(name)) {
        extents.push_back(arrayType(arg).getSize(name));
        break;
      }
  }
  for (Value arg : op.getArgs())
    for (auto [name, size] : llvm::zip(dynamicDims(arrayType(arg)), sizesOf(b, b.getLoc(), arg)))
      sizes.try_emplace(name, size);
  for (auto [inner, arg] : llvm::zip_equal(op.getBody()->getArguments(), op.getArgs()))
    set(inner, arg);
}

//===- names ---------------------------------------------------------------===//

BatchNames Batcher::names(ArrayType type) const {
  BatchNames found = 0;
  for (auto [i, name] : llvm::enumerate(order))
    if (type.hasDim(name))
      found |= BatchNames(1) << i;
  return found;
}

BatchNames Batcher::names(ValueRange batched) const {
  BatchNames found = 0;
  for (Value v : batched)
    if (isa<ArrayType>(v.getType()))
      found |= names(v);
  return found;
}

BatchNames Batcher::namesUsed(Operation *op) const {
  BatchNames found = 0;
  op->walk([&](Operation *nested) {
    for (Value v : nested->getOperands())
      // What a region makes itself has no counterpart yet, or one that is gone.
      if (!op->isAncestor(v.getParentRegion()->getParentOp()))
        found |= names(ValueRange(value(v)));
  });
  return found;
}

SmallVector<Attribute> Batcher::list(BatchNames names) const {
  SmallVector<Attribute> found;
  for (auto [i, name] : llvm::enumerate(order))
    if (names >> i & 1)
      found.push_back(name);
  return found;
}

ArrayType Batcher::typeOf(Type instance, BatchNames names) const {
  auto type = cast<ArrayType>(instance);
  for (size_t i = order.size(); i-- > 0;)
    if (names >> i & 1)
      type = withLeading(type, order[i], extents[i]);
  return type;
}

//===- values --------------------------------------------------------------===//

SmallVector<Value> Batcher::valuesOf(ValueRange vs) const {
  return llvm::map_to_vector(vs, [&](Value v) { return value(v); });
}

void Batcher::set(Value v, Value batched) {
  ArrayType type = typeOf(v.getType(), names(batched));
  values.map(v, conform(b, b.getLoc(), batched, type, {}));
}

Value Batcher::spread(Value batched, BatchNames more) {
  BatchNames have = names(batched);
  if ((have | more) == have)
    return batched;
  ArrayType type = typeOf(minus(arrayType(batched), list(have)), have | more);
  SmallVector<Value> dynamic;
  for (StringAttr name : dynamicDims(type))
    if (!arrayType(batched).hasDim(name))
      dynamic.push_back(sizes.lookup(name));
  return BroadcastOp::create(b, type, batched, dynamic);
}

/// Inside of a function a name has one size: any argument that has the dim will do.
Value Batcher::sizeOf(StringAttr dim) {
  if (Value known = sizes.lookup(dim))
    return known;
  for (Region *region = vectorize->getParentRegion(); region;
       region = region->getParentOp()->getParentRegion())
    for (Value arg : region->getArguments())
      if (auto type = dyn_cast<ArrayType>(arg.getType()); type && type.hasDim(dim)) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(vectorize);
        return sizes[dim] = SizeOp::create(b, arg, dim);
      }
  return {};
}

//===- ops -----------------------------------------------------------------===//

LogicalResult Batcher::infer(Operation *copy) {
  auto inferred = dyn_cast<InferTypeOpInterface>(copy);
  SmallVector<Type> types;
  if (!inferred ||
      failed(inferred.inferReturnTypes(b.getContext(), copy->getLoc(), copy->getOperands(),
                                       copy->getRawDictionaryAttrs(), copy->getPropertiesStorage(),
                                       copy->getRegions(), types)))
    return copy->emitOpError("cannot be vectorized: it depends on the instance");
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
    result.setType(type);
  return success();
}

Operation *Batcher::clone(Operation *op) {
  // An earlier visit of a loop's body may have left counterparts that went with what it made.
  for (Region &region : op->getRegions())
    region.walk([&](Block *block) {
      for (BlockArgument arg : block->getArguments())
        values.erase(arg);
      for (Operation &inner : *block)
        for (Value result : inner.getResults())
          values.erase(result);
    });
  return b.clone(*op, values);
}

LogicalResult Batcher::copy(Operation *op) {
  Operation *made = clone(op);
  if (!names(made->getOperands()))
    return success();
  if (failed(infer(made)))
    return failure();
  for (auto [result, batched] : llvm::zip_equal(op->getResults(), made->getResults()))
    set(result, batched);
  return success();
}

LogicalResult Batcher::run(Block &block) {
  for (Operation &op : block.without_terminator()) {
    const BatchRules::Rule *rule = BatchRules::get().lookup(&op);
    if (!rule || !rule->visit)
      return op.emitOpError("cannot be vectorized");
    b.setLoc(op.getLoc());
    // What no instance differs in stays as it is, unless it has effects for some instances alone.
    auto callback = dyn_cast<CallbackOp>(op);
    bool forSome = callback && callback.getOrdered() && !masks.empty();
    if (!namesUsed(&op) && !forSome)
      clone(&op);
    else if (failed(rule->visit(*this, &op)))
      return failure();
  }
  return success();
}

//===- regions -------------------------------------------------------------===//

FailureOr<SmallVector<Value>> Batcher::inlined(Block &from, ValueRange arguments) {
  Location loc = b.getLoc();
  for (auto [inner, arg] : llvm::zip_equal(from.getArguments(), arguments))
    set(inner, arg);
  if (failed(run(from)))
    return failure();
  b.setLoc(loc);
  return valuesOf(from.getTerminator()->getOperands());
}

FailureOr<SmallVector<Value>> Batcher::fill(Region &to, Block &from, TypeRange types) {
  // Arguments keep the names of the user's parameters.
  auto locs = llvm::map_to_vector(from.getArguments(), [](Value v) { return v.getLoc(); });
  Block *block = b.createBlock(&to, {}, types, locs);
  return inlined(from, block->getArguments());
}

Value Batcher::mask() {
  Value all;
  for (Value mask : masks)
    all = all ? Value(AndOp::create(b, all, mask)) : mask;
  return all;
}

Value Batcher::choose(Value mask, Value yes, Value no) {
  mask = spread(mask, names(yes) | names(no));
  return SelectOp::create(b, mask, yes, no);
}
