#!/usr/bin/env bash
# Everything into .venv, from a bare Debian 12: Debian packages, Python packages, the sources of
# MLIR's own Python bindings, the build, the install. Each step is skipped when what it depends on
# has not changed since it last succeeded. XTENSOR_PEERS=1 adds the libraries that tests compare
# with, and compilers for other processors. XTENSOR_EDITABLE=1 installs a package whose Python files are
# those of the sources; later calls without it keep it so, and XTENSOR_EDITABLE=0 ends that.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
python=${PYTHON:-python3}
inputs=(CMakeLists.txt aot bundle cmake compiler dialects passes pyfrontend pyproject.toml runtime scripts tools)

# progress: of a build's lines on standard input, a line for every tenth of its steps.
progress() {
  local line tenth=0 now
  while IFS= read -r line; do
    [[ $line =~ \[([0-9]+)/([0-9]+)\]\ (Building|Linking|Generating) ]] || continue
    now=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    [ "$now" -gt "$tenth" ] || continue
    tenth=$now
    step "  ${BASH_REMATCH[1]}/${BASH_REMATCH[2]}"
  done
}

editable=${XTENSOR_EDITABLE:-$([ -e .venv/.editable ] && echo 1 || echo 0)}
what=(.)
[ "$editable" = 0 ] || what=(--editable .)

# What the installed package is made of, whatever the clock says about it.
fingerprint() {
  {
    echo "${what[@]}"
    dpkg-query -W -f '${Version}\n' libmlir-22-dev 2>/dev/null || true
    pwd
    (cd .venv && echo lib/python*/site-packages/jaxlib-*.dist-info) 2>/dev/null || true
    find "${inputs[@]}" -type f -not -name '*.md' -not -path '*/__pycache__/*' -print0 |
      sort -z | xargs -0 sha256sum
  } | sha256sum
}

# Before the build, which finds the headers of JAX among them.
install_peers() {
  if [ "${XTENSOR_PEERS:-0}" = 1 ]; then
    install_requirements scripts/requirements-peers.txt
  fi
}

packages=(clang-22 clang-format-22 libclang-rt-22-dev libhwy-dev libmlir-22-dev lld-22 llvm-22-dev
  mlir-22-tools ccache cmake ninja-build xz-utils zlib1g-dev
  libvulkan1 libvulkan-dev mesa-vulkan-drivers vulkan-validationlayers spirv-tools
  libspirv-cross-c-shared-dev)
python_packages=(python3-dev python3-venv)
# Programs in C for other processors: bundles are tested there. An editor: the language server is.
cross_packages=(gcc libc6-dev qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
  gcc-riscv64-linux-gnu libc6-dev-riscv64-cross neovim)

# Packages of an environment that is not ours would get other versions.
if [ -d .venv ] && [ -z "$(compgen -G '.venv/.made-by-setup' || compgen -G '.venv/.installed*')" ]; then
  echo "$PWD/.venv was not made by set-up, which would change its packages." >&2
  echo "Rename it or remove it, then call make again." >&2
  exit 1
fi
if [ -x .venv/bin/python ]; then
  install_peers
fi
if ! [ -x build/Release/bin/xtensor-opt ] || [ "$(cat .venv/.installed 2>/dev/null)" != "$(fingerprint)" ]; then
  step "what is missing"
  check_debian_packages "${python_packages[@]}" "${packages[@]}"
  install_debian_packages "${python_packages[@]}"
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "Python 3.11 or newer is needed; name one with PYTHON=..., as in: PYTHON=python3.11 make setup" >&2
    exit 1
  fi
  if ! [ -x .venv/bin/python ]; then
    step "Python environment: .venv"
    mkdir -p .venv
    touch .venv/.made-by-setup
    "$python" -m venv .venv
  fi
  # Three downloads, side by side. The sources are those of the release that Debian has; without xz
  # they wait for it.
  update_debian_lists "${packages[@]}"
  install_requirements scripts/requirements.txt &
  requirements=$!
  .venv/bin/python scripts/fetch_mlir_python.py >/dev/null 2>&1 &
  fetch=$!
  install_debian_packages "${packages[@]}"
  wait "$requirements"
  install_peers
  .venv/bin/python scripts/fetch_ducc.py >/dev/null
  wait "$fetch" || .venv/bin/python scripts/fetch_mlir_python.py >/dev/null

  step "C++ build and install"
  keep_version
  mkdir -p build
  if ! CC=clang-22 CXX=clang++-22 .venv/bin/python -m pip install -v --disable-pip-version-check \
    --no-index --no-build-isolation --no-deps --force-reinstall "${what[@]}" 2>&1 | tee build/setup.log | progress; then
    grep -E -A5 'error:|FAILED' build/setup.log | head -40 >&2 || true
    tail -n 20 build/setup.log >&2
    echo "The build failed; all it said is in build/setup.log" >&2
    exit 1
  fi
  for tool in xtensor-compile xtensor-opt xtensor-reduce xtensor-lsp-server; do
    ln -sf "$PWD/build/Release/bin/$tool" ".venv/bin/$tool"
  done
  rm -f .venv/.editable
  [ "$editable" = 0 ] || touch .venv/.editable
  fingerprint >.venv/.installed
  step "set up"
fi
if [ "${XTENSOR_PEERS:-0}" = 1 ]; then
  install_debian_packages "${cross_packages[@]}"
fi
