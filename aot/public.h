/* What every header of a library of xtensor begins with; the text is copied into each. */
#ifndef XTENSOR_AOT_PUBLIC
#define XTENSOR_AOT_PUBLIC

#include <stddef.h>
#include <stdint.h>

/* What a linker knows a function by: it has a hash of the arrays that are passed, so that a program
 * does not start with a library whose header is another one. Replace header and library together.
 */
#if defined(__GNUC__) || defined(__clang__)
#define XT_SYMBOL(name) __asm__(name)
#else
#define XT_SYMBOL(name)
#endif

/* What a function returns. Below XT_NO_MEMORY nothing was read or written. */
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
  XT_NO_MEMORY = 16, /* no memory for temporaries */
  XT_INDEX = 17      /* an index was out of range, or a matrix not square: results hold anything */
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
  XT_FLOAT64
};

/* An array that says what it is, for callers that learn of their arrays when they run. Row-major.
 */
typedef struct xt_any {
  void *data;
  int32_t dtype;
  int32_t rank;
  const char *const *dims;
  const int64_t *sizes;
} xt_any;

/* What a call may use and where it tells what went wrong. All zero is right for a start, and a null
 * pointer will do: then memory is malloc's, the loops run on one thread, and nothing is told but
 * the code. One call uses a context at a time; any number of calls run at once. */
typedef struct xt_context {
  /* Temporaries, as far as they fit: aligned to 64 bytes, no part of an array or of this. A
   * function's .._workspace says how many bytes they are. */
  void *workspace;
  size_t workspace_bytes;
  /* Where memory for the rest comes from: null if there is none. `allocate` null: malloc. */
  void *(*allocate)(void *state, size_t bytes);
  void (*release)(void *state, void *memory, size_t bytes);
  /* Runs body(ctx, begin, end) over parts that cover [0, n), of `grain` or more, on any threads.
   * Null: body(ctx, 0, n). */
  void (*parallel_for)(void *state, void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx,
                       int64_t n, int64_t grain);
  void *state;       /* handed to the three above */
  char message[256]; /* of the last call that failed; what does not fit ends in ".." */
} xt_context;

#endif
