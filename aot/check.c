/* The functions of a library's header end up here: arrays are checked before anything is touched,
 * the caller's memory and threads become the services of the call, and what went wrong becomes a
 * code and a sentence. Freestanding C, as kernel.c. */
#include "public.h"
#include "tables.h"

void *malloc(size_t);
void free(void *);

/* xta_acquire, xta_release and xta_loop below, and matrix products where a library is named. */
extern const xt_services xta_services;

/* -- sentences ------------------------------------------------------------------------------- */

typedef struct {
  char *at, *begin, *end;
} Text;

/* Without a place to write to, nothing is written. What does not fit ends in "..", in front of
 * which no character is cut in two. */
static __attribute__((noinline)) void put(Text *t, const char *s) {
  if (!t->at)
    return;
  while (*s && t->at < t->end)
    *t->at++ = *s++;
  *t->at = 0;
  if (!*s)
    return;
  char *cut = t->end - 2;
  while (cut > t->begin && ((unsigned char)*cut & 0xc0) == 0x80)
    --cut;
  cut[0] = cut[1] = '.';
  cut[2] = 0;
  t->at = 0;
}

static int sameText(const char *a, const char *b) {
  while (*a && *a == *b)
    ++a, ++b;
  return *a == *b;
}

static __attribute__((noinline)) void putNumber(Text *t, int64_t n) {
  char digits[24], *p = digits + 23;
  uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  *p = 0;
  do
    *--p = (char)('0' + left % 10);
  while (left /= 10);
  if (n < 0)
    *--p = '-';
  put(t, p);
}

static __attribute__((noinline)) Text begin(xt_context *context, const xta_function *f) {
  Text t = {0, 0, 0};
  if (context) {
    t.at = t.begin = context->message;
    t.end = context->message + sizeof context->message - 1;
    put(&t, f->name);
    put(&t, ": ");
  }
  return t;
}

/* "argument image: dim pixel" */
static __attribute__((noinline)) void label(Text *t, const xta_function *f, const xta_array *array,
                                            const char *dim) {
  put(t, array - f->arrays < f->inputs ? "argument " : "result ");
  put(t, array->name);
  if (dim) {
    put(t, ": dim ");
    put(t, dim);
  }
}

/* "argument image: dim pixel " */
static __attribute__((noinline)) void name(Text *t, const xta_function *f, const xta_array *array,
                                           const char *dim) {
  label(t, f, array, dim);
  put(t, " ");
}

static const char *const kDtypes[] = {"bool",     "int8",    "int16",   "int32",     "int64",
                                      "uint8",    "uint16",  "uint32",  "uint64",    "float16",
                                      "bfloat16", "float32", "float64", "complex64", "complex128"};
static const int8_t kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
static const int8_t kAlignment[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 4, 8};

/* -- memory and threads ---------------------------------------------------------------------- */

typedef struct {
  xt_context *context;
  size_t taken; /* bytes at the start of the workspace that are given out */
} State;

enum { kHeader = 64 }; /* in front of what is given out: where it came from, and how much */
typedef struct {
  void *memory;
  size_t bytes;
} Header;

/* The next piece of the workspace. The last one that was taken can be given back; others are when
 * the call ends. */
