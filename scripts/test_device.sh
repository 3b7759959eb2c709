#!/usr/bin/env bash
# The whole suite with every program on a device: scripts/test_device.sh vulkan [FILE...]. Each file is
# a process of its own, as many at a time as there are cores: a driver that falls takes one file with
# it. Validation layers are on, and any message of theirs is a failure.
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
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export XTENSOR_TEST_DEVICE=$device XTENSOR_VALIDATE=1 logs
# The largest first, so that none is left over at the end.
ls -S "$@" | xargs -P "$(nproc)" -I{} sh -c '
  log=$logs/$(basename {}).log
  .venv/bin/python -X faulthandler -m pytest -q -rs -p no:cacheprovider {} > "$log" 2>&1
  code=$?
  # 5: nothing in it runs on a device.
  [ $code = 5 ] && code=0
  [ $code = 0 ] || { echo {} >> "$logs/failed"; cat "$log"; }'
cat "$logs"/*.log | grep -oE '[0-9]+ (passed|failed|skipped|errors?)' |
  awk '{ n[$2] += $1 } END { for (k in n) printf "%d %s  ", n[k], k; print "" }'
cat "$logs"/*.log | grep -E '^SKIPPED' | sed 's/^SKIPPED \[[0-9]*\] [^ ]* *//' | sort | uniq -c | sort -rn
[ ! -e "$logs/failed" ] || { echo "failed: $(tr '\n' ' ' < "$logs/failed")" >&2; exit 1; }
