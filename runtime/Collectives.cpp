// What processes do together: calls of the MPI library that the process has loaded. Errors are
// those of the communicator's handler, which ends all processes.
#include "Collectives.h"
#include "Pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

using namespace xtensor;

namespace {

enum Kind { kSum, kProd, kMax, kMin, kAny, kAll };

/// MPI counts in int.
constexpr int64_t kMostAtOnce = int64_t(1) << 30;

struct Registry {
  std::mutex lock;
  xt_mpi mpi{};
  intptr_t extrema[2][2]{}; // max and min of float, of double; NaN wins
  std::vector<Communicator> communicators;
};

std::atomic<int64_t> sent{0};

/// It is never destroyed: threads that wait for other processes go on until this one ends.
Registry &registry() {
  static auto *made = new Registry;
  return *made;
}

/// MPI leaves open what its maximum of a NaN is, and of zeros of both signs. The result must not
/// depend on the order: processes that disagree about a number take different branches.
template <typename T, bool isMax>
void extremum(const void *from, void *to, const int *count, const void *) {
  auto *x = static_cast<const T *>(from);
  auto *y = static_cast<T *>(to);
  for (int i = 0; i < *count; ++i) {
    bool wins = isMax ? x[i] > y[i] : x[i] < y[i];
    if (std::isnan(x[i]) || std::isnan(y[i]))
      y[i] = std::numeric_limits<T>::quiet_NaN();
    else if (wins || (x[i] == y[i] && std::signbit(x[i]) != isMax))
      y[i] = x[i];
  }
}

int64_t bytesOf(int32_t type) {
  static constexpr int64_t bytes[] = {1, 2, 4, 8, 2, 2, 4, 8};
  return bytes[type];
}

int64_t countOf(const xt_array &x) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    count *= x.sizes[axis];
  return count;
}

bool isContiguous(const xt_array &x) {
  int64_t stride = 1;
  for (int32_t axis = x.rank; axis-- > 0;) {
    if (x.sizes[axis] != 1 && x.strides[axis] != stride)
      return false;
    stride *= x.sizes[axis];
  }
  return true;
}

/// Copies between an array and memory in its row-major order.
void copy(const xt_array &x, char *packed, bool into) {
  int64_t count = countOf(x), bytes = bytesOf(x.type);
  std::vector<int64_t> at(x.rank, 0);
  char *data = static_cast<char *>(x.data);
  if (isContiguous(x)) {
    std::memcpy(into ? packed : data, into ? data : packed, count * bytes);
    return;
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(into ? packed + i * bytes : data + offset * bytes,
                into ? data + offset * bytes : packed + i * bytes, bytes);
    for (int32_t axis = x.rank; axis-- > 0;) {
      offset += x.strides[axis];
      if (++at[axis] < x.sizes[axis])
        break;
      offset -= x.strides[axis] * x.sizes[axis];
      at[axis] = 0;
    }
  }
}

/// A collective under way: what it needs until it has ended.
struct Flight {
  Step step{};
  std::vector<intptr_t> requests;
  std::vector<void *> memory; ///< of the arena
  /// Of each result that is not in one piece, its elements; else null.
  std::vector<char *> unwritten;

