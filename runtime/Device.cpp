// Devices other than the CPU: the list of backends, and what they have in common.
#include "Backend.h"
#include "Profile.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

using namespace xtensor;

namespace {

const Backend *const kBackends[] = {&vulkanBackend, &metalBackend, &cudaBackend};

// Not a string, which would be gone before what runs at the exit of the process fails.
thread_local char lastError[1024];

/// What stops every device of this process.
enum class State { Usable, Forked, Exiting };
std::atomic<State> state{State::Usable};

struct Open {
  const Backend *backend;
  int32_t index;
  xt_device *device;
};
struct Table {
  std::mutex lock;
  std::vector<Open> open;
};
// Never destroyed, as its devices.
Table &table() {
  static Table *made = new Table;
  return *made;
}

bool usable() {
  State now = state.load(std::memory_order_relaxed);
  if (now == State::Usable)
    return true;
  fail(now == State::Forked
           ? "this process was forked from one that had opened a device, whose driver does not "
             "survive that; start it afresh (multiprocessing: the start method 'spawn')"
           : "the process is exiting");
  return false;
}

/// Once the first device is open: no driver survives a fork.
void watchProcess() {
  static bool watched = [] {
    pthread_atfork(nullptr, nullptr, [] { state = State::Forked; });
    return atexit(xt_device_leave) == 0;
  }();
  (void)watched;
}

/// Registers xt_device_leave to run before the exit handlers of a driver. Handlers run in the
/// reverse order of their registration. Some drivers compile the first kernel on a thread, and
/// register handlers then. So this function registers again after the first kernel, for processes
/// that do not call xt_device_leave themselves.
void watchCompiler(xt_device *device) {
  static bool watched = [device] {
    device->quiesce(/*patient=*/false);
    return atexit(xt_device_leave) == 0;
  }();
  (void)watched;
}

const Backend *backendOf(const char *name) {
  for (const Backend *backend : kBackends)
    if (!strcmp(backend->name, name))
      return backend;
  std::string known;
  for (const Backend *backend : kBackends)
    known += std::string(known.empty() ? "" : ", ") + backend->name;
  fail("there are no devices of kind %s; known: %s", name, known.c_str());
  return nullptr;
}

/// The kernels that a program called, so that they go when it does: in its list, of no device.
struct Called final : Made {
  std::vector<xt_kernel *> kernels;
};
/// Guards what is in them: several devices may run a program.
std::mutex &calledLock() {
  static auto *made = new std::mutex;
  return *made;
}

/// The device of this thread's calls, and what the last of them may yet report.
struct Calls {
  xt_device *device = nullptr;
  xt_program *program = nullptr;
  xt_ticket *ticket = nullptr;

  void drop() {
    if (xt_ticket *last = std::exchange(ticket, nullptr))
      xt_ticket_release(last);
  }
  ~Calls() { drop(); }
};
thread_local Calls calls;

} // namespace

xtensor::CallsAside::CallsAside()
    : device(std::exchange(calls.device, nullptr)), program(std::exchange(calls.program, nullptr)),
      ticket(std::exchange(calls.ticket, nullptr)) {}

xtensor::CallsAside::~CallsAside() {
  calls.drop();
  calls.device = device;
  calls.program = program;
  calls.ticket = ticket;
}

int32_t xtensor::fail(const char *format, ...) {
  char text[sizeof lastError]; // the arguments may hold the last error
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memcpy(lastError, text, sizeof text);
  return 1;
}

int32_t xtensor::preferredDevice() {
  const char *text = getenv("XTENSOR_DEVICE");
  if (!text || !*text)
    return 0;
  char *end = nullptr;
  long index = strtol(text, &end, 10);
  if (*end == 0 && index >= 0 && index < INT32_MAX)
    return static_cast<int32_t>(index);
  fail("XTENSOR_DEVICE is the number of a device, not '%s'", text);
  return -1;
}

