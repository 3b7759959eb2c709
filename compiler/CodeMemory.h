// Memory for the machine code of all programs. With one mapping per program, a process would reach
// vm.max_map_count and end.
#ifndef XTENSOR_COMPILER_CODEMEMORY_H
#define XTENSOR_COMPILER_CODEMEMORY_H

#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include <list>
#include <map>
#include <mutex>

namespace xtensor {

/// Hands out parts of slabs. A slab has two mappings: pages that are executable, for code and
/// constants, and memory that is writable. While code is copied to executable pages, only those
/// pages are writable, and no thread runs them. Memory is private to the process, so that a fork
/// has its own.
class CodeMemory final : public llvm::jitlink::JITLinkMemoryManager {
public:
  CodeMemory();
  void allocate(const llvm::jitlink::JITLinkDylib *, llvm::jitlink::LinkGraph &graph,
                OnAllocatedFunction done) override;
  void deallocate(std::vector<FinalizedAlloc> code, OnDeallocatedFunction done) override;
  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

private:
  struct InFlight;

  /// The free parts of a mapping, by where they begin.
  struct Pool {
    std::map<char *, size_t> free;
    char *take(size_t bytes);
    void giveBack(char *part, size_t bytes);
  };
  struct Slab {
    char *base;
    size_t bytes;
    Pool code, data;
    size_t users = 0;
  };
  /// Where one object lies.
  struct Place {
    Slab *slab;
    char *code, *data;
    size_t codeBytes, dataBytes;
    std::vector<llvm::orc::shared::WrapperFunctionCall> deallocActions;
  };

  llvm::Expected<std::unique_ptr<Place>> take(size_t codeBytes, size_t dataBytes);
  void giveBack(Place &place);
  llvm::Expected<Slab *> addSlab(size_t codeBytes, size_t dataBytes);

  size_t page;
  std::mutex lock;
  std::list<Slab> slabs;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_CODEMEMORY_H
