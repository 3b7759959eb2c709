/* A libcuda for tests (XTENSOR_CUDA_LIBRARY): what runtime/Cuda uses of it, on the CPU. Kernels run
 * in the interpreter of ptx.c. Work is done as late as it may be: when something waits for it, or
 * when the driver would wait itself. Calls fail on demand: fault_set(kind, n) fails every call
 * after the next n. */
#include "ptx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int result;
enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_PTX = 218,
  UNSUPPORTED_PTX = 222,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  UNKNOWN = 999
};

enum { LOSE_ON_LAUNCH, NO_MEMORY, NO_ANSWER, NO_GRAPH, OLD_DRIVER, KINDS };
static long faults_left[KINDS] = {-1, -1, -1, -1, -1};
/* What was asked of the driver, for tests. */
enum { LAUNCHES, GRAPHS, GRAPH_LAUNCHES, GRAPHS_ALIVE, MODULES_ALIVE, COUNTS };
static long counts[COUNTS];
static int reversed, capability = 80;

void fault_set(int kind, long calls) { faults_left[kind] = calls; }
long count_of(int what) { return counts[what]; }
void run_reversed(int yes) { reversed = yes; }
void set_capability(int number) { capability = number; }

static int fails(int kind) {
  if (faults_left[kind] < 0)
    return 0;
  if (faults_left[kind] == 0)
    return 1;
  --faults_left[kind];
  return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static result broken; /* what every call gives from then on */
static char said[512];

/*===- memory -------------------------------------------------------------===*/

enum { ALLOCATIONS = 4096, MEMORY = 1 << 30 };
static struct {
  char *base;
  size_t bytes;
} allocations[ALLOCATIONS];
static int allocation_count;
static size_t in_use;

static int valid(uint64_t address, size_t bytes) {
  static int last;
  const char *at = (const char *)(uintptr_t)address;
  for (int n = 0; n < allocation_count; ++n) {
    int i = (last + n) % allocation_count;
    if (at >= allocations[i].base && at + bytes <= allocations[i].base + allocations[i].bytes) {
      last = i;
      return 1;
    }
  }
  return 0;
}

static void *take(size_t bytes) {
  void *made = aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (!made || allocation_count == ALLOCATIONS)
    return NULL;
  memset(made, 0xa5, bytes); /* nobody may count on zeros */
  allocations[allocation_count].base = made;
  allocations[allocation_count++].bytes = bytes;
  return made;
}

/*===- work ---------------------------------------------------------------===*/

typedef struct {
  enum { LAUNCH, COPY, FILL, EVENT, GRAPH } kind;
  const ptx_kernel *kernel;
  unsigned groups[3];
  uint64_t *parameters; /* never freed: graphs share them */
  char *to;
  const char *from;
  size_t bytes;
  int value;
  struct CUevent_st *event;
  struct CUgraph_st *graph;
} command;

struct CUgraph_st {
  command *commands;
  long count, capacity;
};
struct CUevent_st {
  long recorded, passed;
};
typedef struct CUgraph_st list;

static list queue, *capturing;
static long done; /* commands of the queue */

static void append(list *to, const command *c) {
  if (to->count == to->capacity) {
    to->capacity = to->capacity ? 2 * to->capacity : 16;
    to->commands = realloc(to->commands, (size_t)to->capacity * sizeof *to->commands);
  }
  to->commands[to->count++] = *c;
}

static void run(const list *all);

static void run_one(const command *c) {
  if (broken)
    return;
  switch (c->kind) {
  case LAUNCH:
    if (ptx_run(c->kernel, c->groups, c->parameters, valid, reversed, said, sizeof said)) {
      fprintf(stderr, "%s\n", said);
      broken = ILLEGAL_ADDRESS;
    }
    break;
  case COPY:
    memmove(c->to, c->from, c->bytes);
    break;
  case FILL:
    memset(c->to, c->value, c->bytes);
    break;
  case EVENT:
    ++c->event->passed;
    break;
  case GRAPH:
    run(c->graph);
    break;
  }
}
static void run(const list *all) {
  for (long i = 0; i < all->count; ++i)
    run_one(&all->commands[i]);
}
/* One step, so that asking often enough gets somewhere. */
static void progress(void) {
  if (done < queue.count)
    run_one(&queue.commands[done++]);
  if (done == queue.count)
    done = queue.count = 0;
}
static void finish(void) {
  while (queue.count > 0)
    progress();
}
static result enqueue(const command *c) {
  if (broken)
    return broken;
  append(capturing && c->kind != EVENT ? capturing : &queue, c);
  if (queue.count - done > 300)
    progress();
  return SUCCESS;
}

#define LOCKED(...)                                                                                \
  {                                                                                                \
    pthread_mutex_lock(&lock);                                                                     \
    result r = broken;                                                                             \
    if (!r)                                                                                        \
      __VA_ARGS__;                                                                                 \
    pthread_mutex_unlock(&lock);                                                                   \
    return r;                                                                                      \
  }

/*===- devices ------------------------------------------------------------===*/

result cuInit(unsigned flags) { return flags ? INVALID_VALUE : SUCCESS; }
result cuDriverGetVersion(int *version) { return *version = 12090, SUCCESS; }
result cuGetErrorName(result r, const char **name) {
  *name = r == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : r == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : r == INVALID_PTX     ? "CUDA_ERROR_INVALID_PTX"
          : r == NOT_FOUND       ? "CUDA_ERROR_NOT_FOUND"
          : r == INVALID_VALUE   ? "CUDA_ERROR_INVALID_VALUE"
                                 : "CUDA_ERROR_UNKNOWN";
  return SUCCESS;
}
result cuGetErrorString(result r, const char **text) {
  (void)r;
  return *text = "as the test wants it", SUCCESS;
}
result cuDeviceGetCount(int *count) {
  const char *hidden = getenv("CUDA_VISIBLE_DEVICES");
  return *count = hidden && !*hidden ? 0 : 1, SUCCESS;
}
result cuDeviceGet(int *device, int i) { return *device = i, SUCCESS; }
result cuDeviceGetName(char *name, int bytes, int device) {
  (void)device;
  return snprintf(name, (size_t)bytes, "PTX on the CPU"), SUCCESS;
}
result cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  return *bytes = MEMORY, SUCCESS;
}
result cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 1:
  case 2:
  case 3:
    *value = 1024;
    break;
  case 4:
    *value = 64;
    break;
  case 5:
    *value = 2147483647;
    break;
  case 6:
  case 7:
    *value = 65535;
    break;
  case 8:
    *value = 49152;
    break;
  case 10:
    *value = 32;
    break;
  case 75:
    *value = capability / 10;
    break;
  case 76:
    *value = capability % 10;
    break;
  default:
    return INVALID_VALUE;
  }
  return SUCCESS;
}
static _Thread_local int current;
result cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  return *context = &queue, broken;
}
result cuCtxPushCurrent_v2(void *context) {
  return ++current, context == &queue ? SUCCESS : INVALID_VALUE;
}
result cuCtxPopCurrent_v2(void **context) {
  *context = NULL;
  return current-- > 0 ? SUCCESS : INVALID_VALUE;
}
#define NEEDS_CONTEXT                                                                              \
  if (current <= 0)                                                                                \
    return fprintf(stderr, "%s: no current context\n", __func__), abort(), UNKNOWN;

