// RUN: xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=vulkan | FileCheck %s
// RUN: xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=vulkan \
// RUN:   | xtensor-opt --xtensor-serialize-spirv | FileCheck %s --check-prefix=BINARY

// Numbers are push constants, one block of them, not a buffer each. Memory of the workgroup may be
// an attribution. Barriers order buffers, too. Nobody may compute as if numbers were real, and
// infinities are kept. The binary begins with SPIR-V's magic number.

// CHECK:       spirv.module {{.*}} Logical GLSL450
// CHECK-DAG:     spirv.GlobalVariable @kernel0_numbers : !spirv.ptr<!spirv.struct<(!spirv.array<2 x i32, stride=4> [0])>, PushConstant>
// CHECK-DAG:     spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK-DAG:     spirv.GlobalVariable @kernel0_memory3 : !spirv.ptr<!spirv.struct<(!spirv.array<64 x f32>)>, Workgroup>
// CHECK:         spirv.func @kernel0() "None"
// CHECK:           spirv.FAdd {{.*}} {no_contraction}
// CHECK:           spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
// CHECK-DAG:     spirv.ExecutionMode @kernel0 "SignedZeroInfNanPreserve", 32
// CHECK-DAG:     spirv.ExecutionMode @kernel0 "LocalSize", 64, 1, 1
// CHECK-DAG:     spirv.EntryPoint "GLCompute" @kernel0
// BINARY:      gpu.module @kernel0 attributes {xtensor.code = "\03\02#\07
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %n: i32, %m: i32) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %i = arith.index_cast %n : i32 to index
      %j = arith.index_cast %m : i32 to index
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %u = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %u, %x[%t] : memref<?xf32>
      gpu.return
    }
  }
}
