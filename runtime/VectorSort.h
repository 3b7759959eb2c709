// Sorting by vectors, from Highway: for the instructions that this processor has.
#pragma once

#include <cstdint>

/// Whether this processor has vectors by which to sort, and they were built in.
bool xt_sorts_by_vectors();

// In ascending order, in place. Only where `xt_sorts_by_vectors`.
void xt_sort_by_vectors(uint32_t *keys, int64_t n);
void xt_sort_by_vectors(uint64_t *keys, int64_t n);
