#!/usr/bin/env bash
# Installs a wheel as a user of Debian has it: no LLVM, no compiler, no root, no network; then runs
# test/wheel/ there: test_wheel.sh [WHEEL]. Without a name it takes the wheel for the Python of .venv.
# The Debian is the one whose Python the wheel is for. It is made by mmdebstrap once, and kept in the
# cache folder with what pip has fetched.
# Programs of a wheel for another processor run in QEMU. Needs root, for a chroot.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
python=.venv/bin/python
here=$(uname -m)
own=$($python -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
wheel=${1:-$(echo dist/xtensor_mlir-*-"$own"-*_"$here".whl)}
processor=$here
case $wheel in
  *_aarch64.whl) processor=aarch64 ;;
esac
case $wheel in
  *-cp311-*) suite=bookworm for_python=3.11 ;;
  *-cp313-*) suite=trixie for_python=3.13 ;;
  *-cp314-*) suite=sid for_python=3.14 ;;
  *) echo "no Debian is known whose Python $wheel is for" >&2; exit 1 ;;
esac
# run_in_qemu: programs for AArch64, in a chroot, too: the kernel is told of their format.
run_in_qemu() {
  local formats=/proc/sys/fs/binfmt_misc
  install_debian_packages mmdebstrap qemu-user-static
  [ -e $formats/register ] || mount -t binfmt_misc none $formats
  [ -e $formats/qemu-aarch64 ] || printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' \
    >$formats/register
}

cache=${XDG_CACHE_HOME:-$HOME/.cache}/xtensor/wheel-test
system=$cache/$suite.tar
needed=$cache/needed-$for_python
kind=(--variant=minbase)
mkdir -p "$cache"
if [ "$processor" != "$here" ]; then
  system=$cache/$suite-$processor.tar
  needed=$cache/needed-$for_python-$processor
  # Unpacked, not configured: in QEMU that takes minutes, and no test needs it.
  kind=(--variant=extract --architectures=arm64)
  run_in_qemu
fi
if ! [ -e "$system" ]; then
  install_debian_packages mmdebstrap
  step "Debian $suite, with Python and nothing else"
  # A stale mirror of unstable does not matter.
  mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --format=tar "${kind[@]}" \
    --include=coreutils,dash,grep,libstdc++6,python3,python3-venv "$suite" "$system.new"
  mv "$system.new" "$system"
fi
requirements=$($python -c 'import email, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
(metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
for line in email.message_from_bytes(wheel.read(metadata)).get_all("Requires-Dist"):
    if "extra ==" not in line:
        print(line)' "$wheel")
if [ "$(cat "$needed/.done" 2>/dev/null)" != "$requirements" ]; then
  step "Python packages that it needs"
  mapfile -t wanted <<<"$requirements"
  $python -m pip download -q --disable-pip-version-check --only-binary :all: \
    --python-version "$for_python" --platform "manylinux2014_$processor" \
    --platform "manylinux_2_27_$processor" --platform "manylinux_2_28_$processor" \
    -d "$needed" "${wanted[@]}" xarray
  echo "$requirements" >"$needed/.done"
fi

step "install"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -C "$root" -xf "$system"
mkdir -p "$root/home/user" "$root/proc"
cp -r "$wheel" "$needed" test/wheel "$root/home/user"
mv "$root/home/user/$(basename "$needed")" "$root/home/user/needed"
chown -R 1000:1000 "$root/home/user"
# user COMMAND ..: as nobody in particular, where there is no network. The dynamic linker reads /proc.
user() {
  unshare --net --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot --userspec=1000:1000 "$0" "$@"' \
    "$root" /usr/bin/env -i HOME=/home/user PATH=/home/user/env/bin:/usr/bin:/bin TERM=dumb "$@"
}
for absent in clang gcc cc ld ld.lld ld.lld-22 llc; do
  if user sh -c "command -v $absent"; then
    echo "the system has $absent: the test would prove nothing" >&2
    exit 1
  fi
done
user python3 -m venv /home/user/env
user sh -c 'pip install -q --disable-pip-version-check --no-compile --no-index -f ~/needed ~/xtensor_mlir-*.whl xarray'
step "xtensor doctor"
user xtensor doctor
step "python -m xtensor.demo"
user python -m xtensor.demo
step "test/wheel/smoke.py"
user python /home/user/wheel/smoke.py
if [ "$processor" != "$here" ] || [ "$for_python" != "$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')" ]; then
  step "done"
  exit
fi
step "beside other LLVMs, on this machine"
there=$root/there
$python -m pip install -q --disable-pip-version-check --no-index --no-deps --target "$there" "$wheel"
PATH=$there/bin:$PATH $python test/wheel/neighbours.py "$there" torch jax numba llvmlite
step "done"
