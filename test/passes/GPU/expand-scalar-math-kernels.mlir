// The functions lie beside the kernels that call them; large arguments of sin take a branch of their
// own, whose bits of 2/pi are constants, and remainders a loop.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(gpu.module(xtensor-expand-scalar-math))' | FileCheck %s

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK-DAG: func.func private @xt_sin_f32
  // CHECK-DAG: func.func private @xt_remf_f32
  // CHECK-DAG: scf.if
  // CHECK-DAG: arith.mului_extended {{.*}} : i32
  // CHECK-DAG: scf.while
  // CHECK-LABEL: gpu.func @kernel
  gpu.func @kernel(%x: memref<8xf32>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %x[%i] : memref<8xf32>
    // CHECK: func.call @xt_sin_f32
    %b = math.sin %a : f32
    // CHECK: func.call @xt_remf_f32
    %c = arith.remf %b, %a : f32
    memref.store %c, %x[%i] : memref<8xf32>
    gpu.return
  }
}

// Nothing outside of the module changes.
// CHECK-LABEL: func.func @host
func.func @host(%x: f32) -> f32 {
  // CHECK: math.sin
  %y = math.sin %x : f32
  return %y : f32
}
