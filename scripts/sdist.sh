#!/usr/bin/env bash
# A source distribution that holds what a build from a clone fetches: dist/xtensor_mlir-*.tar.gz.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
rm -rf fetched
trap 'rm -rf fetched' EXIT
for what in ducc mlir_python; do
  folder=fetched/${what//_/-}
  home=$($python "scripts/fetch_$what.py")
  mkdir -p "$folder"
  cp -r "$home" "$folder"
done
written=$($python -c 'import scikit_build_core.build as b; print("dist/" + b.build_sdist("dist"))' | tail -1)
$python scripts/finish_sdist.py "$written"
echo "$written"
