// All work is in one stream, so a freed block can be reused at once for later work.
#include "Memory.h"

using namespace xtensor;
using namespace xtensor::cuda;

char *cuda::pinned(Context &context, size_t bytes) {
  Current current(context);
  void *host = nullptr;
  if (!context.check(context.api->MemHostAlloc(&host, bytes, kHostPortable | kHostMapped),
                     "taking memory to copy through"))
    return nullptr;
  return static_cast<char *>(host);
}

Memory::Memory(Context &context, size_t bytes)
    : Slabs(context.name.c_str(), SIZE_MAX, bytes, bytes / 2), context(context) {}

static std::unique_ptr<Slab> slabAt(Address base, size_t blockBytes, uint32_t blocks) {
  auto made = std::make_unique<Slab>();
  made->base = reinterpret_cast<char *>(static_cast<uintptr_t>(base));
  made->bytes = blockBytes * blocks;
  made->blockBytes = blockBytes;
  made->blocks = blocks;
  return made;
}

std::unique_ptr<Slab> Memory::make(size_t blockBytes, uint32_t blocks) {
  Current current(context);
  Address base = 0;
  if (context.api->MemAlloc(&base, blockBytes * blocks) != kSuccess)
    return nullptr;
  return slabAt(base, blockBytes, blocks);
}

Slab *Memory::makeReports() {
  constexpr uint32_t kBlocks = 64;
  char *host = pinned(context, kBlocks * kBlockAlignment);
  Address base = 0;
  Current current(context);
  if (!host || !context.check(context.api->MemHostGetDevicePointer(&base, host, 0),
                              "showing the device memory for what kernels report"))
    return nullptr;
  std::unique_ptr<Slab> made = slabAt(base, kBlockAlignment, kBlocks);
  made->host = host;
  return add(std::move(made));
}

void Memory::trim(bool all) {
  Current current(context);
  for (const std::unique_ptr<Slab> &slab : takeIdle(all, [](const Slab &) { return true; }))
    context.api->MemFree(static_cast<Address>(reinterpret_cast<uintptr_t>(slab->base)));
}
