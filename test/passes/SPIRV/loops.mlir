// RUN: xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=vulkan | FileCheck %s

// A loop that runs zero times still has its results: they are stored before the test, not in the
// body only.

// CHECK:       spirv.mlir.loop {
// CHECK:       ^bb1(%[[I:.*]]: i32, %[[SUM:.*]]: f32):
// CHECK-DAG:     %[[MORE:.*]] = spirv.SLessThan %[[I]]
// CHECK-DAG:     spirv.Store "Function" %{{.*}}, %[[SUM]] : f32
// CHECK:         spirv.BranchConditional %[[MORE]]
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %start = arith.constant 5.0 : f32
      %end = arith.index_cast %n : i32 to index
      %sum = scf.for %i = %c0 to %end step %c1 iter_args(%s = %start) -> f32 {
        %v = memref.load %x[%i] : memref<?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      memref.store %sum, %x[%c0] : memref<?xf32>
      gpu.return
    }
  }
}
