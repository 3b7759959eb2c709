// RUN: xtensor-opt %s --xtensor-convert-to-spirv --split-input-file | FileCheck %s

// A buffer that is read and written four elements at a time is an array of vectors; a scalar load of it
// takes an element.

// CHECK-DAG:   spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xf32>, stride=16> [0])>, StorageBuffer>
// CHECK-DAG:   spirv.GlobalVariable @kernel0_buffer1 bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xf32>, stride=16> [0])>, StorageBuffer>
// CHECK:       spirv.func @kernel0
// CHECK:         %[[V:.*]] = spirv.Load "StorageBuffer" %{{.*}} : vector<4xf32>
// CHECK:         %[[ALL:.*]] = spirv.Load "StorageBuffer" %{{.*}} : vector<4xf32>
// CHECK:         spirv.VectorExtractDynamic %[[ALL]]
// CHECK:         spirv.Store "StorageBuffer" %{{.*}}, %[[V]] : vector<4xf32>
module attributes {gpu.container_module, xtensor.target = "vulkan,shuffle,subgroup=32"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %y: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c4 = arith.constant 4 : index
      %t = gpu.thread_id x
      %i = arith.muli %t, %c4 : index
      %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
      %s = memref.load %x[%t] : memref<?xf32>
      %big = arith.cmpf ogt, %s, %s : f32
      scf.if %big {
        vector.store %v, %y[%i] : memref<?xf32>, vector<4xf32>
      }
      gpu.return
    }
  }
}

// -----

// Where single elements are stored as well, all is written out.

// CHECK:       spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK:       spirv.func @kernel0
// CHECK-COUNT-4: spirv.Load "StorageBuffer"
// CHECK-COUNT-5: spirv.Store "StorageBuffer"
module attributes {gpu.container_module, xtensor.target = "vulkan,shuffle,subgroup=32"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %i = arith.muli %t, %c4 : index
      %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
      vector.store %v, %x[%i] : memref<?xf32>, vector<4xf32>
      memref.store %zero, %x[%t] : memref<?xf32>
      gpu.return
    }
  }
}

// -----

// Threads of a subgroup exchange values.

// CHECK:         spirv.GroupNonUniformShuffleXor <Subgroup>
module attributes {gpu.container_module, xtensor.target = "vulkan,shuffle,subgroup=32"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %bit = arith.constant 2 : i32
      %width = arith.constant 32 : i32
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<?xf32>
      %w, %there = gpu.shuffle xor %v, %bit, %width : f32
      memref.store %w, %x[%t] : memref<?xf32>
      gpu.return
    }
  }
}
