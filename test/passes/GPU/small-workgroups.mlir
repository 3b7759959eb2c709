// Threads of a workgroup meet in its memory. A device with little of it gets as many threads as have
// room there; one thread needs none.
// RUN: sed s/BYTES/1/ %s | xtensor-opt --xtensor-outline-kernels | FileCheck %s --check-prefix=ONE
// RUN: sed s/BYTES/1024/ %s | xtensor-opt --xtensor-outline-kernels | FileCheck %s --check-prefix=FEW
// RUN: sed s/BYTES/4096/ %s | xtensor-opt --xtensor-outline-kernels | FileCheck %s --check-prefix=MANY

// ONE-NOT: workgroup>
// ONE: known_block_size = array<i32: 1, 1, 1>
// FEW: memref<16xf32, #gpu.address_space<workgroup>>
// FEW-SAME: known_block_size = array<i32: 16, 1, 1>
// MANY: memref<64xf32, #gpu.address_space<workgroup>>
// MANY-SAME: known_block_size = array<i32: 64, 1, 1>
module attributes {xtensor.target = "vulkan,subgroup=1,workgroup_bytes=BYTES,max_threads=1024"} {
func.func @sums(%x: memref<512x4096xf32>, %y: memref<512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<512xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4096xf32>) outs(%y : memref<512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  }
  return
}
}
