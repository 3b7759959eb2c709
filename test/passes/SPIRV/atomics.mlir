// RUN: xtensor-opt %s --xtensor-convert-to-spirv | FileCheck %s

// What devices do in one step, without an order that llvmpipe would make a barrier of, and the loop for
// what they do not.

module attributes {gpu.container_module, xtensor.target = "vulkan,atomic_f32"} {
  gpu.module @kernels {
    // CHECK-LABEL: spirv.func @updates
    gpu.func @updates(%x: memref<?xf32>, %n: memref<?xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %half = arith.constant 0.5 : f32
      // CHECK: spirv.EXT.AtomicFAdd <Device> <None>
      %0 = memref.atomic_rmw addf %half, %x[%c0] : (f32, memref<?xf32>) -> f32
      // CHECK: spirv.AtomicIAdd <Device> <None>
      %1 = memref.atomic_rmw addi %one, %n[%c0] : (i32, memref<?xi32>) -> i32
      // CHECK: spirv.AtomicSMax <Device> <None>
      %2 = memref.atomic_rmw maxs %one, %n[%c0] : (i32, memref<?xi32>) -> i32
      // CHECK: %[[FIRST:.*]] = spirv.Load "StorageBuffer"
      // CHECK: spirv.mlir.loop
      // CHECK:   spirv.Branch ^[[TRY:.*]](%[[FIRST]] : i32)
      // CHECK: ^[[TRY]](%[[OLD:.*]]: i32):
      // CHECK:   %[[NEW:.*]] = spirv.IMul %[[OLD]]
      // CHECK:   %[[NOW:.*]] = spirv.AtomicCompareExchange <Device> <None> <None> %{{.*}}, %[[NEW]], %[[OLD]]
      // CHECK:   %[[DONE:.*]] = spirv.IEqual %[[NOW]], %[[OLD]]
      // CHECK:   spirv.BranchConditional %[[DONE]], ^{{.*}}, ^[[AGAIN:.*]](%[[NOW]] : i32)
      // CHECK: ^[[AGAIN]](%[[NEXT:.*]]: i32):
      // CHECK:   spirv.Branch ^[[TRY]](%[[NEXT]] : i32)
      %3 = memref.generic_atomic_rmw %n[%c0] : memref<?xi32> {
      ^bb0(%old: i32):
        %new = arith.muli %old, %old : i32
        memref.atomic_yield %new : i32
      }
      gpu.return
    }
  }
}
