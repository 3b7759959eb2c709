// Reports of calls for which no thread has waited yet, and the errors that are raised for them.
#include "Pending.h"
#include "Devices.h"

#include <algorithm>

using namespace xtensor;

namespace {

// Chains of calls whose results are not read are limited: beyond `kMost`, the oldest are waited
// for. They are usually done by then.
constexpr size_t kMost = 64, kKept = 32;

uint64_t calls = 0;

void drop(Ticket *t) {
  if (--t->references)
    return;
  if (t->handle)
    xt_ticket_release(t->handle);
  delete t;
}

/// Waits for the answer. False with a DeviceError if it cannot be had.
bool answer(Ticket *t) {
  xt_ticket *handle = t->handle;
  if (!handle)
    return true;
  xt_ticket_retain(handle); // another thread may come first and let it go
  xt_status status = {0, 0, 0, 0};
  int32_t failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = xt_ticket_wait(handle, &status);
  Py_END_ALLOW_THREADS;
  xt_ticket_release(handle);
  if (failed) {
    raiseDeviceError("a program that was started earlier failed");
    return false;
  }
  if (t->handle) {
    xt_ticket_release(t->handle);
    t->handle = nullptr, t->status = status;
  }
  return true;
}

bool isFine(const Ticket *t) { return !t->handle && t->status.code == 0; }

} // namespace

void xtensor::release(Pending *p) {
  if (!p || --p->references)
    return;
  for (Ticket *t : p->tickets)
    drop(t);
  delete p;
}

bool xtensor::settle(Pending *p) {
  retain(p); // the array may lose it while this waits
  bool ok = true;
  for (Ticket *t : p->tickets) {
    if (!(ok = answer(t)))
      break;
    if (t->status.code) {
      raiseStatus(t->sites.get(), t->status);
      ok = false;
      break;
    }
  }
  release(p);
  return ok;
}

Pending *Dependences::with(xt_ticket *own, PyObject *sites) {
  if (!own && found.empty())
    return nullptr;
  if (!own && std::all_of(found.begin(), found.end(), [&](Pending *p) { return p == found[0]; }))
    return retain(found[0]);
  auto *result = new Pending;
  auto &tickets = result->tickets;
  for (Pending *p : found)
    for (Ticket *t : p->tickets)
      if (!isFine(t))
        tickets.push_back(t);
  std::sort(tickets.begin(), tickets.end(),
            [](const Ticket *a, const Ticket *b) { return a->number < b->number; });
  tickets.erase(std::unique(tickets.begin(), tickets.end()), tickets.end());
  for (Ticket *t : tickets)
    ++t->references;
  if (own)
    tickets.push_back(new Ticket{1, ++calls, own, borrow(sites)});
  if (tickets.size() > kMost) {
    for (size_t i = 0; i < tickets.size() - kKept; ++i)
      if (!answer(tickets[i])) {
        PyErr_Clear(); // whoever reads the values is told
        break;
      }
    size_t left = 0;
    for (Ticket *t : tickets) {
      // The first report is the one that counts: nothing after it is asked for.
      bool decided = left && !tickets[0]->handle;
      if (isFine(t) || decided)
        drop(t);
      else
        tickets[left++] = t;
    }
    tickets.resize(left);
  }
  if (tickets.empty()) {
    delete result;
    return nullptr;
  }
  return result;
}