bool xtensor::checkLimits(const xt_device_info &info, const xt_kernel &kernel) {
  if (kernel.buffers > info.max_kernel_buffers)
    return fail("%s: kernel %s has %d buffers, the limit is %d; run it with device=\"cpu\"",
                info.name, kernel.name, kernel.buffers, info.max_kernel_buffers) == 0;
  if (kernel.numbers > info.max_kernel_numbers)
    return fail("%s: kernel %s has %d numbers, the limit is %d; run it with device=\"cpu\"",
                info.name, kernel.name, kernel.numbers, info.max_kernel_numbers) == 0;
  int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    threads *= kernel.threads[i];
    if (kernel.threads[i] < 1 || kernel.threads[i] > info.max_group_size[i])
      return fail("%s: kernel %s has workgroups of %d threads in dimension %d, the limit is %d",
                  info.name, kernel.name, kernel.threads[i], i, info.max_group_size[i]) == 0;
  }
  if (threads > info.max_workgroup_threads)
    return fail("%s: kernel %s has workgroups of %lld threads, the limit is %lld", info.name,
                kernel.name, static_cast<long long>(threads),
                static_cast<long long>(info.max_workgroup_threads)) == 0;
  return true;
}

void *xt_device::constant(const void *data, int64_t bytes) {
  std::lock_guard<std::mutex> guard(constantsLock);
  void *&there = constants[std::string(static_cast<const char *>(data), bytes)];
  if (!there) {
    void *memory = alloc(bytes ? bytes : 1);
    if (memory && write(memory, data, bytes) == 0)
      there = memory;
  }
  return there;
}

Made *xtensor::findMade(void *const &handle, xt_device *device) {
  auto *made = static_cast<Made *>(__atomic_load_n(&handle, __ATOMIC_ACQUIRE));
  while (made && made->device != device)
    made = made->next;
  return made;
}

