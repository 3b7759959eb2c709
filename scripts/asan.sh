#!/usr/bin/env bash
# Our own code under AddressSanitizer and UBSan: a second build, then lit and the tests of what is
# native or reads what others wrote: scripts/asan.sh [FILE...]. XTENSOR_TEST_FULL=1 runs more files,
# and all parameters of their tests. MLIR and CPython are not instrumented, so leaks, container
# overflows and what LLVM's allocators poison by hand are not looked for; no memory is no error, as
# programs are told of it. Reports go to the real standard error, hence --capture=sys.
set -euo pipefail
cd "$(dirname "$0")/.."
# Native: the types of arrays and functions, the runtime, the threads that compile. Hostile: bundles,
# files, programs as text, arguments of any kind. Passes: the tables of ops and rules.
files='aot_(arguments|bundles|hostile|stale)|callbacks|code_lifetime|control|cuda_runtime|debug_memory|'
files+='device_(failures|limits|runtime)|dynamic_empty|environment|errors|files|fuzz|gradient_rules|interrupts|'
files+='kinds|linalg(_lanes)?|lowering|lsp|malformed_ir|native_(arrays|calls)|open_sizes|profiles|reentrance|rules|'
files+='runtime(_products)?|shared_memory|sorting|spellings|tree|updates|vectorize|vulkan|windows|wrong_arguments'
# Generated code is not instrumented. The full matrix leaves out files that check its numbers, texts,
# and other processes; what they compile goes through the passes in lit, the fuzzers and the tables of
# rules.
others='accuracy|aot_(c|determinism|linalg|names)|branches|derivative_digits|device_(features|math|programs)|'
others+='elementwise|gallery|gradient_peers|linalg_gradients|messages|metal_gradients|named_gradients|nesting|'
others+='pages|pickling|ptx|row_tails|scans|setup|singular_points|typing|xarray'

cmake --preset asan >/dev/null
cmake --build build/asan
runtime=$(clang-22 -print-file-name=libclang_rt.asan-x86_64.so)
[ -e "$runtime" ] || runtime=$(clang-22 -print-file-name=libclang_rt.asan.so)
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:use_sigaltstack=0
ASAN_OPTIONS+=:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_SYMBOLIZER_PATH=$(llvm-config-22 --bindir)/llvm-symbolizer
export PYTHONPATH=$PWD/build/asan/python_packages XTENSOR_BUILD=$PWD/build/asan
export LD_PRELOAD=$runtime
.venv/bin/lit -q test
if [ $# = 0 ]; then
  if [ "${XTENSOR_TEST_FULL:-0}" = 1 ]; then
    set -- $(printf '%s\n' test/python/*/test_*.py | grep -vE "/test_($others)")
  else
    export XTENSOR_TEST_SAMPLE=6
    set -- $(printf '%s\n' test/python/*/test_*.py | grep -E "/test_($files)[.]py")
  fi
fi
PYTEST_ADDOPTS=--capture=sys exec scripts/run_tests.sh "$@"
