// DUCC's transforms for one set of instructions, XT_LEVEL, on our threads and with our cache of
// plans. CMakeLists.txt renames DUCC's namespace for each level, so that no function of a level is
// taken for that of another one.
#include "Fourier/Level.h"
#include "Fourier/Scratch.h"
#include "runtime.h"

// DUCC calls std::find and std::copy_n without including what declares them.
#include <algorithm>
#include <exception>
#include <list>

#include "ducc0/fft/fft.h"
#include "ducc0/fft/fftnd_impl.h"
#include "ducc0/infra/mav.cc"

//===- threads -------------------------------------------------------------===//

// Declared by DUCC's threading.h. DUCC's tasks of one loop do not wait for each other.
namespace ducc0::detail_threading {

size_t adjust_nthreads(size_t threads) { return threads ? threads : size_t(xt_num_threads()); }

namespace {

/// One task's parts of the work: all of [begin, end) at once.
class Share : public Scheduler {
public:
  Share(size_t count, size_t number, Range range) : count(count), number(number), range(range) {}
  size_t num_threads() const override { return count; }
  size_t thread_num() const override { return number; }
  Range getNext() override {
    Range taken = range;
    range = Range();
    return taken;
  }

private:
  size_t count, number;
  Range range;
};

struct Loop {
  size_t work, count;
  const std::function<void(Scheduler &)> &body;
  Mutex mutex;
  std::exception_ptr failure;
};

void runShare(void *context, int64_t number) {
  Loop &loop = *static_cast<Loop *>(context);
  size_t n = size_t(number), begin = loop.work * n / loop.count,
         end = loop.work * (n + 1) / loop.count;
  try {
    Share share(loop.count, n, Range(begin, end));
    loop.body(share);
  } catch (...) {
    LockGuard lock(loop.mutex);
    loop.failure = std::current_exception();
  }
}

} // namespace

void execStatic(size_t work, size_t threads, size_t, std::function<void(Scheduler &)> body) {
  size_t count = std::max<size_t>(1, std::min(adjust_nthreads(threads), work));
  Loop loop{work, count, body, {}, {}};
  if (count == 1)
    runShare(&loop, 0);
  else
    xt_run_tasks(runShare, &loop, int64_t(count));
  if (loop.failure)
    std::rethrow_exception(loop.failure);
}

void execParallel(size_t threads, std::function<void(Scheduler &)> body) {
  size_t count = adjust_nthreads(threads);
  execStatic(count, count, 0, std::move(body));
}

void execParallel(size_t begin, size_t end, size_t threads,
                  std::function<void(size_t, size_t)> body) {
  execStatic(end - begin, threads, 0, [&](Scheduler &share) {
    while (Range range = share.getNext())
      body(begin + range.lo, begin + range.hi);
  });
}

} // namespace ducc0::detail_threading

//===- plans ---------------------------------------------------------------===//

namespace ducc0::detail_fft {
namespace {

/// The latest plans. DUCC itself forgets those of more than 1 MB.
template <typename Plan>
std::shared_ptr<Plan> keptPlan(size_t length, bool vectorize) {
  constexpr size_t kPlans = 16, kBytes = size_t(128) << 20;
  struct Kept {
    size_t length;
    bool vectorize;
    std::shared_ptr<Plan> plan;
  };
  static Mutex mutex;
  // Not destroyed at exit: another thread may still transform.
  static std::list<Kept> &kept = *new std::list<Kept>;
  auto found = [&]() -> std::shared_ptr<Plan> {
    for (auto at = kept.begin(); at != kept.end(); ++at)
      if (at->length == length && at->vectorize == vectorize) {
        kept.splice(kept.begin(), kept, at);
        return at->plan;
      }
    return nullptr;
  };
  {
    LockGuard lock(mutex);
    if (auto plan = found())
      return plan;
  }
  auto plan = std::make_shared<Plan>(length, vectorize);
  LockGuard lock(mutex);
  if (auto other = found())
    return other;
  kept.push_front({length, vectorize, plan});
  size_t count = 0, bytes = 0;
  for (auto at = kept.begin(); at != kept.end();) {
    bytes += at->plan->footprint();
    at = ++count > 1 && (count > kPlans || bytes > kBytes) ? kept.erase(at) : std::next(at);
  }
  return plan;
}

#define XT_KEEP(Plan)                                                                              \
  template <>                                                                                      \
  std::shared_ptr<Plan> get_plan<Plan>(size_t length, bool vectorize) {                            \
    return keptPlan<Plan>(length, vectorize);                                                      \
  }
XT_KEEP(pocketfft_c<double>)
XT_KEEP(pocketfft_r<double>)
#ifndef XT_DOUBLES_ONLY
XT_KEEP(pocketfft_c<float>)
XT_KEEP(pocketfft_r<float>)
#endif

} // namespace
} // namespace ducc0::detail_fft

