#include "compiler/CodeMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/Support/Memory.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace llvm;
using namespace llvm::jitlink;

// Few mappings, and little address space in a process that compiles one program.
static constexpr size_t kCodeBytes = size_t(2) << 20, kDataBytes = size_t(128) << 10;
// What is writable may lie side by side: a line of the cache each.
static constexpr size_t kDataUnit = 64;

static Error systemError(const char *what) {
  return createStringError(std::error_code(errno, std::generic_category()), what);
}

//===- slabs ---------------------------------------------------------------===//

char *xtensor::CodeMemory::Pool::take(size_t bytes) {
  if (!bytes)
    return nullptr;
  auto found = find_if(free, [&](auto &part) { return part.second >= bytes; });
  if (found == free.end())
    return nullptr;
  auto [start, length] = *found;
  free.erase(found);
  if (length > bytes)
    free[start + bytes] = length - bytes;
  return start;
}

void xtensor::CodeMemory::Pool::giveBack(char *part, size_t bytes) {
  if (!bytes)
    return;
  auto next = free.lower_bound(part);
  if (next != free.end() && part + bytes == next->first) {
    bytes += next->second;
    next = free.erase(next);
  }
  if (next != free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == part) {
      before->second += bytes;
      return;
    }
  }
  free[part] = bytes;
}

xtensor::CodeMemory::CodeMemory() : page(sys::Process::getPageSizeEstimate()) {}

