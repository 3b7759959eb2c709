#include "Batch/StandIns.h"

#include "Batch/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace xtensor;

StandIns::StandIns(Batcher &t, Value mask, Region &region) : t(t), mask(mask) {
  // The first position along each name at which there is one, given those before.
  Value rest = mask;
  for (Attribute name : t.list(t.names(mask))) {
    SmallVector<Attribute> others = dimsOf(arrayType(rest));
    llvm::erase(others, name);
    Value any = rest;
    if (!others.empty())
      any = ReduceOp::create(t.b, ReduceKind::any, rest, t.b.getArrayAttr(others));
    Value number = CastOp::create(t.b, any, t.b.getI32Type());
    Value position = ReduceOp::create(t.b, ReduceKind::argmax, number, t.b.getArrayAttr({name}));
    positions.push_back({name, position});
    if (!others.empty())
      rest = GatherOp::create(t.b, IndexMode::clip, rest, position, t.b.getArrayAttr({name}));
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  for (Value v : captured) {
    Value batched = t.value(v), standIn = of(batched);
    if (standIn == batched)
      continue;
    replaced.push_back({v, batched});
    t.values.map(v, standIn);
  }
}

StandIns::~StandIns() {
  for (auto [v, batched] : replaced)
    t.values.map(v, batched);
}

Value StandIns::of(Value batched) {
  ArrayType type = arrayType(batched);
  SmallVector<Value> indices;
  SmallVector<Attribute> along;
  for (auto [name, position] : positions)
    if (type.hasDim(name)) {
      indices.push_back(position);
      along.push_back(name);
    }
  if (along.empty())
    return batched;
  Value one = GatherOp::create(t.b, IndexMode::clip, batched, indices, t.b.getArrayAttr(along));
  // The cotangent of an instance that does not take it is 0: nothing to scatter back.
  if (isFloat(one)) {
    one = StopGradientOp::create(t.b, one);
    one.getDefiningOp()->setAttr(kStandInAttr, t.b.getUnitAttr());
  }
  return t.choose(mask, batched, one);
}

bool StandIns::isTotal(Region &region) {
  return !region
              .walk([](Operation *op) {
                bool total = op->hasTrait<trait::Elementwise>() ||
                             isa<BroadcastOp, ConcatOp, ConstantOp, IotaOp, MergeOp, PadOp,
                                 ReduceOp, RenameOp, ReverseOp, SizeOp, SliceOp, SplitOp, SqueezeOp,
                                 SwitchOp, YieldOp>(op);
                return total ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool StandIns::exist(Batcher &t, Value mask) {
  return !llvm::is_contained(arrayType(mask).getShape(), 0);
}
