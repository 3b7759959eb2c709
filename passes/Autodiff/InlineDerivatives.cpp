#include "Autodiff/Passes.h"
#include "Autodiff/Rules.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_INLINEDERIVATIVES
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

/// The map's code at `apply`: the code itself if it has no other use, else a copy. What it captures
/// dominates the map, and the map dominates `apply`.
static void inlineMap(ApplyOp apply, LinearOp map) {
  Block *body = map.getBody();
  SmallVector<Value> results;
  // A map that contains a user's rule is only as linear as that rule.
  if (auto outer = apply->getParentOfType<LinearOp>(); outer && map.getTrusted())
    outer.setTrusted(true);
  if (map->hasOneUse()) {
    for (auto [arg, value] : llvm::zip_equal(body->getArguments(), apply.getArgs()))
      arg.replaceAllUsesWith(value);
    llvm::append_range(results, body->getTerminator()->getOperands());
    body->getTerminator()->erase();
    apply->getBlock()->getOperations().splice(apply->getIterator(), body->getOperations());
    apply.replaceAllUsesWith(results);
    apply.erase();
    map.erase();
    return;
  }
  OpBuilder b(apply);
  IRMapping values;
  values.map(body->getArguments(), apply.getArgs());
  for (Operation &op : body->without_terminator())
    b.clone(op, values);
  for (Value v : body->getTerminator()->getOperands())
    results.push_back(values.lookupOrDefault(v));
  apply.replaceAllUsesWith(results);
  apply.erase();
}

namespace {
struct InlineDerivatives : xtensor::impl::InlineDerivativesBase<InlineDerivatives> {
  void runOnOperation() final {
    SmallVector<ApplyOp> applies;
    getOperation()->walk([&](ApplyOp op) { applies.push_back(op); });
    for (ApplyOp op : applies)
      if (auto map = op.getMap().getDefiningOp<LinearOp>())
        inlineMap(op, map);
    SmallVector<LinearOp> maps;
    getOperation()->walk([&](LinearOp op) { maps.push_back(op); });
    for (LinearOp op : maps)
      if (op->use_empty())
        op->erase();
  }
};
} // namespace
