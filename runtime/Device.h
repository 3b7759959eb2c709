/* Devices that are not the CPU: their memory, their kernels, and what a program compiled for one
 * calls while it runs. Plain C. Every backend (Vulkan, CUDA, Metal) fills in the same functions and
 * is loaded at run time, so that this library works where no driver is.
 *
 * Device memory is named by addresses: one number names one byte, and address + offset names the
 * byte `offset` further on. The CPU follows no address but those of a device with
 * XT_DEVICE_UNIFIED_MEMORY, after xt_device_synchronize; in a call, xt_call_map gives it a pointer.
 * Work is done in the order in which it is asked for; nothing waits until a value is read. */
#ifndef XTENSOR_DEVICE_H
#define XTENSOR_DEVICE_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xt_device xt_device;

/* What a device has, asked of its driver. */
enum {
  XT_DEVICE_F64 = 1 << 0,
  XT_DEVICE_I64 = 1 << 1,
  XT_DEVICE_F16 = 1 << 2, /* arithmetic */
  XT_DEVICE_I16 = 1 << 3,
  XT_DEVICE_I8 = 1 << 4,
  XT_DEVICE_STORAGE_16 = 1 << 5, /* 16-bit elements in buffers */
  XT_DEVICE_STORAGE_8 = 1 << 6,
  XT_DEVICE_ATOMIC_ADD_F32 = 1 << 7,
  XT_DEVICE_ATOMIC_I64 = 1 << 8,
  XT_DEVICE_SUBGROUP_ARITHMETIC = 1 << 9,
  XT_DEVICE_UNIFIED_MEMORY = 1 << 10, /* the CPU follows every address */
  XT_DEVICE_ATOMIC_ADD_F64 = 1 << 11,
  XT_DEVICE_SUBGROUP_SHUFFLE = 1 << 12,
  XT_DEVICE_SUBGROUP_ALL_TYPES = 1 << 13, /* subgroup operations on 8, 16 and 64 bits, too */
  /* The driver can be told to keep signed zeros, infinities and NaNs (SignedZeroInfNanPreserve). */
  XT_DEVICE_EXACT_SPECIALS_F16 = 1 << 14,
  XT_DEVICE_EXACT_SPECIALS_F32 = 1 << 15,
  XT_DEVICE_EXACT_SPECIALS_F64 = 1 << 16,
  /* The driver can be told to keep subnormal numbers (DenormPreserve). */
  XT_DEVICE_SUBNORMALS_F16 = 1 << 17,
  XT_DEVICE_SUBNORMALS_F32 = 1 << 18,
  XT_DEVICE_SUBNORMALS_F64 = 1 << 19
};
typedef struct xt_device_info {
  const char *backend; /* "vulkan", "cuda" */
  const char *name;    /* as the driver gives it */
  const char *driver;
  uint32_t features;
  int32_t subgroup_size;
  int64_t max_buffer_bytes; /* of one array */
  int64_t workgroup_bytes;  /* shared memory of a workgroup */
  int64_t max_workgroup_threads;
  int64_t memory_bytes;
  int64_t max_groups[3];     /* of one launch; more is an error */
  int32_t max_group_size[3]; /* threads of a workgroup, per dimension */
  int32_t max_kernel_buffers;
  int32_t max_kernel_numbers;
  int32_t architecture; /* CUDA: compute capability, 10 * major + minor; else 0 */
  /* Vulkan: rows, columns and depth of what a subgroup multiplies at once, float16 summed in
   * float32 (VK_KHR_cooperative_matrix); else 0. */
  int32_t unit[3];
  /* "nvidia", "amd", "intel", "apple", "software" (a driver on the CPU), or "": by which kernels
   * are tuned. */
  const char *vendor;
} xt_device_info;

/* Devices of a backend; 0 where there is no driver, xt_device_error says why. */
XT_API int32_t xt_device_count(const char *backend);
/* Opens a device, or returns the one that is open: it lives as long as the process. One that was
 * lost is not given again, but opened anew. index: the best device is 0; -1 is $XTENSOR_DEVICE, or
 * 0. Null if there is none. */
XT_API xt_device *xt_device_open(const char *backend, int32_t index);
XT_API const xt_device_info *xt_device_get_info(xt_device *device);
/* What the last call on this thread that failed could not do, in words. */
XT_API const char *xt_device_error(void);
/* Whether devices can be asked for anything: not in a forked process, nor while one exits;
 * xt_device_error says so. */
XT_API int32_t xt_device_usable(void);
/* Waits for all devices, and asks them for nothing any more: before the process ends. exit() does
 * so, too, but a driver registers what it takes apart then as late as it needs it, and what is
 * registered late goes first: a host with an end of its own (Python) calls this there. */
XT_API void xt_device_leave(void);
/* Complaints of validation layers ($XTENSOR_VALIDATE=1), which are written to stderr, too. */
XT_API int64_t xt_device_messages(xt_device *device);
/* What a device did since it was opened, for tests and profiles. */
typedef struct xt_device_counters {
  int64_t submissions;    /* to its queue */
  int64_t records;        /* calls whose commands were recorded */
  int64_t replays;        /* calls whose commands were on record */
  int64_t waits;          /* of the CPU for the device */
  int64_t kernels;        /* made ready for the device */
  int64_t cached_kernels; /* of those, found in the cache on disk */
  int64_t barriers;       /* between the commands of one call */
  int64_t driver_bytes;   /* of memory held now */
  int64_t kernels_held;   /* of those made, not given back yet */
} xt_device_counters;
XT_API xt_device_counters xt_device_get_counters(xt_device *device);

