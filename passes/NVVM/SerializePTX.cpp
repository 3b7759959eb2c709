// xtensor-serialize-ptx: the text of each kernel, as an attribute of its gpu.module.
#include "Analyses.h"
#include "GPU/KernelCode.h"
#include "GPU/Profile.h"
#include "NVVM/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"

namespace xtensor {
#define GEN_PASS_DEF_SERIALIZEPTX
#include "NVVM/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

// Debian's libLLVM has every target; the native one is all that Jit.cpp asks for.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

/// A chip that LLVM writes code for, and the first version of PTX that has it: the older the
/// version, the more drivers take it.
struct Chip {
  int64_t number;
  int version;
};
constexpr Chip kChips[] = {{70, 60}, {75, 63}, {80, 70},  {86, 71},
                           {89, 78}, {90, 78}, {100, 86}, {120, 87}};

/// The newest that code for `wanted` may be written for: drivers make code for later chips of it.
const Chip *chipFor(int64_t wanted) {
  const Chip *found = nullptr;
  for (const Chip &chip : kChips)
    if (chip.number <= wanted)
      found = &chip;
  return found;
}

std::unique_ptr<llvm::TargetMachine> machineFor(const Chip &chip, std::string &error) {
  static const bool ready = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)ready;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // x * y + z stays two operations, each marked .rn: the functions of passes/GPU are built of exact
  // sums and products, and ptxas fuses what is not marked.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "sm_" + std::to_string(chip.number), "+ptx" + std::to_string(chip.version), options,
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  xtensor::Analyses analyses(machine);
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses.modules);
}

/// LLVM's instruction selection makes `y < 64 ? x << y : 0` one shl.b64, which takes any count but
/// reads 32 bits of it: 2^32 + 3 would shift by 3. It does not see through a minimum, which no
/// optimisation takes out any more.
void boundShiftCounts(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &shift : llvm::instructions(function)) {
      if (!shift.isShift() || shift.getType()->getScalarSizeInBits() != 64)
        continue;
      llvm::Value *count = shift.getOperand(1);
      if (llvm::computeKnownBits(count, module.getDataLayout()).countMaxActiveBits() <= 32)
        continue;
      llvm::IRBuilder<> b(&shift);
      llvm::Value *most = llvm::ConstantInt::get(count->getType(), 63);
      shift.setOperand(1, b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, most));
    }
}

struct SerializePTXPass : xtensor::impl::SerializePTXBase<SerializePTXPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<ModuleOp>().empty())
      return;
    int64_t wanted = xtensor::Profile::of(module).number("sm", 80);
    const Chip *chip = chipFor(wanted);
    if (!chip) {
      module.emitError() << "no code for NVIDIA GPUs of compute capability " << wanted / 10 << '.'
                         << wanted % 10 << ": the oldest is 7.0";
      return signalPassFailure();
    }
    std::string error;
    std::unique_ptr<llvm::TargetMachine> machine = machineFor(*chip, error);
    if (!machine) {
      module.emitError("this build of LLVM writes no PTX: ") << error;
      return signalPassFailure();
    }
    auto write = [&](ModuleOp code, gpu::GPUModuleOp) { return assembly(code, *machine); };
    if (failed(xtensor::gpu::replaceByText<ModuleOp>(module, write)))
      signalPassFailure();
  }

  static FailureOr<std::string> assembly(ModuleOp code, llvm::TargetMachine &machine) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(code, context);
    if (!module)
      return failure();
    module->setDataLayout(machine.createDataLayout());
    module->setTargetTriple(machine.getTargetTriple());
    optimize(*module, machine);
    boundShiftCounts(*module);
    llvm::SmallString<4096> text;
    llvm::raw_svector_ostream os(text);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
      return code.emitError("LLVM cannot write PTX");
    passes.run(*module);
    text.push_back('\0'); // the driver wants one
    return text.str().str();
  }
};

} // namespace
