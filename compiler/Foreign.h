// Checks the IR of programs from untrusted authors before anything is compiled (docs/security.md).
#ifndef XTENSOR_COMPILER_FOREIGN_H
#define XTENSOR_COMPILER_FOREIGN_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace xtensor {

/// Why these bytes of IR are not a program that a trace could have made; empty if they are. They
/// are read in a context of their own that knows the dialects of a trace alone: an op, a type or an
/// attribute of another one cannot be read. What passes was checked by the dialect's verifiers, and
/// has
///  * one function, @main, with one block,
///  * ops of the dialect, but for those that passes make, which hold what passes worked out,
///  * arrays and linear maps as values, constants whose values are written in them,
///  * no attributes that passes leave for each other,
///  * names and places that can be printed, and sizes within limits.
std::string whyNotForeign(llvm::StringRef bytes);

} // namespace xtensor

#endif // XTENSOR_COMPILER_FOREIGN_H