//===- the transforms ------------------------------------------------------===//

namespace xtensor::fourier::XT_LEVEL {

using namespace ducc0;

template <typename T, typename E>
static cfmav<E> input(const Job<T> &job) {
  return {reinterpret_cast<const E *>(job.in), job.from.sizes, job.from.strides};
}
template <typename T, typename E>
static vfmav<E> output(const Job<T> &job) {
  return {reinterpret_cast<E *>(job.out), job.to.sizes, job.to.strides};
}

/// Fills in the second half along the last of the axes: conjugates of the first one.
template <typename T>
static void mirror(const Job<T> &job) {
  const size_t axis = job.axes.back(), n = job.to.sizes[axis];
  auto *out = reinterpret_cast<std::complex<T> *>(job.out);
  // From the outermost loop to the one along which elements are neighbours.
  std::vector<size_t> loops;
  size_t count = 1;
  for (size_t a = 0; a < job.to.sizes.size(); ++a) {
    if (a != axis)
      count *= job.to.sizes[a];
    loops.push_back(a);
  }
  std::sort(loops.begin(), loops.end(), [&](size_t a, size_t b) {
    return std::abs(job.to.strides[a]) > std::abs(job.to.strides[b]);
  });
  const size_t half = (n - 1) / 2, inner = loops.back() == axis ? half : job.to.sizes[loops.back()];
  // Where the loops begin at `number` of all rounds of the outer ones, and which k that is.
  auto run = [&](size_t begin, size_t end) {
    for (size_t number = begin; number < end; ++number) {
      ptrdiff_t base = 0;
      size_t rest = number, k = 0;
      for (size_t l = loops.size() - 1; l-- > 0;) {
        size_t size = loops[l] == axis ? half : job.to.sizes[loops[l]], at = rest % size;
        rest /= size;
        if (loops[l] == axis)
          k = at + 1;
        else
          base += ptrdiff_t(at) * job.to.strides[loops[l]];
      }
      const ptrdiff_t step = job.to.strides[axis], along = job.to.strides[loops.back()];
      if (loops.back() == axis)
        for (size_t i = 1; i <= half; ++i)
          out[base + ptrdiff_t(n - i) * step] = std::conj(out[base + ptrdiff_t(i) * step]);
      else
        for (size_t i = 0; i < inner; ++i)
          out[base + ptrdiff_t(n - k) * step + ptrdiff_t(i) * along] =
              std::conj(out[base + ptrdiff_t(k) * step + ptrdiff_t(i) * along]);
    }
  };
  if (half)
    execParallel(0, count * half / inner, job.threads, run);
}

/// All numbers of a real array: half of them along the last axis, their mirror, then the other
/// axes.
template <typename T>
static void whole(const Job<T> &job) {
  using C = std::complex<T>;
  Operand half = job.to;
  half.sizes[job.axes.back()] = half.sizes[job.axes.back()] / 2 + 1;
  vfmav<C> to(reinterpret_cast<C *>(job.out), half.sizes, half.strides);
  r2c(input<T, T>(job), to, {job.axes.back()}, true, job.scale, job.threads);
  mirror(job);
  std::vector<size_t> others(job.axes.begin(), job.axes.end() - 1);
  vfmav<C> all = output<T, C>(job);
  if (!others.empty())
    c2c(all, all, others, true, T(1), job.threads);
}

template <typename T>
static void transform(const Job<T> &job) {
  using C = std::complex<T>;
  switch (job.kind) {
  case Kind::forward:
  case Kind::backward:
    return c2c(input<T, C>(job), output<T, C>(job), job.axes, job.kind == Kind::forward, job.scale,
               job.threads);
  case Kind::real:
    return r2c(input<T, T>(job), output<T, C>(job), job.axes, true, job.scale, job.threads);
  case Kind::hermitian:
    return c2r(input<T, C>(job), output<T, T>(job), job.axes, false, job.scale, job.threads);
  case Kind::whole:
    return whole(job);
  }
}

#ifndef XT_DOUBLES_ONLY
void run(const Job<float> &job) { transform(job); }
#endif
void run(const Job<double> &job) { transform(job); }

} // namespace xtensor::fourier::XT_LEVEL
