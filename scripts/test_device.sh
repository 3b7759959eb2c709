#!/usr/bin/env bash
# Tests with every program on a device: scripts/test_device.sh vulkan [FILE...]. By default a few
# parameters of each test that makes kernels; XTENSOR_TEST_FULL=1 runs the whole suite. Validation
# layers are on, and any message of theirs is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:?a device, as in: scripts/test_device.sh vulkan}
shift
if [ $# = 0 ]; then
  if [ "${XTENSOR_TEST_FULL:-0}" = 1 ]; then
    # Not files that run no program on new arrays, or whose programs name their devices themselves
    # (make test-devices). Nor those about what passes make of a program before a device is thought
    # of: derivatives at infinities, of factorisations, of nested transforms. Nor programs of several
    # processes, which run on the CPU.
    others='agreement|processes|gradient_peers|linalg_gradients|nesting|singular_points|aot_(bundles|c|determinism|hostile|messages|names)[.]|build|cuda|device_|lsp|malformed|metal|ptx|setup|typing|vector|vulkan'
    [ "$device" = vulkan ] || others+='|aot|pages|wrong_calls'
    set -- $(printf '%s\n' test/python/*/test_*.py | grep -vE "/test_($others)")
  else
    # Each family of kernels, and what the runtime does with them.
    families='contraction|control|control_(gradients|scan)|creation|devices(_calls)?|dynamic_(empty|sizes)|'
    families+='elementwise(_bfloat16)?|fourier|fuzz|gradient_rules|indexing|linalg(_lanes)?|nn|reductions|scans|shape|sorting|updates|windows'
    export XTENSOR_TEST_SAMPLE=3
    set -- $(printf '%s\n' test/python/*/test_*.py | grep -E "/test_($families)[.]py")
  fi
fi
export XTENSOR_TEST_DEVICE=$device XTENSOR_VALIDATE=1
exec scripts/run_tests.sh "$@"
