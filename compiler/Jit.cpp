#include "compiler/Jit.h"

#include "Device.h"
#include "Profile.h"
#include "compiler/CodeMemory.h"
#include "compiler/SplitModule.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <dlfcn.h>
#include <mutex>
#include <vector>

using namespace llvm;

#if defined(__x86_64__)
// Declared for their addresses only: runtime/HalfConversion.cpp says what they return.
extern "C" void xt_truncdfhf2();
extern "C" void xt_truncdfbf2();
extern "C" void xt_truncsfbf2();
#endif

struct xtensor::Jit::Impl {
  std::unique_ptr<CodeGenerator> borrow();
  void giveBack(std::unique_ptr<CodeGenerator> generator);
  void unload(orc::ResourceTrackerSP tracker);

  std::unique_ptr<orc::LLJIT> linker;
  std::mutex linking;               // one thread at a time
  size_t unloaded = 0;              // programs
  std::vector<std::string> reports; // the errors of the program that links
  bool isFull = false;              // the reason was that memory ran out
  // Generators that are not in use.
  std::vector<std::unique_ptr<CodeGenerator>> idle;
  std::mutex idleMutex;
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
  define("xt_poll", &xt_poll);
  define("xt_profile_begin", &xt_profile_begin);
  define("xt_profile_end", &xt_profile_end);
  define("xt_profile_size", &xt_profile_size);
  define("xt_report_index", &xt_report_index);
#define XT_ROUTINE(name, reports, work) define(#name, &name);
#include "Routines.def"
#if defined(__x86_64__)
  define("__truncdfhf2", &xt_truncdfhf2);
  define("__truncdfbf2", &xt_truncdfbf2);
  define("__truncsfbf2", &xt_truncsfbf2);
#endif
  return symbols;
}

xtensor::Jit::Jit() : impl(std::make_unique<Impl>()) {
  impl->idle.push_back(std::make_unique<CodeGenerator>());
  const TargetMachine &machine = impl->idle.front()->machine();
  orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(machine.getTargetTriple()));
  builder.setDataLayout(machine.createDataLayout());
  builder.setPlatformSetUp(orc::setUpInactivePlatform);
  // No frames to register: compiled functions do not unwind (markCompiled).
  builder.setObjectLinkingLayerCreator([](orc::ExecutionSession &session) {
    return std::make_unique<orc::ObjectLinkingLayer>(session, std::make_unique<CodeMemory>());
  });
  impl->linker = cantFail(builder.create());
  impl->linker->getExecutionSession().setErrorReporter([impl = impl.get()](Error error) {
    handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
      impl->isFull |= info.convertToErrorCode() == std::errc::not_enough_memory;
      impl->reports.push_back(info.message());
    });
  });
  auto &library = impl->linker->getMainJITDylib();
  cantFail(
      library.define(orc::absoluteSymbols(runtimeSymbols(impl->linker->getExecutionSession()))));
#if defined(__x86_64__) && defined(__GLIBC__)
  // An object from the cache calls vector functions that no pass of this process asked for.
  dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
#endif
  // The C library's functions: memcpy, and the functions of libm.
  library.addGenerator(cantFail(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      machine.createDataLayout().getGlobalPrefix())));
}

xtensor::Jit &xtensor::Jit::get() {
  // Never destroyed: compiled functions may be called while the process exits.
  static Jit *jit = new Jit;
  return *jit;
}

/// A generator that is the caller's alone, until it is given back.
std::unique_ptr<xtensor::CodeGenerator> xtensor::Jit::Impl::borrow() {
  std::lock_guard<std::mutex> lock(idleMutex);
  if (idle.empty())
    return std::make_unique<CodeGenerator>();
  auto generator = std::move(idle.back());
  idle.pop_back();
  return generator;
}

void xtensor::Jit::Impl::giveBack(std::unique_ptr<CodeGenerator> generator) {
  std::lock_guard<std::mutex> lock(idleMutex);
  idle.push_back(std::move(generator));
}

