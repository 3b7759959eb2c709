// Makes a shared library or an archive from one object. ld.lld links for every target: it comes
// with LLVM and needs no files of the target system.
#ifndef XTENSOR_COMPILER_LINKER_H
#define XTENSOR_COMPILER_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include <optional>
#include <string>

namespace xtensor {

class SharedLinker {
public:
  /// `empty` is an object of the same target with nothing in it.
  SharedLinker(llvm::StringRef object, llvm::StringRef empty);
  ~SharedLinker();

  /// A shared library called `name` that shows `symbols` and names the libraries of the system that
  /// it uses, and `needed`, as those that it wants loaded.
  std::optional<std::string> link(const std::string &name, llvm::ArrayRef<std::string> symbols,
                                  llvm::ArrayRef<std::string> needed = {});
  const std::string &error() const { return message; }
  void fail(std::string text) { message = std::move(text); }

private:
  bool run(llvm::ArrayRef<std::string> arguments);
  /// The path of a library that has nothing but the name `name`.
  std::optional<std::string> stub(const std::string &name);
  std::string at(llvm::StringRef name) const;
  bool write(llvm::StringRef name, llvm::StringRef bytes);

  llvm::SmallString<128> folder;
  std::string message, object;
};

/// Where an object has what its symbols that begin with `prefix` stand for, in bytes from its
/// beginning.
llvm::StringMap<size_t> placesOf(llvm::StringRef object, llvm::StringRef prefix);

/// An archive that holds `object` as `name`, with its symbols listed.
std::optional<std::string> archiveOf(llvm::StringRef object, const std::string &name,
                                     SharedLinker &linker);

} // namespace xtensor

#endif // XTENSOR_COMPILER_LINKER_H
