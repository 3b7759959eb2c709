#!/usr/bin/env bash
# pytest by as many workers as there are cores: a worker imports the package and its peers once and
# takes one file after another. A worker that crashes is replaced, and the test that it ran fails
# (test/python/helpers/workers.py). Prints what fails, how many tests passed, how many were skipped for each
# reason, and how many are left to the full matrix, which XTENSOR_TEST_FULL=1 runs
# (test/python/helpers/tiers.py). Options of pytest: in PYTEST_ADDOPTS.
set -euo pipefail
cd "$(dirname "$0")/.."
# Threads of the libraries that tests compare with would spin on the other worker's core: those of
# OpenBLAS for 2^26 cycles after each call, and in each process that starts.
export OMP_WAIT_POLICY=passive OPENBLAS_THREAD_TIMEOUT=4
# Workers, and the stages of CI after them, share the bytecode of the tests. Without it, each process
# rewrites the asserts of all test files once more.
unset PYTHONDONTWRITEBYTECODE
# pytest with workers says nothing of a file that does not exist, and runs no test.
for file in "$@"; do
  [ -e "${file%%::*}" ] || { echo "run_tests.sh: $file does not exist" >&2; exit 1; }
done
# Files that need a process of their own: arenas of a device grow, and its tests count who replays.
alone='/test_device_runtime[.]'
workers=$(nproc) failed=0
mapfile -t together < <(printf '%s\n' "$@" | grep -vE "$alone" || true)
mapfile -t single < <(printf '%s\n' "$@" | grep -E "$alone" || true)

# tests FILE ..: pytest on these files. 5: nothing in them runs here.
tests() {
  local code=0
  .venv/bin/python -X faulthandler -m pytest -q -rfExX -p no:cacheprovider "$@" || code=$?
  [ $code = 0 ] || [ $code = 5 ] || failed=1
}

for file in "${single[@]}"; do
  tests "$file"
done
if [ ${#together[@]} -gt 0 ]; then
  tests -n "$workers" --dist loadfile --no-loadscope-reorder --max-worker-restart 1000 "${together[@]}"
fi
exit $failed
