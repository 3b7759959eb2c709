/* What the runtime itself costs on a device, without the compiler and without Python: calls that
 * are replayed and recorded, copies, memory. launches.sh builds and runs it. */
#include "Device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void need(int good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "%s: %s\n", what, xt_device_error());
  exit(1);
}

static int order(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

static xt_device *device;
static xt_kernel kernel;

/* A call of `kernels` kernels on n elements: a chain, or each on its own. */
static void call(xt_program *program, char *from, char **to, int kernels, int chained, int32_t n) {
  void *buffers[2] = {from, to[kernels - 1]};
  xt_status status = {0, 0, 0, 0};
  if (xt_call_begin(program, buffers, NULL, &status)) {
    need(status.code == 0, "call");
    return;
  }
  for (int i = 0; i < kernels; ++i) {
    void *arguments[2] = {chained && i ? to[i - 1] : from, to[i]};
    xt_call_launch(&kernel, (n + 63) / 64, 1, 1, arguments, &n);
  }
  xt_call_end();
  need(status.code == 0, "call");
}

/* Microseconds: until the call returns, and until its result is there; medians. */
static void time_calls(const char *name, int replayable, char *from, char **to, int kernels,
                       int chained, int32_t n) {
  enum { TIMES = 400 };
  xt_program program = {name, 1, 1, 0, 0, replayable, 0, NULL};
  double host[TIMES], whole[TIMES];
  float value;
  for (int i = -20; i < TIMES; ++i) {
    double start = now();
    call(&program, from, to, kernels, chained, n);
    double sent = now();
    need(!xt_device_read(device, &value, to[kernels - 1], 4), "read");
    if (i >= 0) {
      host[i] = sent - start;
      whole[i] = now() - start;
    }
  }
  qsort(host, TIMES, sizeof *host, order);
  qsort(whole, TIMES, sizeof *whole, order);
  xt_device_synchronize(device);
  double start = now();
  for (int i = 0; i < 1000; ++i)
    call(&program, from, to, kernels, chained, n);
  xt_device_synchronize(device);
  printf(
      "%-34s %8.1f us until it returns %8.1f us until its result is read %8.1f us each of many\n",
      name, 1e6 * host[TIMES / 2], 1e6 * whole[TIMES / 2], 1e3 * (now() - start));
  xt_program_forget(&program);
}

int main(int count, char **arguments) {
  need(count == 2, "launches add.spv");
  FILE *file = fopen(arguments[1], "rb");
  static char code[1 << 16];
  size_t bytes = file ? fread(code, 1, sizeof code, file) : 0;
  device = xt_device_open("vulkan", -1);
  need(device != NULL, "open");
  const xt_device_info *info = xt_device_get_info(device);
  printf("%s, %s\n", info->name, info->driver);
  xt_device_use(device);
  kernel.code = code;
  kernel.code_bytes = (int64_t)bytes;
  kernel.name = "main";
  kernel.buffers = 2;
  kernel.numbers = 1;
  kernel.threads[0] = 64;
  kernel.threads[1] = kernel.threads[2] = 1;
  kernel.writes = 2;

  enum { SMALL = 1024, LARGE = 65535 * 256 }; /* bytes: as many workgroups as go */
  char *from = xt_device_alloc(device, 4 * SMALL), *to[5];
  for (int i = 0; i < 5; ++i)
    to[i] = xt_device_alloc(device, 4 * SMALL);
  time_calls("1 kernel, replayed", 1, from, to, 1, 0, SMALL);
  time_calls("5 kernels in a chain, replayed", 1, from, to, 5, 1, SMALL);
  time_calls("5 kernels side by side, replayed", 1, from, to, 5, 0, SMALL);
  time_calls("1 kernel, recorded", 0, from, to, 1, 0, SMALL);
  time_calls("5 kernels in a chain, recorded", 0, from, to, 5, 1, SMALL);

  char *host = malloc(LARGE), *a = xt_device_alloc(device, LARGE),
       *b = xt_device_alloc(device, LARGE);
  memset(host, 1, LARGE);
  double best[4] = {1e9, 1e9, 1e9, 1e9};
  for (int i = 0; i < 10; ++i) {
    double times[5] = {now()};
    need(!xt_device_write(device, a, host, LARGE), "write");
    xt_device_synchronize(device);
    times[1] = now();
    need(!xt_device_copy(device, b, a, LARGE), "copy");
    xt_device_synchronize(device);
    times[2] = now();
    need(!xt_device_read(device, host, b, LARGE), "read");
    times[3] = now();
    xt_program program = {"large", 1, 1, 0, 0, 1, 0, NULL};
    call(&program, a, &b, 1, 0, LARGE / 4);
    xt_device_synchronize(device);
    times[4] = now();
    xt_program_forget(&program);
    for (int j = 0; j < 4; ++j)
      if (times[j + 1] - times[j] < best[j])
        best[j] = times[j + 1] - times[j];
  }
  const char *names[] = {"write", "copy", "read", "1 kernel"};
  for (int j = 0; j < 4; ++j)
    printf("%-10s of 16 MB %8.2f GB/s\n", names[j], LARGE / best[j] * 1e-9 * (j % 2 ? 2 : 1));
  double start = now();
  for (int i = 0; i < 100000; ++i)
    xt_device_free(device, xt_device_alloc(device, 4000), 4000);
  printf("memory taken and freed %8.3f us\n", 10 * (now() - start));
  return 0;
}
