/* What a function of a library is, as constants that the compiler writes (compiler/Library.cpp) and
 * check.c reads. */
#ifndef XTENSOR_AOT_TABLES_H
#define XTENSOR_AOT_TABLES_H

#include "call.h"

/* `factor` times the open sizes with these numbers. */
typedef struct xta_size {
  int64_t factor;
  int64_t count;
  const int64_t *open;
} xta_size;

typedef struct xta_array {
  const char *name;
  int64_t dtype; /* as in xt_any */
  int64_t rank;
  const char *const *dims;
  const xta_size *sizes;
  const void *data; /* of a weight that lies in the library; else null */
} xta_array;

typedef struct xta_site {
  const char *dim;
  const char *location;
  int64_t labels; /* a negative index is told a size higher */
} xta_site;

/* Two sizes that must be equal. */
typedef struct xta_equal {
  xta_size left, right;
  const char *dim;
} xta_equal;

/* A size that must not be 0, and the sentence that says why. */
typedef struct xta_nonempty {
  xta_size size;
  const char *dim;
  const char *message;
} xta_nonempty;

/* An argument, one int64, that becomes a number of a type which holds these. */
typedef struct xta_range {
  int64_t argument, least, most;
  const char *dtype;
  const char *location;
} xta_range;

typedef struct xta_function {
  const char *name;
  xt_entry entry;
  int64_t inputs, outputs; /* weights are the last inputs */
  int64_t open;            /* sizes known at the call only */
  int64_t openResults;     /* dims of results with such sizes */
  const xta_array *arrays; /* inputs, then outputs */
  int64_t equalities;
  const xta_equal *equal;
  int64_t nonemptyCount;
  const xta_nonempty *nonempty;
  int64_t siteCount;
  const xta_site *sites;
  /* Temporaries: of the whole call, at these sizes (null: none), and those of loops, at most. */
  int64_t (*bytes)(void **buffers, const int64_t *sizes, xt_status *status);
  int64_t loopBytes;
  int64_t rangeCount;
  const xta_range *ranges;
} xta_function;

/* The routines that a library calls, up to one without a name: what it has of lapack.c and sort.c.
 */
typedef struct xta_routine {
  const char *name;
  void (*run)(const xt_array *arrays, const int64_t *options, xt_call *call);
} xta_routine;
extern const xta_routine xta_routines[];

#endif
