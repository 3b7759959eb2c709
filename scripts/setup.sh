#!/usr/bin/env bash
# Everything into .venv, from a bare Debian 12: Debian packages, Python packages, the build.
# Called by make when an input of the build has changed; each step does nothing when it is done.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools cmake ninja-build ccache
          clang-format-22 libclang-rt-22-dev python3-venv python3-dev dpkg-dev)
missing=()
for package in "${packages[@]}"; do
  case $package in
    # Any recent ones will do, wherever they come from.
    cmake | ccache) command -v "$package" >/dev/null && continue ;;
    ninja-build) command -v ninja >/dev/null && continue ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && continue ;;
    python3-dev)
      python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' \
        2>/dev/null && continue ;;
  esac
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
    missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      echo "These Debian packages are missing, and neither root nor sudo is at hand:" >&2
      echo "    ${missing[*]}" >&2
      echo "Have them installed, then call make again:" >&2
      echo "    apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

[ -x .venv/bin/python ] || python3 -m venv .venv
wanted=$(cat scripts/requirements.txt)
if [ "$(cat .venv/.requirements 2>/dev/null)" != "$wanted" ]; then
  echo "installing Python packages"
  .venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements.txt
  echo "$wanted" >.venv/.requirements
fi

echo "building"
export CC=clang-22 CXX=clang++-22
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
llvm=$(llvm-config-22 --prefix)
.venv/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps \
  --force-reinstall . \
  -C cmake.define.MLIR_DIR="$llvm/lib/cmake/mlir" \
  -C cmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache \
  -C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache
for tool in xtensor-opt xtensor-lsp-server; do
  ln -sf "$PWD/build/Release/bin/$tool" .venv/bin/$tool
done
touch .venv/.installed
