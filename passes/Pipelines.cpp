#include "Pipelines.h"

#include "Autodiff/Passes.h"
#include "Batch/Passes.h"
#include "Buffers/Passes.h"
#include "CPU/Passes.h"
#include "CPU/Processor.h"
#include "Distribute/Passes.h"
#include "GPU/Passes.h"
#include "GPU/Tuning.h"
#include "Group/Passes.h"
#include "Machine.h"
#include "Metal/Passes.h"
#include "NVVM/Passes.h"
#include "SPIRV/Passes.h"
#include "Schedule/Passes.h"
#include "Simplify/Passes.h"
#include "ToLinalg/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xtensor;

//===- phases --------------------------------------------------------------===//

static constexpr llvm::StringLiteral kCPUPhases[] = {
    "traced",  "simplified", "differentiated", "distributed", "linalg",
    "grouped", "scheduled",  "buffers",        "cpu",         "llvm"};
static constexpr llvm::StringLiteral kVulkanPhases[] = {
    "traced",  "simplified", "differentiated", "distributed", "linalg", "grouped", "scheduled",
    "buffers", "gpu",        "spirv",          "llvm"};
static constexpr llvm::StringLiteral kMetalPhases[] = {
    "traced",  "simplified", "differentiated", "distributed", "linalg", "grouped", "scheduled",
    "buffers", "gpu",        "spirv",          "msl",         "llvm"};
static constexpr llvm::StringLiteral kCudaPhases[] = {
    "traced",  "simplified", "differentiated", "distributed", "linalg", "grouped", "scheduled",
    "buffers", "gpu",        "nvvm",           "ptx",         "llvm"};

std::optional<Backend> xtensor::backendOf(StringRef target) {
  if (processorOf(target))
    return Backend::cpu;
  return llvm::StringSwitch<std::optional<Backend>>(target.split(',').first)
      .Case("cpu", Backend::cpu)
      .Case("vulkan", Backend::vulkan)
      .Case("metal", Backend::metal)
      .Case("cuda", Backend::cuda)
      .Default(std::nullopt);
}

ArrayRef<llvm::StringLiteral> xtensor::phaseNames(Backend backend) {
  switch (backend) {
  case Backend::cpu:
    return kCPUPhases;
  case Backend::vulkan:
    return kVulkanPhases;
  case Backend::metal:
    return kMetalPhases;
  case Backend::cuda:
    return kCudaPhases;
  }
  llvm_unreachable("a backend has phases");
}

int xtensor::phaseIndex(StringRef phase, Backend backend) {
  ArrayRef<llvm::StringLiteral> phases = phaseNames(backend);
  auto it = llvm::find(phases, phase);
  return it == phases.end() ? -1 : it - phases.begin();
}

/// The runtime's routine is for the process that compiles, where the build found DUCC's headers.
static bool hasFourier(StringRef target) {
#ifdef XTENSOR_HAS_FOURIER
  return backendOf(target) == Backend::cpu && !processorOf(target);
#else
  return false;
#endif
}

/// So are its products of bfloat16, where the processor has instructions for them.
static bool hasBFloat16Products(StringRef target) {
  return backendOf(target) == Backend::cpu && !processorOf(target) && hasBFloat16ProductsOfHost();
}

static void addLinalg(OpPassManager &pm, StringRef target) {
  ToLinalgOptions options;
  if (!hasFourier(target))
    pm.addNestedPass<func::FuncOp>(createDecomposeFourier());
  pm.addNestedPass<func::FuncOp>(createDecomposeWindows());
  options.bfloat16Products = hasBFloat16Products(target);
  if (backendOf(target) == Backend::cpu) {
    if (hasFma(target))
      pm.addNestedPass<func::FuncOp>(createFuseProducts());
  } else {
    Profile device(target);
    options.updateBlocks = 128;
    options.atomicBits = device.has("i64") && device.has("atomic_i64") ? 64 : 32;
    options.inOrder = device.has("in_order");
  }
  buildToLinalgPipeline(pm, options);
}

static void addGroupedWith(OpPassManager &pm, GroupOptions options,
                           SplitReductionsOptions split = {}) {
  auto &function = pm.nest<func::FuncOp>();
  function.addPass(createFuseElementwise());
  function.addPass(createFuseScans());
  if (split.tile)
    function.addPass(createFoldConversions());
  function.addPass(createSplitReductions(split));
  function.addPass(createGroup(options));
}

static void addGrouped(OpPassManager &pm) {
  addGroupedWith(pm, {});
  pm.addNestedPass<func::FuncOp>(createReuseOperands());
}

