// RUN: xtensor-opt %s --xtensor-convert-to-spirv --split-input-file | FileCheck %s

// Without int64, a number is two words, in buffers as well.

// CHECK:       spirv.module
// CHECK-NOT:   Int64
// CHECK:       spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<2xi32>, stride=8> [0])>, StorageBuffer>
// CHECK:       spirv.func @kernel0
// CHECK:         spirv.Load "StorageBuffer" %{{.*}} : vector<2xi32>
// CHECK:         spirv.IAddCarry
// CHECK-NOT:     i64
// CHECK:         spirv.Store "StorageBuffer" %{{.*}}, %{{.*}} : vector<2xi32>
module attributes {gpu.container_module, xtensor.target = "vulkan,subgroup=8"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xi64>, %y: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %v = vector.load %x[%t] : memref<?xi64>, vector<2xi64>
      %a = vector.extract %v[0] : i64 from vector<2xi64>
      %b = vector.extract %v[1] : i64 from vector<2xi64>
      %c = arith.addi %a, %b : i64
      memref.store %c, %x[%t] : memref<?xi64>
      gpu.return
    }
  }
}

// -----

// What upstream has no way for: quotients (32 bits where both fit, else a loop), floats, bits of float64,
// values of loops and branches.

// CHECK-LABEL: spirv.func @kernel1
// CHECK:         spirv.UDiv
// CHECK:         spirv.mlir.loop
// CHECK:         spirv.GL.FindUMsb
// CHECK:         spirv.ConvertFToU
// CHECK:         spirv.Bitcast %{{.*}} : vector<2xi32> to f64
// CHECK:         spirv.Return
module attributes {gpu.container_module, xtensor.target = "vulkan,f64,subgroup=8"} {
  gpu.module @kernel1 {
    gpu.func @kernel1(%x: memref<?xi64>, %y: memref<?xf32>, %z: memref<?xf64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<?xi64>
      %b = memref.load %x[%c0] : memref<?xi64>
      %q = arith.divsi %a, %b : i64
      %s = arith.shrsi %q, %b : i64
      %f = arith.sitofp %s : i64 to f32
      %i = arith.fptosi %f : f32 to i64
      %less = arith.cmpi slt, %i, %b : i64
      %r = scf.if %less -> (i64) {
        scf.yield %i : i64
      } else {
        scf.yield %a : i64
      }
      %d = arith.bitcast %r : i64 to f64
      memref.store %f, %y[%t] : memref<?xf32>
      memref.store %d, %z[%t] : memref<?xf64>
      gpu.return
    }
  }
}
