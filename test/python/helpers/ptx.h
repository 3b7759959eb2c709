/* PTX on the CPU, for tests: what LLVM writes for kernels like ours, one instruction after another.
 */
#ifndef XTENSOR_TEST_PTX_H
#define XTENSOR_TEST_PTX_H

#include <stddef.h>
#include <stdint.h>

typedef struct ptx_kernel ptx_kernel;

/* Null if it cannot be read; `log` says why. */
ptx_kernel *ptx_parse(const char *text, char *log, size_t log_bytes);
void ptx_free(ptx_kernel *kernel);
const char *ptx_name(const ptx_kernel *kernel);
int ptx_parameters(const ptx_kernel *kernel);
int ptx_parameter_bytes(const ptx_kernel *kernel, int i);
const unsigned *ptx_threads(const ptx_kernel *kernel);

/* Runs it. `valid` is asked about every access to global memory. reversed: threads take turns from
 * the last to the first, so that a barrier that is missing shows. 0, or 1 with `log` set. */
int ptx_run(const ptx_kernel *kernel, const unsigned groups[3], const uint64_t *parameters,
            int (*valid)(uint64_t address, size_t bytes), int reversed, char *log,
            size_t log_bytes);

#endif