/// A group becomes a kernel, which can bind this many buffers.
static void addGroupedForDevice(OpPassManager &pm) {
  GroupOptions options;
  options.maxValues = xtensor::gpu::KernelLimits::kBuffers;
  options.alone = false;
  SplitReductionsOptions split;
  split.parts = 256;
  split.tile = xtensor::gpu::Tile::kLeastSide;
  addGroupedWith(pm, options, split);
}

static void addScheduled(OpPassManager &pm) { pm.addNestedPass<func::FuncOp>(createSchedule()); }

static void addLlvm(OpPassManager &pm) {
  pm.addPass(createMakeEntryPass());
  buildToLLVMPipeline(pm);
}

static void addGpu(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createBranchBuffers());
  pm.addPass(createCutLoops());
  pm.addPass(createOutlineKernels());
  pm.addNestedPass<mlir::gpu::GPUModuleOp>(createExpandScalarMath());
  ExpandScalarMathOptions inLine; // for the few numbers of the host
  inLine.calls = false;
  pm.addNestedPass<func::FuncOp>(createExpandScalarMath(inLine));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void addMsl(OpPassManager &pm) { pm.addPass(createTranslateToMSL()); }

static void addPtx(OpPassManager &pm) { pm.addPass(createSerializePTX()); }

void xtensor::buildDeviceArenaPipeline(OpPassManager &pm) {
  ArenaOptions arena;
  arena.alignment = 256;
  pm.addNestedPass<func::FuncOp>(createArena(arena));
}

/// The host of kernels: their code is part of its object.
static void addHost(OpPassManager &pm) {
  pm.addPass(createSerializeSPIRV());
  buildDeviceArenaPipeline(pm);
  pm.addPass(createLaunchKernels());
  pm.addPass(createCallLibrary());
  pm.addPass(createPollLoops());
  addLlvm(pm);
}

void xtensor::addPhase(OpPassManager &pm, StringRef phase, StringRef target) {
  Backend backend = *backendOf(target);
  if (phase == "linalg")
    return addLinalg(pm, target);
  using Add = void (*)(OpPassManager &);
  Add add = llvm::StringSwitch<Add>(phase)
                .Case("simplified", buildSimplifyPipeline)
                .Case("differentiated", buildDifferentiatePipeline)
                .Case("distributed", buildDistributePipeline)
                .Case("grouped", backend == Backend::cpu ? addGrouped : addGroupedForDevice)
                .Case("scheduled", addScheduled)
                .Case("buffers", buildBuffersPipeline)
                .Case("cpu", buildCPUPipeline)
                .Case("gpu", addGpu)
                .Case("spirv", buildSPIRVPipeline)
                .Case("msl", addMsl)
                .Case("nvvm", buildNVVMPipeline)
                .Case("ptx", addPtx)
                .Case("llvm", backend == Backend::cpu ? addLlvm : addHost)
                .Default(nullptr);
  if (add)
    add(pm);
}

static thread_local PhaseTimes *phaseTimes = nullptr;

PhaseTimes::PhaseTimes() : last(std::chrono::steady_clock::now()), outer(phaseTimes) {
  phaseTimes = this;
}
PhaseTimes::~PhaseTimes() { phaseTimes = outer; }
PhaseTimes *PhaseTimes::current() { return phaseTimes; }

void PhaseTimes::add(StringRef phase) {
  auto now = std::chrono::steady_clock::now();
  seconds.emplace_back(phase.str(), std::chrono::duration<double>(now - last).count());
  last = now;
}

namespace {

/// Writes the module to a file as it is at this point.
struct DumpPhase : PassWrapper<DumpPhase, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DumpPhase)
  DumpPhase(StringRef folder, StringRef phase, int number)
      : folder(folder.str()), phase(phase.str()), number(number) {}
  StringRef getName() const final { return "DumpPhase"; }
  void runOnOperation() final {
    markAllAnalysesPreserved();
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, std::to_string(number) + "-" + phase + ".mlir");
    std::error_code error = llvm::sys::fs::create_directories(folder);
    llvm::raw_fd_ostream os(error ? "-" : StringRef(path), error);
    if (error) {
      getOperation().emitError() << "cannot write " << path << ": " << error.message();
      return signalPassFailure();
    }
    getOperation()->print(os);
    os << '\n';
    os.close();
    // An error that is not checked ends the process.
    if ((error = os.error())) {
      os.clear_error();
      getOperation().emitError() << "cannot write " << path << ": " << error.message();
      signalPassFailure();
    }
  }
  std::string folder, phase;
  int number;
};

