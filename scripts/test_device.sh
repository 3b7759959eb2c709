#!/usr/bin/env bash
# The whole suite with every program on a device: scripts/test_device.sh vulkan [FILE...]. Validation
# layers are on, and any message of theirs is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:?a device, as in: scripts/test_device.sh vulkan}
shift
if [ $# = 0 ]; then
  # Not files that run no program on new arrays, or whose programs name their devices themselves;
  # those of Vulkan's own run once more for the layers. Nor those about what passes make of a program
  # before a device is thought of: derivatives at infinities, of factorisations, of nested transforms.
  others='gradient_peers|linalg_gradients|nesting|singular_points|aot_(bundles|c|determinism|hostile|messages|names)[.]|build|cuda|lsp|malformed|metal|ptx|setup|typing|vector'
  [ "$device" = vulkan ] || others+='|aot|device_|pages|vulkan'
  set -- $(printf '%s\n' test/python/test_*.py | grep -vE "/test_($others)")
fi
export XTENSOR_TEST_DEVICE=$device XTENSOR_VALIDATE=1
exec scripts/run_tests.sh "$@"
