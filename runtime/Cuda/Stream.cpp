// Submissions, numbered by a ring of events.
#include "Stream.h"

#include "../Backend.h"

#include <chrono>
#include <cstdlib>
#include <thread>

using namespace xtensor;
using namespace xtensor::cuda;

/// After these every call of the process gives the same error.
static bool isFatal(Result result) {
  switch (result) {
  case kDeinitialized:
  case kUncorrectableEcc:
  case kIllegalAddress:
  case kLaunchTimeout:
  case kContextDestroyed:
  case kAssert:
  case kUnknown:
    return true;
  default:
    return result >= kHardwareStack && result <= kLaunchFailed;
  }
}

bool Context::check(Result result, const char *what) {
  if (result == kSuccess)
    return true;
  if (isFatal(result)) {
    lostBy = api->nameOf(result);
    *lost = true;
  }
  if (*lost)
    return usable();
  fail("%s: %s failed: %s (%s)", name.c_str(), what, api->nameOf(result), api->meaningOf(result));
  return false;
}

bool Context::usable() {
  if (!*lost)
    return true;
  fail("%s: the driver lost the device (%s); its arrays are gone (start the process again, or run "
       "with device=\"cpu\")",
       name.c_str(), lostBy.load());
  return false;
}

bool Stream::init() {
  Current current(context);
  const char *text = getenv("XTENSOR_DEVICE_TIMEOUT");
  double seconds = text ? atof(text) : 0;
  if (seconds > 0 && seconds < 1e9)
    timeout = seconds;
  if (!context.check(context.api->StreamCreate(&context.stream, kStreamNonBlocking), "a stream"))
    return false;
  for (EventHandle &event : events)
    if (!context.check(context.api->EventCreate(&event, kEventDisableTiming), "an event"))
      return false;
  return true;
}

bool Stream::open() {
  uint64_t value = last() + 1;
  return context.usable() && (value <= kUnderWay || wait(value - kUnderWay));
}

uint64_t Stream::close() {
  uint64_t value = last() + 1;
  Current current(context);
  if (!context.check(context.api->EventRecord(events[value % kUnderWay], context.stream),
                     "sending work"))
    return 0;
  sent.store(value, std::memory_order_release);
  return value;
}

void Stream::passed(uint64_t value) {
  uint64_t before = completed.load(std::memory_order_relaxed);
  while (before < value && !completed.compare_exchange_weak(before, value))
    ;
}

bool Stream::done(uint64_t value) {
  if (value <= completed.load(std::memory_order_acquire))
    return true;
  Current current(context);
  // An event that was used again meanwhile answers for a later submission: not yet, at worst.
  if (context.api->EventQuery(events[value % kUnderWay]) != kSuccess)
    return value <= completed.load(std::memory_order_acquire);
  passed(value);
  return true;
}

bool Stream::wait(uint64_t value, double seconds) {
  if (!context.usable())
    return false;
  if (done(value))
    return true;
  waited.fetch_add(1, std::memory_order_relaxed);
  Current current(context);
  EventHandle event = events[value % kUnderWay];
  Result result = kNotReady;
  if (seconds > 0) {
    // The driver waits for ever or not at all.
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while ((result = context.api->EventQuery(event)) == kNotReady) {
      if (std::chrono::steady_clock::now() > end)
        return fail("%s: no answer within %g seconds (XTENSOR_DEVICE_TIMEOUT)",
                    context.name.c_str(), seconds) == 0;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  } else {
    result = context.api->EventSynchronize(event);
  }
  if (!context.check(result, "waiting"))
    return false;
  passed(value);
  return true;
}
