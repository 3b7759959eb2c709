// Checks the IR of programs from untrusted authors before anything is compiled (docs/security.md).
#ifndef XTENSOR_COMPILER_FOREIGN_H
#define XTENSOR_COMPILER_FOREIGN_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace xtensor {

/// Why these bytes of IR are not a program that a trace could have made; empty if they are one. A
/// context that knows only the dialects of a trace reads them. It cannot read ops, types and
/// attributes of other dialects. For a program that is accepted, the dialect's verifiers have run,
/// and these hold:
///  * It has one function, @main, with one block.
///  * Its ops are those of the dialect, except for ops that passes make.
///  * Its values are arrays and linear maps. Constants contain their values.
///  * It has no attributes that passes leave for other passes.
///  * Names and locations can be printed, and sizes are within limits.
std::string whyNotForeign(llvm::StringRef bytes);

} // namespace xtensor

#endif // XTENSOR_COMPILER_FOREIGN_H
