// From LLVM IR to object code: target-independent passes, and a code generator for this machine.
#ifndef XTENSOR_COMPILER_CODEGENERATOR_H
#define XTENSOR_COMPILER_CODEGENERATOR_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace xtensor {

/// The few passes that pay: loops are vectors already, and what O2 adds is compile time.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// What every function that the compiler made is told to the code generator as.
void markCompiled(llvm::Function &function);

/// The passes from there to a file, for any machine. False: the machine has no such files.
bool addEmission(llvm::legacy::PassManagerBase &passes, llvm::TargetMachine &machine,
                 llvm::raw_pwrite_stream &os, llvm::CodeGenFileType type);

enum class CodeFormat { object, assembly };

/// Used by one thread at a time. Kept from program to program: making its passes takes as long as
/// running them over a small one.
class CodeGenerator {
public:
  CodeGenerator();

  /// Where modules for this generator are made.
  llvm::LLVMContext &context() { return llvm; }
  /// Code of `module`, of which functions whose names begin with `entry` stay visible.
  llvm::SmallVector<char, 0> run(llvm::Module &module, llvm::StringRef entry,
                                 CodeFormat format = CodeFormat::object);

  const llvm::TargetMachine &machine() const { return *target; }

private:
  /// The passes to one kind of file, and what they write to.
  struct Emission {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream{bytes};
    llvm::legacy::PassManager passes;
  };
  Emission &emission(llvm::CodeGenFileType type);

  llvm::LLVMContext llvm;
  std::unique_ptr<llvm::TargetMachine> target;
  std::unique_ptr<Emission> emissions[2];
};

/// Triple, processor and features of this machine, as text.
const std::string &hostDescription();

} // namespace xtensor

#endif // XTENSOR_COMPILER_CODEGENERATOR_H
