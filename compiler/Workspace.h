// Reads from the code how much memory the temporaries of a call take. Callers of libraries provide
// that memory.
#ifndef XTENSOR_COMPILER_WORKSPACE_H
#define XTENSOR_COMPILER_WORKSPACE_H

#include "llvm/IR/Function.h"

namespace xtensor {

struct Workspace {
  /// A function with the arguments of the entry, of which it reads the sizes alone, that gives the
  /// bytes which the entry acquires at its start. Null: none.
  llvm::Function *bytes = nullptr;
  /// Bytes that are acquired later, by loops, at most, on one thread.
  int64_t fixed = 0;
  /// Whether loops acquire more, of which the size is not known before.
  bool loopsTakeMore = false;
};

/// `entry` is code of a library before it is optimized: what it acquires are calls of
/// xta_arena_acquire.
Workspace workspaceOf(llvm::Function &entry);

} // namespace xtensor

#endif // XTENSOR_COMPILER_WORKSPACE_H
