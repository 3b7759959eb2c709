// The processors that code can be generated for, by the names that targets use: "cpu" is this
// machine as it is, "cpu:x86-64-v3" or "cpu:aarch64-linux-gnu" any machine of that kind.
#ifndef XTENSOR_PASSES_CPU_PROCESSOR_H
#define XTENSOR_PASSES_CPU_PROCESSOR_H

#include "Machine.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace xtensor {

struct Processor {
  std::string name;         // "x86-64-v3"
  std::string architecture; // "x86_64", as in triples
  std::string triple, cpu, features, abi;
  int64_t vectorBits = 128;
  bool hasVectorLibrary = false; // glibc's libmvec
  Caches caches;
  std::string tune; // the processor whose timing is assumed; empty: the kind's own
};

/// The processor of a target "cpu:NAME", or none.
std::optional<Processor> processorOf(llvm::StringRef target);
/// The targets "cpu:NAME" of all processors.
std::vector<std::string> processorNames();
/// "cpu:NAME" with the best of these names for this machine; empty if no name fits it.
std::string thisProcessor();

/// Bits of the widest vectors of the processor that `op`'s module is for.
int64_t vectorBitsFor(mlir::Operation *op);
/// Whether x * y + z is one instruction of the processor of `op`'s module, or of the target.
bool hasFma(mlir::Operation *op);
bool hasFma(llvm::StringRef target);
/// Whether an instruction of the processor of `op`'s module permutes the lanes of a vector by those
/// of another, for all elements of 16 bits and more.
bool hasPermutes(mlir::Operation *op);
/// Whether that processor loads a vector's elements one by one in less time than its instruction
/// for gathers takes, as AMD's do.
bool hasSlowGathers(mlir::Operation *op);
/// Whether that processor rounds vectors of f32 to bfloat16 by an instruction (AVX512-BF16).
bool roundsToBFloat16(mlir::Operation *op);
/// Whether code for the processor of `op`'s module may call libmvec.
bool hasVectorLibrary(mlir::Operation *op);

} // namespace xtensor

#endif // XTENSOR_PASSES_CPU_PROCESSOR_H
