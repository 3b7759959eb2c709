/* The beginning of every header of a library of xtensor. The text is copied into each. */
#ifndef XTENSOR_AOT_PUBLIC
#define XTENSOR_AOT_PUBLIC

#include <stddef.h>
#include <stdint.h>

/* The symbol of a function. It contains a hash of the types of its arrays. So a program does not
 * link with a library that does not fit its header. Replace header and library together. */
#if defined(__GNUC__) || defined(__clang__)
#define XT_SYMBOL(name) __asm__(name)
#else
#define XT_SYMBOL(name)
#endif

/* The result of a function. For codes below XT_NO_MEMORY, no array was read or written. */
enum {
  XT_OK = 0,
  XT_NULL = 1,       /* an array, or its data, is null */
  XT_SIZE = 2,       /* a size is wrong, or two dims of one name differ */
  XT_ALIGNMENT = 3,  /* data is not aligned to its elements */
  XT_OVERLAP = 4,    /* a result or the workspace shares memory with an array or the context */
  XT_COUNT = 5,      /* too few or too many arrays, or dims */
  XT_DTYPE = 6,      /* elements of another type */
  XT_DIM = 7,        /* a dim has another name */
  XT_RANGE = 8,      /* a number does not fit the type that it becomes */
  XT_NO_MEMORY = 16, /* memory for temporaries could not be allocated */
  XT_INDEX = 17      /* an index was out of range, or a matrix not square: results are undefined */
};

/* Element types, as in xt_any. */
enum {
  XT_BOOL,
  XT_INT8,
  XT_INT16,
  XT_INT32,
  XT_INT64,
  XT_UINT8,
  XT_UINT16,
  XT_UINT32,
  XT_UINT64,
  XT_FLOAT16,
  XT_BFLOAT16,
  XT_FLOAT32,
  XT_FLOAT64,
  XT_COMPLEX64, /* pairs of float: the real part, the imaginary part */
  XT_COMPLEX128
};

/* A row-major array with its type, for callers that know their arrays only at run time. */
typedef struct xt_any {
  void *data;
  int32_t dtype;
  int32_t rank;
  const char *const *dims;
  const int64_t *sizes;
} xt_any;

/* The memory and threads that a call may use, and its error message. A context of zeros, or a null
 * pointer, is valid. Then memory comes from malloc, loops run on one thread, and without a context
 * the code is the only report. Calls may run at the same time, each with its own context. */
typedef struct xt_context {
  /* Memory for temporaries, used as far as they fit. It is aligned to 64 bytes and does not overlap
   * an array or this context. A function's .._workspace says how many bytes it needs. */
  void *workspace;
  size_t workspace_bytes;
  /* Allocates memory for the other temporaries, or returns null. If `allocate` is null, malloc is
   * used. */
  void *(*allocate)(void *state, size_t bytes);
  void (*release)(void *state, void *memory, size_t bytes);
  /* Runs body(ctx, begin, end) over parts that cover [0, n), of `grain` or more, on any threads.
   * Null: body(ctx, 0, n). */
  void (*parallel_for)(void *state, void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx,
                       int64_t n, int64_t grain);
  void *state;       /* passed to the three above */
  char message[256]; /* of the last call that failed; a text that was cut ends in ".." */
} xt_context;

#endif