/* Memory, pooled. 256-byte aligned. Null if there is none or the device refuses the size. Freed
 * memory is used again for work that is asked for later, never before work that was asked for
 * earlier is done with it. */
XT_API void *xt_device_alloc(xt_device *device, size_t bytes);
XT_API void xt_device_free(xt_device *device, void *address, size_t bytes);
/* Bytes held for reuse; giving them back to the driver. */
XT_API size_t xt_device_cached_bytes(xt_device *device);
XT_API void xt_device_trim(xt_device *device);

/* All return 0, or 1 with xt_device_error set. Write takes what it needs from `from` before it
 * returns; read waits; copies do not overlap. None of them in the midst of a call. */
XT_API int32_t xt_device_write(xt_device *device, void *to, const void *from, size_t bytes);
XT_API int32_t xt_device_read(xt_device *device, void *to, const void *from, size_t bytes);
XT_API int32_t xt_device_copy(xt_device *device, void *to, const void *from, size_t bytes);
XT_API int32_t xt_device_synchronize(xt_device *device);

/* One kernel, as compiled code holds it: a constant but for `handle`, in which the backend keeps
 * what it made of it. Parameters: buffers (binding i of set 0), then 32-bit numbers (push constants
 * at 4 * i). */
typedef struct xt_kernel {
  const void *code; /* SPIR-V, PTX or MSL */
  int64_t code_bytes;
  const char *name; /* of the entry point */
  int32_t buffers;
  int32_t numbers;
  int32_t threads[3]; /* of a workgroup */
  int32_t padding;
  int64_t writes; /* bit i: buffer i may be written; kernels that only read need not wait */
  void *handle;
} xt_kernel;

/* A program, as compiled code holds it. */
typedef struct xt_program {
  const char *name; /* for profiles and messages */
  int32_t inputs, outputs;
  int32_t sizes;      /* numbers in the `sizes` of its entry */
  int32_t reports;    /* whether it checks indices */
  int32_t replayable; /* its commands depend on the addresses and sizes of a call alone */
  int32_t padding;
  void *handle;
} xt_program;

/* One call of a program on the device that xt_device_use gave this thread. Begin returns 1 if there
 * is nothing left to do and the program returns at once, without xt_call_end: the commands of this
 * very call (same addresses and sizes) are on record and were sent again, or the device cannot be
 * used (status code 3, xt_device_error says why). Otherwise they are recorded now, and sent by
 * xt_call_end (or where a value is needed before). Whatever fails until then sets status code 3;
 * the rest of the call does nothing. A call has the device to itself: other threads wait. */
XT_API int32_t xt_call_begin(xt_program *program, void **buffers, const int64_t *sizes,
                             xt_status *status);
XT_API void xt_call_launch(xt_kernel *kernel, int64_t groups_x, int64_t groups_y, int64_t groups_z,
                           void *const *buffers, const int32_t *numbers);
/* How many bytes of each buffer the next launch touches, from its address on. Without it, that is
 * everything up to the end of the array (for temporaries: of the arena), which makes launches wait
 * for each other that need not, and hides a buffer over the device's max_buffer_bytes: one that is
 * given here is an error, status code 2. The launch reads them. */
XT_API void xt_call_extents(const int64_t *bytes);
XT_API void xt_call_copy(void *to, const void *from, int64_t bytes);
/* Temporaries of this call; the space is used again by later calls. Null, with status code 2, if
 * there is no memory for them, and if the call failed before: arithmetic on that is harmless, as
 * nothing more is done. */
XT_API void *xt_call_arena(int64_t bytes);
/* Where this call's kernels report to: words site + 1, index (low, high), size (low, high); zeros
 * as long as nothing is wrong. */
XT_API void *xt_call_report(void);
/* A copy on the device of `bytes` of the compiled code's own constants, made once. */
XT_API void *xt_call_constant(const void *data, int64_t bytes);
/* The CPU reads (mode & 1) or writes (mode & 2) part of an array in the midst of a call: waits for
 * what was asked before. Unmap wants the same numbers and the pointer. A failed call gets zeros to
 * work on. */
XT_API void *xt_call_map(void *address, int64_t bytes, int32_t mode);
XT_API void xt_call_unmap(void *address, int64_t bytes, int32_t mode, void *host);
XT_API void xt_call_end(void);

/* The device that this thread's next calls run on. */
XT_API void xt_device_use(xt_device *device);

/* What the last call of this thread may yet report: a ticket that counts references, or null if its
 * program checks nothing. The caller owns a reference; a second request gives null. Wait gives the
 * first report in status (code 1) or zeros; the answer is kept. It returns 1 if it cannot know. */
typedef struct xt_ticket xt_ticket;
XT_API xt_ticket *xt_call_ticket(void);
XT_API void xt_ticket_retain(xt_ticket *ticket);
XT_API void xt_ticket_release(xt_ticket *ticket);
XT_API int32_t xt_ticket_wait(xt_ticket *ticket, xt_status *status);

/* The program of this thread's last call, or null. */
XT_API xt_program *xt_call_program(void);
/* Before compiled code is unloaded, and once nobody calls it: gives back what devices made of a
 * program and of the kernels that its calls launched, as soon as they are done with them; or of one
 * kernel. Waits for nobody. Where it is called again all the same, it is made again. */
XT_API void xt_program_forget(xt_program *program);
XT_API void xt_kernel_forget(xt_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