static std::unique_ptr<llvm::Module> translated(mlir::ModuleOp module, LLVMContext &context,
                                                StringRef name) {
  return mlir::translateModuleToLLVMIR(module, context, name, /*disableVerification=*/
#ifdef NDEBUG
                                       true
#else
                                       false
#endif
  );
}

mlir::FailureOr<xtensor::Objects> xtensor::Jit::generate(mlir::ModuleOp module, StringRef entry,
                                                         int64_t threads) {
  struct Task {
    std::unique_ptr<CodeGenerator> generator;
    std::unique_ptr<llvm::Module> code;
    SmallVector<char, 0> object;
    StringRef entry;
  };
  std::vector<Task> tasks;
  // The MLIR context is this thread's; each generator has an LLVM context of its own.
  auto add = [&](mlir::ModuleOp part) {
    tasks.push_back({impl->borrow(), nullptr, {}, entry});
    tasks.back().code = translated(part, tasks.back().generator->context(), entry);
    return tasks.back().code != nullptr;
  };
  auto others = splitModule(module, entry, threads);
  bool all = add(module);
  for (auto &part : others)
    all = all && add(*part);
  auto run = [](void *tasks, int64_t i) {
    Task &task = static_cast<Task *>(tasks)[i];
    task.object = task.generator->run(*task.code, task.entry);
  };
  // One task does not touch the pool, which takes its size when it is first used.
  if (all && tasks.size() == 1)
    run(tasks.data(), 0);
  else if (all)
    xt_run_tasks(run, tasks.data(), tasks.size());
  Objects objects;
  for (Task &task : tasks) {
    objects.push_back(std::make_unique<SmallVectorMemoryBuffer>(std::move(task.object), entry,
                                                                /*RequiresNullTerminator=*/false));
    task.code.reset(); // before its context can be another's
    impl->giveBack(std::move(task.generator));
  }
  if (!all)
    return mlir::failure();
  return objects;
}

mlir::FailureOr<std::string> xtensor::Jit::assembly(mlir::ModuleOp module, StringRef entry) {
  auto generator = impl->borrow();
  auto code = translated(module, generator->context(), entry);
  std::string text;
  if (code)
    text = toStringRef(generator->run(*code, entry, CodeFormat::assembly)).str();
  bool failed = !code;
  code.reset();
  impl->giveBack(std::move(generator));
  if (failed)
    return mlir::failure();
  return text;
}

void xtensor::Jit::Impl::unload(orc::ResourceTrackerSP tracker) {
  std::lock_guard<std::mutex> lock(linking);
  if (Error error = tracker->remove())
    linker->getExecutionSession().reportError(std::move(error));
  // The names of functions that are gone, looked for once in a while: it takes time for each name.
  if (++unloaded % 512 == 0)
    linker->getExecutionSession().getSymbolStringPool()->clearDeadEntries();
}

Expected<xtensor::LoadedCode> xtensor::Jit::link(Objects objects, StringRef entry) {
  std::lock_guard<std::mutex> lock(impl->linking);
  impl->reports.clear();
  impl->isFull = false;
  auto tracker = impl->linker->getMainJITDylib().createResourceTracker();
  for (std::unique_ptr<MemoryBuffer> &object : objects)
    if (Error error = impl->linker->addObjectFile(tracker, std::move(object)))
      return joinErrors(std::move(error), tracker->remove());
  auto address = impl->linker->lookup(entry);
  if (!address) {
    // Else the same program, tried again, would fail for being there already.
    consumeError(tracker->remove());
    if (impl->isFull) {
      consumeError(address.takeError());
      return errorCodeToError(std::make_error_code(std::errc::not_enough_memory));
    }
    // What is missing follows from what went wrong.
    return impl->reports.empty()
               ? address.takeError()
               : joinErrors(createStringError(join(impl->reports, "; ")), address.takeError());
  }
  auto unload = [this](void *tracker) {
    orc::ResourceTrackerSP held(static_cast<orc::ResourceTracker *>(tracker));
    held->Release(); // the reference that `code` had
    impl->unload(std::move(held));
  };
  tracker->Retain();
  return LoadedCode{address->toPtr<void *>(), std::shared_ptr<void>(tracker.get(), unload)};
}
