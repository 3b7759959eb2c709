// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// A product of matrices: a workgroup for each tile of 128 x 128, 64 sums for a thread. Elements of the
// next step are loaded before those of this one are multiplied; two buffers take turns, so one barrier
// per step is enough.

// CHECK-LABEL: func.func @product
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%c1024, {{.*}}) threads in (%c256,
// CHECK:       gpu.func @kernel0(
// CHECK-SAME:    workgroup(%[[A:[a-z0-9]+]] : memref<2112xf32, #gpu.address_space<workgroup>>, %[[B:[a-z0-9]+]] : memref<2112xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:     scf.if
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK:         memref.store %{{.*}}, %[[B]]
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:           vector.load %arg0{{.*}} vector<4xf32>
// CHECK:           vector.load %arg1{{.*}} vector<4xf32>
// CHECK-COUNT-512: math.fma
// CHECK-NOT:       math.fma
// CHECK:           memref.store %{{.*}}, %[[A]]
// CHECK:           memref.store %{{.*}}, %[[B]]
// CHECK:           gpu.barrier
// CHECK-NEXT:      scf.yield
// CHECK-COUNT-16: vector.store %{{.*}} vector<4xf32>
// CHECK:         gpu.return
module attributes {xtensor.target = "cuda,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=49152,max_threads=1024"} {
func.func @product(%a: memref<4096x1024xf32>, %b: memref<1024x4096xf32>, %c: memref<4096x4096xf32>) {
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

// -----

// Sizes that no tile divides: what lies outside counts as 0 and is not stored. Operands of half
// precision are widened when they are loaded. The batch is read by both.

// CHECK-LABEL: func.func @edges
// CHECK:       gpu.func @kernel0(%[[A:.*]]: memref<?xf16>, %[[B:.*]]: memref<?xf16>, %[[C:.*]]: memref<?xf32>)
// CHECK-SAME:    workgroup(%{{.*}}xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[INSIDE:.*]] = arith.andi
// CHECK:         %[[AT:.*]] = arith.select %[[INSIDE]]
// CHECK:         %[[V:.*]] = memref.load %[[A]][%[[AT]]]
// CHECK:         %[[W:.*]] = arith.extf %[[V]] : f16 to f32
// CHECK:         arith.select %[[INSIDE]], %[[W]], %cst
// CHECK:         scf.for
// CHECK:         scf.if
// CHECK:           memref.store %{{.*}}, %[[C]]
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @edges(%a: memref<3x70x101xf16>, %b: memref<3x101x93xf16>, %c: memref<3x70x93xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, i, j, k) -> (n, i, k)>, affine_map<(n, i, j, k) -> (n, k, j)>, affine_map<(n, i, j, k) -> (n, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<3x70x101xf16>, memref<3x101x93xf16>) outs(%c : memref<3x70x93xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Few tiles and a long sum: several workgroups share a tile, and a second kernel adds their parts.

// CHECK-LABEL: func.func @deep
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<64x64x64xf32>
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in
// CHECK:         gpu.launch_func @kernel1::@kernel1
// CHECK:       gpu.func @kernel1
// CHECK:         scf.for
// CHECK:           arith.addf
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @deep(%a: memref<65536x64xf32>, %b: memref<65536x64xf32>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<65536x64xf32>, memref<65536x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Sizes that the call brings: the host counts tiles, and an empty sum reads nothing.

// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[M:.*]] = memref.dim %{{.*}}, %c0
// CHECK:         arith.divui
// CHECK:         %[[GROUPS:.*]] = arith.minui
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%[[GROUPS]],
// CHECK:       gpu.func @kernel0(
// CHECK:         scf.for
// CHECK:           %[[ANY:.*]] = arith.cmpi sgt, %{{.*}}, %c0
// CHECK:           scf.if %[[ANY]]
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @dynamic(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// A vector times a matrix is bound by memory: a thread per sum, if they are enough for the device.

// CHECK-LABEL: func.func @vector
// CHECK:       gpu.func @kernel0(
// CHECK-NOT:     #gpu.address_space<workgroup>
// CHECK:         scf.for
// CHECK:           arith.mulf
func.func @vector(%a: memref<1024xf32>, %b: memref<1024x32768xf32>, %c: memref<32768xf32>) {
  linalg.generic {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : memref<1024xf32>, memref<1024x32768xf32>) outs(%c : memref<32768xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// NVIDIA's units multiply half precision: 4 subgroups with 64 x 64 sums each, in products of 16 x 8 x 16.
// Elements go to the workgroup's memory as they are, 16 bytes at once, in the order that they have in
// memory; who reads a fragment there transposes it where the unit wants the other.

// CHECK-LABEL: func.func @units
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%c256, {{.*}}) threads in (%c128,
// CHECK:       gpu.func @kernel0(
// CHECK-SAME:    workgroup(%[[A:[a-z0-9]+]] : memref<10240xi16, #gpu.address_space<workgroup>>, %[[B:[a-z0-9]+]] : memref<8704xi16, #gpu.address_space<workgroup>>)
// CHECK:         vector.load %arg0{{.*}} vector<8xf16>
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.load %arg0
// CHECK-COUNT-4:   vector.load %arg1
// CHECK-COUNT-4:   nvgpu.ldmatrix %[[A]]{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK-COUNT-4:   nvgpu.ldmatrix %[[B]]{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK-COUNT-32:  nvvm.mma.sync A[
// CHECK-COUNT-8:   nvgpu.ldmatrix
// CHECK-COUNT-32:  nvvm.mma.sync
// CHECK-NOT:       nvvm.mma.sync
// CHECK:           vector.store %{{.*}}, %[[A]]
// CHECK:           gpu.barrier
// CHECK-NEXT:      scf.yield
// CHECK-COUNT-64: vector.store %{{.*}} vector<2xf32>
// CHECK-NOT:     vector.store
// CHECK:         gpu.return
module attributes {xtensor.target = "cuda,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=49152,max_threads=1024,sm=80"} {
func.func @units(%a: memref<2048x1024xf16>, %b: memref<1024x2048xf16>, %c: memref<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2048x2048xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2048x1024xf16>, memref<1024x2048xf16>) outs(%c : memref<2048x2048xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Chips before 8.0 have none that sum as much at once: threads multiply.

// CHECK-LABEL: func.func @older
// CHECK-NOT:   nvvm.mma
// CHECK:       math.fma
module attributes {xtensor.target = "cuda,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=49152,max_threads=1024,sm=75"} {
func.func @older(%a: memref<512x512xf16>, %b: memref<512x512xf16>, %c: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%c : memref<512x512xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Units of which only the driver knows what thread has which sum (VK_KHR_cooperative_matrix): a subgroup
// of 32 loads, multiplies and sums matrices of 16 x 16 x 16, its part of the tile is 64 x 64. Behind the
// depth the sums pass through the workgroup's memory, one matrix after the other and two places in turn,
// to threads that store them in runs of four. Subgroups are numbered by the driver.

// CHECK-LABEL: func.func @matrices
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%c256, {{.*}}) threads in (%c128,
// CHECK:       gpu.func @kernel0(
// CHECK-SAME:    workgroup(%[[A:[a-z0-9]+]] : memref<10240xf16, #gpu.address_space<workgroup>>, %[[B:[a-z0-9]+]] : memref<8704xf16, #gpu.address_space<workgroup>>, %[[PASSAGE:[a-z0-9]+]] : memref<2048xf32, #gpu.address_space<workgroup>>)
// CHECK:         vector.load %arg0{{.*}} vector<4xf16>
// CHECK:         gpu.barrier
// CHECK:         %[[NONE:.*]] = gpu.subgroup_mma_constant_matrix %{{.*}} : !gpu.mma_matrix<16x16xf32, "COp">
// CHECK:         scf.for
// CHECK:           gpu.subgroup_id
// CHECK-COUNT-4:   gpu.subgroup_mma_load_matrix %[[A]]{{.*}} {leadDimension = 40 : index} {{.*}} -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK-COUNT-4:   gpu.subgroup_mma_load_matrix %[[B]]{{.*}} {leadDimension = 136 : index} {{.*}} -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK-COUNT-16:  gpu.subgroup_mma_compute
// CHECK-COUNT-4:   gpu.subgroup_mma_load_matrix %[[A]]
// CHECK-COUNT-4:   gpu.subgroup_mma_load_matrix %[[B]]
// CHECK-COUNT-16:  gpu.subgroup_mma_compute
// CHECK-NOT:       gpu.subgroup_mma_compute
// CHECK:           memref.store %{{.*}}, %[[A]]
// CHECK:           memref.store %{{.*}}, %[[B]]
// CHECK:           gpu.barrier
// CHECK-NEXT:      scf.yield
// CHECK:         gpu.subgroup_mma_store_matrix %{{.*}}, %[[PASSAGE]]{{.*}} {leadDimension = 16 : index}
// CHECK-NEXT:    gpu.barrier
// CHECK-COUNT-8: memref.load %[[PASSAGE]]
// CHECK:         gpu.subgroup_mma_store_matrix %{{.*}}, %[[PASSAGE]]
// CHECK-NEXT:    gpu.barrier
// CHECK-COUNT-8: memref.load %[[PASSAGE]]
// CHECK-COUNT-14: gpu.subgroup_mma_store_matrix
// CHECK-NOT:     gpu.subgroup_mma_store_matrix
// CHECK-COUNT-32: vector.store %{{.*}} vector<4xf32>
// CHECK-NOT:     vector.store
// CHECK:         gpu.return
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=49152,max_threads=1024,unit_m=16,unit_n=16,unit_k=16"} {
func.func @matrices(%a: memref<2048x1024xf16>, %b: memref<1024x2048xf16>, %c: memref<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2048x2048xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2048x1024xf16>, memref<1024x2048xf16>) outs(%c : memref<2048x2048xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// A factor that lies across is read column by column. Half of the workgroup's memory takes smaller tiles.

// CHECK-LABEL: func.func @across
// CHECK:       gpu.func @kernel0(
// CHECK:         gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 72 : index, transpose} {{.*}} "AOp">
// CHECK:         gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 40 : index, transpose} {{.*}} "BOp">
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024,unit_m=16,unit_n=16,unit_k=16"} {
func.func @across(%a: memref<1024x2048xf16>, %b: memref<2048x1024xf16>, %c: memref<2048x2048xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1024x2048xf16>, memref<2048x1024xf16>) outs(%c : memref<2048x2048xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Of units whose sums threads could not share in runs of four, none are used.

// CHECK-LABEL: func.func @narrow
// CHECK-NOT:   subgroup_mma
// CHECK:       math.fma
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024,unit_m=16,unit_n=2,unit_k=16"} {
func.func @narrow(%a: memref<512x512xf16>, %b: memref<512x512xf16>, %c: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%c : memref<512x512xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}
