// The status of the call on which a thread works.
#pragma once

#include "runtime.h"

namespace xtensor {

/// What xt_begin_call set on this thread; a parallel loop hands it on to its workers.
xt_status *currentCall();
void reportNoMemory(int64_t bytes);
/// The call was to end: an exception says why.
void reportEnd();
void reportDamage(int64_t offset, int64_t bytes);
void reportDisagreement();

} // namespace xtensor
