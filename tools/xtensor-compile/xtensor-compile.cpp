// xtensor-compile: makes a bundle from the functions of a module, without Python.
//
//   xtensor-compile module.mlir -o model.xtb --target cpu:x86-64-v3 --target cpu:aarch64-linux-gnu
#include "Pipelines.h"
#include "compiler/Export.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;

/// A module for each public function, which is its @main. What a bundle cannot hold comes along, to
/// be told of: with each one the functions that it calls, with the first what is not public.
static std::vector<mlir::OwningOpRef<mlir::ModuleOp>> split(mlir::ModuleOp module,
                                                            std::vector<std::string> &names) {
  auto isPublic = [](mlir::func::FuncOp f) { return f.isPublic() && !f.isDeclaration(); };
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> parts;
  mlir::SymbolTable symbols(module);
  for (auto f : module.getOps<mlir::func::FuncOp>()) {
    if (!isPublic(f))
      continue;
    names.push_back(f.getName().str());
    mlir::OwningOpRef<mlir::ModuleOp> part =
        mlir::cast<mlir::ModuleOp>(module->cloneWithoutRegions());
    part->getBodyRegion().emplaceBlock();
    auto main = mlir::cast<mlir::func::FuncOp>(f->clone());
    main.setName("main");
    part->push_back(main);
    llvm::SetVector<mlir::Operation *> others;
    if (parts.empty())
      for (mlir::Operation &op : *module.getBody())
        if (auto other = mlir::dyn_cast<mlir::func::FuncOp>(op); !other || !isPublic(other))
          others.insert(&op);
    if (auto uses = mlir::SymbolTable::getSymbolUses(f))
      for (const mlir::SymbolTable::SymbolUse &use : *uses)
        if (auto *used = symbols.lookup(use.getSymbolRef().getRootReference()); used && used != f)
          others.insert(used);
    for (mlir::Operation *other : others)
      part->push_back(other->clone());
    parts.push_back(std::move(part));
  }
  return parts;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::OptionCategory category("xtensor-compile");
  cl::opt<std::string> input(cl::Positional,
                             cl::desc("MODULE.mlir, whose public functions are compiled; "
                                      "-: standard input"),
                             cl::Required, cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("the bundle"), cl::value_desc("MODEL.xtb"),
                              cl::Required, cl::cat(category));
  cl::list<std::string> targets(
      "target",
      cl::desc("cpu (this machine's kind; the default) or cpu:PROCESSOR; again for another one"),
      cl::value_desc("TARGET"), cl::cat(category));
  cl::opt<std::string> function(
      "function", cl::desc("what the only function is called (default: what the module calls it)"),
      cl::cat(category));
  cl::opt<std::string> name(
      "name", cl::desc("the library's name (default: the bundle's file name)"), cl::cat(category));
  cl::opt<std::string> blas("blas",
                            cl::desc("what matrix products are calls of in C: openblas (default), "
                                     "blas, scipy-openblas"),
                            cl::init("openblas"), cl::cat(category));
  cl::opt<bool> noBlas("no-blas", cl::desc("matrix products are part of the code"),
                       cl::cat(category));
  cl::opt<bool> noC("no-c", cl::desc("no libraries and header for C"), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "compiles a module to a bundle that any program can call\n");

  std::string error;
  auto file = mlir::openInputFile(input, &error);
  if (!file) {
    llvm::errs() << "xtensor-compile: " << error << '\n';
    return 1;
  }
  mlir::DialectRegistry registry;
  xtensor::registerAllXTensorDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // the line is enough
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return 1;
  std::vector<std::string> names;
  auto parts = split(*module, names);
  if (parts.empty()) {
    module->emitError("there is no public function to compile");
    return 1;
  }
  if (function.getNumOccurrences()) {
    if (parts.size() > 1) {
      module->emitError("--function names the only function; this module has ") << parts.size();
      return 1;
    }
    names = {function};
  }
  std::vector<xtensor::ExportFunction> functions(parts.size());
  for (auto [part, name, f] : llvm::zip_equal(parts, names, functions))
    f.module = *part, f.name = name;
  xtensor::ExportOptions options;
  options.name = name.empty() ? llvm::sys::path::stem(output).str() : name;
  if (!targets.empty())
    options.targets.assign(targets.begin(), targets.end());
  options.blas = noBlas ? "" : blas.getValue();
  options.forC = !noC;
  auto bundle = xtensor::exportBundle(functions, options);
  if (failed(bundle))
    return 1;
  auto out = mlir::openOutputFile(output, &error);
  if (!out) {
    llvm::errs() << "xtensor-compile: " << error << '\n';
    return 1;
  }
  out->os() << *bundle;
  out->os().close();
  if (std::error_code problem = out->os().error()) {
    out->os().clear_error();
    llvm::errs() << "xtensor-compile: cannot write '" << output << "': " << problem.message()
                 << '\n';
    return 1;
  }
  out->keep();
  return 0;
}
