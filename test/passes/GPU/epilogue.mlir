// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// A bias and an activation are done by the product's kernel, on sums in registers: the sums need no
// memory. A bias is loaded once per column.

// CHECK-LABEL: func.func @bias
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func @kernel0
// CHECK-NOT:     gpu.launch_func
// CHECK:       gpu.func @kernel0(%[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[BIAS:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<?xf32>)
// CHECK:         math.fma
// CHECK-COUNT-4: memref.load %[[BIAS]]
// CHECK-NOT:     memref.load %[[BIAS]]
// CHECK:         arith.addf
// CHECK:         arith.maximumf
// CHECK:         vector.store %{{.*}}, %[[OUT]]
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @bias(%a: memref<1024x512xf32>, %b: memref<512x1024xf32>, %bias: memref<1024xf32>, %out: memref<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<1024x1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1024x512xf32>, memref<512x1024xf32>) outs(%sums : memref<1024x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<1024x1024xf32>, memref<1024xf32>) outs(%out : memref<1024x1024xf32>) {
  ^bb0(%s: f32, %v: f32, %o: f32):
    %t = arith.addf %s, %v : f32
    %r = arith.maximumf %t, %zero : f32
    linalg.yield %r : f32
  }
  return
}
}

// -----

// Sums that somebody else reads are stored as well.

// CHECK-LABEL: func.func @kept
// CHECK:         gpu.launch_func @kernel0
// CHECK-NOT:     gpu.launch_func
// CHECK:       gpu.func @kernel0(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %[[SUMS:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<?xf32>)
// CHECK:         memref.store %{{.*}}, %[[SUMS]]
// CHECK:         math.tanh
// CHECK:         memref.store %{{.*}}, %[[OUT]]
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @kept(%a: memref<301x77xf32>, %b: memref<77x201xf32>, %sums: memref<301x201xf32>, %out: memref<201x301xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<301x77xf32>, memref<77x201xf32>) outs(%sums : memref<301x201xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<301x201xf32>) outs(%out : memref<201x301xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// What the product still reads must not be overwritten: its workgroups finish one by one.

// CHECK-LABEL: func.func @overwritten
// CHECK:         gpu.launch_func @kernel0
// CHECK:         gpu.launch_func @kernel1
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @overwritten(%a: memref<512x512xf32>, %b: memref<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<512x512xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<512x512xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x512xf32>, memref<512x512xf32>) outs(%sums : memref<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums, %a : memref<512x512xf32>, memref<512x512xf32>) outs(%a : memref<512x512xf32>) {
  ^bb0(%s: f32, %v: f32, %o: f32):
    %t = arith.addf %s, %v : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Nor may what stands between the two see that the product waits.

// CHECK-LABEL: func.func @between
// CHECK-COUNT-3: gpu.launch_func
module attributes {xtensor.target = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @between(%a: memref<512x512xf32>, %b: memref<512x512xf32>, %out: memref<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<512x512xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<512x512xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x512xf32>, memref<512x512xf32>) outs(%sums : memref<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  memref.copy %b, %a : memref<512x512xf32> to memref<512x512xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<512x512xf32>) outs(%out : memref<512x512xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = arith.negf %s : f32
    linalg.yield %t : f32
  }
  return
}
}