  ~Flight() {
    for (void *block : memory)
      xt_arena_release(block);
  }
  /// Null: no memory, which is reported.
  char *take(int64_t bytes) {
    memory.push_back(xt_arena_acquire(bytes));
    return static_cast<char *>(memory.back());
  }
  intptr_t *next() {
    requests.push_back(0);
    return &requests.back();
  }
  /// The elements of an array in row-major order: its own memory, or a copy.
  char *read(const xt_array &x) {
    if (isContiguous(x))
      return static_cast<char *>(x.data);
    char *packed = take(countOf(x) * bytesOf(x.type));
    if (packed)
      copy(x, packed, true);
    return packed;
  }
  /// Room for them. `wait` writes them where they belong.
  char *write(const xt_array &y) {
    bool isInPlace = isContiguous(y);
    char *room = isInPlace ? static_cast<char *>(y.data) : take(countOf(y) * bytesOf(y.type));
    unwritten.push_back(isInPlace ? nullptr : room);
    return room;
  }
  void send(const Communicator &together, const char *from, int64_t bytes, int64_t process) {
    const xt_mpi &mpi = registry().mpi;
    sent += bytes;
    for (int64_t done = 0; done < bytes; done += kMostAtOnce)
      mpi.send(from + done, static_cast<int>(std::min(bytes - done, kMostAtOnce)), mpi.types[XT_I8],
               static_cast<int>(process), 0, together.handle, next());
  }
  /// Messages between two processes arrive in the order in which they were sent.
  void receive(const Communicator &together, char *to, int64_t bytes, int64_t process) {
    const xt_mpi &mpi = registry().mpi;
    for (int64_t done = 0; done < bytes; done += kMostAtOnce)
      mpi.receive(to + done, static_cast<int>(std::min(bytes - done, kMostAtOnce)),
                  mpi.types[XT_I8], static_cast<int>(process), 0, together.handle, next());
  }
  /// False: other processes will never do their part. Its memory stays then, as MPI may have it.
  bool wait(const xt_array *results, const Step &step) {
    for (intptr_t &request : requests)
      if (!isAwaited(&request, step)) {
        new Flight(std::move(*this));
        memory.clear();
        return false;
      }
    for (size_t i = 0; i < unwritten.size(); ++i)
      if (unwritten[i])
        copy(results[i], unwritten[i], false);
    return true;
  }

  Flight() = default;
  Flight(Flight &&) = default;
};

/// Those that this thread has begun and not waited for.
thread_local std::vector<Flight *> underWay;

/// MPI libraries go on with them only while they are called.
void progress() {
  MpiStatus status;
  int isDone;
  for (Flight *flight : underWay)
    for (intptr_t &request : flight->requests)
      registry().mpi.test(&request, &isDone, &status);
}

intptr_t typeOf(int32_t type, bool isUnsigned) {
  const xt_mpi &mpi = registry().mpi;
  if (type <= XT_I64)
    return mpi.types[type + (isUnsigned ? 4 : 0)];
  return mpi.types[type == XT_F32 ? 8 : 9];
}

intptr_t opOf(int64_t kind, int32_t type) {
  Registry &all = registry();
  bool isMax = kind == kMax || kind == kAny;
  if (kind == kSum || kind == kProd)
    return all.mpi.ops[kind];
  if (type < XT_F32)
    return all.mpi.ops[isMax ? 2 : 3];
  return all.extrema[type == XT_F64][!isMax];
}

/// Positions of the whole array, first to end; none if first >= end.
struct Range {
  int64_t first, end;
  int64_t count() const { return std::max<int64_t>(end - first, 0); }
};

Range both(Range a, Range b) { return {std::max(a.first, b.first), std::min(a.end, b.end)}; }

void beginAllReduce(Flight &flight, const xt_array *arrays, const int64_t *options) {
  Communicator together = communicator(options[0]);
  int64_t arity = options[3], count = 0, bytes = bytesOf(arrays[0].type);
  const xt_array *results = arrays + arity;
  for (int64_t i = 0; i < arity; ++i)
    count += countOf(arrays[i]);
  char *from, *to;
  if (arity == 1) {
    from = flight.read(arrays[0]), to = flight.write(results[0]);
  } else { // one message
    from = flight.take(count * bytes), to = flight.take(count * bytes);
    if (!from || !to)
      return;
    for (int64_t i = 0, at = 0; i < arity; at += countOf(arrays[i++]) * bytes) {
      copy(arrays[i], from + at, true);
      flight.unwritten.push_back(to + at);
    }
  }
  if (!from || !to)
    return;
  intptr_t type = typeOf(arrays[0].type, options[2]), op = opOf(options[1], arrays[0].type);
  for (int64_t done = 0; done < count; done += kMostAtOnce) {
    int some = static_cast<int>(std::min(kMostAtOnce, count - done));
    sent += int64_t(2) * some * bytes * (together.processes - 1) / together.processes;
    registry().mpi.start_all_reduce(from + done * bytes, to + done * bytes, some, type, op,
                                    together.handle, flight.next());
  }
}

