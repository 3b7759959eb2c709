// Which neighbouring loops of a nest become one. The CPU counts in products of sizes
// (CPU/Stage.cpp), a kernel in the numbers that are known (GPU/Points.cpp). The rule is the same.
#ifndef XTENSOR_PASSES_LOOPS_H
#define XTENSOR_PASSES_LOOPS_H

#include "llvm/ADT/STLExtras.h"

namespace xtensor {

/// Merges every two neighbours of one kind that all operands walk as one: a step of the outer loop
/// goes exactly as far as all steps of the inner one. A merged loop has the strides of the inner
/// one. `Nest` says how to count:
///
///   unsigned count()                                 of the loops, from the outermost to the
///   innermost bool areAlike(unsigned outer, unsigned inner)    both are parallel, or both are
///   reduced Number range(unsigned loop) accesses()                                       those
///   that depend on loops, in any range Number stride(const Access &, unsigned loop) bool
///   isProduct(Number whole, Number a, Number b) whole == a * b, and all three are known void
///   merge(unsigned outer, unsigned inner)
template <typename Nest>
void mergeLoops(Nest &&nest) {
  // Whether two neighbours merge does not depend on what they have merged with before.
  for (unsigned inner = nest.count(); inner-- > 1;) {
    const unsigned outer = inner - 1;
    if (!nest.areAlike(outer, inner))
      continue;
    const auto size = nest.range(inner);
    if (llvm::all_of(nest.accesses(), [&](const auto &access) {
          return nest.isProduct(nest.stride(access, outer), nest.stride(access, inner), size);
        }))
      nest.merge(outer, inner);
  }
}

} // namespace xtensor

#endif // XTENSOR_PASSES_LOOPS_H
