// What processes do together: calls of the MPI library that the process has loaded. Errors are
// those of the communicator's handler, which ends all processes.
#include "Collectives.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
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

Registry &registry() {
  static Registry made;
  return made;
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

/// An array in row-major memory: its own, or a copy.
class Packed {
public:
  explicit Packed(const xt_array &x, bool read) : array(x) {
    if (isContiguous(x)) {
      data = static_cast<char *>(x.data);
      return;
    }
    bytes = countOf(x) * bytesOf(x.type);
    data = own = static_cast<char *>(xt_arena_acquire(bytes));
    if (own && read)
      copy(x, own, true);
  }
  ~Packed() {
    if (own)
      xt_arena_release(own);
  }
  Packed(const Packed &) = delete;
  Packed &operator=(const Packed &) = delete;
  void store() {
    if (own)
      copy(array, own, false);
  }

  char *data = nullptr; ///< null: no memory, which is reported

private:
  const xt_array &array;
  char *own = nullptr;
  int64_t bytes = 0;
};

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

/// Sends bytes to one process while it receives others from another.
void exchange(const Communicator &together, const char *from, int64_t bytes, int64_t toProcess,
              char *to, int64_t toBytes, int64_t fromProcess) {
  const xt_mpi &mpi = registry().mpi;
  intptr_t byte = mpi.types[XT_I8];
  alignas(16) char status[256]; // no library's is as large
  sent += bytes;
  for (int64_t done = 0; done < std::max(bytes, toBytes); done += kMostAtOnce) {
    int64_t some = std::clamp<int64_t>(bytes - done, 0, kMostAtOnce);
    int64_t toSome = std::clamp<int64_t>(toBytes - done, 0, kMostAtOnce);
    int receiver = some ? static_cast<int>(toProcess) : mpi.nobody;
    int sender = toSome ? static_cast<int>(fromProcess) : mpi.nobody;
    mpi.exchange(some ? from + done : from, static_cast<int>(some), byte, receiver, 0,
                 toSome ? to + done : to, static_cast<int>(toSome), byte, sender, 0,
                 together.handle, status);
  }
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

void xt_process_index(const xt_array *arrays, const int64_t *options) {
  *static_cast<int64_t *>(arrays[0].data) = communicator(options[0]).index;
}

void xt_all_reduce(const xt_array *arrays, const int64_t *options) {
  if (!isMet())
    return;
  Communicator together = communicator(options[0]);
  const xt_array &x = arrays[0], &y = arrays[1];
  Packed from(x, true), to(y, false);
  if (!from.data || !to.data)
    return;
  intptr_t type = typeOf(x.type, options[2]), op = opOf(options[1], x.type);
  int64_t count = countOf(x), bytes = bytesOf(x.type);
  for (int64_t done = 0; done < count; done += kMostAtOnce) {
    int some = static_cast<int>(std::min(kMostAtOnce, count - done));
    sent += int64_t(2) * some * bytes * (together.processes - 1) / together.processes;
    registry().mpi.all_reduce(from.data + done * bytes, to.data + done * bytes, some, type, op,
                              together.handle);
  }
  to.store();
}

void xt_all_gather(const xt_array *arrays, const int64_t *options) {
  if (!isMet())
    return;
  Communicator together = communicator(options[0]);
  const xt_array &x = arrays[0], &y = arrays[1];
  Packed from(x, true), to(y, false);
  if (!from.data || !to.data)
    return;
  // Bytes of any type; those of all processes at once where they fit.
  int64_t bytes = countOf(x) * bytesOf(x.type);
  sent += bytes * (together.processes - 1);
  intptr_t byte = registry().mpi.types[XT_I8];
  if (bytes <= kMostAtOnce) {
    registry().mpi.all_gather(from.data, static_cast<int>(bytes), byte, to.data,
                              static_cast<int>(bytes), byte, together.handle);
  } else {
    char *some = static_cast<char *>(xt_arena_acquire(kMostAtOnce * together.processes));
    if (!some)
      return;
    for (int64_t done = 0; done < bytes; done += kMostAtOnce) {
      int64_t part = std::min(kMostAtOnce, bytes - done);
      registry().mpi.all_gather(from.data + done, static_cast<int>(part), byte, some,
                                static_cast<int>(part), byte, together.handle);
      for (int64_t p = 0; p < together.processes; ++p)
        std::memcpy(to.data + p * bytes + done, some + p * part, part);
    }
    xt_arena_release(some);
  }
  to.store();
}

void xt_halo(const xt_array *arrays, const int64_t *options) {
  if (!isMet())
    return;
  Communicator together = communicator(options[0]);
  const xt_array &x = arrays[0], &y = arrays[1];
  Packed from(x, true), to(y, false);
  if (!from.data || !to.data)
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
    std::memset(to.data, 0, size * bytes);
  if (Range own = passed(here, here); own.count())
    std::memcpy(to.data + (own.first - first(here)) * bytes,
                from.data + (own.first - here * each) * bytes, own.count() * bytes);
  // All processes exchange at one distance at a time: each waits for those that do so, too.
  for (int64_t distance = 1; distance < p; ++distance) {
    int64_t taker = (here + distance) % p, owner = (here + p - distance) % p;
    Range give = passed(here, taker), take = passed(owner, here);
    char *given = give.count() ? from.data + (give.first - here * each) * bytes : from.data;
    char *taken = take.count() ? to.data + (take.first - first(here)) * bytes : to.data;
    exchange(together, given, give.count() * bytes, taker, taken, take.count() * bytes, owner);
  }
  to.store();
}

void xt_all_to_all(const xt_array *arrays, const int64_t *options) {
  if (!isMet())
    return;
  Communicator together = communicator(options[0]);
  const xt_array &x = arrays[0], &y = arrays[1];
  Packed from(x, true), to(y, false);
  if (!from.data || !to.data)
    return;
  int64_t p = together.processes, here = together.index, rows = x.sizes[0];
  int64_t bytes = y.sizes[1] * bytesOf(x.type); // of a row, as one process has it afterwards
  for (int32_t axis = 2; axis < x.rank; ++axis)
    bytes *= x.sizes[axis];
  // The columns of one process, row by row.
  auto cut = [&](int64_t process, char *into) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(into + row * bytes, from.data + (row * p + process) * bytes, bytes);
  };
  cut(here, to.data + here * rows * bytes);
  if (p > 1 && rows * bytes > 0) {
    char *some = static_cast<char *>(xt_arena_acquire(rows * bytes));
    if (!some)
      return;
    for (int64_t distance = 1; distance < p; ++distance) { // as in a halo
      int64_t taker = (here + distance) % p, owner = (here + p - distance) % p;
      cut(taker, some);
      exchange(together, some, rows * bytes, taker, to.data + owner * rows * bytes, rows * bytes,
               owner);
    }
    xt_arena_release(some);
  }
  to.store();
}
