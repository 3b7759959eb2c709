// Compiled objects on disk, shared by processes. A file is written beside its place and renamed,
// so that a reader sees all of it or nothing; what does not check is taken as absent.
#ifndef XTENSOR_COMPILER_OBJECTCACHE_H
#define XTENSOR_COMPILER_OBJECTCACHE_H

#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace xtensor {

class ObjectCache {
public:
  /// An empty folder name keeps nothing.
  explicit ObjectCache(llvm::StringRef folder) : folder(folder.str()) {}

  /// What was stored under `key`, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key) const;
  /// Failing to write is no failure: the next process compiles again.
  void store(llvm::StringRef key, llvm::StringRef object) const;

private:
  std::string path(llvm::StringRef key) const;
  std::string folder;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_OBJECTCACHE_H
