// Lists of commands, numbered in the order in which they are sent.
#pragma once

#include "../Reports.h"
#include "Api.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

namespace xtensor::metal {

class Queue final : public Timeline {
public:
  Queue(Gpu &gpu, std::atomic<bool> &lost) : gpu(gpu), lost(lost) {}

  /// The list that is being written; a new one is begun if necessary. Null, with xt_device_error
  /// set, if that fails.
  void *commands();
  bool writing() const { return current != nullptr; }
  /// Sends it, if there is one. The number of the last one that was sent.
  uint64_t send();
  void forget();
  uint64_t last() const override { return sent; }

  bool done(uint64_t number) override;
  /// False, too, if that list or one before it failed.
  bool wait(uint64_t number) override;

  std::atomic<int64_t> waits{0};

private:
  /// One that was sent; the last reference gives it back.
  struct Sent {
    Gpu &gpu;
    void *commands;
    uint64_t number;
    Sent(Gpu &gpu, void *commands, uint64_t number)
        : gpu(gpu), commands(commands), number(number) {}
    Sent(const Sent &) = delete;
    ~Sent() { gpu.drop(commands); }
  };

  void retire(uint64_t number);

  Gpu &gpu;
  std::atomic<bool> &lost;
  void *current = nullptr;
  std::atomic<uint64_t> sent{0}, finished{0};
  std::mutex lock; // of what follows
  std::deque<std::shared_ptr<Sent>> underWay;
};

} // namespace xtensor::metal
