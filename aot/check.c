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
  char *at, *end;
} Text;

/* Without a place to write to, nothing is written. */
static __attribute__((noinline)) void put(Text *t, const char *s) {
  if (!t->at)
    return;
  while (*s && t->at < t->end)
    *t->at++ = *s++;
  *t->at = 0;
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
  Text t = {0, 0};
  if (context) {
    t.at = context->message;
    t.end = context->message + sizeof context->message - 1;
    put(&t, f->name);
    put(&t, ": ");
  }
  return t;
}

/* "argument image: dim pixel " */
static __attribute__((noinline)) void name(Text *t, const xta_function *f, const xta_array *array,
                                           const char *dim) {
  put(t, array - f->arrays < f->inputs ? "argument " : "result ");
  put(t, array->name);
  if (dim) {
    put(t, ": dim ");
    put(t, dim);
  }
  put(t, " ");
}

static const char *const kDtypes[] = {"bool",     "int8",    "int16",  "int32",  "int64",
                                      "uint8",    "uint16",  "uint32", "uint64", "float16",
                                      "bfloat16", "float32", "float64"};
static const int8_t kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

/* -- memory and threads ---------------------------------------------------------------------- */

typedef struct {
  xt_context *context;
  int32_t workspaceTaken;
} State;

enum { kHeader = 64 }; /* in front of what is given out: where it came from, and how much */
typedef struct {
  void *memory;
  size_t bytes;
} Header;

void *xta_acquire(xt_call *call, int64_t bytes) {
  State *state = call->state;
  xt_context *c = state->context;
  if (c && c->workspace && (size_t)bytes <= c->workspace_bytes &&
      ((uintptr_t)c->workspace & 63) == 0 &&
      !__atomic_exchange_n(&state->workspaceTaken, 1, __ATOMIC_ACQUIRE))
    return c->workspace;
  size_t total = (size_t)bytes + 2 * kHeader;
  int own = c && c->allocate;
  char *memory = own ? c->allocate(c->state, total) : malloc(total);
  if (!memory)
    return 0;
  char *start = (char *)(((uintptr_t)memory + kHeader + 63) & ~(uintptr_t)63);
  Header *header = (Header *)(start - kHeader);
  header->memory = memory;
  header->bytes = total;
  return start;
}

void xta_release(xt_call *call, void *start) {
  State *state = call->state;
  xt_context *c = state->context;
  if (c && start == c->workspace) {
    __atomic_store_n(&state->workspaceTaken, 0, __ATOMIC_RELEASE);
    return;
  }
  Header *header = (Header *)((char *)start - kHeader);
  if (!c || !c->allocate)
    free(header->memory);
  else if (c->release)
    c->release(c->state, header->memory, header->bytes);
}

