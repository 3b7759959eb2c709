#include "Memory.h"

using namespace xtensor;
using namespace xtensor::metal;

Memory::Memory(Gpu &gpu)
    : Slabs(gpu.limits.name, SIZE_MAX, SIZE_MAX, static_cast<size_t>(gpu.limits.memoryBytes) / 4),
      gpu(gpu) {}

std::unique_ptr<Slab> Memory::make(size_t blockBytes, uint32_t blocks) {
  auto made = std::make_unique<Slab>();
  if (!gpu.makeBuffer(blockBytes * blocks, made->buffer))
    return nullptr;
  made->base = made->buffer.contents;
  made->bytes = blockBytes * blocks;
  made->blockBytes = blockBytes;
  made->blocks = blocks;
  made->lastUse.reset(new std::atomic<uint64_t>[blocks]());
  return made;
}

void Memory::trim() {
  for (const std::unique_ptr<Slab> &slab : takeIdle(true, [](const Slab &) { return true; }))
    gpu.dropBuffer(slab->buffer);
}
