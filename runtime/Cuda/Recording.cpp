// Lists of commands, and graphs of them.
#include "Recording.h"

#include <algorithm>

using namespace xtensor;
using namespace xtensor::cuda;

/// Buffers of kernels begin at multiples of this: the compiler says so to LLVM.
static constexpr uintptr_t kAlignment = 16;
/// Fewer commands are sent one by one: as fast as a graph of them.
static constexpr size_t kGraphFrom = 3;

Recording::~Recording() {
  if (!graph)
    return;
  // The driver lets it finish first.
  Current current(context);
  context.api->GraphExecDestroy(graph);
}

bool Recording::launch(Memory &memory, const Kernel &kernel, const xt_kernel &code,
                       const int64_t groups[3], void *const *buffers, const int64_t *extents,
                       const int32_t *words) {
  Command command = {};
  command.function = kernel.function;
  command.firstAddress = addresses.size();
  command.firstNumber = numbers.size();
  command.buffers = static_cast<unsigned>(code.buffers);
  command.numbers = static_cast<unsigned>(code.numbers);
  for (int i = 0; i < 3; ++i) {
    command.groups[i] = static_cast<unsigned>(groups[i]);
    command.threads[i] = static_cast<unsigned>(code.threads[i]);
  }
  for (int32_t i = 0; i < code.buffers; ++i) {
    Place place;
    if (!memory.find(buffers[i], extents ? std::max<int64_t>(extents[i], 1) : 1, place))
      return false;
    auto address = reinterpret_cast<uintptr_t>(buffers[i]);
    if (address % kAlignment)
      return fail("%s: buffer %d of kernel %s begins at %p, which is not a multiple of %zu",
                  context.name.c_str(), i, code.name, buffers[i], kAlignment) == 0;
    addresses.push_back(address);
  }
  numbers.insert(numbers.end(), words, words + code.numbers);
  commands.push_back(command);
  return true;
}

bool Recording::copy(Memory &memory, void *to, const void *from, size_t bytes) {
  Place target, source;
  if (!memory.find(to, bytes, target) || !memory.find(from, bytes, source))
    return false;
  auto t = reinterpret_cast<uintptr_t>(to), f = reinterpret_cast<uintptr_t>(from);
  if (t < f + bytes && f < t + bytes)
    return fail("%s: a copy of %zu bytes from %p to %p overlaps itself", context.name.c_str(),
                bytes, from, to) == 0;
  Command command = {};
  command.firstAddress = addresses.size();
  addresses.insert(addresses.end(), {t, f, bytes});
  commands.push_back(command);
  return true;
}

bool Recording::sendEach() {
  std::vector<void *> parameters;
  for (Command &command : commands) {
    Address *at = addresses.data() + command.firstAddress;
    if (!command.function) {
      if (!context.check(context.api->MemcpyDtoDAsync(at[0], at[1], at[2], context.stream),
                         "a copy"))
        return false;
      continue;
    }
    parameters.clear();
    for (unsigned i = 0; i < command.buffers; ++i)
      parameters.push_back(at + i);
    for (unsigned i = 0; i < command.numbers; ++i)
      parameters.push_back(numbers.data() + command.firstNumber + i);
    const unsigned *g = command.groups, *t = command.threads;
    if (!context.check(context.api->LaunchKernel(command.function, g[0], g[1], g[2], t[0], t[1],
                                                 t[2], 0, context.stream, parameters.data(),
                                                 nullptr),
                       "starting a kernel"))
      return false;
  }
  return true;
}

bool Recording::makeGraph() {
  // Other threads may use the driver meanwhile as they like.
  if (!context.check(context.api->StreamBeginCapture(context.stream, kCaptureRelaxed),
                     "recording a graph"))
    return false;
  bool whole = sendEach();
  GraphHandle made = nullptr;
  // Even where a command failed: the stream is of no use until then.
  whole =
      context.check(context.api->StreamEndCapture(context.stream, &made), "recording a graph") &&
      whole;
  GraphExecHandle ready = nullptr;
  whole = whole && context.check(context.api->GraphInstantiate(&ready, made, 0), "making a graph");
  if (made)
    context.api->GraphDestroy(made);
  if (whole)
    graph = ready;
  return whole;
}

bool Recording::send() {
  Current current(context);
  if (wasSent && !graph && commands.size() >= kGraphFrom && !makeGraph())
    return false;
  wasSent = true;
  if (graph)
    return context.check(context.api->GraphLaunch(graph, context.stream), "sending a graph");
  return sendEach();
}
