/* The functions that compiled programs call while they run: threads, matrix products and memory.
 * Plain C, without LLVM, so a program compiled ahead of time needs only this library of the
 * project.
 */
#ifndef XTENSOR_RUNTIME_H
#define XTENSOR_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define XT_API __declspec(dllexport)
#else
#define XT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Filled in by compiled code. code: 0 = done, 1 = an index was out of range (site, index and size
 * say where), 2 = no memory for `size` bytes of temporaries, or more than
 * a device takes in one buffer, 3 = a device failed (xt_device_error
 * says how), 4 = a loop of a kernel took more than the `size` steps that the device takes, 5 = byte
 * `index` of temporaries of `size` bytes was written, which lies outside of them (xt_debug_memory),
 * 6 = the function is being deleted, 7 = the call was to end (xt_poll), 8 = the processes make
 * different calls (xt_meet). */
typedef struct xt_status {
  int32_t code;
  int32_t site;
  int64_t index;
  int64_t size;
} xt_status;

/* A compiled function. buffers: inputs, then outputs; row-major and contiguous, outputs aligned to
 * 64 bytes. sizes: the dynamic dims in order of first appearance over the inputs, each name once;
 * then every dynamic size of every output, in order. */
typedef void (*xt_entry)(void **buffers, const int64_t *sizes, xt_status *status);

/* An entry that checks indices or has temporaries begins with xt_begin_call; what it reports from
 * then on, on this thread or in its parallel loops, goes to `status`: the first report counts. */
XT_API void xt_begin_call(xt_status *status);
XT_API void xt_report_index(int32_t site, int64_t index, int64_t size);

/* Long loops call it. It returns whether the call must end, because of a report or because the user
 * interrupts. It calls the `check` of the latest xt_set_check on this thread, whose result becomes
 * the status of the call. `check` may run other compiled code. */
XT_API int32_t xt_poll(void);
XT_API void xt_set_check(int32_t (*check)(void));

/* Calls body(ctx, begin, end) over chunks that cover [0, n), each of at least `grain` (but for n <
 * grain). Runs inline where threads would not pay, inside another xt_parallel_for, and while
 * another thread owns the pool. grain: iterations that take about 2 microseconds on one thread. */
XT_API void xt_parallel_for(void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx,
                            int64_t n, int64_t grain);
/* Calls body(ctx, task) for each task in [0, n), on the same threads and by the same rules, of
 * which none is too short to wake a thread for. */
XT_API void xt_run_tasks(void (*body)(void *ctx, int64_t task), void *ctx, int64_t n);
/* Threads that a loop may use, the caller's included. First value: $XTENSOR_NUM_THREADS, or the
 * cores this process may run on. */
XT_API int xt_num_threads(void);
/* n < 1 restores the first value. No effect inside xt_parallel_for. */
XT_API void xt_set_num_threads(int n);

/* Row-major C[m, n] = op(A)[m, k] op(B)[k, n], added to C if `accumulate`. trans: op(X) = X
 * transposed. */
XT_API void xt_gemm_f32(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                        const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                        int64_t ldc, int64_t accumulate);
XT_API void xt_gemm_f64(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                        const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                        int64_t ldc, int64_t accumulate);
/* The name of the matrix library that xt_gemm uses. */
XT_API const char *xt_blas_name(void);

/* The library for factorisations, or null if this build does not have one. */
XT_API const char *xt_lapack_name(void);

/* One operand of a routine: strides count elements, may be 0, and may come in any order. bool is
 * XT_I8, and unsigned integers have the codes of the signed ones. */
enum { XT_I8, XT_I16, XT_I32, XT_I64, XT_F16, XT_BF16, XT_F32, XT_F64 };
typedef struct xt_array {
  void *data; /* the first element */
  int32_t type;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} xt_array;

/* A routine that the op xtensor.library calls. It takes ins, then outs; its comment describes the
 * options. Ins and outs do not overlap. */
#define XT_ROUTINE(name, reports, work)                                                            \
  XT_API void name(const xt_array *arrays, const int64_t *options);
#include "Routines.def"

/* What xt_callback calls, on its thread. A result other than 0 becomes the status of the call. It
 * may run other compiled code. */
XT_API void xt_set_callback(int32_t (*callback)(const xt_array *arrays, const int64_t *options));

/* The functions of the MPI library of this process, which Python finds. Handles are as its ABI
 * passes them, in a word; the last argument of `create_op` and of functions that begin something is
 * where to write one. types: of XT_I8 to XT_I64, the unsigned ones, XT_F32 and XT_F64. ops: sum,
 * product, maximum, minimum. */