void xtensor::addMade(void *&handle, Made *made) {
  void *first = __atomic_load_n(&handle, __ATOMIC_RELAXED);
  do
    made->next = static_cast<Made *>(first);
  while (!__atomic_compare_exchange_n(&handle, &first, static_cast<void *>(made), false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void xtensor::addKernel(xt_program *program, xt_kernel *kernel, Made *made) {
  addMade(kernel->handle, made);
  std::lock_guard<std::mutex> guard(calledLock());
  auto *called = static_cast<Called *>(findMade(program->handle, nullptr));
  if (!called) {
    called = new Called;
    called->device = nullptr;
    addMade(program->handle, called);
  }
  called->kernels.push_back(kernel);
}

static void forget(void *&handle) {
  auto *made = static_cast<Made *>(__atomic_exchange_n(&handle, nullptr, __ATOMIC_ACQ_REL));
  while (made && state == State::Usable) {
    std::unique_ptr<Made> one(std::exchange(made, made->next));
    if (one->device) {
      one->device->discard(one.release());
      continue;
    }
    for (xt_kernel *kernel : static_cast<Called &>(*one).kernels)
      forget(kernel->handle);
  }
}

int32_t xt_device_count(const char *backend) {
  const Backend *found = backendOf(backend);
  if (!found || !usable())
    return 0;
  std::lock_guard<std::mutex> guard(table().lock);
  return found->count();
}

xt_device *xt_device_open(const char *backend, int32_t index) {
  const Backend *found = backendOf(backend);
  if (!found || !usable())
    return nullptr;
  std::lock_guard<std::mutex> guard(table().lock);
  int32_t count = found->count();
  if (count == 0)
    return nullptr;
  if (index < 0 && (index = found->best()) < 0)
    return nullptr;
  if (index >= count) {
    fail("there is no %s device %d: it has %d, counted from 0", backend, index, count);
    return nullptr;
  }
  for (const Open &open : table().open)
    if (open.backend == found && open.index == index && !open.device->lost)
      return open.device;
  xt_device *device = found->open(index);
  if (!device)
    return nullptr;
  watchProcess();
  table().open.push_back({found, index, device});
  return device;
}

const xt_device_info *xt_device_get_info(xt_device *device) { return &device->info; }
int32_t xt_device_usable(void) { return usable(); }
void xt_device_leave(void) {
  State usable = State::Usable;
  if (!state.compare_exchange_strong(usable, State::Exiting))
    return;
  for (const Open &open : table().open)
    open.device->quiesce(/*patient=*/true);
}
const char *xt_device_error(void) { return lastError; }
int64_t xt_device_messages(xt_device *device) { return device->messages(); }
xt_device_counters xt_device_get_counters(xt_device *device) { return device->counters(); }

void *xt_device_alloc(xt_device *device, size_t bytes) {
  return usable() ? device->alloc(bytes) : nullptr;
}
void xt_device_free(xt_device *device, void *address, size_t bytes) {
  if (address && state == State::Usable)
    device->free(address, bytes);
}
size_t xt_device_cached_bytes(xt_device *device) {
  return state == State::Usable ? device->cachedBytes() : 0;
}
void xt_device_trim(xt_device *device) {
  if (state == State::Usable)
    device->trim();
}
int32_t xt_device_write(xt_device *device, void *to, const void *from, size_t bytes) {
  Span span(static_cast<int64_t>(bytes), XT_SPAN_WRITE);
  return usable() ? device->write(to, from, bytes) : 1;
}
int32_t xt_device_read(xt_device *device, void *to, const void *from, size_t bytes) {
  Span span(static_cast<int64_t>(bytes), XT_SPAN_READ);
  return usable() ? device->read(to, from, bytes) : 1;
}
int32_t xt_device_copy(xt_device *device, void *to, const void *from, size_t bytes) {
  Span span(static_cast<int64_t>(bytes), XT_SPAN_COPY);
  return usable() ? device->copy(to, from, bytes) : 1;
}
int32_t xt_device_synchronize(xt_device *device) { return usable() ? device->synchronize() : 1; }

void xt_device_use(xt_device *device) {
  calls.device = device;
  calls.program = nullptr; // code that refuses its arguments begins no call
}

int32_t xt_call_begin(xt_program *program, void **buffers, const int64_t *sizes,
                      xt_status *status) {
  calls.drop(); // so that what it reported to is free for this call
  calls.program = program;
  if (calls.device && usable())
    return calls.device->begin(program, buffers, sizes, status, calls.ticket);
  if (!calls.device)
    fail("%s runs on a device, and none was chosen (xt_device_use)", program->name);
  status->code = 3;
  return 1;
}
/// Waits for what the call has launched, so that a profile sees how long that took. The CPU asks
/// for no bytes, for which the device sends what was recorded.
static void settle(xt_device &device) {
  device.unmap(nullptr, 0, 0, device.map(nullptr, 0, 0));
  device.synchronize();
}

void xt_call_launch(xt_kernel *kernel, int64_t groups_x, int64_t groups_y, int64_t groups_z,
                    void *const *buffers, const int32_t *numbers) {
  const int64_t groups[] = {groups_x, groups_y, groups_z};
  calls.device->launch(kernel, groups, buffers, numbers);
  if (isProfiling() && profile::currentKernel() >= 0)
    settle(*calls.device);
}
void xt_call_extents(const int64_t *bytes) { calls.device->extents(bytes); }
void xt_call_copy(void *to, const void *from, int64_t bytes) {
  calls.device->callCopy(to, from, bytes);
}
void *xt_call_arena(int64_t bytes) { return calls.device->arena(bytes); }
void *xt_call_report(void) { return calls.device->report(); }
void *xt_call_map(void *address, int64_t bytes, int32_t mode) {
  return calls.device->map(address, bytes, mode);
}
void xt_call_unmap(void *address, int64_t bytes, int32_t mode, void *host) {
  calls.device->unmap(address, bytes, mode, host);
}
void *xt_call_constant(const void *data, int64_t bytes) {
  return calls.device->constant(data, bytes);
}
void xt_call_end(void) {
  calls.device->end();
  watchCompiler(calls.device);
}

xt_program *xt_call_program(void) { return calls.program; }
xt_ticket *xt_call_ticket(void) { return std::exchange(calls.ticket, nullptr); }
void xt_ticket_retain(xt_ticket *ticket) {
  ticket->references.fetch_add(1, std::memory_order_relaxed);
}
void xt_ticket_release(xt_ticket *ticket) {
  // After a fork, or while the process exits, the device must not be called: let it leak.
  if (ticket->references.fetch_sub(1, std::memory_order_acq_rel) == 1 && state == State::Usable)
    delete ticket;
}
int32_t xt_ticket_wait(xt_ticket *ticket, xt_status *status) {
  return usable() ? ticket->wait(status) : 1;
}

void xt_program_forget(xt_program *program) { forget(program->handle); }
void xt_kernel_forget(xt_kernel *kernel) { forget(kernel->handle); }
