// Does the one-time work of a process before the first program needs it.
#ifndef XTENSOR_COMPILER_WARMUP_H
#define XTENSOR_COMPILER_WARMUP_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace xtensor {

/// Compiles and links a small program in a context of its own, and forgets it, then multiplies
/// zeros. The first program of a process takes twice the time of the second one: pages of the
/// libraries are mapped as they are run, tables of the processor are made, allocators grow. Run by
/// a thread that has nothing else to do; gives up between two steps where `wanted` says no.
void warmUp(llvm::function_ref<bool()> wanted);

/// The context of that program, once and for the caller to keep: its dialects are loaded and its
/// passes have their patterns. Null where it was taken before, or is still at work.
std::unique_ptr<mlir::MLIRContext> takeWarmContext();

} // namespace xtensor

#endif // XTENSOR_COMPILER_WARMUP_H