typedef struct xt_mpi {
  int (*all_reduce)(const void *from, void *to, int count, intptr_t type, intptr_t op,
                    intptr_t communicator);
  int (*all_gather)(const void *from, int count, intptr_t type, void *to, int to_count,
                    intptr_t to_type, intptr_t communicator);
  int (*start_all_reduce)(const void *from, void *to, int count, intptr_t type, intptr_t op,
                          intptr_t communicator, intptr_t *request);
  int (*start_all_gather)(const void *from, int count, intptr_t type, void *to, int to_count,
                          intptr_t to_type, intptr_t communicator, intptr_t *request);
  int (*send)(const void *from, int count, intptr_t type, int to_process, int tag,
              intptr_t communicator, intptr_t *request);
  int (*receive)(void *to, int count, intptr_t type, int from_process, int tag,
                 intptr_t communicator, intptr_t *request);
  int (*wait)(intptr_t *request, void *status);
  int (*test)(intptr_t *request, int *is_done, void *status);
  int (*create_op)(void (*combine)(const void *from, void *to, const int *count, const void *type),
                   int commutes, intptr_t *op);
  int (*probe)(int from_process, int tag, intptr_t communicator, int *is_there, void *status);
  int (*abort)(intptr_t communicator, int code);
  int (*is_finalized)(int *is_finalized);
  /* An all_reduce that is prepared once and started often; null: the library lacks MPI 4. */
  int (*prepare_all_reduce)(const void *from, void *to, int count, intptr_t type, intptr_t op,
                            intptr_t communicator, intptr_t info, intptr_t *request);
  int (*start)(intptr_t *request);
  int (*free_request)(intptr_t *request);
  intptr_t types[10];
  intptr_t ops[4];
  intptr_t world;   /* the communicator of all processes */
  intptr_t no_info; /* in place of hints */
  int32_t anything; /* in place of the number of a process: any of them */
} xt_mpi;
XT_API void xt_set_mpi(const xt_mpi *mpi);
/* From now on collectives know it, by the number that is returned. */
XT_API int64_t xt_add_communicator(intptr_t handle, int64_t index, int64_t processes);
/* Bytes of arrays that this process has sent so far: in an all_gather, its part to each of the
 * others; in an all_reduce, those that an algorithm of least bytes sends, 2 (p - 1) / p of them. */
XT_API int64_t xt_bytes_sent(void);

/* What the processes of a communicator do next. program: differs where that differs; 0: this
 * process ends, and text is empty. text: says it to people. patience: seconds after which a process
 * that waits for the others says so on stderr; 0: never. */
typedef struct xt_together {
  int64_t communicator;
  int64_t program;
  const char *text;
  double patience;
} xt_together;
/* Whether the processes are about to do different things, which all of them learn. Then xt_told
 * gives the text of each process, cut to XT_TOLD bytes, until this thread calls it again; null:
 * there is no such process. xt_told_why says what differs: the programs; numbers that are
 * arguments; the collectives of the call before; a process has ended; all processes wait, but not
 * in the same; a process has died; another thread makes a call. For the last three, there is one
 * text. */
enum { XT_TOLD = 2048 };
enum { XT_PROGRAMS, XT_VALUES, XT_PATHS, XT_ENDED, XT_STUCK, XT_GONE, XT_THREADS };
XT_API int32_t xt_agree(const xt_together *what);
XT_API const char *xt_told(int64_t process);
XT_API int32_t xt_told_why(void);
/* A call of a program: its first collective begins with xt_agree, unless its state is XT_AGREED.
 * If that differs, no collective of the call does anything. values: a hash of what must be equal in
 * all processes; `describe` writes these values, as text, if they are not. Returns what the thread
 * met before, to which xt_leave returns at the end of the call. */
enum { XT_UNMET, XT_AGREED, XT_DIFFERS };
typedef struct xt_meeting {
  const xt_together *what;
  int32_t state;
  int64_t values;
  void (*describe)(const struct xt_meeting *meeting, char *text, size_t bytes);
  void *path; /* of the runtime; null at first */
} xt_meeting;
XT_API xt_meeting *xt_meet(xt_meeting *now);
XT_API void xt_leave(xt_meeting *before);
/* Names a process of a communicator for messages. */
XT_API void xt_name_peer(int64_t communicator, int64_t process, const char *name);
/* It is a process of this machine, whose death ends calls that wait for it (XT_GONE). connection: a
 * socket of both, which the runtime closes; -1: there is none. */
XT_API void xt_watch_peer(int64_t communicator, int64_t process, int64_t pid, int32_t connection);
/* From now on, the processes of a communicator end. */
XT_API void xt_peers_end(int64_t communicator);
/* This process makes no more calls with them. */
XT_API void xt_forget_peers(int64_t communicator);
/* Whether calls of a communicator will never end: a process has died, or all wait for each other.
 */
XT_API int32_t xt_is_gone(int64_t communicator);

/* Bits of the nearest float16 and bfloat16, ties to even. */
XT_API uint16_t xt_half_bits(double value);
XT_API uint16_t xt_bfloat16_bits(double value);

/* Buffers, aligned to 64 bytes. Freed buffers are kept, up to a limit ($XTENSOR_CACHE_BYTES). Null
 * if memory is exhausted. xt_free takes the same `bytes`. */
XT_API void *xt_alloc(size_t bytes);
XT_API void xt_free(void *p, size_t bytes);
/* The bytes kept for reuse, and a function that returns them to the system, except for those in the
 * small-block caches of other threads. */
XT_API size_t xt_cached_bytes(void);
XT_API void xt_trim(void);

/* Whether $XTENSOR_DEBUG_MEMORY is 1: every block comes filled with bytes 0xff, with guard bytes
 * behind it, and before it if it is smaller than 4 MB. A block whose guards are damaged when it is
 * freed ends the process. */
XT_API int32_t xt_debug_memory(void);
/* Whether something wrote into the guards of a block from xt_alloc, and the first such byte; mends
 * them. */
XT_API int32_t xt_damaged(void *p, size_t bytes, ptrdiff_t *offset);

/* Scratch memory of one call of a compiled function, aligned to 64 bytes. If memory is exhausted,
 * it reports that and returns null. */
XT_API void *xt_arena_acquire(int64_t bytes);
XT_API void xt_arena_release(void *p);

#ifdef __cplusplus
}
#endif
#endif