/// Tells the `PhaseTimes` of the thread that a phase has ended.
struct EndPhase : PassWrapper<EndPhase, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EndPhase)
  EndPhase() = default;
  EndPhase(const EndPhase &other) : PassWrapper(other) {}
  EndPhase(StringRef name) { phase = name.str(); }
  StringRef getName() const final { return "EndPhase"; }
  StringRef getArgument() const final { return "xtensor-end-phase"; }
  StringRef getDescription() const final { return "measures the time of a phase"; }
  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (PhaseTimes *times = PhaseTimes::current())
      times->add(phase);
  }
  Option<std::string> phase{*this, "phase", llvm::cl::desc("which ends")};
};

/// Says in the module which device or processor it is for, and the caches of a processor.
struct SetTarget : PassWrapper<SetTarget, OperationPass<ModuleOp>> {
  SetTarget() = default;
  SetTarget(const SetTarget &other) : PassWrapper(other) {}
  SetTarget(StringRef name) { target = name.str(); }
  StringRef getName() const final { return "SetTarget"; }
  StringRef getArgument() const final { return "xtensor-set-target"; }
  StringRef getDescription() const final { return "says in the module what it is compiled for"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<DLTIDialect>();
  }
  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (target == "cpu") // this machine's
      return setCaches(getOperation(), cachesOfHost());
    std::optional<Processor> processor = processorOf(target.getValue());
    if (processor)
      setCaches(getOperation(), processor->caches);
    StringRef name = processor ? kProcessorAttr : kTargetAttr;
    if (Profile profile(target.getValue()); name == kTargetAttr && !profile.problem().empty()) {
      getOperation().emitError(profile.problem());
      return signalPassFailure();
    }
    getOperation()->setAttr(name, StringAttr::get(&getContext(), target.getValue()));
  }
  Option<std::string> target{*this, "target", llvm::cl::desc("a device or processor"),
                             llvm::cl::init("cpu")};
};

/// Refuses what no phase will be able to compile, before the phases turn it into something else.
struct CheckProgram : PassWrapper<CheckProgram, OperationPass<ModuleOp>> {
  CheckProgram() = default;
  CheckProgram(const CheckProgram &other) : PassWrapper(other) {}
  CheckProgram(bool needed) { needsMain = needed; }
  StringRef getName() const final { return "CheckProgram"; }
  StringRef getArgument() const final { return "xtensor-check-program"; }
  StringRef getDescription() const final { return "refuses what no phase can compile"; }
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
    if (module.walk(checkTensors).wasInterrupted())
      signalPassFailure();
  }

  /// Upstream's bufferization says of these that an op was not bufferized.
  static WalkResult checkTensors(Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    if (auto func = dyn_cast<func::FuncOp>(op))
      llvm::append_range(types, func.getArgumentTypes());
    for (Type type : types) {
      auto tensor = dyn_cast<TensorType>(type);
      if (!tensor)
        continue;
      auto integer = dyn_cast<IntegerType>(tensor.getElementType());
      if (integer && integer.getWidth() != 1 &&
          !llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth())) {
        op->emitError() << "'" << op->getName() << "' has elements of type " << integer
                        << ", which no array has: integers have 8, 16, 32 or 64 bits, or are i1";
        return WalkResult::interrupt();
      }
      auto select = dyn_cast<arith::SelectOp>(op);
      if (OpTrait::hasElementwiseMappableTraits(op) &&
          !(select && select.getCondition().getType().isInteger(1))) {
        op->emitError() << "'" << op->getName()
                        << "' of tensors is not compiled: write it as an op "
                        << "of xtensor, or run --convert-elementwise-to-linalg before";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  }
  Option<bool> needsMain{*this, "needs-main", llvm::cl::desc("refuse modules without @main")};
};

struct CompileOptions : PassPipelineOptions<CompileOptions> {
  Option<std::string> to{
      *this, "to",
      llvm::cl::desc(
          "the phase to stop after: traced, simplified, differentiated, distributed, linalg, "
          "grouped, scheduled, buffers, cpu or llvm"),
      llvm::cl::init("llvm")};
  Option<std::string> from{*this, "from", llvm::cl::desc("the phase that the input is in"),
                           llvm::cl::init("traced")};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("cpu, vulkan, metal or cuda, or a profile"),
                             llvm::cl::init("cpu")};
  Option<std::string> dump{*this, "dump", llvm::cl::desc("folder for one file per phase")};
};

} // namespace

/// What the input must be to be in `phase`, as far as a pass checks it.
static void addContract(OpPassManager &pm, StringRef phase, Backend backend) {
  if (phase == "differentiated")
    pm.addPass(createVerifyDifferentiated());
  else if (phase == "llvm")
    pm.addPass(createVerifyLLVM());
  else if (int i = phaseIndex(phase, backend); i >= phaseIndex("linalg", backend)) {
    pm.addPass(createVerifyLinalg());
    if (i >= phaseIndex("buffers", backend))
      pm.addPass(createVerifyBuffers());
  }
}