result cuStreamCreate(void **stream, unsigned flags) {
  NEEDS_CONTEXT(void) flags;
  return *stream = &queue, broken;
}

/*===- memory -------------------------------------------------------------===*/

result cuMemAlloc_v2(uint64_t *address, size_t bytes){NEEDS_CONTEXT LOCKED({
  void *made = fails(NO_MEMORY) || in_use + bytes > MEMORY ? NULL : take(bytes);
  *address = (uint64_t)(uintptr_t)made;
  if (made)
    in_use += bytes;
  r = made ? SUCCESS : OUT_OF_MEMORY;
})} result cuMemFree_v2(uint64_t address){NEEDS_CONTEXT LOCKED({
  finish();
  r = INVALID_VALUE;
  for (int i = 0; i < allocation_count; ++i)
    if ((uint64_t)(uintptr_t)allocations[i].base == address) {
      in_use -= allocations[i].bytes;
      free(allocations[i].base);
      allocations[i] = allocations[--allocation_count];
      r = SUCCESS;
      break;
    }
})} result cuMemHostAlloc(void **host, size_t bytes, unsigned flags) {
  NEEDS_CONTEXT(void) flags;
  LOCKED({
    *host = take(bytes);
    r = *host ? SUCCESS : OUT_OF_MEMORY;
  })
}
result cuMemHostGetDevicePointer_v2(uint64_t *address, void *host, unsigned flags) {
  NEEDS_CONTEXT(void) flags;
  return *address = (uint64_t)(uintptr_t)host, SUCCESS;
}

static result copy(uint64_t to, uint64_t from, size_t bytes) {
  command c = {.kind = COPY, .to = (char *)(uintptr_t)to, .from = (char *)(uintptr_t)from};
  c.bytes = bytes;
  LOCKED(r = enqueue(&c))
}
static int known(uint64_t address, size_t bytes) {
  pthread_mutex_lock(&lock);
  int yes = valid(address, bytes);
  pthread_mutex_unlock(&lock);
  return yes;
}
result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  NEEDS_CONTEXT(void) stream;
  return known(to, bytes) ? copy(to, (uint64_t)(uintptr_t)from, bytes) : INVALID_VALUE;
}
result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  NEEDS_CONTEXT(void) stream;
  return known(from, bytes) ? copy((uint64_t)(uintptr_t)to, from, bytes) : INVALID_VALUE;
}
result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  NEEDS_CONTEXT(void) stream;
  return known(to, bytes) && known(from, bytes) ? copy(to, from, bytes) : INVALID_VALUE;
}
result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
  NEEDS_CONTEXT(void) stream;
  command c = {.kind = FILL, .to = (char *)(uintptr_t)to, .value = value, .bytes = bytes};
  LOCKED(r = valid(to, bytes) ? enqueue(&c) : INVALID_VALUE)
}

