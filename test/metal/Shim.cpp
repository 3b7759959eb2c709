// Stands in for Metal where there is none: what runtime/Metal asks of it, with memory of the CPU
// and kernels compiled for it. Lists of commands are run by one thread of its own, later, so that
// whoever does not wait is found out.
#include "Api.h"
#include "Kernel.h"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

using namespace xtensor::metal;

namespace {

struct Command {
  const shim::Kernel *kernel = nullptr; // null: a copy
  uint32_t groups[3], threads[3];
  std::vector<void *> buffers;
  std::vector<int32_t> numbers;
  char *to = nullptr;
  const char *from = nullptr;
  size_t bytes = 0;
};

struct List {
  std::vector<Command> commands;
  bool done = false;
  std::string error;
};

class CpuGpu final : public Gpu {
public:
  CpuGpu() {
    limits.name = "Metal shim on the CPU";
    limits.driver = "clang";
    limits.memoryBytes = int64_t(4) << 30;
    limits.maxBufferBytes = int64_t(1) << 30;
    limits.workgroupBytes = 32768;
    limits.maxThreads = 1024;
    std::thread([this] { work(); }).detach();
  }

  bool makeBuffer(size_t bytes, Buffer &buffer) override {
    void *memory = aligned_alloc(4096, (bytes + 4095) & ~size_t(4095));
    if (!memory)
      return false;
    memset(memory, 0xa5, std::min(bytes, size_t(64) << 20)); // nobody relies on zeros
    buffer = {memory, static_cast<char *>(memory), bytes};
    return true;
  }
  void dropBuffer(Buffer &buffer) override { free(buffer.handle); }

  void *makeKernel(const xt_kernel &kernel, std::string &error) override {
    return shim::Kernel::make(kernel, error).release();
  }
  void dropKernel(void *kernel) override { delete static_cast<shim::Kernel *>(kernel); }

  void *begin(std::string &) override { return new std::shared_ptr<List>(new List); }

  void launch(void *list, void *kernel, const xt_kernel &what, const int64_t groups[3],
              const Place *buffers, const int32_t *numbers) override {
    Command command;
    command.kernel = static_cast<shim::Kernel *>(kernel);
    for (int i = 0; i < 3; ++i) {
      command.groups[i] = static_cast<uint32_t>(groups[i]);
      command.threads[i] = static_cast<uint32_t>(what.threads[i]);
    }
    for (int32_t i = 0; i < what.buffers; ++i)
      command.buffers.push_back(buffers[i].buffer ? buffers[i].buffer->contents + buffers[i].offset
                                                  : nullptr);
    command.numbers.assign(numbers, numbers + what.numbers);
    of(list).commands.push_back(std::move(command));
  }

  void copy(void *list, Place to, Place from, size_t bytes) override {
    Command command;
    command.to = to.buffer->contents + to.offset;
    command.from = from.buffer->contents + from.offset;
    command.bytes = bytes;
    of(list).commands.push_back(std::move(command));
  }

  void send(void *list) override {
    std::lock_guard<std::mutex> guard(lock);
    sent.push_back(*static_cast<std::shared_ptr<List> *>(list));
    changed.notify_all();
  }

  bool done(void *list) override {
    std::lock_guard<std::mutex> guard(lock);
    return of(list).done;
  }

  bool wait(void *list, std::string &error) override {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [&] { return of(list).done; });
    error = of(list).error;
    return error.empty();
  }

  void drop(void *list) override { delete static_cast<std::shared_ptr<List> *>(list); }

private:
  static List &of(void *list) { return **static_cast<std::shared_ptr<List> *>(list); }

  [[noreturn]] void work() {
    for (;;) {
      std::shared_ptr<List> next;
      {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [&] { return !sent.empty(); });
        next = sent.front();
        sent.pop_front();
      }
      for (Command &command : next->commands)
        if (next->error.empty())
          run(command, next->error);
      std::lock_guard<std::mutex> guard(lock);
      next->done = true;
      changed.notify_all();
    }
  }

  static void run(Command &command, std::string &error) {
    if (!command.kernel) {
      memcpy(command.to, command.from, command.bytes);
      return;
    }
    command.buffers.push_back(command.numbers.data());
    if (!command.kernel->run(command.buffers.data(), command.groups, command.threads))
      error = "kernel " + command.kernel->name() + " has a barrier that some threads do not meet";
  }

  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::shared_ptr<List>> sent;
};

int32_t countDevices(std::string &) { return 1; }

Gpu *openDevice(int32_t, std::string &) { return new CpuGpu; }

} // namespace

extern "C" __attribute__((visibility("default")))
const Api xt_metal_api = {countDevices, openDevice};
