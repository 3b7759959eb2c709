#include "compiler/Jit.h"

#include "Device.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <dlfcn.h>
#include <mutex>

using namespace llvm;

#if defined(__x86_64__)
// Declared for their addresses only: runtime/HalfConversion.cpp says what they return.
extern "C" void xt_truncdfhf2();
extern "C" void xt_truncdfbf2();
#endif

struct xtensor::Jit::Impl {
  std::unique_ptr<TargetMachine> machine;
  std::unique_ptr<orc::LLJIT> linker;
  LLVMContext context;
  // LLVMContext, code generation and linking are used by one thread at a time.
  std::mutex mutex;
};

/// Every function of the runtime that compiled code may call.
static orc::SymbolMap runtimeSymbols(orc::ExecutionSession &session) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[session.intern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                     JITSymbolFlags::Exported};
  };
  define("xt_parallel_for", &xt_parallel_for);
  define("xt_arena_acquire", &xt_arena_acquire);
  define("xt_arena_release", &xt_arena_release);
  define("xt_gemm_f32", &xt_gemm_f32);
  define("xt_gemm_f64", &xt_gemm_f64);
  define("xt_begin_call", &xt_begin_call);
  define("xt_call_arena", &xt_call_arena);
  define("xt_call_begin", &xt_call_begin);
  define("xt_call_constant", &xt_call_constant);
  define("xt_call_end", &xt_call_end);
  define("xt_call_extents", &xt_call_extents);
  define("xt_call_launch", &xt_call_launch);
  define("xt_call_map", &xt_call_map);
  define("xt_call_report", &xt_call_report);
  define("xt_call_unmap", &xt_call_unmap);
  define("xt_report_index", &xt_report_index);
#define XT_ROUTINE(name) define(#name, &name);
#include "Routines.def"
#if defined(__x86_64__)
  define("__truncdfhf2", &xt_truncdfhf2);
  define("__truncdfbf2", &xt_truncdfbf2);
#endif
  return symbols;
}

xtensor::Jit::Jit() : impl(std::make_unique<Impl>()) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getProcessTriple());
  std::string features, error;
  // In a fixed order: this text is part of the key of cached objects.
  std::map<std::string, bool> sorted;
  for (const auto &feature : sys::getHostCPUFeatures())
    sorted[feature.first().str()] = feature.second;
  for (const auto &[name, on] : sorted)
    features += (features.empty() ? "" : ",") + std::string(on ? "+" : "-") + name;
  const Target *found = TargetRegistry::lookupTarget(triple, error);
  if (!found)
    report_fatal_error(Twine("no code generator for this machine: ") + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast; // a*b+c may become one instruction
  impl->machine.reset(found->createTargetMachine(triple, sys::getHostCPUName(), features, options,
                                                 Reloc::PIC_, CodeModel::Small,
                                                 CodeGenOptLevel::Default, /*JIT=*/true));
  target = (triple.str() + " " + sys::getHostCPUName() + " " + features).str();

  orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(triple));
  builder.setDataLayout(impl->machine->createDataLayout());
  builder.setPlatformSetUp(orc::setUpInactivePlatform);
  impl->linker = cantFail(builder.create());
  auto &library = impl->linker->getMainJITDylib();
  cantFail(
      library.define(orc::absoluteSymbols(runtimeSymbols(impl->linker->getExecutionSession()))));
#if defined(__x86_64__) && defined(__GLIBC__)
  // An object from the cache calls vector functions that no pass of this process asked for.
  dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
#endif
  // The C library's functions: memcpy, and the functions of libm.
  library.addGenerator(cantFail(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      impl->machine->createDataLayout().getGlobalPrefix())));
}

xtensor::Jit &xtensor::Jit::get() {
  // Never destroyed: compiled functions live as long as the process.
  static Jit *jit = new Jit;
  return *jit;
}

/// The few passes that pay: loops are vectors already, and what O2 adds is compile time.
static void optimize(Module &module, TargetMachine &machine) {
  PassBuilder builder(&machine);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass(false, false)));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  for (Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

std::unique_ptr<MemoryBuffer> xtensor::Jit::generate(mlir::ModuleOp module, StringRef entry,
                                                     CodeFormat format) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  auto code = mlir::translateModuleToLLVMIR(module, impl->context, entry, /*disableVerification=*/
#ifdef NDEBUG
                                            true
#else
                                            false
#endif
  );
  if (!code)
    return nullptr;
  code->setDataLayout(impl->machine->createDataLayout());
  code->setTargetTriple(impl->machine->getTargetTriple());
  for (Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(Attribute::NoUnwind);
    function.addFnAttr("prefer-vector-width", "512");
    if (function.getName() != entry)
      function.setLinkage(GlobalValue::InternalLinkage);
  }
  optimize(*code, *impl->machine);
  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  if (format == CodeFormat::llvmIR) {
    code->print(os, nullptr);
  } else {
    legacy::PassManager emit;
    auto type =
        format == CodeFormat::object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
    if (impl->machine->addPassesToEmitFile(emit, os, nullptr, type, /*DisableVerify=*/true)) {
      module.emitError("this machine's code generator cannot emit a file of this kind");
      return nullptr;
    }
    emit.run(*code);
  }
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(bytes), entry, false);
}

Expected<void *> xtensor::Jit::link(std::unique_ptr<MemoryBuffer> object, StringRef entry) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  auto tracker = impl->linker->getMainJITDylib().createResourceTracker();
  if (Error error = impl->linker->addObjectFile(tracker, std::move(object)))
    return std::move(error);
  auto address = impl->linker->lookup(entry);
  if (!address) {
    // Else the same program, tried again, would fail for being there already.
    consumeError(tracker->remove());
    return address.takeError();
  }
  return address->toPtr<void *>();
}
