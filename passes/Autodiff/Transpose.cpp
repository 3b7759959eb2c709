#include "Autodiff/Linearizer.h"
#include "Autodiff/Passes.h"
#include "Autodiff/Transposer.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_TRANSPOSE
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

Transposer::Transposer(LinearOp map) : b(derived(map.getLoc(), "cotangent"), map.getContext()) {
  auto known = map.getSizes().begin();
  auto know = [&](Type type) {
    for (StringAttr name : dynamicDims(cast<ArrayType>(type)))
      sizeOfName.try_emplace(name, *known++);
  };
  llvm::for_each(map.getMap().getType().getMap().getInputs(), know);
  llvm::for_each(map.getMap().getType().getMap().getResults(), know);
  map.walk([&](SizedOp op) {
    for (auto [name, size] : llvm::zip_equal(dynamicDims(op.getType()), op.getSizes()))
      sizeOfName.try_emplace(name, size);
  });
}

SmallVector<Value> Transposer::sizes(ArrayType type) {
  return llvm::map_to_vector(dynamicDims(type), [&](StringAttr name) {
    Value size = sizeOfName.lookup(name);
    return size ? residual(size) : size;
  });
}

Value Transposer::zero(ArrayType type) { return zeros(b, b.getLoc(), type, sizes(type)); }

Value Transposer::cotangentOrZero(Value v) {
  Value ct = cotangent(v);
  return ct ? ct : zero(arrayType(v));
}

void Transposer::accumulate(Value v, Value ct) {
  if (ct.getType() != v.getType())
    ct = conform(b, b.getLoc(), ct, arrayType(v), sizes(arrayType(v)));
  Value &sum = cotangents[v];
  sum = sum ? AddOp::create(b, sum, ct).getResult() : ct;
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
  for (Operation &op : block.without_terminator())
    if (!isLinearOp(op))
      b.clone(op, residuals);
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
    for (OpOperand &operand : op.getOpOperands())
      if (isLinear(operand.get()))
        accumulate(operand.get(), rule->transpose(*this, &op, operand.getOperandNumber(),
                                                  cotangent(op.getResult(0))));
  }
  return success();
}

static LogicalResult transpose(TransposedOp op) {
  auto map = op.getMap().getDefiningOp<LinearOp>();
  if (!map)
    return success(); // of a map that is itself still a request
  Block *body = map.getBody();
  Transposer t(map);
  t.linear.insert(body->args_begin(), body->args_end());
  if (failed(collectLinear(*body, t.linear)))
    return failure();

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
      t.accumulate(v, ct);
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

namespace {
struct Transpose : xtensor::impl::TransposeBase<Transpose> {
  void runOnOperation() final {
    SmallVector<TransposedOp> ops;
    getOperation()->walk([&](TransposedOp op) { ops.push_back(op); });
    for (TransposedOp op : ops) {
      if (auto inner = op.getMap().getDefiningOp<TransposedOp>()) {
        op.replaceAllUsesWith(inner.getMap());
        op.erase();
      } else if (failed(transpose(op))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
