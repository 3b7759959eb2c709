// How the CPU runs a kernel: included after its text, with METAL_SHIM_KERNEL its name; what is
// generated after this defines `invoke`.
#undef kernel
#undef device
#undef constant
#undef threadgroup
#undef thread

/// Members are named as Metal's attributes of parameters.
struct Invocation {
  metal::uint3 threadgroup_position_in_grid, threadgroups_per_grid;
  metal::uint3 thread_position_in_threadgroup, threads_per_threadgroup;
  metal::uint3 thread_position_in_grid, threads_per_grid;
  uint thread_index_in_threadgroup;
};

static void invoke(void *const *buffers, const Invocation &at);

template <typename Function>
struct Parameters;
template <typename... P>
struct Parameters<void(P...)> {
  template <unsigned k>
  using at = __type_pack_element<k, P...>;
};
template <typename T>
struct Buffer;
template <typename T>
struct Buffer<T &> {
  static T &at(void *address) { return *reinterpret_cast<T *>(reinterpret_cast<ulong>(address)); }
};
/// The kernel's k-th parameter, which has [[buffer(i)]].
#define METAL_SHIM_BUFFER(k, i)                                                                    \
  Buffer<Parameters<decltype(METAL_SHIM_KERNEL)>::at<k>>::at(buffers[i])

static Invocation invocation(const uint *groups, const uint *group, const uint *threads, uint i) {
  Invocation at;
  at.threadgroup_position_in_grid = {group[0], group[1], group[2]};
  at.threadgroups_per_grid = {groups[0], groups[1], groups[2]};
  at.threads_per_threadgroup = {threads[0], threads[1], threads[2]};
  at.thread_position_in_threadgroup = {i % threads[0], i / threads[0] % threads[1],
                                       i / threads[0] / threads[1]};
  at.thread_position_in_grid = at.threadgroup_position_in_grid * at.threads_per_threadgroup +
                               at.thread_position_in_threadgroup;
  at.threads_per_grid = at.threadgroups_per_grid * at.threads_per_threadgroup;
  at.thread_index_in_threadgroup = i;
  return at;
}

extern "C" {
__attribute__((visibility("default"))) void (*metal_shim_barrier)();

/// Thread `first` of a workgroup and those after it, up to `last`, one after another.
__attribute__((visibility("default"))) void metal_shim_run(void *const *buffers, const uint *groups,
                                                           const uint *group, const uint *threads,
                                                           uint first, uint last) {
  for (uint i = first; i < last; ++i)
    invoke(buffers, invocation(groups, group, threads, i));
}
}