static char *piece(State *state, size_t bytes) {
  xt_context *c = state->context;
  size_t taken = __atomic_load_n(&state->taken, __ATOMIC_RELAXED);
  do {
    if (!c->workspace || c->workspace_bytes < taken || c->workspace_bytes - taken < bytes)
      return 0;
  } while (!__atomic_compare_exchange_n(&state->taken, &taken, taken + bytes, 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
  return (char *)c->workspace + taken;
}

void *xta_acquire(xt_call *call, int64_t bytes) {
  State *state = call->state;
  xt_context *c = state->context;
  size_t own = (((size_t)bytes + 63) & ~(size_t)63) + kHeader;
  char *start = c ? piece(state, own) : 0;
  if (start) {
    Header *header = (Header *)start;
    header->memory = 0;
    header->bytes = own;
    return start + kHeader;
  }
  size_t total = (size_t)bytes + 2 * kHeader;
  char *memory = c && c->allocate ? c->allocate(c->state, total) : malloc(total);
  if (!memory)
    return 0;
  start = (char *)(((uintptr_t)memory + kHeader + 63) & ~(uintptr_t)63);
  Header *header = (Header *)(start - kHeader);
  header->memory = memory;
  header->bytes = total;
  return start;
}

void xta_release(xt_call *call, void *start) {
  State *state = call->state;
  xt_context *c = state->context;
  Header *header = (Header *)((char *)start - kHeader);
  if (!header->memory) {
    size_t first = (size_t)((char *)header - (char *)c->workspace), end = first + header->bytes;
    __atomic_compare_exchange_n(&state->taken, &end, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  } else if (!c || !c->allocate) {
    free(header->memory);
  } else if (c->release) {
    c->release(c->state, header->memory, header->bytes);
  }
}

void xta_loop(xt_call *call, void (*body)(void *, int64_t, int64_t), void *ctx, int64_t n,
              int64_t grain) {
  xt_context *c = ((State *)call->state)->context;
  if (c && c->parallel_for)
    c->parallel_for(c->state, body, ctx, n, grain);
  else
    body(ctx, 0, n);
}

void xta_route(xt_call *call, const char *wanted, const xt_array *arrays, const int64_t *options) {
  for (const xta_routine *r = xta_routines; r->name; ++r)
    if (sameText(r->name, wanted)) {
      r->run(arrays, options, call);
      return;
    }
}

/* -- checks ---------------------------------------------------------------------------------- */

/* Saturates: what does not fit is equal to nothing that does. */
static int64_t sizeFor(const xta_size *size, const int64_t *open) {
  int64_t product = size->factor;
  for (int64_t i = 0; i < size->count; ++i)
    if (__builtin_mul_overflow(product, open[size->open[i]], &product))
      return INT64_MAX;
  return product;
}

static int isOpen(const xta_array *array, int64_t d) {
  return array->sizes[d].count == 1 && array->sizes[d].factor == 1;
}

/* A typed array of the header: its data, then its sizes. */
typedef struct {
  void *data;
  int64_t sizes[];
} Typed;

/* The open sizes of a call: values (-1: not known yet), and the first argument and dim with each.
 */
typedef struct {
  int64_t *open;
  const xta_array **by;
  const char **dims;
} Sizes;

static int32_t checkSizes(const xta_function *f, const xta_array *array, const int64_t *given,
                          const Sizes *sizes, xt_context *context) {
  int64_t bytes = kBytes[array->dtype];
  for (int64_t d = 0; d < array->rank; ++d) {
    const xta_size *size = &array->sizes[d];
    int64_t n = given[d], expected;
    if (array - f->arrays < f->inputs && isOpen(array, d) && sizes->open[size->open[0]] < 0 &&
        n >= 0) {
      sizes->open[size->open[0]] = expected = n;
      sizes->by[size->open[0]] = array;
      sizes->dims[size->open[0]] = array->dims[d];
    } else {
      expected = sizeFor(size, sizes->open);
    }
    if (n == expected && n >= 0 && !__builtin_mul_overflow(bytes, n ? n : 1, &bytes))
      continue;
    Text t = begin(context, f);
    int64_t blamed = d; /* where the product does not fit: the largest */
    for (int64_t e = 0; n == expected && e < d; ++e)
      if (given[e] > given[blamed])
        blamed = e;
    name(&t, f, array, array->dims[blamed]);
    put(&t, "has size ");
    putNumber(&t, given[blamed]);
    if (n < 0 || n == expected) {
      put(&t, n < 0 ? ", which is negative" : ", which no memory can hold");
      return XT_SIZE;
    }
    put(&t, ", not ");
    putNumber(&t, expected);
    if (isOpen(array, d) && sizes->by[size->open[0]]) {
      put(&t, " as that of argument ");
      put(&t, sizes->by[size->open[0]]->name);
    }
    return XT_SIZE;
  }
  return XT_OK;
}

/* " (argument x: dim a, argument y: dim b)": where the open sizes of `size` come from. */
static void origin(Text *t, const xta_size *size, const Sizes *sizes) {
  for (int64_t i = 0; i < size->count; ++i) {
    put(t, i ? ", argument " : " (argument ");
    put(t, sizes->by[size->open[i]]->name);
    put(t, ": dim ");
    put(t, sizes->dims[size->open[i]]);
  }
  put(t, size->count ? ")" : "");
}

/* `dims`: "~square~ row~ column". */
static void notSquare(Text *t, const char *dims, int64_t rows, int64_t columns) {
  put(t, "the matrix must be square: dims");
  const char *p = dims + sizeof "~square~" - 1;
  char one[2] = {0, 0};
  for (; *p; ++p)
    if (*p != '~') {
      one[0] = *p;
      put(t, one);
    }
  put(t, " have sizes ");
  putNumber(t, rows);
  put(t, " and ");
  putNumber(t, columns);
}

/* What sizes must have to do with each other beyond one name being one size. */
static int32_t checkRelations(const xta_function *f, const Sizes *sizes, xt_context *context) {
  for (int64_t i = 0; i < f->equalities; ++i) {
    const xta_equal *equal = &f->equal[i];
    int64_t left = sizeFor(&equal->left, sizes->open), right = sizeFor(&equal->right, sizes->open);
    if (left == right)
      continue;
    Text t = begin(context, f);
    if (equal->dim[0] == '~') {
      notSquare(&t, equal->dim, left, right);
      return XT_SIZE;
    }
    put(&t, "dim ");
    put(&t, equal->dim);
    put(&t, " has size ");
    putNumber(&t, left);
    origin(&t, &equal->left, sizes);
    put(&t, " and also ");
    putNumber(&t, right);
    origin(&t, &equal->right, sizes);
    put(&t, "; equal names have equal sizes");
    return XT_SIZE;
  }
  for (int64_t i = 0; i < f->nonemptyCount; ++i) {
    const xta_nonempty *nonempty = &f->nonempty[i];
    if (sizeFor(&nonempty->size, sizes->open))
      continue;
    Text t = begin(context, f);
    put(&t, "dim ");
    put(&t, nonempty->dim);
    put(&t, " has size 0");
    origin(&t, &nonempty->size, sizes);
    put(&t, ": ");
    put(&t, nonempty->message);
    return XT_SIZE;
  }
  return XT_OK;
}

static int64_t bytesOf(const xta_array *array, const int64_t *open) {
  int64_t bytes = kBytes[array->dtype];
  for (int64_t d = 0; d < array->rank; ++d)
    bytes *= sizeFor(&array->sizes[d], open);
  return bytes;
}

static int32_t finish(const xta_function *f, const xt_status *status, xt_context *context) {
  if (status->code == 0)
    return XT_OK;
  Text t = begin(context, f);
  if (status->code == 2) {
    put(&t, "no memory for ");
    putNumber(&t, status->size);
    put(&t, " bytes of temporaries");
    return XT_NO_MEMORY;
  }
  const xta_site *site =
      status->site >= 0 && status->site < f->siteCount ? &f->sites[status->site] : 0;
  if (site && site->dim[0] == '~') {
    notSquare(&t, site->dim, status->index, status->size);
    put(&t, " at ");
    put(&t, site->location);
    return XT_INDEX;
  }
  put(&t, "index ");
  putNumber(&t, status->index + (site && site->labels && status->index < 0 ? status->size : 0));
  put(&t, " is out of range for size ");
  putNumber(&t, status->size);
  if (site) {
    put(&t, " of dim ");
    put(&t, site->dim);
    put(&t, " at ");
    put(&t, site->location);
  }
  return XT_INDEX;
}

static int overlap(const void *a, int64_t aBytes, const void *b, int64_t bBytes) {
  return aBytes && bBytes && (uintptr_t)a < (uintptr_t)b + (uintptr_t)bBytes &&
         (uintptr_t)b < (uintptr_t)a + (uintptr_t)aBytes;
}

/* The workspace is nobody else's, and results leave the context alone. */
static int32_t checkContext(const xta_function *f, void *const *buffers, const int64_t *open,
                            xt_context *context) {
  int64_t bytes = (int64_t)context->workspace_bytes;
  if (bytes && !context->workspace) {
    Text t = begin(context, f);
    put(&t, "the workspace is null, and has bytes");
    return XT_NULL;
  }
  if ((uintptr_t)context->workspace & 63) {
    Text t = begin(context, f);
    put(&t, "the workspace is not aligned to 64 bytes");
    return XT_ALIGNMENT;
  }
  if (overlap(context, (int64_t)sizeof *context, context->workspace, bytes)) {
    Text t = begin(context, f);
    put(&t, "the workspace shares memory with the context");
    return XT_OVERLAP;
  }
  for (int64_t i = 0; i < f->inputs + f->outputs; ++i) {
    int64_t n = bytesOf(&f->arrays[i], open);
    int inWorkspace = overlap(buffers[i], n, context->workspace, bytes);
    if (!inWorkspace &&
        (i < f->inputs || !overlap(buffers[i], n, context, (int64_t)sizeof *context)))
      continue;
    Text t = begin(context, f);
    name(&t, f, &f->arrays[i], 0);
    put(&t, inWorkspace ? "shares memory with the workspace" : "shares memory with the context");
    return XT_OVERLAP;
  }
  return XT_OK;
}

/* Numbers, the only values that are looked at, are of the types that the program makes them. */
static int32_t checkRanges(const xta_function *f, void *const *buffers, xt_context *context) {
  for (int64_t i = 0; i < f->rangeCount; ++i) {
    const xta_range *range = &f->ranges[i];
    int64_t value = *(const int64_t *)buffers[range->argument];
    if (value >= range->least && value <= range->most)
      continue;
    Text t = begin(context, f);
    name(&t, f, &f->arrays[range->argument], 0);
    put(&t, "is ");
    putNumber(&t, value);
    put(&t, ", which does not fit ");
    put(&t, range->dtype);
    put(&t, " (");
    putNumber(&t, range->least);
    put(&t, " to ");
    putNumber(&t, range->most);
    put(&t, ") at ");
    put(&t, range->location);
    return XT_RANGE;
  }
  return XT_OK;
}

/* Open sizes of results follow those of arguments. */
static void addResultSizes(const xta_function *f, int64_t *open) {
  int64_t last = f->open;
  for (int64_t i = f->inputs; i < f->inputs + f->outputs; ++i)
    for (int64_t d = 0; d < f->arrays[i].rank; ++d)
      if (f->arrays[i].sizes[d].count)
        open[last++] = sizeFor(&f->arrays[i].sizes[d], open);
}

/* `given`: open sizes. */
int64_t xta_workspace(const xta_function *f, const int64_t *given) {
  enum { kMost = 48 }; /* no memory has more bits */
  int64_t open[f->open + f->openResults + 1];
  for (int64_t i = 0; i < f->open; ++i) {
    open[i] = given[i];
    if (given[i] < 0)
      return -1;
  }
  addResultSizes(f, open);
  int64_t bytes = f->bytes ? f->bytes(0, open, 0) : -kHeader;
  if (bytes >> kMost > 0 || bytes < -kHeader)
    return -1;
  return ((bytes + 63) & ~(int64_t)63) + kHeader + f->loopBytes;
}

/* `given`: typed arrays, inputs without weights, then outputs. */
int32_t xta_run(const xta_function *f, void *const *given, xt_context *context) {
  int64_t total = f->inputs + f->outputs;
  void *buffers[total + 1];
  int64_t open[f->open + f->openResults + 1];
  const xta_array *by[f->open + 1];
  const char *dims[f->open + 1];
  for (int64_t i = 0; i < f->open; ++i)
    open[i] = -1, by[i] = 0, dims[i] = 0;
  const Sizes sizes = {open, by, dims};
  int64_t next = 0;
  for (int64_t i = 0; i < total; ++i) {
    const xta_array *array = &f->arrays[i];
    if (array->data) {
      buffers[i] = (void *)array->data;
      continue;
    }
    const Typed *typed = given[next++];
    if (!typed) {
      Text t = begin(context, f);
      name(&t, f, array, 0);
      put(&t, "is null");
      return XT_NULL;
    }
    int32_t code = checkSizes(f, array, typed->sizes, &sizes, context);
    if (code)
      return code;
    buffers[i] = typed->data;
    int64_t bytes = bytesOf(array, open);
    if (!typed->data && bytes) {
      Text t = begin(context, f);
      name(&t, f, array, 0);
      put(&t, "has no data: its pointer is null");
      return XT_NULL;
    }
    if ((uintptr_t)typed->data % (uintptr_t)kAlignment[array->dtype]) {
      Text t = begin(context, f);
      name(&t, f, array, 0);
      put(&t, "is not aligned to ");
      putNumber(&t, kAlignment[array->dtype]);
      put(&t, " bytes");
      return XT_ALIGNMENT;
    }
    for (int64_t other = 0; i >= f->inputs && other < i; ++other) {
      if (overlap(buffers[i], bytes, buffers[other], bytesOf(&f->arrays[other], open))) {
        Text t = begin(context, f);
        name(&t, f, array, 0);
        put(&t, "shares memory with ");
        label(&t, f, &f->arrays[other], 0);
        return XT_OVERLAP;
      }
    }
  }
  int32_t code = checkRelations(f, &sizes, context);
  if (!code && context)
    code = checkContext(f, buffers, open, context);
  if (!code)
    code = checkRanges(f, buffers, context);
  if (code)
    return code;
  addResultSizes(f, open);
  State state = {context, 0};
  xt_call call = {{0, 0, 0, 0}, &xta_services, &state};
  f->entry(buffers, open, &call.status);
  return call.status.code ? finish(f, &call.status, context) : XT_OK;
}

/* Arrays that say what they are become typed ones. */
int32_t xta_run_any(const xta_function *f, const xt_any *arrays, int64_t count,
                    xt_context *context) {
  int64_t total = 0, ranks = 0;
  for (int64_t i = 0; i < f->inputs + f->outputs; ++i)
    if (!f->arrays[i].data)
      ++total, ranks += f->arrays[i].rank;
  if (count != total || (count && !arrays)) {
    Text t = begin(context, f);
    put(&t, count && !arrays ? "the pointer to the arrays is null; " : "");
    putNumber(&t, total);
    put(&t, " arrays are needed, results included");
    if (!count || arrays) {
      put(&t, "; ");
      putNumber(&t, count);
      put(&t, " are given");
    }
    return arrays ? XT_COUNT : XT_NULL;
  }
  int64_t words[ranks + total + 1]; /* each typed array in turn */
  void *given[total + 1];
  int64_t *at = words;
  for (int64_t i = 0, k = 0; k < total; ++i) {
    const xta_array *array = &f->arrays[i];
    if (array->data)
      continue;
    const xt_any *any = &arrays[k];
    int32_t code = any->dtype != array->dtype                 ? XT_DTYPE
                   : any->rank != array->rank                 ? XT_COUNT
                   : any->rank && (!any->dims || !any->sizes) ? XT_NULL
                                                              : XT_OK;
    int64_t d = 0;
    for (; code == XT_OK && d < array->rank; ++d)
      if (!any->dims[d] || !sameText(any->dims[d], array->dims[d])) {
        code = any->dims[d] ? XT_DIM : XT_NULL;
        break;
      }
    if (code) {
      Text t = begin(context, f);
      name(&t, f, array, code == XT_DIM ? array->dims[d] : 0);
      if (code == XT_DTYPE) {
        put(&t, "has elements of ");
        put(&t,
            any->dtype >= 0 && any->dtype <= XT_COMPLEX128 ? kDtypes[any->dtype] : "no known type");
        put(&t, ", not ");
        put(&t, kDtypes[array->dtype]);
      } else if (code == XT_DIM) {
        put(&t, "is called ");
        put(&t, any->dims[d]);
      } else if (code == XT_COUNT) {
        put(&t, "has ");
        putNumber(&t, any->rank);
        put(&t, " dims, not ");
        putNumber(&t, array->rank);
      } else {
        put(&t, "has no names or sizes of dims: a pointer is null");
      }
      return code;
    }
    Typed *typed = (Typed *)at;
    typed->data = any->data;
    for (d = 0; d < array->rank; ++d)
      typed->sizes[d] = any->sizes[d];
    given[k++] = typed;
    at += 1 + array->rank;
  }
  return xta_run(f, given, context);
}

const char *xta_message(const xt_context *context, int32_t code) {
  switch (code) {
  case XT_OK:
    return "done";
  case XT_NULL:
  case XT_SIZE:
  case XT_ALIGNMENT:
  case XT_OVERLAP:
  case XT_COUNT:
  case XT_DTYPE:
  case XT_DIM:
  case XT_RANGE:
  case XT_NO_MEMORY:
  case XT_INDEX:
    break;
  default:
    return "no code of this library";
  }
  if (context && context->message[0])
    return context->message;
  static const char *const texts[] = {"an array is null",
                                      "a size is wrong",
                                      "data is not aligned",
                                      "a result shares memory with another array",
                                      "too few or too many arrays or dims",
                                      "elements are of another type",
                                      "a dim has another name",
                                      "a number does not fit its type"};
  return code == XT_NO_MEMORY ? "no memory for temporaries"
         : code == XT_INDEX   ? "an index was out of range"
                              : texts[code - 1];
}