void xtensor::addPhases(OpPassManager &pm, StringRef from, StringRef to, StringRef dumpDir,
                        StringRef target) {
  Backend backend = *backendOf(target);
  pm.addPass(std::make_unique<SetTarget>(target));
  addContract(pm, from, backend);
  int first = phaseIndex(from, backend), last = phaseIndex(to, backend);
  int buffers = phaseIndex("buffers", backend);
  if (first < buffers && last >= buffers)
    pm.addPass(std::make_unique<CheckProgram>(to == "llvm"));
  ArrayRef<llvm::StringLiteral> phases = phaseNames(backend);
  if (!dumpDir.empty())
    pm.addPass(std::make_unique<DumpPhase>(dumpDir, from, first));
  for (int i = first + 1; i <= last; ++i) {
    addPhase(pm, phases[i], target);
    pm.addPass(std::make_unique<EndPhase>(phases[i]));
    if (!dumpDir.empty())
      pm.addPass(std::make_unique<DumpPhase>(dumpDir, phases[i], i));
  }
}

//===- registration --------------------------------------------------------===//

/// Adds the phases that a user asked for, or says which there are.
static void addAskedPhases(OpPassManager &pm, StringRef from, StringRef to, StringRef dump,
                           StringRef target) {
  std::optional<Backend> backend = backendOf(target);
  if (!backend) {
    llvm::errs() << "no such target: " << target << "; there are cpu, vulkan, metal and cuda\n";
    std::exit(1);
  }
  int first = phaseIndex(from, *backend), last = phaseIndex(to, *backend);
  if (first < 0 || last < 0) {
    llvm::errs() << "no such phase: " << (first < 0 ? from : to) << "; there are ";
    llvm::interleaveComma(phaseNames(*backend), llvm::errs());
    if (to == "asm")
      llvm::errs() << "; assembly is not IR: `xtensor show FILE.py:FUNCTION --phase asm`";
    llvm::errs() << '\n';
    std::exit(1);
  }
  if (first > last) {
    llvm::errs() << "phase " << to << " lies before " << from << ", in which the input is\n";
    std::exit(1);
  }
  addPhases(pm, from, to, dump, target);
}

/// --xtensor-to-gpu and the like: all phases up to a device's.
struct DeviceOptions : PassPipelineOptions<DeviceOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("a device's profile, or its backend alone"),
                             llvm::cl::init("")};
};

static void registerDevicePhase(StringRef phase, StringRef backend, StringRef what) {
  PassPipelineRegistration<DeviceOptions>(
      ("xtensor-to-" + phase).str(), what,
      [phase, backend](OpPassManager &pm, const DeviceOptions &options) {
        StringRef target = options.target.empty() ? backend : options.target;
        addAskedPhases(pm, "traced", phase, "", target);
      });
}

static void registerPhases() {
  static PassPipelineRegistration<CompileOptions> compile(
      "xtensor-compile", "The phases of compilation, from one to another",
      [](OpPassManager &pm, const CompileOptions &options) {
        addAskedPhases(pm, options.from, options.to, options.dump, options.target);
      });
  registerDevicePhase("gpu", "vulkan", "From a traced program to kernels and their host");
  registerDevicePhase("spirv", "vulkan", "From a traced program to kernels in SPIR-V");
  registerDevicePhase("msl", "metal", "From a traced program to kernels in Metal's language");
  registerDevicePhase("ptx", "cuda", "From a traced program to kernels as PTX");
}

void xtensor::registerAllXTensorPasses() {
  registerSimplifyPasses();
  registerAutodiffPasses();
  registerBatchPasses();
  registerDistributePasses();
  registerToLinalgPasses();
  registerGroupPasses();
  registerSchedulePasses();
  registerBuffersPasses();
  registerCPUPasses();
  registerGPUPasses();
  registerSPIRVPasses();
  registerMetalPasses();
  registerNVVMPasses();
  registerPass(createMakeEntryPass);
  // So that a reproducer of a failing pipeline runs.
  PassRegistration<SetTarget>();
  PassRegistration<CheckProgram>();
  PassRegistration<EndPhase>();
  registerPhases();
}

void xtensor::registerAllXTensorDialects(DialectRegistry &registry) {
  registry.insert<XTensorDialect, func::FuncDialect, LLVM::LLVMDialect, mlir::gpu::GPUDialect>();
  registerBufferInterfaces(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}
