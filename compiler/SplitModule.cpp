#include "compiler/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace {

// Code generation takes about 10 us per op, and 300 us per function: what is worth a thread.
constexpr int64_t kWorthAThread = 24; // ops

struct Part {
  int64_t weight = 0;
  SmallVector<LLVM::LLVMFuncOp> functions;
};

struct Body {
  LLVM::LLVMFuncOp function;
  int64_t weight = 0;
  SmallVector<Operation *> uses; // of symbols
};

StringAttr symbolOf(Operation *use) {
  if (auto call = dyn_cast<LLVM::CallOp>(use))
    return call.getCalleeAttr() ? call.getCalleeAttr().getAttr() : StringAttr();
  if (auto address = dyn_cast<LLVM::AddressOfOp>(use))
    return address.getGlobalNameAttr().getAttr();
  return {};
}

void setSymbol(Operation *use, StringAttr name) {
  auto symbol = FlatSymbolRefAttr::get(name);
  if (auto call = dyn_cast<LLVM::CallOp>(use))
    call.setCalleeAttr(symbol);
  else
    cast<LLVM::AddressOfOp>(use).setGlobalNameAttr(symbol);
}

Body bodyOf(LLVM::LLVMFuncOp function) {
  Body body{function, 0, {}};
  function.walk([&](Operation *op) {
    ++body.weight;
    if (symbolOf(op))
      body.uses.push_back(op);
  });
  return body;
}

} // namespace

SmallVector<OwningOpRef<ModuleOp>> xtensor::splitModule(ModuleOp module, StringRef entry,
                                                        int64_t most) {
  llvm::MapVector<StringAttr, Body> bodies;
  llvm::DenseMap<StringAttr, LLVM::LLVMFuncOp> functions;
  llvm::DenseSet<StringAttr> globals;
  int64_t total = 0;
  for (Operation &op : *module.getBody()) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      functions[function.getSymNameAttr()] = function;
      if (!function.isExternal()) {
        Body &body = bodies[function.getSymNameAttr()] = bodyOf(function);
        total += body.weight;
      }
    } else if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
      globals.insert(global.getSymNameAttr());
    } else {
      return {};
    }
  }
  int64_t count = std::min<int64_t>(most, total / kWorthAThread);
  if (count < 2 || bodies.size() < 2)
    return {};

  // The largest first, each to the part that has the least. The entry and whatever touches memory
  // of the module stay with it.
  SmallVector<Part> parts(count);
  SmallVector<Body *> bySize;
  llvm::DenseMap<StringAttr, int64_t> partOf;
  auto assign = [&](Body &body, int64_t part) {
    parts[part].weight += body.weight;
    parts[part].functions.push_back(body.function);
    partOf[body.function.getSymNameAttr()] = part;
  };
  for (auto &[name, body] : bodies) {
    bool stays = name == entry || llvm::any_of(body.uses, [&](Operation *use) {
                   return globals.contains(symbolOf(use));
                 });
    if (stays)
      assign(body, 0);
    else
      bySize.push_back(&body);
  }
  llvm::stable_sort(bySize, [](Body *a, Body *b) { return a->weight > b->weight; });
  for (Body *body : bySize) {
    auto least =
        llvm::min_element(parts, [](const Part &a, const Part &b) { return a.weight < b.weight; });
    assign(*body, least - parts.begin());
  }

  // What is called from another part is known by a name that no other program has.
  llvm::DenseMap<StringAttr, StringAttr> renamed;
  for (auto &[name, body] : bodies)
    for (Operation *use : body.uses) {
      auto callee = partOf.find(symbolOf(use));
      if (callee != partOf.end() && callee->second != partOf.lookup(name) && callee->first != entry)
        renamed.try_emplace(callee->first, StringAttr::get(module.getContext(),
                                                           entry + "." + callee->first.getValue()));
    }
  SmallVector<OwningOpRef<ModuleOp>> others;
  for (int64_t part = 1; part < count; ++part) {
    others.push_back(ModuleOp::create(module.getLoc()));
    others.back()->getOperation()->setAttrs(module->getAttrs());
    for (LLVM::LLVMFuncOp function : parts[part].functions)
      function->moveBefore(others.back()->getBody(), others.back()->getBody()->end());
  }
  // Declarations, and then names, in every part.
  for (auto &[name, body] : bodies) {
    int64_t part = partOf.lookup(name);
    ModuleOp home = part ? *others[part - 1] : module;
    for (Operation *use : body.uses) {
      StringAttr symbol = symbolOf(use);
      LLVM::LLVMFuncOp callee = functions.lookup(symbol);
      if (StringAttr unique = renamed.lookup(symbol))
        setSymbol(use, unique);
      if (!callee || callee->getParentOp() == home.getOperation() ||
          home.lookupSymbol(renamed.contains(symbol) ? renamed.lookup(symbol) : symbol))
        continue;
      auto declared = cast<LLVM::LLVMFuncOp>(callee->cloneWithoutRegions());
      home.getBody()->push_back(declared);
      if (StringAttr unique = renamed.lookup(symbol))
        declared.setSymNameAttr(unique);
    }
  }
  for (auto [name, unique] : renamed)
    bodies[name].function.setSymNameAttr(unique);
  return others;
}
