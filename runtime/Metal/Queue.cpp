#include "Queue.h"

#include "../Backend.h"

using namespace xtensor;
using namespace xtensor::metal;

void *Queue::commands() {
  if (lost)
    return fail("%s: the device was lost", gpu.limits.name), nullptr;
  if (current)
    return current;
  std::string error;
  current = gpu.begin(error);
  if (!current)
    fail("%s: %s", gpu.limits.name, error.c_str());
  return current;
}

uint64_t Queue::send() {
  if (!current)
    return sent;
  std::lock_guard<std::mutex> guard(lock);
  gpu.send(current);
  underWay.push_back(std::make_shared<Sent>(gpu, current, sent + 1));
  current = nullptr;
  return sent += 1;
}

void Queue::forget() {
  if (current)
    gpu.drop(current);
  current = nullptr;
}

void Queue::retire(uint64_t number) {
  std::lock_guard<std::mutex> guard(lock);
  while (!underWay.empty() && underWay.front()->number <= number)
    underWay.pop_front();
  if (finished < number)
    finished = number;
}

bool Queue::done(uint64_t number) {
  if (number <= finished)
    return true;
  std::shared_ptr<Sent> asked;
  {
    std::lock_guard<std::mutex> guard(lock);
    for (const auto &one : underWay)
      if (one->number == number)
        asked = one;
  }
  // The thread that waits finds the failure.
  if (!asked || !gpu.done(asked->commands))
    return false;
  return wait(number);
}

bool Queue::wait(uint64_t number) {
  while (finished < number) {
    if (lost)
      return fail("%s: the device was lost", gpu.limits.name) == 0;
    std::shared_ptr<Sent> first;
    {
      std::lock_guard<std::mutex> guard(lock);
      if (!underWay.empty() && underWay.front()->number <= number)
        first = underWay.front();
    }
    if (!first)
      break; // another thread saw it done
    waits += !gpu.done(first->commands);
    std::string error;
    if (!gpu.wait(first->commands, error)) {
      lost = true;
      return fail("%s: %s", gpu.limits.name, error.c_str()) == 0;
    }
    retire(first->number);
  }
  return true;
}
