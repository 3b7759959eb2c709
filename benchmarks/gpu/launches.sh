#!/usr/bin/env bash
# launches.sh [build folder]: what the runtime costs on the default Vulkan device (XTENSOR_DEVICE), and a dispatch in the driver itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build/Release}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
spirv-as --target-env spv1.3 -o "$out/add.spv" benchmarks/gpu/add.spvasm
${CC:-cc} -O2 -Wall -Iruntime benchmarks/gpu/launches.c -o "$out/launches" \
  -L"$build/lib" -lxtensor_runtime -Wl,-rpath,"$build/lib" -Wl,--allow-shlib-undefined
"$out/launches" "$out/add.spv"
${CC:-cc} -O2 -Wall benchmarks/gpu/driver.c -o "$out/driver" -lvulkan
"$out/driver" "$out/add.spv"
