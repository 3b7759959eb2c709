// The position of an update is computed in the kernel: views of the host that were made with it are
// gone when the host would read it back behind them. (The IR is verified after each pass.)
// RUN: xtensor-opt %s "--compile-to=gpu" "--target=vulkan,i64,max_threads=1024" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.subview
// CHECK: gpu.launch_func
// CHECK: return
func.func @main(%x: !xtensor.array<k: 1, j: 1, i64>, %v: !xtensor.array<k: 1, i64>, %i: !xtensor.array<ui32>)
    -> !xtensor.array<k: 1, j: 1, i64> {
  %y = xtensor.scatter set raise %x at %i with %v along [j] : !xtensor.array<k: 1, j: 1, i64>, !xtensor.array<k: 1, i64>, !xtensor.array<ui32>
  return %y : !xtensor.array<k: 1, j: 1, i64>
}
