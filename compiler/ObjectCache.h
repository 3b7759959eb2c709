// Compiled objects in memory, and on disk, where processes share them. The cache on disk writes a
// file under a temporary name and renames it, so a reader sees all of it or nothing. A file that
// fails its check counts as absent. If the folder exceeds its limit in bytes, the least recently
// used files are removed.
#ifndef XTENSOR_COMPILER_OBJECTCACHE_H
#define XTENSOR_COMPILER_OBJECTCACHE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace xtensor {

class ObjectCache {
public:
  /// An empty folder name keeps nothing; `limit` is in bytes.
  ObjectCache(llvm::StringRef folder, uint64_t limit) : folder(folder.str()), limit(limit) {}

  /// What was stored under `key`, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key) const;
  /// A failed write is not an error: the next process compiles again.
  void store(llvm::StringRef key, llvm::StringRef object) const;

private:
  std::string path(llvm::StringRef key) const;
  /// Counts `size` bytes as written; whether the folder is to be listed.
  bool isDue(uint64_t size) const;
  /// Removes files until three quarters of the limit are left, if there is more than the limit.
  void trim() const;
  std::string folder;
  uint64_t limit;
};

/// Compiled objects in memory: those that other processes sent, and those of a process that keeps
/// none on disk. Beyond 64 MiB, the oldest go.
class ObjectsInMemory {
public:
  static ObjectsInMemory &get();
  /// What was stored under `key`, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key);
  void store(llvm::StringRef key, llvm::StringRef object);

private:
  std::mutex lock;
  llvm::StringMap<std::string> objects;
  std::deque<std::string> order; // of their keys, the oldest first
  uint64_t size = 0;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_OBJECTCACHE_H
