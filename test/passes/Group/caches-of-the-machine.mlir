// The caches of the machine that compiles for itself stand in the module, unless they are the
// defaults; a bundle for a kind of processor has those of the kind.
// RUN: env XTENSOR_CACHES=49152,2097152 xtensor-opt %s --compile-to=grouped | FileCheck %s
// RUN: env XTENSOR_CACHES=32768,524288 xtensor-opt %s --compile-to=grouped | FileCheck %s --check-prefix=DEFAULT
// RUN: env XTENSOR_CACHES=49152,2097152 xtensor-opt %s --xtensor-compile="to=grouped target=cpu:x86-64-v3" | FileCheck %s --check-prefix=DEFAULT

// CHECK: #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 49152 : i64, "L2_cache_size_in_bytes" = 2097152 : i64>>
// DEFAULT-NOT: dlti
func.func @main(%x: !xtensor.array<i: 1048576, f32>) -> !xtensor.array<i: 1048576, f32> {
  %y = xtensor.exp %x : !xtensor.array<i: 1048576, f32>
  return %y : !xtensor.array<i: 1048576, f32>
}
