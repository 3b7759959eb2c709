#!/usr/bin/env bash
# pytest, each file in a process of its own, as many at a time as there are cores: what falls takes one
# file with it. Prints a line for each file when it ends, all that a file says that fails, how many
# passed, and why others were skipped. Options of pytest: in PYTEST_ADDOPTS.
set -euo pipefail
cd "$(dirname "$0")/.."
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs
# Threads of the libraries that tests compare with would spin on the other file's core.
export OMP_WAIT_POLICY=passive
# The largest first, so that none is left over at the end.
ls -S "$@" | xargs -P "$(nproc)" -I{} sh -c '
  log=$logs/$(basename {}).log
  .venv/bin/python -X faulthandler -m pytest -q -rs -p no:cacheprovider {} > "$log" 2>&1
  code=$?
  # 5: nothing in it runs here.
  [ $code = 5 ] && code=0
  [ $code = 0 ] || { echo {} >> "$logs/failed"; cat "$log"; }
  echo "{}: $(tail -n 1 "$log")"'
cat "$logs"/*.log | grep -oE '[0-9]+ (passed|failed|skipped|errors?)' |
  awk '{ n[$2] += $1 } END { for (k in n) printf "%d %s  ", n[k], k; print "" }'
cat "$logs"/*.log | grep -E '^SKIPPED' | sed 's/^SKIPPED \[[0-9]*\] [^ ]* *//' | sort | uniq -c | sort -rn || true
[ ! -e "$logs/failed" ] || { echo "failed: $(tr '\n' ' ' < "$logs/failed")" >&2; exit 1; }
