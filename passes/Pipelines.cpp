#include "Pipelines.h"

#include "Autodiff/Passes.h"
#include "Batch/Passes.h"
#include "Buffers/Passes.h"
#include "CPU/Passes.h"
#include "GPU/Passes.h"
#include "Group/Passes.h"
#include "Schedule/Passes.h"
#include "Simplify/Passes.h"
#include "ToLinalg/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xtensor;

//===- phases --------------------------------------------------------------===//

static constexpr llvm::StringLiteral kPhases[] = {"traced",  "simplified", "differentiated",
                                                  "linalg",  "grouped",    "scheduled",
                                                  "buffers", "cpu",        "llvm"};

ArrayRef<llvm::StringLiteral> xtensor::phaseNames() { return kPhases; }

int xtensor::phaseIndex(StringRef phase) {
  auto it = llvm::find(kPhases, phase);
  return it == std::end(kPhases) ? -1 : it - std::begin(kPhases);
}

static void addGrouped(OpPassManager &pm) {
  auto &function = pm.nest<func::FuncOp>();
  function.addPass(createFuseElementwise());
  function.addPass(createSplitReductions());
  function.addPass(createGroup());
}

static void addScheduled(OpPassManager &pm) { pm.addNestedPass<func::FuncOp>(createSchedule()); }

static void addLlvm(OpPassManager &pm) {
  pm.addPass(createMakeEntryPass());
  buildToLLVMPipeline(pm);
}

void xtensor::addPhase(OpPassManager &pm, StringRef phase) {
  static constexpr void (*kAdd[])(OpPassManager &) = {
      nullptr,    buildSimplifyPipeline, buildDifferentiatePipeline, buildToLinalgPipeline,
      addGrouped, addScheduled,          buildBuffersPipeline,       buildCPUPipeline,
      addLlvm};
  if (auto *add = kAdd[phaseIndex(phase)])
    add(pm);
}

namespace {

/// Writes the module to a file as it is at this point.
struct DumpPhase : PassWrapper<DumpPhase, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DumpPhase)
  DumpPhase(StringRef folder, StringRef phase) : folder(folder.str()), phase(phase.str()) {}
  StringRef getName() const final { return "DumpPhase"; }
  void runOnOperation() final {
    markAllAnalysesPreserved();
    llvm::SmallString<128> path(folder);
    std::string number = std::to_string(phaseIndex(phase));
    llvm::sys::path::append(path, number + "-" + phase + ".mlir");
    std::error_code error = llvm::sys::fs::create_directories(folder);
    llvm::raw_fd_ostream os(error ? "-" : StringRef(path), error);
    if (error) {
      getOperation().emitError() << "cannot write " << path << ": " << error.message();
      return signalPassFailure();
    }
    getOperation()->print(os);
    os << '\n';
  }
  std::string folder, phase;
};

/// Refuses what no phase will be able to compile, before the phases turn it into something else.
struct CheckProgram : PassWrapper<CheckProgram, OperationPass<ModuleOp>> {
  CheckProgram(bool needsMain) : needsMain(needsMain) {}
  StringRef getName() const final { return "CheckProgram"; }
  void runOnOperation() final {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (needsMain && (!main || main.isDeclaration())) {
      if (main)
        main.emitError("function @main has no body: nothing is there to compile");
      else
        module.emitError("there is no function @main: name the one to compile so");
      return signalPassFailure();
    }
    module.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isDeclaration())
        return;
      call.emitError("calls between functions are not compiled: run --inline before");
      signalPassFailure();
    });
  }
  bool needsMain;
};

struct CompileOptions : PassPipelineOptions<CompileOptions> {
  Option<std::string> to{
      *this, "to",
      llvm::cl::desc("the phase to stop after: traced, simplified, differentiated, linalg, "
                     "grouped, scheduled, buffers, cpu or llvm"),
      llvm::cl::init("llvm")};
  Option<std::string> from{*this, "from", llvm::cl::desc("the phase that the input is in"),
                           llvm::cl::init("traced")};
  Option<std::string> dump{*this, "dump", llvm::cl::desc("folder for one file per phase")};
};

} // namespace

/// What the input must be to be in `phase`, as far as a pass checks it.
static void addContract(OpPassManager &pm, StringRef phase) {
  if (phase == "differentiated")
    pm.addPass(createVerifyDifferentiated());
  else if (phaseIndex(phase) >= phaseIndex("linalg"))
    pm.addPass(createVerifyLinalg());
}

void xtensor::addPhases(OpPassManager &pm, StringRef from, StringRef to, StringRef dumpDir) {
  addContract(pm, from);
  int first = phaseIndex(from), last = phaseIndex(to), buffers = phaseIndex("buffers");
  if (first < buffers && last >= buffers)
    pm.addPass(std::make_unique<CheckProgram>(last >= phaseIndex("llvm")));
  if (!dumpDir.empty())
    pm.addPass(std::make_unique<DumpPhase>(dumpDir, from));
  for (int i = first + 1; i <= last; ++i) {
    addPhase(pm, kPhases[i]);
    if (!dumpDir.empty())
      pm.addPass(std::make_unique<DumpPhase>(dumpDir, kPhases[i]));
  }
}

//===- registration --------------------------------------------------------===//

static void registerPhases() {
  static PassPipelineRegistration<CompileOptions> compile(
      "xtensor-compile", "The phases of compilation, from one to another",
      [](OpPassManager &pm, const CompileOptions &options) {
        if (phaseIndex(options.from) < 0 || phaseIndex(options.to) < 0) {
          llvm::errs() << "no such phase: "
                       << (phaseIndex(options.from) < 0 ? options.from : options.to)
                       << "; there are ";
          llvm::interleaveComma(kPhases, llvm::errs());
          if (options.to == "asm")
            llvm::errs() << "; assembly is no IR: `xtensor show FILE.py:FUNCTION --phase asm`";
          llvm::errs() << '\n';
          std::exit(1);
        }
        if (phaseIndex(options.from) > phaseIndex(options.to)) {
          llvm::errs() << "phase " << options.to << " lies before " << options.from
                       << ", in which the input is\n";
          std::exit(1);
        }
        addPhases(pm, options.from, options.to, options.dump);
      });
}

void xtensor::registerAllXTensorPasses() {
  registerSimplifyPasses();
  registerAutodiffPasses();
  registerBatchPasses();
  registerToLinalgPasses();
  registerGroupPasses();
  registerSchedulePasses();
  registerBuffersPasses();
  registerCPUPasses();
  registerGPUPasses();
  registerPass(createMakeEntryPass);
  registerPhases();
}

void xtensor::registerAllXTensorDialects(DialectRegistry &registry) {
  registry.insert<XTensorDialect, func::FuncDialect, LLVM::LLVMDialect>();
  registerBufferInterfaces(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
