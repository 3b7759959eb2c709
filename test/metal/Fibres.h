// Threads of a workgroup that wait for each other, as fibres of one thread of the CPU.
#pragma once

#include <cstdint>
#include <functional>

namespace shim {

/// Runs `body(i)` for every i below `count`, each as far as its next barrier, then all of them on:
/// forwards up to one barrier and backwards to the next, so that what relies on an order without a
/// barrier goes wrong. False if some end where others wait at a barrier.
bool runTogether(uint32_t count, const std::function<void(uint32_t)> &body);

/// Called in `body`.
void barrier();

} // namespace shim
