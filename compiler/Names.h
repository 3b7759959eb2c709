// Names in C: whatever a bundle, a function, an argument or a dim is called, the header that is
// made of it compiles as C and as C++, whatever else a program includes.
//
// One rule makes them:
// * A character that C does not take is `_`; runs of `_` are one, and none is at an end.
// * All that a program sees at file scope, and the files, begin with the name of the bundle. It
// gets
//   `xtb_` in front where its first word is one that identifiers, headers or libraries of C, C++ or
//   POSIX begin with (`m`, `size`, `string`), or where it begins with a digit.
// * Fields of structures end in `_size`, or are `data`; parameters have no names.
// * Of two names that would be equal the second one ends in `_2`.
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
