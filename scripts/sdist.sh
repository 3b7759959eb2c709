#!/usr/bin/env bash
# A source distribution that holds what a build from a clone fetches, and the headers of Highway, which
# few systems have: dist/xtensor_mlir-*.tar.gz.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python

# copy_highway FROM INTO: those of its headers that runtime/VectorSort.cpp includes on some processor.
copy_highway() {
  mkdir -p "$2"
  (cd "$1" && cp --parents hwy/*.h hwy/ops/*.h hwy/contrib/{algo,sort}/*.h "$OLDPWD/$2")
}

rm -rf fetched
trap 'rm -rf fetched' EXIT
for what in ducc mlir_python; do
  folder=fetched/${what//_/-}
  home=$($python "scripts/fetch_$what.py")
  mkdir -p "$folder"
  cp -r "$home" "$folder"
done
copy_highway "$(sed -n 's/^XTENSOR_HIGHWAY_HEADERS:PATH=//p' build/Release/CMakeCache.txt)" fetched/highway
cp /usr/share/doc/libhwy-dev/copyright fetched/highway/LICENSE
written=$($python -c 'import scikit_build_core.build as b; print("dist/" + b.build_sdist("dist"))' | tail -1)
$python scripts/finish_sdist.py "$written"
echo "$written"
