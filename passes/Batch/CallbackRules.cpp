// Calls of functions of the process: one call for all instances, or a loop over them that tells the
// function which instance it is called for.
#include "Batch/Batcher.h"

using namespace mlir;
using namespace xtensor;

namespace {
/// Scans over the names, one inside of the other, around a call for one instance.
class EachInstance {
public:
  EachInstance(Batcher &t, CallbackOp op, ArrayRef<Attribute> names)
      : t(t), op(op), names(names), old(op.getNumInstances()) {}

  /// `values`: the arguments, positions included. `mask`: for which instances there is a call;
  /// null: for all.
  SmallVector<Value> run(ArrayRef<Value> values, Value mask, ArrayRef<Value> positions = {}) {
    if (positions.size() == names.size())
      return mask ? callWhere(mask, values, positions) : call(values, positions);
    auto name = cast<StringAttr>(names[positions.size()]);
    SmallVector<Value> over{places(name, values, mask)};
    auto add = [&](Value v) {
      if (v && arrayType(v).hasDim(name))
        over.push_back(v);
    };
    llvm::for_each(values, add);
    add(mask);
    SmallVector<Type> types;
    for (Value v : over)
      types.push_back(minus(arrayType(v), name));
    Location loc = t.b.getLoc();
    OpBuilder::InsertPoint here = t.b.saveInsertionPoint();
    Region body;
    Block *block = t.b.createBlock(&body, {}, types, SmallVector<Location>(types.size(), loc));
    unsigned next = 1;
    auto inside = [&](Value v) {
      return v && arrayType(v).hasDim(name) ? Value(block->getArgument(next++)) : v;
    };
    SmallVector<Value> of = llvm::map_to_vector(values, inside);
    Value ofMask = inside(mask);
    SmallVector<Value> at(positions);
    at.push_back(block->getArgument(0));
    SmallVector<Value> results = run(of, ofMask, at);
    YieldOp::create(t.b, results);
    t.b.restoreInsertionPoint(here);
    int64_t size = arrayType(over[0]).getSize(name);
    SmallVector<Type> stacked;
    for (Value v : results)
      stacked.push_back(withLeading(arrayType(v), name, size));
    auto made =
        ScanOp::create(t.b, stacked, name, UnitAttr(), ValueRange(), over, IntegerAttr(), Value());
    made.getBodyRegion().takeBody(body);
    return SmallVector<Value>(made.getResults());
  }

private:
  /// 0, 1, .. along the name.
  Value places(StringAttr name, ArrayRef<Value> values, Value mask) {
    Value source = mask;
    for (Value v : values)
      if (arrayType(v).hasDim(name))
        source = v;
    int64_t size = arrayType(source).getSize(name);
    auto type = ArrayType::get(t.b.getContext(), {name}, {size}, t.b.getI64Type());
    Value dynamic;
    if (size == ArrayType::kDynamic)
      dynamic = SizeOp::create(t.b, source, name);
    return IotaOp::create(t.b, type, dynamic);
  }

  SmallVector<Value> call(ArrayRef<Value> values, ArrayRef<Value> positions) {
    SmallVector<Value> args(values.drop_back(old));
    llvm::append_range(args, positions);
    llvm::append_range(args, values.take_back(old));
    SmallVector<Attribute> instances(names);
    if (op.getInstances())
      llvm::append_range(instances, op.getInstancesAttr());
    ArrayAttr told = instances.empty() ? ArrayAttr() : t.b.getArrayAttr(instances);
    auto made = CallbackOp::create(t.b, op.getResultTypes(), op.getLabelAttr(), op.getNumberAttr(),
                                   op.getOrderedAttr(), UnitAttr(), args, told);
    return SmallVector<Value>(made.getResults());
  }

  /// Zeros stand for the results of an instance that makes no call.
  SmallVector<Value> callWhere(Value mask, ArrayRef<Value> values, ArrayRef<Value> positions) {
    Location loc = t.b.getLoc();
    Value selector = CastOp::create(t.b, mask, t.b.getI64Type());
    auto made = SwitchOp::create(t.b, op.getResultTypes(), selector, 2);
    OpBuilder::InsertionGuard guard(t.b);
    t.b.createBlock(&made.getBranches()[0]);
    SmallVector<Value> none;
    for (Value result : op.getResults()) {
      SmallVector<Value> sizes;
      for (StringAttr dim : dynamicDims(arrayType(result)))
        sizes.push_back(SizeOp::create(
            t.b,
            *llvm::find_if(values, [&, dim = dim](Value v) { return arrayType(v).hasDim(dim); }),
            dim));
      none.push_back(zeros(t.b, loc, arrayType(result), sizes));
    }
    YieldOp::create(t.b, none);
    t.b.createBlock(&made.getBranches()[1]);
    YieldOp::create(t.b, call(values, positions));
    return SmallVector<Value>(made.getResults());
  }

  Batcher &t;
  CallbackOp op;
  ArrayRef<Attribute> names;
  unsigned old; ///< positions that the call has already
};
} // namespace

static LogicalResult callback(Batcher &t, Operation *o) {
  auto op = cast<CallbackOp>(o);
  SmallVector<Value> args = t.valuesOf(op.getArgs());
  BatchNames names = t.names(args);
  SmallVector<Value> results;
  if (op.getTogether()) {
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(t.typeOf(type, names));
    auto made =
        CallbackOp::create(t.b, types, op.getLabelAttr(), op.getNumberAttr(), op.getOrderedAttr(),
                           op.getTogetherAttr(), args, op.getInstancesAttr());
    results = SmallVector<Value>(made.getResults());
  } else {
    Value mask = op.getOrdered() ? t.mask() : Value();
    if (mask)
      names |= t.names(mask);
    SmallVector<Attribute> list = t.list(names);
    results = EachInstance(t, op, list).run(args, mask);
  }
  for (auto [result, batched] : llvm::zip_equal(op.getResults(), results))
    t.set(result, batched);
  return success();
}

void xtensor::addCallbackBatchRules(BatchRules &rules) {
  rules.add<CallbackOp>(callback, "one call for all instances, or one for each");
}