void xta_loop(xt_call *call, void (*body)(void *, int64_t, int64_t), void *ctx, int64_t n,
              int64_t grain) {
  xt_context *c = ((State *)call->state)->context;
  if (c && c->parallel_for)
    c->parallel_for(c->state, body, ctx, n, grain);
  else
    body(ctx, 0, n);
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

static int32_t checkSizes(const xta_function *f, const xta_array *array, const int64_t *sizes,
                          int64_t *open, const char **openBy, xt_context *context) {
  int64_t bytes = kBytes[array->dtype];
  for (int64_t d = 0; d < array->rank; ++d) {
    const xta_size *size = &array->sizes[d];
    int64_t given = sizes[d], expected;
    if (array - f->arrays < f->inputs && isOpen(array, d) && open[size->open[0]] < 0 &&
        given >= 0) {
      open[size->open[0]] = expected = given;
      openBy[size->open[0]] = array->name;
    } else {
      expected = sizeFor(size, open);
    }
    if (given == expected && given >= 0 &&
        !__builtin_mul_overflow(bytes, given ? given : 1, &bytes))
      continue;
    Text t = begin(context, f);
    name(&t, f, array, array->dims[d]);
    put(&t, "has size ");
    putNumber(&t, given);
    if (given < 0 || given == expected) {
      put(&t, given < 0 ? ", which is negative" : ", which no memory can hold");
      return XT_SIZE;
    }
    put(&t, ", not ");
    putNumber(&t, expected);
    if (isOpen(array, d) && openBy[size->open[0]]) {
      put(&t, " as that of argument ");
      put(&t, openBy[size->open[0]]);
    }
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
  put(&t, "index ");
  putNumber(&t, status->index);
  put(&t, " is out of range for size ");
  putNumber(&t, status->size);
  if (status->site >= 0 && status->site < f->siteCount) {
    put(&t, " of dim ");
    put(&t, f->sites[status->site].dim);
    put(&t, " at ");
    put(&t, f->sites[status->site].location);
  }
  return XT_INDEX;
}

/* `given`: typed arrays, inputs without weights, then outputs. */
int32_t xta_run(const xta_function *f, void *const *given, xt_context *context) {
  int64_t total = f->inputs + f->outputs;
  void *buffers[total + 1];
  int64_t open[f->open + f->openResults + 1];
  const char *openBy[f->open + 1];
  for (int64_t i = 0; i < f->open; ++i)
    open[i] = -1, openBy[i] = 0;
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
    int32_t code = checkSizes(f, array, typed->sizes, open, openBy, context);
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
    if ((uintptr_t)typed->data % (uintptr_t)kBytes[array->dtype]) {
      Text t = begin(context, f);
      name(&t, f, array, 0);
      put(&t, "is not aligned to ");
      putNumber(&t, kBytes[array->dtype]);
      put(&t, " bytes");
      return XT_ALIGNMENT;
    }
    for (int64_t other = 0; i >= f->inputs && other < i; ++other) {
      uintptr_t a = (uintptr_t)buffers[i], b = (uintptr_t)buffers[other];
      if (a < b + (uintptr_t)bytesOf(&f->arrays[other], open) && b < a + (uintptr_t)bytes) {
        Text t = begin(context, f);
        name(&t, f, array, 0);
        put(&t, "shares memory with ");
        name(&t, f, &f->arrays[other], 0);
        return XT_OVERLAP;
      }
    }
  }
  for (int64_t i = 0; i < f->equalities; ++i) {
    int64_t left = sizeFor(&f->equal[i].left, open), right = sizeFor(&f->equal[i].right, open);
    if (left == right)
      continue;
    Text t = begin(context, f);
    put(&t, "dim ");
    put(&t, f->equal[i].dim);
    put(&t, " has size ");
    putNumber(&t, left);
    put(&t, " and also ");
    putNumber(&t, right);
    put(&t, "; equal names have equal sizes");
    return XT_SIZE;
  }
  int64_t last = f->open;
  for (int64_t i = f->inputs; i < total; ++i)
    for (int64_t d = 0; d < f->arrays[i].rank; ++d)
      if (f->arrays[i].sizes[d].count)
        open[last++] = sizeFor(&f->arrays[i].sizes[d], open);
  State state = {context, 0};
  xt_call call = {{0, 0, 0, 0}, &xta_services, &state};
  f->entry(buffers, open, &call.status);
  return call.status.code ? finish(f, &call.status, context) : XT_OK;
}

static int sameText(const char *a, const char *b) {
  while (*a && *a == *b)
    ++a, ++b;
  return *a == *b;
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
    putNumber(&t, total);
    put(&t, " arrays are needed, results included; ");
    putNumber(&t, arrays ? count : 0);
    put(&t, " are given");
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
            any->dtype >= 0 && any->dtype <= XT_FLOAT64 ? kDtypes[any->dtype] : "no known type");
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
                                      "a dim has another name"};
  return code == XT_NO_MEMORY ? "no memory for temporaries"
         : code == XT_INDEX   ? "an index was out of range"
                              : texts[code - 1];
}
