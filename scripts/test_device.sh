#!/usr/bin/env bash
# The whole suite with every program on a device: scripts/test_device.sh vulkan [FILE...]. Validation
# layers are on, and any message of theirs is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:?a device, as in: scripts/test_device.sh vulkan}
shift
if [ $# = 0 ]; then
  set -- test/python/test_*.py
  # Files whose programs name their devices themselves have run by then.
  [ "$device" != metal ] ||
    set -- $(printf '%s\n' "$@" | grep -vE '/test_(aot|build|cuda|device_|metal|pages|ptx|vulkan)')
fi
export XTENSOR_TEST_DEVICE=$device XTENSOR_VALIDATE=1
exec scripts/each_file.sh "$@"
