// Names in C. The header compiles as C and as C++ for all names of bundles, functions, arguments
// and dims, and beside all headers that a program includes.
//
// Names are made by these rules:
// * A character that C does not allow becomes `_`. Several `_` in a row become one. A `_` at an end
//   is removed.
// * All names at file scope, and the files, begin with the name of the bundle. The name of the
//   bundle gets the prefix `xtb_` in two cases: it begins with a digit, or its first word begins
//   names of C, C++ or POSIX (`m`, `size`, `string`).
// * Fields of structures end in `_size`, or are `data`. Parameters have no names.
// * If two names would be equal, the second one ends in `_2`.
#ifndef XTENSOR_COMPILER_NAMES_H
#define XTENSOR_COMPILER_NAMES_H

#include "llvm/ADT/StringSet.h"
#include <string>

namespace xtensor {

/// What a bundle of this name is called in C.
std::string libraryName(llvm::StringRef name);
/// A name within others: it follows or precedes another word.
std::string wordFor(llvm::StringRef text);

/// Identifiers that differ from each other.
class Names {
public:
  /// `wanted`, or that with the first number that makes it new.
  std::string fresh(const std::string &wanted);

private:
  llvm::StringSet<> taken;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_NAMES_H
