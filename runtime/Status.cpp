// Where compiled code reports an index out of range: the status of the call that runs on this
// thread.
#include "runtime.h"

static thread_local xt_status *current = nullptr;

void xt_begin_call(xt_status *status) { current = status; }

void xt_report_index(int32_t site, int64_t index, int64_t size) {
  if (current && current->code == 0)
    *current = {1, site, index, size};
}