Expected<xtensor::CodeMemory::Slab *> xtensor::CodeMemory::addSlab(size_t codeBytes,
                                                                   size_t dataBytes) {
  codeBytes = std::max(codeBytes, kCodeBytes);
  dataBytes = alignTo(std::max(dataBytes, kDataBytes), page);
  void *base = mmap(nullptr, codeBytes + dataBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return systemError("no memory for machine code");
  if (mprotect(base, codeBytes, PROT_READ | PROT_EXEC)) {
    Error error = systemError("memory cannot be made executable");
    munmap(base, codeBytes + dataBytes);
    return std::move(error);
  }
  Slab &slab = slabs.emplace_back();
  slab.base = static_cast<char *>(base);
  slab.bytes = codeBytes + dataBytes;
  slab.code.free[slab.base] = codeBytes;
  slab.data.free[slab.base + codeBytes] = dataBytes;
  return &slab;
}

Expected<std::unique_ptr<xtensor::CodeMemory::Place>> xtensor::CodeMemory::take(size_t codeBytes,
                                                                                size_t dataBytes) {
  auto place = std::make_unique<Place>();
  place->codeBytes = codeBytes;
  place->dataBytes = dataBytes;
  auto fits = [&](Slab &slab) {
    place->code = slab.code.take(codeBytes);
    place->data = slab.data.take(dataBytes);
    if ((place->code || !codeBytes) && (place->data || !dataBytes)) {
      place->slab = &slab;
      ++slab.users;
      return true;
    }
    if (place->code)
      slab.code.giveBack(place->code, codeBytes);
    if (place->data)
      slab.data.giveBack(place->data, dataBytes);
    return false;
  };
  std::lock_guard<std::mutex> guard(lock);
  if (any_of(slabs, fits))
    return place;
  auto slab = addSlab(codeBytes, dataBytes);
  if (!slab)
    return slab.takeError();
  fits(**slab);
  return place;
}

void xtensor::CodeMemory::giveBack(Place &place) {
  std::lock_guard<std::mutex> guard(lock);
  Slab &slab = *place.slab;
  slab.code.giveBack(place.code, place.codeBytes);
  slab.data.giveBack(place.data, place.dataBytes);
  // The last one stays: a function that is compiled again and again maps nothing.
  if (--slab.users > 0 || slabs.size() == 1)
    return;
  munmap(slab.base, slab.bytes);
  slabs.remove_if([&](Slab &other) { return &other == &slab; });
}

//===- objects -------------------------------------------------------------===//

/// An object that is being linked. Its code is made apart, and copied at the end.
struct xtensor::CodeMemory::InFlight final : InFlightAlloc {
  InFlight(CodeMemory &memory, LinkGraph &graph, std::unique_ptr<Place> place,
           std::vector<char> code)
      : memory(memory), graph(graph), place(std::move(place)), code(std::move(code)) {}

  void abandon(OnAbandonedFunction done) override {
    memory.giveBack(*place);
    done(Error::success());
  }

  void finalize(OnFinalizedFunction done) override {
    Error error = copy();
    if (!error) {
      if (auto actions = orc::shared::runFinalizeActions(graph.allocActions()))
        place->deallocActions = std::move(*actions);
      else
        error = actions.takeError();
    }
    if (!error)
      return done(FinalizedAlloc(orc::ExecutorAddr::fromPtr(place.release())));
    memory.giveBack(*place);
    done(std::move(error));
  }

  Error copy() {
    if (code.empty())
      return Error::success();
    if (mprotect(place->code, place->codeBytes, PROT_READ | PROT_WRITE))
      return systemError("memory for machine code cannot be written");
    memcpy(place->code, code.data(), code.size());
    if (mprotect(place->code, place->codeBytes, PROT_READ | PROT_EXEC))
      return systemError("memory cannot be made executable");
    sys::Memory::InvalidateInstructionCache(place->code, code.size());
    return Error::success();
  }

  CodeMemory &memory;
  LinkGraph &graph;
  std::unique_ptr<Place> place;
  std::vector<char> code;
};

void xtensor::CodeMemory::allocate(const JITLinkDylib *, LinkGraph &graph,
                                   OnAllocatedFunction done) {
  BasicLayout layout(graph);
  auto isData = [](orc::AllocGroup group) {
    return (group.getMemProt() & orc::MemProt::Write) != orc::MemProt::None;
  };
  size_t codeBytes = 0, dataBytes = 0;
  for (auto &[group, segment] : layout.segments()) {
    if (segment.Alignment.value() > page)
      return done(createStringError("machine code that is aligned to more than a page"));
    // Pools align less than a page where memory is writable: room to do so.
    size_t bytes = segment.ContentSize + segment.ZeroFillSize;
    size_t &total = isData(group) ? dataBytes : codeBytes;
    total = alignTo(total, segment.Alignment) + bytes;
    if (isData(group))
      total += segment.Alignment.value();
  }
  auto place = take(alignTo(codeBytes, page), alignTo(dataBytes, kDataUnit));
  if (!place)
    return done(place.takeError());
  std::vector<char> code(codeBytes);
  if (dataBytes)
    memset((*place)->data, 0, (*place)->dataBytes);
  size_t offset = 0;
  char *data = (*place)->data;
  for (auto &[group, segment] : layout.segments()) {
    size_t bytes = segment.ContentSize + segment.ZeroFillSize;
    if (isData(group)) {
      data = reinterpret_cast<char *>(alignAddr(data, segment.Alignment));
      segment.Addr = orc::ExecutorAddr::fromPtr(data);
      segment.WorkingMem = data;
      data += bytes;
    } else {
      offset = alignTo(offset, segment.Alignment);
      segment.Addr = orc::ExecutorAddr::fromPtr((*place)->code + offset);
      segment.WorkingMem = code.data() + offset;
      offset += bytes;
    }
  }
  if (Error error = layout.apply()) {
    giveBack(**place);
    return done(std::move(error));
  }
  done(std::make_unique<InFlight>(*this, graph, std::move(*place), std::move(code)));
}

void xtensor::CodeMemory::deallocate(std::vector<FinalizedAlloc> code, OnDeallocatedFunction done) {
  Error errors = Error::success();
  for (FinalizedAlloc &one : reverse(code)) {
    std::unique_ptr<Place> place(one.release().toPtr<Place *>());
    errors = joinErrors(std::move(errors), orc::shared::runDeallocActions(place->deallocActions));
    giveBack(*place);
  }
  done(std::move(errors));
}
