// RUN: not xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=metal 2>&1 | FileCheck %s

// Metal has no float64; it is refused, never computed in less.

// CHECK: error: a kernel uses 'f64', which metal does not have
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<?xf64>
      %w = arith.mulf %v, %v : f64
      memref.store %w, %x[%t] : memref<?xf64>
      gpu.return
    }
  }
}
