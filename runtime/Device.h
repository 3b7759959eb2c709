/* Devices other than the CPU: their memory, their kernels, and the functions that a program
 * compiled for a device calls while it runs. Plain C. Every backend (Vulkan, CUDA, Metal)
 * implements the same functions and is loaded at run time, so this library works without a driver.
 *
 * Device memory has addresses: one number names one byte, and address + offset names the byte
 * `offset` further on. The CPU cannot dereference them, except on a device with
 * XT_DEVICE_UNIFIED_MEMORY, after xt_device_synchronize. In a call, xt_call_map returns a pointer.
 * Work runs in the order in which it is submitted. The CPU waits only when it reads a value. */
#ifndef XTENSOR_DEVICE_H
#define XTENSOR_DEVICE_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xt_device xt_device;

/* The features of a device, as its driver reports them. */
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
  XT_DEVICE_UNIFIED_MEMORY = 1 << 10, /* the CPU can dereference every address */
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

/* The number of devices of a backend. It is 0 without a driver; xt_device_error says why. */
XT_API int32_t xt_device_count(const char *backend);
/* Opens a device, or returns the open one, which lives as long as the process. A device that was
 * lost is opened again. index: 0 is the best device; -1 is $XTENSOR_DEVICE, or 0. Null if the
 * device does not exist. */
XT_API xt_device *xt_device_open(const char *backend, int32_t index);
XT_API const xt_device_info *xt_device_get_info(xt_device *device);
/* The message of the last call that failed on this thread. */
XT_API const char *xt_device_error(void);
/* Whether devices can be used. They cannot in a forked process, nor while the process exits;
 * xt_device_error says so. */
XT_API int32_t xt_device_usable(void);
/* Waits for all devices, and does not use them afterwards. Call it before the process ends. exit()
 * calls it too, but the exit handlers that a driver registers late run before it. So a host with
 * its own shutdown (Python) calls this function there. */
XT_API void xt_device_leave(void);
/* The number of messages of validation layers ($XTENSOR_VALIDATE=1), which also go to stderr. */
XT_API int64_t xt_device_messages(xt_device *device);
/* Counters of a device since it was opened, for tests and profiles. */
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

/* Memory from a pool, aligned to 256 bytes. Null if memory is exhausted, or if the device refuses
 * the size. Freed memory is reused for work that is submitted later, after earlier work has
 * finished with it. */
XT_API void *xt_device_alloc(xt_device *device, size_t bytes);
XT_API void xt_device_free(xt_device *device, void *address, size_t bytes);
/* The bytes held for reuse, and a function that returns them to the driver. */
XT_API size_t xt_device_cached_bytes(xt_device *device);
XT_API void xt_device_trim(xt_device *device);

/* All return 0, or 1 with xt_device_error set. Write has read `from` when it returns. Read waits.
 * The two ranges of a copy must not overlap. Do not call them during a call of a program. */
XT_API int32_t xt_device_write(xt_device *device, void *to, const void *from, size_t bytes);
XT_API int32_t xt_device_read(xt_device *device, void *to, const void *from, size_t bytes);
XT_API int32_t xt_device_copy(xt_device *device, void *to, const void *from, size_t bytes);
XT_API int32_t xt_device_synchronize(xt_device *device);

/* One kernel in compiled code. It is constant except for `handle`, where the backend stores what it
 * made of the kernel. Parameters: buffers (binding i of set 0), then 32-bit numbers (push constants
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

/* A program in compiled code. */
typedef struct xt_program {
  const char *name; /* for profiles and messages */
  int32_t inputs, outputs;
  int32_t sizes;      /* numbers in the `sizes` of its entry */
  int32_t reports;    /* whether it checks indices */
  int32_t replayable; /* its commands depend on the addresses and sizes of a call alone */
  int32_t padding;
  void *handle;
} xt_program;

/* One call of a program on the device that xt_device_use set for this thread.
 *
 * Begin returns 1 if the program must return at once, without xt_call_end. This happens in two
 * cases. Either the commands of the same call (equal addresses and sizes) were recorded earlier and
 * have been submitted again, or the device cannot be used (status code 3, xt_device_error says
 * why).
 *
 * Otherwise the commands are recorded, and xt_call_end submits them (or an earlier function, if the
 * CPU needs a value). A failure sets status code 3, and the rest of the call does nothing. A call
 * locks the device, and other threads wait. */
XT_API int32_t xt_call_begin(xt_program *program, void **buffers, const int64_t *sizes,
                             xt_status *status);
XT_API void xt_call_launch(xt_kernel *kernel, int64_t groups_x, int64_t groups_y, int64_t groups_z,
                           void *const *buffers, const int32_t *numbers);
/* The number of bytes of each buffer that the next launch uses, starting at its address. The launch
 * reads `bytes`. The default is everything up to the end of the array (of the arena, for
 * temporaries). With the default, launches may wait for each other without need, and a buffer over
 * the device's max_buffer_bytes is not found. Here, such a buffer gives status code 2. */
XT_API void xt_call_extents(const int64_t *bytes);
XT_API void xt_call_copy(void *to, const void *from, int64_t bytes);
/* Memory for the temporaries of this call, which later calls reuse. Null, with status code 2, if it
 * cannot be allocated, and null if the call failed before. Arithmetic on null is then harmless,
 * because the rest of the call does nothing. */
XT_API void *xt_call_arena(int64_t bytes);
/* The memory to which the kernels of this call report: the words site + 1, index (low, high) and
 * size (low, high). They are zeros without an error. */
XT_API void *xt_call_report(void);
/* A copy on the device of `bytes` of constants in the compiled code. It is made once. */
XT_API void *xt_call_constant(const void *data, int64_t bytes);
/* Lets the CPU read (mode & 1) or write (mode & 2) part of an array during a call, after earlier
 * work has finished. Unmap takes the same numbers and the pointer. In a failed call, the memory
 * holds zeros. */
XT_API void *xt_call_map(void *address, int64_t bytes, int32_t mode);
XT_API void xt_call_unmap(void *address, int64_t bytes, int32_t mode, void *host);
XT_API void xt_call_end(void);

/* Sets the device on which the next calls of this thread run. */
XT_API void xt_device_use(xt_device *device);

/* A reference-counted ticket for the report of the last call of this thread, or null if its program
 * checks nothing. The caller owns a reference; a second request gives null. Wait stores the first
 * report in status (code 1), or zeros, and keeps the answer. It returns 1 if it cannot know the
 * report. */
typedef struct xt_ticket xt_ticket;
XT_API xt_ticket *xt_call_ticket(void);
XT_API void xt_ticket_retain(xt_ticket *ticket);
XT_API void xt_ticket_release(xt_ticket *ticket);
XT_API int32_t xt_ticket_wait(xt_ticket *ticket, xt_status *status);

/* The program of this thread's last call, or null. */
XT_API xt_program *xt_call_program(void);
/* Releases what devices made of a program and of the kernels that its calls launched, or of one
 * kernel. Call it before compiled code is unloaded, when no thread calls that code. It does not
 * block: a device frees these things once it no longer uses them. A later call makes them again. */
XT_API void xt_program_forget(xt_program *program);
XT_API void xt_kernel_forget(xt_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
