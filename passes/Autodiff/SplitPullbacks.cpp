#include "Autodiff/Linearizer.h"
#include "Autodiff/Passes.h"
#include "Autodiff/Residuals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_SPLITPULLBACKS
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

static void split(func::FuncOp func, func::ReturnOp ret, LinearOp map, SymbolTable &symbols) {
  Block *body = map.getBody();
  SmallVector<Value> outputs;
  for (Value v : ret.getOperands())
    if (v != map.getMap())
      outputs.push_back(v);
  auto isFree = [&](Value v) { return isa<BlockArgument>(v) || llvm::is_contained(outputs, v); };
  SmallVector<Value> residuals = chooseResiduals(func.getBody(), *body, isFree);

  OpBuilder b(func->getContext());
  SmallVector<Type> inputs = llvm::map_to_vector(residuals, [](Value v) { return v.getType(); });
  llvm::append_range(inputs, body->getArgumentTypes());
  FunctionType mapType = map.getMap().getType().getMap();
  auto back = func::FuncOp::create(b, map.getLoc(), (func.getName() + ".back").str(),
                                   b.getFunctionType(inputs, mapType.getResults()));
  symbols.insert(back, std::next(func->getIterator()));
  Block *entry = back.addEntryBlock();
  IRMapping values;
  values.map(residuals, entry->getArguments().take_front(residuals.size()));
  values.map(body->getArguments(), entry->getArguments().drop_front(residuals.size()));
  b.setInsertionPointToEnd(entry);
  for (Operation &op : body->without_terminator())
    b.clone(op, values);
  SmallVector<Value> results;
  for (Value v : body->getTerminator()->getOperands())
    results.push_back(values.lookupOrDefault(v));
  func::ReturnOp::create(b, map.getLoc(), results);

  // Where each residual is found: a result of the function, or one of its arguments.
  SmallVector<int64_t> places;
  for (Value v : residuals) {
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      places.push_back(-1 - static_cast<int64_t>(arg.getArgNumber()));
      continue;
    }
    auto known = llvm::find(outputs, v);
    places.push_back(known - outputs.begin());
    if (known == outputs.end())
      outputs.push_back(v);
  }
  back->setAttr("xtensor.residuals", b.getDenseI64ArrayAttr(places));
  func->setAttr("xtensor.back", FlatSymbolRefAttr::get(back));
  ret.getOperandsMutable().assign(outputs);
  func.setType(b.getFunctionType(func.getArgumentTypes(), ret.getOperandTypes()));
  map->erase();
}

namespace {
struct SplitPullbacks : xtensor::impl::SplitPullbacksBase<SplitPullbacks> {
  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (func.isExternal())
        continue;
      auto ret = dyn_cast<func::ReturnOp>(func.getBody().back().getTerminator());
      SmallVector<LinearOp> maps;
      if (ret)
        for (Value v : ret.getOperands())
          if (auto map = v.getDefiningOp<LinearOp>())
            maps.push_back(map);
      if (maps.empty())
        continue;
      if (maps.size() > 1 || !maps[0]->hasOneUse()) {
        func.emitOpError("returns more than one linear map; return one");
        return signalPassFailure();
      }
      split(func, ret, maps[0], symbols);
    }
  }
};
} // namespace
