#include "compiler/EveryPhase.h"

#include "Pipelines.h"
#include "compiler/Compiler.h"
#include "compiler/Jit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace xtensor;
namespace json = llvm::json;

static std::string asUTF8(StringRef text) { return json::fixUTF8(text); }

json::Object xtensor::originOf(Location location) {
  json::Array places, marks;
  llvm::SmallDenseSet<Location> known;
  location->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part))
      if (known.insert(part).second)
        places.push_back(json::Array{asUTF8(place.getFilename()), int64_t(place.getLine()),
                                     int64_t(place.getColumn())});
    if (auto fused = dyn_cast<FusedLoc>(part))
      if (auto mark = dyn_cast_if_present<StringAttr>(fused.getMetadata());
          mark && known.insert(part).second)
        marks.push_back(asUTF8(mark.getValue()));
    return WalkResult::advance();
  });
  return json::Object{{"at", std::move(places)}, {"marks", std::move(marks)}};
}

namespace {

/// Numbers the locations of all phases: most occur in several.
class Origins {
public:
  int64_t numberOf(Location location) {
    auto [found, isNew] = numbers.insert({location, numbers.size()});
    if (isNew)
      list.push_back(originOf(location));
    return found->second;
  }
  json::Array take() { return std::move(list); }

private:
  llvm::DenseMap<Location, int64_t> numbers;
  json::Array list;
};

} // namespace

/// The text without locations, and the origin of the op that begins in each line.
static json::Object phaseOf(ModuleOp module, StringRef name, Origins &origins) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.assumeVerified();
  flags.elideLargeElementsAttrs(/*largeElementLimit=*/100); // a constant of a million numbers
  AsmState::LocationMap begins;
  AsmState state(module, flags, &begins);
  module->print(os, state);
  SmallVector<int64_t> numbers(StringRef(text).count('\n') + 1, -1);
  // In order, so that the same program gives the same page.
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto found = begins.find(op);
    if (found == begins.end() || found->second.first == 0 || found->second.first > numbers.size())
      return;
    int64_t &number = numbers[found->second.first - 1];
    if (number < 0)
      number = origins.numberOf(op->getLoc());
  });
  return json::Object{{"name", name}, {"text", asUTF8(text)}, {"lines", json::Array(numbers)}};
}

/// Text of another kind, about whose lines nothing is known.
static json::Object plainPhase(StringRef name, StringRef text) {
  SmallVector<int64_t> numbers(text.count('\n') + 1, -1);
  return json::Object{{"name", name}, {"text", asUTF8(text)}, {"lines", json::Array(numbers)}};
}

/// The assembly of `module`, which is in phase `llvm`. The number of each op's origin takes the
/// place of its line, so that the assembler's `.loc` tells it.
static FailureOr<json::Object> assemblyOf(ModuleOp module, Origins &origins) {
  MLIRContext *context = module.getContext();
  module->walk([&](Operation *op) {
    op->setLoc(FileLineColLoc::get(context, "origins", origins.numberOf(op->getLoc()) + 1, 1));
  });
  PassManager scopes(context);
  scopes.enableVerifier(false);
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  scopes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  if (failed(scopes.run(module)))
    return failure();
  auto told = Jit::get().assembly(module, "entry");
  if (failed(told))
    return failure();
  std::string text;
  json::Array numbers;
  int64_t current = -1;
  for (StringRef line : llvm::split(*told, '\n')) {
    StringRef word = line.ltrim();
    if (word.consume_front(".loc\t") || word.consume_front(".loc ")) {
      // FILE LINE COLUMN; line 0 is that of code that no op is the reason for.
      (void)word.ltrim().split(' ').second.ltrim().consumeInteger(10, current);
      current -= 1;
      continue;
    }
    // What only debuggers read.
    if (llvm::any_of(ArrayRef<StringRef>{".cfi_", ".file\t", ".Ltmp", ".Lfunc_"},
                     [&](StringRef prefix) { return word.starts_with(prefix); }))
      continue;
    if (word.starts_with(".size") || word.starts_with(".section"))
      current = -1;
    bool isCode = !word.empty() && !word.starts_with(".") && !word.contains(":");
    numbers.push_back(isCode ? current : -1);
    text += line.str() + '\n';
  }
  numbers.push_back(-1);
  return json::Object{{"name", "asm"}, {"text", asUTF8(text)}, {"lines", std::move(numbers)}};
}

FailureOr<std::string> xtensor::everyPhase(ModuleOp module, StringRef target) {
  auto backend = backendOf(target);
  if (!backend)
    return module.emitError("this build generates no code for ") << target.split(',').first;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  Origins origins;
  json::Array phases;
  StringRef before;
  for (StringRef name : phaseNames(*backend)) {
    if (!before.empty() && failed(runPhases(*copy, before, name, "", target)))
      return failure();
    bool isText = name == "msl" || name == "ptx";
    phases.push_back(isText ? plainPhase(name, kernelTexts(*copy)) : phaseOf(*copy, name, origins));
    before = name;
  }
  auto assembly = assemblyOf(*copy, origins);
  if (failed(assembly))
    return failure();
  phases.push_back(std::move(*assembly));
  json::Object page{{"origins", origins.take()}, {"phases", std::move(phases)}};
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(page));
  return text;
}