void beginAllGather(Flight &flight, const xt_array *arrays, const int64_t *options) {
  Communicator together = communicator(options[0]);
  char *from = flight.read(arrays[0]), *to = flight.write(arrays[1]);
  if (!from || !to)
    return;
  int64_t bytes = countOf(arrays[0]) * bytesOf(arrays[0].type);
  if (bytes <= kMostAtOnce) {
    intptr_t byte = registry().mpi.types[XT_I8];
    sent += bytes * (together.processes - 1);
    registry().mpi.start_all_gather(from, static_cast<int>(bytes), byte, to,
                                    static_cast<int>(bytes), byte, together.handle, flight.next());
    return;
  }
  std::memcpy(to + together.index * bytes, from, bytes);
  for (int64_t distance = 1; distance < together.processes; ++distance) {
    int64_t owner = together.before(distance);
    flight.receive(together, to + owner * bytes, bytes, owner);
    flight.send(together, from, bytes, together.after(distance));
  }
}

void beginHalo(Flight &flight, const xt_array *arrays, const int64_t *options) {
  Communicator together = communicator(options[0]);
  const xt_array &x = arrays[0], &y = arrays[1];
  char *from = flight.read(x), *to = flight.write(y);
  if (!from || !to)
    return;
  int64_t p = together.processes, here = together.index, each = x.sizes[0], size = y.sizes[0];
  int64_t bytes = bytesOf(x.type); // of a position
  for (int32_t axis = 1; axis < x.rank; ++axis)
    bytes *= x.sizes[axis];
  auto has = [&](int64_t process) { return Range{process * each, (process + 1) * each}; };
  auto first = [&](int64_t process) { return options[1] + process * options[2]; };
  // What one process has and another gets.
  auto passed = [&](int64_t owner, int64_t taker) {
    return both(has(owner), {first(taker), first(taker) + size});
  };
  Range inside = both({0, p * each}, {first(here), first(here) + size});
  if (inside.count() < size)
    std::memset(to, 0, size * bytes);
  if (Range own = passed(here, here); own.count())
    std::memcpy(to + (own.first - first(here)) * bytes, from + (own.first - here * each) * bytes,
                own.count() * bytes);
  for (int64_t distance = 1; distance < p; ++distance) {
    int64_t taker = together.after(distance), owner = together.before(distance);
    if (Range take = passed(owner, here); take.count())
      flight.receive(together, to + (take.first - first(here)) * bytes, take.count() * bytes,
                     owner);
    if (Range give = passed(here, taker); give.count())
      flight.send(together, from + (give.first - here * each) * bytes, give.count() * bytes, taker);
  }
}

void beginAllToAll(Flight &flight, const xt_array *arrays, const int64_t *options) {
  Communicator together = communicator(options[0]);
  const xt_array &x = arrays[0], &y = arrays[1];
  char *from = flight.read(x), *to = flight.write(y);
  if (!from || !to)
    return;
  int64_t p = together.processes, here = together.index, rows = x.sizes[0];
  int64_t bytes = y.sizes[1] * bytesOf(x.type); // of a row, as one process has it afterwards
  for (int32_t axis = 2; axis < x.rank; ++axis)
    bytes *= x.sizes[axis];
  // The columns of one process, row by row.
  auto cut = [&](int64_t process, char *into) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(into + row * bytes, from + (row * p + process) * bytes, bytes);
  };
  cut(here, to + here * rows * bytes);
  char *out = p > 1 ? flight.take((p - 1) * rows * bytes) : nullptr;
  if (!out)
    return;
  for (int64_t distance = 1; distance < p; ++distance, out += rows * bytes) {
    int64_t taker = together.after(distance), owner = together.before(distance);
    cut(taker, out);
    flight.receive(together, to + owner * rows * bytes, rows * bytes, owner);
    flight.send(together, out, rows * bytes, taker);
  }
}

