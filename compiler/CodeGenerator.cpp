#include "compiler/CodeGenerator.h"

#include "Analyses.h"
#include "Machine.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Utils/Local.h"
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

/// `v` before the casts of its bits.
static Value *withoutBitcasts(Value *v) {
  while (auto *cast = dyn_cast<BitCastInst>(v))
    v = cast->getOperand(0);
  return v;
}

/// `c ? p : (p & m) | (q & ~m)` as `(p & m) | ((c ? p : q) & ~m)`, for vectors and a constant `m`.
/// X86's vpternlog of memory, merged under a mask, gets a wrong truth table (docs/upstream.md), and
/// a bit select is such an instruction. False: it is not of this form, or stays as it is.
static bool moveSelectIntoBits(SelectInst &select) {
  using namespace PatternMatch;
  for (bool chosenFirst : {true, false}) {
    Value *chosen = chosenFirst ? select.getTrueValue() : select.getFalseValue();
    Value *other = chosenFirst ? select.getFalseValue() : select.getTrueValue();
    auto *bits = dyn_cast<BinaryOperator>(withoutBitcasts(other));
    Value *sides[2];
    Constant *masks[2];
    if (!other->hasOneUse() || !bits || !bits->hasOneUse() ||
        !match(bits, m_Or(m_And(m_Value(sides[0]), m_Constant(masks[0])),
                          m_And(m_Value(sides[1]), m_Constant(masks[1])))) ||
        ConstantExpr::getNot(masks[0]) != masks[1])
      continue;
    for (unsigned kept : {0u, 1u}) {
      if (withoutBitcasts(sides[kept]) != withoutBitcasts(chosen))
        continue;
      IRBuilder<> b(&select);
      // One bit of the condition may stand for elements that are wider or narrower than those here.
      Type *type = select.getType();
      Value *first = b.CreateBitCast(sides[kept], type),
            *last = b.CreateBitCast(sides[1 - kept], type);
      Value *mixed = chosenFirst ? b.CreateSelect(select.getCondition(), first, last)
                                 : b.CreateSelect(select.getCondition(), last, first);
      mixed = b.CreateBitCast(mixed, bits->getType());
      Value *result =
          b.CreateOr(b.CreateAnd(sides[kept], masks[kept]), b.CreateAnd(mixed, masks[1 - kept]));
      select.replaceAllUsesWith(b.CreateBitCast(result, type));
      return true;
    }
  }
  return false;
}

/// Names an element for each lane without one of reversed vectors of 64 bytes. With AVX512-VBMI,
/// the code generator does not end if such a lane has none (docs/upstream.md).
static void fillReversedBytes(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction);
    auto *type = shuffle ? dyn_cast<FixedVectorType>(shuffle->getType()) : nullptr;
    if (!type || type->getNumElements() != 64 || !type->getElementType()->isIntegerTy(8) ||
        shuffle->getOperand(0)->getType() != type)
      continue;
    ArrayRef<int> order = shuffle->getShuffleMask();
    // Where lane 0 reads from, if each lane reads the element before that of the lane before.
    int start = -1;
    bool descends = true;
    for (auto [lane, element] : enumerate(order)) {
      int first = element < 0 ? start : element + static_cast<int>(lane);
      descends &= element < 64 && (start < 0 || first == start);
      start = first;
    }
    if (!descends || start < 0 || !is_contained(order, PoisonMaskElem))
      continue;
    SmallVector<int> filled;
    for (int lane = 0; lane < 64; ++lane)
      filled.push_back(order[lane] < 0 ? (start + 64 - lane) % 64 : order[lane]);
    shuffle->setShuffleMask(filled);
  }
}

/// Those of the whole function. What was moved may stand under a further select.
static void moveSelectsIntoBits(Function &function) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *select = dyn_cast<SelectInst>(&instruction);
      if (!select || !select->getType()->isVectorTy() || !moveSelectIntoBits(*select))
        continue;
      RecursivelyDeleteTriviallyDeadInstructions(select);
      changed = true;
    }
  }
}

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
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    passes.run(function, analyses.functions);
    if (machine.getTargetTriple().isX86()) {
      moveSelectsIntoBits(function);
      fillReversedBytes(function);
    }
  }
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
