// RUN: xtensor-opt %s --xtensor-convert-to-nvvm --xtensor-serialize-ptx | FileCheck %s

// Elements side by side are one access, and threads of a warp exchange registers.

// CHECK: ld.global.v4
// CHECK: shfl.sync.bfly.b32
// CHECK: st.global.v4
module attributes {gpu.container_module, xtensor.target = "cuda,sm=80"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %y: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c4 = arith.constant 4 : index
      %bit = arith.constant 16 : i32
      %width = arith.constant 32 : i32
      %t = gpu.thread_id x
      %i = arith.muli %t, %c4 : index
      %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
      %a = vector.extract %v[0] : f32 from vector<4xf32>
      %b, %there = gpu.shuffle xor %a, %bit, %width : f32
      %w = vector.insert %b, %v[1] : f32 into vector<4xf32>
      vector.store %w, %y[%i] : memref<?xf32>, vector<4xf32>
      gpu.return
    }
  }
}
