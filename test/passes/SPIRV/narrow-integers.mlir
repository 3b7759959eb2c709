// RUN: xtensor-opt %s --xtensor-convert-to-spirv --split-input-file | FileCheck %s

// Buffers of bytes without bytes: words, of which a store changes the bits that are its own. What is computed
// keeps no bit above the eighth, and signs are taken where they are asked for.

// CHECK:       spirv.module
// CHECK-NOT:   Int8
// CHECK:       spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, StorageBuffer>
// CHECK:       spirv.func @kernel0
// CHECK:         %[[WORD:.*]] = spirv.Load "StorageBuffer" %{{.*}} : i32
// CHECK:         %[[OWN:.*]] = spirv.ShiftRightLogical %[[WORD]]
// CHECK:         %[[MASK:.*]] = spirv.Constant 255 : i32
// CHECK:         %[[X:.*]] = spirv.BitwiseAnd %[[OWN]], %[[MASK]]
// CHECK:         %[[SUM:.*]] = spirv.IAdd %[[X]], %[[X]]
// CHECK:         spirv.BitwiseAnd %[[SUM]]
// CHECK:         spirv.ShiftRightArithmetic
// CHECK:         spirv.SLessThan
// CHECK:         spirv.AtomicAnd <Device> <None>
// CHECK:         spirv.AtomicOr <Device> <None>
module attributes {gpu.container_module, xtensor.target = "vulkan,s8,subgroup=8"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<?xi8>
      %b = arith.addi %a, %a : i8
      %c = arith.cmpi slt, %b, %a : i8
      %d = arith.select %c, %b, %a : i8
      memref.store %d, %x[%t] : memref<?xi8>
      gpu.return
    }
  }
}

// -----

// float16 that buffers cannot hold: half of a word. In the workgroup's memory each has its own.

// CHECK:       spirv.GlobalVariable @kernel1_memory1 : !spirv.ptr<!spirv.struct<(!spirv.array<6 x i32>)>, Workgroup>
// CHECK:       spirv.func @kernel1
// CHECK:         spirv.Bitcast %{{.*}} : i32 to vector<2xf16>
// CHECK:         spirv.Store "Workgroup"
// CHECK:         spirv.Bitcast %{{.*}} : vector<2xf16> to i32
// CHECK:         spirv.AtomicOr
module attributes {gpu.container_module, xtensor.target = "vulkan,f16,subgroup=8"} {
  gpu.module @kernel1 {
    gpu.func @kernel1(%x: memref<?xf16>) workgroup(%m: memref<6xi16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<?xf16>
      %b = arith.addf %a, %a : f16
      %i = arith.fptosi %b : f16 to i16
      memref.store %i, %m[%t] : memref<6xi16, #gpu.address_space<workgroup>>
      %j = memref.load %m[%t] : memref<6xi16, #gpu.address_space<workgroup>>
      %c = arith.sitofp %j : i16 to f16
      memref.store %c, %x[%t] : memref<?xf16>
      gpu.return
    }
  }
}
