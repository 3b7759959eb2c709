// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse | xtensor-opt --compile-from=gpu --compile-to=ptx --target=cuda,sm=80 | FileCheck %s

// What the inner loop of a matrix product comes to: 16 numbers of workgroup memory in 4 loads for 64
// products, elements of the next step on their way 16 bytes at a time, one barrier, and rows stored
// 16 bytes at a time.

// CHECK:         gpu.module @kernel0 attributes {xtensor.code = "
// CHECK-SAME:    bar.sync
// CHECK-SAME:    ld.global.v4.b32
// CHECK-SAME:    ld.shared.v4.b32
// CHECK-SAME:    ld.shared.v4.b32
// CHECK-SAME:    ld.shared.v4.b32
// CHECK-SAME:    ld.shared.v4.b32
// CHECK-SAME:    fma.rn.f32
// CHECK-SAME:    st.shared.b32
// CHECK-SAME:    bar.sync
// CHECK-SAME:    st.global.v4.b32
module attributes {xtensor.target = "cuda,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=49152,max_threads=1024"} {
func.func @main(%a: memref<4096x1024xf32>, %b: memref<1024x4096xf32>, %c: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4096x4096xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4096x1024xf32>, memref<1024x4096xf32>) outs(%c : memref<4096x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}