/*===- events -------------------------------------------------------------===*/

result cuEventCreate(struct CUevent_st **event, unsigned flags) {
  NEEDS_CONTEXT(void) flags;
  return *event = calloc(1, sizeof **event), broken;
}
result cuEventRecord(struct CUevent_st *event, void *stream) {
  NEEDS_CONTEXT(void) stream;
  command c = {.kind = EVENT, .event = event};
  LOCKED({
    ++event->recorded;
    r = capturing ? INVALID_VALUE : enqueue(&c);
  })
}
result cuEventQuery(struct CUevent_st *event){NEEDS_CONTEXT LOCKED({
  if (faults_left[NO_ANSWER] != 0)
    progress();
  r = broken ? broken : event->passed < event->recorded ? NOT_READY : SUCCESS;
})} result cuEventSynchronize(struct CUevent_st *event){NEEDS_CONTEXT LOCKED({
  while (queue.count > 0 && event->passed < event->recorded)
    progress();
  r = broken;
})}

/*===- graphs -------------------------------------------------------------===*/

result cuStreamBeginCapture_v2(void *stream, int mode) {
  NEEDS_CONTEXT(void) stream, (void)mode;
  LOCKED({
    if (capturing)
      r = INVALID_VALUE;
    else
      capturing = calloc(1, sizeof *capturing);
  })
}
result cuStreamEndCapture(void *stream, struct CUgraph_st **graph) {
  NEEDS_CONTEXT(void) stream;
  LOCKED({
    *graph = capturing;
    r = capturing ? SUCCESS : INVALID_VALUE;
    capturing = NULL;
  })
}
result cuGraphInstantiateWithFlags(struct CUgraph_st **made, struct CUgraph_st *graph,
                                   unsigned long long flags) {
  NEEDS_CONTEXT(void) flags;
  LOCKED({
    if (fails(NO_GRAPH)) {
      r = OUT_OF_MEMORY;
    } else {
      ++counts[GRAPHS];
      ++counts[GRAPHS_ALIVE];
      *made = calloc(1, sizeof **made);
      for (long i = 0; i < graph->count; ++i)
        append(*made, &graph->commands[i]);
    }
  })
}
result cuGraphDestroy(struct CUgraph_st *graph) {
  NEEDS_CONTEXT
  free(graph->commands);
  free(graph);
  return SUCCESS;
}
result cuGraphExecDestroy(struct CUgraph_st *graph){NEEDS_CONTEXT LOCKED({
  finish(); /* it may be under way */
  --counts[GRAPHS_ALIVE];
  free(graph->commands);
  free(graph);
})} result cuGraphLaunch(struct CUgraph_st *graph, void *stream) {
  NEEDS_CONTEXT(void) stream;
  command c = {.kind = GRAPH, .graph = graph};
  LOCKED({
    ++counts[GRAPH_LAUNCHES];
    r = enqueue(&c);
  })
}

/*===- kernels ------------------------------------------------------------===*/

result cuModuleLoadDataEx(ptx_kernel **module, const void *text, unsigned count, int *options,
                          void **values) {
  NEEDS_CONTEXT
  char *log = NULL;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5)
      log = values[i];
    if (options[i] == 6)
      bytes = (size_t)(uintptr_t)values[i];
  }
  LOCKED({
    *module = fails(OLD_DRIVER) ? NULL : ptx_parse(text, log, bytes);
    r = *module ? SUCCESS : faults_left[OLD_DRIVER] == 0 ? UNSUPPORTED_PTX : INVALID_PTX;
    counts[MODULES_ALIVE] += r == SUCCESS;
  })
}
result cuModuleGetFunction(ptx_kernel **function, ptx_kernel *module, const char *name) {
  NEEDS_CONTEXT
  *function = module;
  return strcmp(name, ptx_name(module)) ? NOT_FOUND : SUCCESS;
}
result cuModuleUnload(ptx_kernel *module){NEEDS_CONTEXT LOCKED({
  finish();
  --counts[MODULES_ALIVE];
  ptx_free(module);
})} result cuLaunchKernel(ptx_kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned tx,
                          unsigned ty, unsigned tz, unsigned shared, void *stream,
                          void **parameters, void **extra) {
  NEEDS_CONTEXT(void) stream;
  const unsigned *threads = ptx_threads(kernel);
  if (shared || extra || tx != threads[0] || ty != threads[1] || tz != threads[2])
    return INVALID_VALUE;
  command c = {.kind = LAUNCH, .kernel = kernel, .groups = {gx, gy, gz}};
  c.parameters = calloc((size_t)ptx_parameters(kernel) + 1, sizeof *c.parameters);
  for (int i = 0; i < ptx_parameters(kernel); ++i)
    memcpy(&c.parameters[i], parameters[i], (size_t)ptx_parameter_bytes(kernel, i));
  LOCKED({
    ++counts[LAUNCHES];
    if (fails(LOSE_ON_LAUNCH))
      broken = ILLEGAL_ADDRESS;
    r = enqueue(&c);
  })
}
