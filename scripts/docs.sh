#!/usr/bin/env bash
# Reference pages from TableGen into build/docs; links between pages resolve, and the Python of pages runs.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/docs
mkdir -p $out
llvm=$(llvm-config-22 --prefix)
tblgen() { "$llvm/bin/mlir-tblgen" -I "$llvm/include" -I dialects "$@"; }
tblgen -gen-dialect-doc -dialect=xtensor dialects/XTensor/XTensorOps.td >$out/dialect.md
for table in passes/*/Passes.td; do
  room=$(basename "$(dirname "$table")")
  tblgen -gen-pass-doc "$table" >"$out/passes-$room.md"
done
.venv/bin/python scripts/check_links.py
.venv/bin/python scripts/run_pages.py
echo "reference pages: $out"
