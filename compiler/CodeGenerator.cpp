#include "compiler/CodeGenerator.h"

#include "Analyses.h"
#include "Machine.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include <map>

using namespace llvm;

namespace {

/// The processor's features, in a fixed order: this text is part of the key of cached objects.
std::string hostFeatures() {
  std::map<std::string, bool> sorted;
  for (const auto &feature : sys::getHostCPUFeatures())
    sorted[feature.first().str()] = feature.second;
  std::string features;
  for (const auto &[name, on] : sorted)
    features += (features.empty() ? "" : ",") + std::string(on ? "+" : "-") + name;
  return features;
}

std::unique_ptr<TargetMachine> hostMachine() {
  static const bool initialized = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getProcessTriple());
  std::string error;
  const Target *found = TargetRegistry::lookupTarget(triple, error);
  if (!initialized || !found)
    report_fatal_error(Twine("no code generator for this machine: ") + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard; // what the ops say (LoopEmitter::combine)
  static const std::string features = hostFeatures();
  return std::unique_ptr<TargetMachine>(
      found->createTargetMachine(triple, sys::getHostCPUName(), features, options, Reloc::PIC_,
                                 CodeModel::Small, CodeGenOptLevel::Default, /*JIT=*/true));
}

/// Adds the passes to another manager, but for strength reduction of loops: the emitter of vectors
/// has chosen how they count. It takes a fifth to a third of code generation, with the analyses it
/// asks for, and no workload runs faster by it.
class WithoutStrengthReduction : public legacy::PassManagerBase {
public:
  explicit WithoutStrengthReduction(legacy::PassManagerBase &to) : to(to) {}
  void add(Pass *pass) override {
    StringRef name = pass->getPassName();
    if (name == "Loop Strength Reduction" || name == "Canonicalize Freeze Instructions in Loops")
      delete pass; // as a manager does with a pass that it has already
    else
      to.add(pass);
  }

private:
  legacy::PassManagerBase &to;
};

} // namespace

const std::string &xtensor::hostDescription() {
  static const std::string text = [] {
    Caches caches = cachesOfHost();
    return (Triple(sys::getProcessTriple()).str() + " " + sys::getHostCPUName() + " " +
            hostFeatures() + " " + Twine(caches.level1) + "," + Twine(caches.level2))
        .str();
  }();
  return text;
}

xtensor::CodeGenerator::CodeGenerator() : target(hostMachine()) {}

void xtensor::optimize(Module &module, TargetMachine &machine) {
  Analyses analyses(machine);
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass(false, false)));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  for (Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, analyses.functions);
}

bool xtensor::addEmission(legacy::PassManagerBase &to, TargetMachine &target, raw_pwrite_stream &os,
                          CodeGenFileType type) {
  // What TargetMachine::addPassesToEmitFile does, by way of a filter.
  auto &machine = static_cast<CodeGenTargetMachineImpl &>(target);
  WithoutStrengthReduction passes(to);
  TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  auto *info = new MachineModuleInfoWrapperPass(&machine);
  passes.add(info);
  bool failed = config->addISelPasses();
  config->addMachinePasses();
  config->setInitialized();
  if (failed || machine.addAsmPrinter(passes, os, nullptr, type, info->getMMI().getContext()))
    return false;
  passes.add(createFreeMachineFunctionPass());
  return true;
}

/// Whether it calls elementary functions of whole vectors (passes/CPU/VectorLibrary.cpp).
static bool callsVectorLibrary(Function &function) {
  return any_of(instructions(function), [](Instruction &instruction) {
    auto *call = dyn_cast<CallBase>(&instruction);
    Function *called = call ? call->getCalledFunction() : nullptr;
    return called && called->getName().starts_with("_ZGV");
  });
}

void xtensor::markCompiled(Function &function) {
  function.addFnAttr(Attribute::NoUnwind);
  function.addFnAttr("prefer-vector-width", "512");
  // Such calls clobber all vectors, and push and pop the frame pointer. In an aligned frame no
  // vector that is kept there crosses lines of the cache; and no address that the next vector is
  // loaded from is kept in the frame pointer, and waits for it.
  if (callsVectorLibrary(function))
    function.addFnAttr("stackrealign");
}

xtensor::CodeGenerator::Emission &xtensor::CodeGenerator::emission(CodeGenFileType type) {
  auto &made = emissions[type == CodeGenFileType::ObjectFile];
  if (made)
    return *made;
  made = std::make_unique<Emission>();
  if (!addEmission(made->passes, *target, made->stream, type))
    report_fatal_error("this machine's code generator cannot emit a file of this kind");
  return *made;
}

SmallVector<char, 0> xtensor::CodeGenerator::run(Module &module, StringRef entry,
                                                 CodeFormat format) {
  module.setDataLayout(target->createDataLayout());
  module.setTargetTriple(target->getTargetTriple());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    markCompiled(function);
    if (!function.getName().starts_with(entry))
      function.setLinkage(GlobalValue::InternalLinkage);
  }
  optimize(module, *target);
  Emission &emit = emission(format == CodeFormat::object ? CodeGenFileType::ObjectFile
                                                         : CodeGenFileType::AssemblyFile);
  emit.bytes.clear();
  emit.passes.run(module);
  return std::move(emit.bytes);
}
