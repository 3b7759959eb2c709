// Numbers that the host computes for a launch are arithmetic, as in kernels.
// RUN: xtensor-opt %s --compile-to=gpu --target=vulkan | FileCheck %s
// RUN: xtensor-opt %s --compile-to=llvm --target=vulkan | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @main
// CHECK-NOT:   xtensor.elementary
// CHECK-NOT:   math.exp
// CHECK:       gpu.launch_func
// LLVM:        llvm.func @entry
func.func @main() -> (!xtensor.array<f64>, !xtensor.array<f32>) {
  %0 = xtensor.constant dense<2.5> : tensor<f64> as <f64>
  %1 = xtensor.lgamma %0 : <f64>
  %2 = xtensor.constant dense<2.5> : tensor<f32> as <f32>
  %3 = xtensor.exp %2 : <f32>
  return %1, %3 : !xtensor.array<f64>, !xtensor.array<f32>
}