struct Collective {
  const char *op;
  void (*begin)(Flight &flight, const xt_array *arrays, const int64_t *options);
};
constexpr Collective kAllReduce{"all_reduce", beginAllReduce};
constexpr Collective kAllGather{"all_gather", beginAllGather};
constexpr Collective kHalo{"halo", beginHalo};
constexpr Collective kAllToAll{"all_to_all", beginAllToAll};

Step stepOf(const Collective &what, const int64_t *options) {
  return {what.op, &what == &kAllReduce ? options[1] : -1, &siteOf(options)};
}

/// A collective of `arity` operands, then as many results: from its beginning to its end.
void run(const Collective &what, const xt_array *arrays, const int64_t *options,
         int64_t arity = 1) {
  if (!isMet())
    return;
  Step step = stepOf(what, options);
  noteStep(step);
  Flight flight;
  what.begin(flight, arrays, options);
  flight.wait(arrays + arity, step);
}

/// Begins it, and writes to the last out what xt_wait ends.
void start(const Collective &what, const xt_array *arrays, const int64_t *options,
           int64_t arity = 1) {
  Flight *flight = nullptr;
  if (isMet()) {
    flight = new Flight;
    flight->step = stepOf(what, options);
    noteStep(flight->step);
    what.begin(*flight, arrays, options);
    underWay.push_back(flight);
    duringLoops = progress;
  }
  *static_cast<Flight **>(arrays[2 * arity].data) = flight;
}

} // namespace

Communicator xtensor::communicator(int64_t number) {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  return all.communicators[number];
}

const xt_mpi &xtensor::mpiLibrary() { return registry().mpi; }

void xt_set_mpi(const xt_mpi *mpi) {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  all.mpi = *mpi;
  mpi->create_op(extremum<float, true>, 1, &all.extrema[0][0]);
  mpi->create_op(extremum<float, false>, 1, &all.extrema[0][1]);
  mpi->create_op(extremum<double, true>, 1, &all.extrema[1][0]);
  mpi->create_op(extremum<double, false>, 1, &all.extrema[1][1]);
}

int64_t xt_add_communicator(intptr_t handle, int64_t index, int64_t processes) {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.lock);
  all.communicators.push_back({handle, index, processes});
  return static_cast<int64_t>(all.communicators.size()) - 1;
}

int64_t xt_bytes_sent() { return sent; }

void xt_begin_together(const xt_array *, const int64_t *) { isMet(); }

void xt_process_index(const xt_array *arrays, const int64_t *options) {
  *static_cast<int64_t *>(arrays[0].data) = communicator(options[0]).index;
}

void xt_all_reduce(const xt_array *arrays, const int64_t *options) {
  run(kAllReduce, arrays, options, options[3]);
}
void xt_all_gather(const xt_array *arrays, const int64_t *options) {
  run(kAllGather, arrays, options);
}
void xt_halo(const xt_array *arrays, const int64_t *options) { run(kHalo, arrays, options); }
void xt_all_to_all(const xt_array *arrays, const int64_t *options) {
  run(kAllToAll, arrays, options);
}

void xt_start_all_reduce(const xt_array *arrays, const int64_t *options) {
  start(kAllReduce, arrays, options, options[3]);
}
void xt_start_all_gather(const xt_array *arrays, const int64_t *options) {
  start(kAllGather, arrays, options);
}
void xt_start_halo(const xt_array *arrays, const int64_t *options) {
  start(kHalo, arrays, options);
}
void xt_start_all_to_all(const xt_array *arrays, const int64_t *options) {
  start(kAllToAll, arrays, options);
}

void xt_wait(const xt_array *arrays, const int64_t *options) {
  auto *flight = *static_cast<Flight **>(arrays[0].data);
  if (!flight)
    return;
  flight->wait(arrays + 1 + options[0], {flight->step.op, flight->step.kind, &siteOf(options)});
  underWay.erase(std::find(underWay.begin(), underWay.end(), flight));
  if (underWay.empty())
    duringLoops = nullptr;
  delete flight;
}
