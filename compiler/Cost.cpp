#include "compiler/Cost.h"

#include "Buffers/Passes.h"
#include "CallSizes.h"
#include "KernelCalls.h"
#include "Work.h"
#include "XTensor/XTensor.h"
#include "compiler/Compiler.h"
#include "compiler/EveryPhase.h"
#include "compiler/Sizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xtensor;
namespace json = llvm::json;

/// What the host of a device starts, `times` over.
static void countStarts(Region &region, int64_t times, Cost &cost) {
  for (Operation &op : region.getOps()) {
    if (isa<mlir::gpu::LaunchFuncOp>(op))
      cost.launches += times;
    if (auto routine = dyn_cast<LibraryOp>(op))
      cost.onHost[routine.getRoutine().str()] += times;
    for (Region &nested : op.getRegions())
      countStarts(nested, times * stepsOf(op), cost);
  }
}

/// Takes a module to where its temporaries lie in arenas. `cost` (or null) is told what starts.
static LogicalResult placeTemporaries(ModuleOp module, StringRef from, StringRef target,
                                      Cost *cost) {
  if (target == "cpu")
    return runPhases(module, from, "cpu");
  PassManager arena(module.getContext());
  arena.enableVerifier(false); // it refuses slices of empty arrays
  buildDeviceArenaPipeline(arena);
  if (failed(runPhases(module, from, "gpu", "", target)))
    return failure();
  if (cost)
    for (auto function : module.getOps<func::FuncOp>())
      countStarts(function.getBody(), 1, *cost);
  return arena.run(module);
}

FailureOr<Cost> xtensor::costOf(ModuleOp module, StringRef target,
                                const llvm::StringMap<int64_t> &sizes) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  if (!sizes.empty() && failed(noteSizes(*copy, sizes)))
    return failure();
  Cost cost;
  // Once ops are fused, some of them are computed again. Kernels are written later, of these ops.
  if (failed(runPhases(*copy, "traced", "buffers", "", target)))
    return failure();
  double flops = 0;
  for (Operation &function : copy->getOps())
    flops += flopsOf(&function);
  cost.flops = static_cast<int64_t>(flops);
  if (failed(placeTemporaries(*copy, "buffers", target, &cost)))
    return failure();
  if (auto main = copy->lookupSymbol<func::FuncOp>("main"))
    for (BlockArgument argument : main.getArguments())
      if (auto type = dyn_cast<MemRefType>(argument.getType());
          type && main.getArgAttr(argument.getArgNumber(), kReusedAttr)) {
        int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
        for (int64_t axis = 0; axis < type.getRank(); ++axis)
          bytes *= sizeInCall(argument, axis).value_or(0);
        cost.reused += bytes;
      }
  copy->walk([&](memref::AllocOp alloc) {
    if (alloc->hasAttr("xtensor.arena") && alloc.getDynamicSizes().size() == 1)
      cost.arena += valueInCall(alloc.getDynamicSizes()[0]).value_or(0);
  });
  return cost;
}

FailureOr<std::string> xtensor::memoryOf(ModuleOp module, StringRef target,
                                         const llvm::StringMap<int64_t> &sizes) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  if (!sizes.empty() && failed(noteSizes(*copy, sizes)))
    return failure();
  (*copy)->setAttr(kPlannedAttr, UnitAttr::get(module.getContext()));
  if (failed(placeTemporaries(*copy, "traced", target, nullptr)))
    return failure();
  auto main = copy->lookupSymbol<func::FuncOp>("main");
  auto plan = main ? main->getAttrOfType<DictionaryAttr>(kPlannedAttr) : DictionaryAttr();
  if (!plan)
    return std::string("{\"bytes\": 0, \"temporaries\": [], \"steps\": []}");
  auto described = [](DictionaryAttr of) {
    json::Object object;
    for (NamedAttribute field : of) {
      if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
        object[field.getName().getValue()] = number.getInt();
      else if (auto loc = dyn_cast<LocationAttr>(field.getValue()))
        object["loc"] = originOf(loc);
      else if (auto type = dyn_cast<TypeAttr>(field.getValue())) {
        auto memory = cast<MemRefType>(type.getValue());
        object["type"] = llvm::formatv("{0}", memory.getElementType()).str();
        object["shape"] = json::Array(memory.getShape());
      }
    }
    return object;
  };
  json::Object told{{"bytes", plan.getAs<IntegerAttr>("bytes").getInt()}};
  for (StringRef name : {"temporaries", "steps"}) {
    json::Array list;
    for (auto entry : plan.getAs<ArrayAttr>(name).getAsRange<DictionaryAttr>())
      list.push_back(described(entry));
    told[name] = std::move(list);
  }
  return llvm::formatv("{0}", json::Value(std::move(told))).str();
}
