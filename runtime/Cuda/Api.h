// The CUDA driver (libcuda), loaded at run time. This header declares what is used of it, so the
// build needs no files of NVIDIA. Names, numbers and types are those of cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xtensor::cuda {

using Result = int;
using DeviceNumber = int;
using Address = unsigned long long;
using ContextHandle = struct CUctx_st *;
using StreamHandle = struct CUstream_st *;
using EventHandle = struct CUevent_st *;
using ModuleHandle = struct CUmod_st *;
using FunctionHandle = struct CUfunc_st *;
using GraphHandle = struct CUgraph_st *;
using GraphExecHandle = struct CUgraphExec_st *;

enum : Result {
  kSuccess = 0,
  kDeinitialized = 4,
  kUncorrectableEcc = 214,
  kUnsupportedPtx = 222,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextDestroyed = 709,
  kAssert = 710,
  kHardwareStack = 714,
  kLaunchFailed = 719,
  kUnknown = 999,
};

/// Attributes of a device.
enum Attribute : int {
  kMaxThreads = 1,
  kMaxBlockX = 2,
  kMaxGridX = 5,
  kSharedBytes = 8,
  kWarpSize = 10,
  kComputeMajor = 75,
  kComputeMinor = 76,
};

/// Options of the assembler in the driver.
enum JitOption : int { kErrorLog = 5, kErrorLogBytes = 6 };

enum : unsigned {
  kStreamNonBlocking = 1,
  kEventDisableTiming = 2,
  kHostPortable = 1,
  kHostMapped = 2,
};
constexpr int kCaptureRelaxed = 2;

/// DO(member, name in the library, arguments)
#define XT_CUDA_FUNCTIONS(DO)                                                                      \
  DO(Init, "cuInit", (unsigned))                                                                   \
  DO(DriverGetVersion, "cuDriverGetVersion", (int *))                                              \
  DO(GetErrorName, "cuGetErrorName", (Result, const char **))                                      \
  DO(GetErrorString, "cuGetErrorString", (Result, const char **))                                  \
  DO(DeviceGetCount, "cuDeviceGetCount", (int *))                                                  \
  DO(DeviceGet, "cuDeviceGet", (DeviceNumber *, int))                                              \
  DO(DeviceGetName, "cuDeviceGetName", (char *, int, DeviceNumber))                                \
  DO(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, DeviceNumber))                       \
  DO(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, DeviceNumber))                              \
  DO(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ContextHandle *, DeviceNumber))                \
  DO(CtxPushCurrent, "cuCtxPushCurrent_v2", (ContextHandle))                                       \
  DO(CtxPopCurrent, "cuCtxPopCurrent_v2", (ContextHandle *))                                       \
  DO(StreamCreate, "cuStreamCreate", (StreamHandle *, unsigned))                                   \
  DO(StreamBeginCapture, "cuStreamBeginCapture_v2", (StreamHandle, int))                           \
  DO(StreamEndCapture, "cuStreamEndCapture", (StreamHandle, GraphHandle *))                        \
  DO(GraphInstantiate, "cuGraphInstantiateWithFlags",                                              \
     (GraphExecHandle *, GraphHandle, unsigned long long))                                         \
  DO(GraphLaunch, "cuGraphLaunch", (GraphExecHandle, StreamHandle))                                \
  DO(GraphDestroy, "cuGraphDestroy", (GraphHandle))                                                \
  DO(GraphExecDestroy, "cuGraphExecDestroy", (GraphExecHandle))                                    \
  DO(EventCreate, "cuEventCreate", (EventHandle *, unsigned))                                      \
  DO(EventRecord, "cuEventRecord", (EventHandle, StreamHandle))                                    \
  DO(EventQuery, "cuEventQuery", (EventHandle))                                                    \
  DO(EventSynchronize, "cuEventSynchronize", (EventHandle))                                        \
  DO(MemAlloc, "cuMemAlloc_v2", (Address *, size_t))                                               \
  DO(MemFree, "cuMemFree_v2", (Address))                                                           \
  DO(MemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                  \
  DO(MemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (Address *, void *, unsigned))       \
  DO(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (Address, const void *, size_t, StreamHandle))       \
  DO(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, Address, size_t, StreamHandle))             \
  DO(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (Address, Address, size_t, StreamHandle))            \
  DO(MemsetD8Async, "cuMemsetD8Async", (Address, unsigned char, size_t, StreamHandle))             \
  DO(ModuleLoadDataEx, "cuModuleLoadDataEx",                                                       \
     (ModuleHandle *, const void *, unsigned, int *, void **))                                     \
  DO(ModuleGetFunction, "cuModuleGetFunction", (FunctionHandle *, ModuleHandle, const char *))     \
  DO(ModuleUnload, "cuModuleUnload", (ModuleHandle))                                               \
  DO(LaunchKernel, "cuLaunchKernel",                                                               \
     (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
      StreamHandle, void **, void **))

struct Driver {
#define XT_CUDA_MEMBER(member, name, arguments) Result(*member) arguments = nullptr;
  XT_CUDA_FUNCTIONS(XT_CUDA_MEMBER)
#undef XT_CUDA_MEMBER
  int version = 0; // 1000 * major + 10 * minor

  /// "CUDA_ERROR_..." for messages, and what it means.
  const char *nameOf(Result result) const;
  const char *meaningOf(Result result) const;
};

/// Null, with xt_device_error set, if no driver or no device exists. A failed attempt is repeated.
const Driver *driver();

} // namespace xtensor::cuda
