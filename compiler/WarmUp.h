// What a process pays once, paid before the first program.
#ifndef XTENSOR_COMPILER_WARMUP_H
#define XTENSOR_COMPILER_WARMUP_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace xtensor {

/// Compiles and links a small program in a context of its own, and forgets it, then multiplies
/// zeros. The first program of a process takes twice the time of the second one: pages of the
/// libraries are mapped as they are run, tables of the processor are made, allocators grow. Run by
/// a thread that has nothing else to do; gives up between two steps where `wanted` says no.
void warmUp(llvm::function_ref<bool()> wanted);

} // namespace xtensor

#endif // XTENSOR_COMPILER_WARMUP_H
