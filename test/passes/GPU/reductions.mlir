// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// A row that a workgroup sums: each thread loads four elements at a time; threads of a subgroup
// exchange what they have; subgroups meet once in memory, and the first thread adds what they left.

// CHECK:       gpu.func @kernel0(
// CHECK-SAME:    %[[PARTS:[a-z0-9]+]] : memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[PART:.*]] = scf.for
// CHECK:           vector.load {{.*}} vector<4xf32>
// CHECK:         gpu.shuffle xor %[[PART]], %c1_i32, %c32_i32
// CHECK:         arith.addf
// CHECK:         gpu.shuffle xor {{.*}}, %c2_i32
// CHECK:         gpu.shuffle xor {{.*}}, %c4_i32
// CHECK:         gpu.shuffle xor {{.*}}, %c8_i32
// CHECK:         gpu.shuffle xor {{.*}}, %c16_i32
// CHECK:         %[[LANE:.*]] = arith.remui %[[THREAD:.*]], %c32
// CHECK:         %[[LEADS:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK:         scf.if %[[LEADS]]
// CHECK:           memref.store %{{.*}}, %[[PARTS]]
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.if
// CHECK-COUNT-8:   memref.load %[[PARTS]]
// CHECK-COUNT-8:   arith.addf
// CHECK:           memref.store
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @sums(%x: memref<512x4096xf32>, %y: memref<512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<512xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4096xf32>) outs(%y : memref<512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// 64 bits are exchanged as two words, and rows of an odd length an element at a time.

// CHECK:       gpu.func @kernel0(
// CHECK-NOT:     vector.load
// CHECK:         %[[WORDS:.*]] = vector.bitcast %{{.*}} : vector<1xf64> to vector<2xi32>
// CHECK:         %[[LOW:.*]] = vector.extract %[[WORDS]][0]
// CHECK:         gpu.shuffle xor %[[LOW]]
// CHECK:         %[[HIGH:.*]] = vector.extract %[[WORDS]][1]
// CHECK:         gpu.shuffle xor %[[HIGH]]
// CHECK:         arith.maximumf
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @largest(%x: memref<512x4097xf64>, %y: memref<512xf64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4097xf64>) outs(%y : memref<512xf64>) {
  ^bb0(%a: f64, %s: f64):
    %t = arith.maximumf %s, %a : f64
    linalg.yield %t : f64
  }
  return
}
}

// -----

// Without subgroups, neighbours meet in memory first: the same sum, bit for bit.

// CHECK:       gpu.func @kernel0(
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.barrier
// CHECK:         %[[PAIR:.*]] = arith.muli %{{.*}}, %c2 : index
// CHECK:         scf.if
// CHECK:           %[[NEXT:.*]] = arith.addi %[[PAIR]], %c1
// CHECK:           memref.load %{{.*}}[%[[PAIR]]]
// CHECK:           memref.load %{{.*}}[%[[NEXT]]]
module attributes {xtensor.target = "vulkan,f64,i64,subgroup=1,workgroup_bytes=32768,max_threads=1024"} {
func.func @sums(%x: memref<512x4096xf32>, %y: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4096xf32>) outs(%y : memref<512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// A few columns: neighbours load elements that lie side by side, six threads share each column, and the
// 16 threads that are left over do what others do without storing it.

// CHECK-LABEL: func.func @columns
// CHECK:         blocks in (%c1, %c1, %c1)
// CHECK:       gpu.func @kernel0(
// CHECK-SAME:    %[[PARTS:[a-z0-9]+]] : memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[COLUMN:.*]] = arith.remui %[[THREAD:.*]], %c40
// CHECK:         %[[SHARE:.*]] = arith.divui %[[THREAD]], %c40
// CHECK:         %[[FIRST:.*]] = arith.minui %[[SHARE]], %c5
// CHECK:         %[[PART:.*]] = scf.for %{{.*}} = %[[FIRST]] to %c400 step %c6
// CHECK:         memref.store %[[PART]], %[[PARTS]][%[[THREAD]]]
// CHECK:         gpu.barrier
// CHECK:         %[[ADDS:.*]] = arith.cmpi ult, %[[THREAD]], %c40
// CHECK:         scf.if %[[ADDS]]
// CHECK-COUNT-6:   memref.load %[[PARTS]]
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[COLUMN]]]
// CHECK-NOT:     gpu.barrier
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @columns(%x: memref<400x40xf32>, %y: memref<40xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<400x40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Two columns: the parts of 128 threads each meet in halves, with a barrier before each.

// CHECK-LABEL: func.func @two
// CHECK:       gpu.func @kernel0(
// CHECK:         scf.for %{{.*}} to %c4000 step %c128
// CHECK:         gpu.barrier
// CHECK:         arith.cmpi ult, %[[THREAD:.*]], %c128
// CHECK:         gpu.barrier
// CHECK:         arith.cmpi ult, %[[THREAD]], %c64
// CHECK:         gpu.barrier
// CHECK:         arith.cmpi ult, %[[THREAD]], %c32
// CHECK:         gpu.barrier
// CHECK:         arith.cmpi ult, %[[THREAD]], %c2
// CHECK-NOT:     gpu.barrier
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @two(%x: memref<4000x2xf32>, %y: memref<2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4000x2xf32>) outs(%y : memref<2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Columns too few to fill the device: 32 for each workgroup, fewer for the last.

// CHECK-LABEL: func.func @many
// CHECK:         blocks in (%c32, %c1, %c1)
// CHECK:       gpu.func @kernel0(
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %c32
// CHECK:         %[[COLUMN:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK:         %[[THERE:.*]] = arith.cmpi ule, %[[COLUMN]], %c999
// CHECK:         arith.minui %[[COLUMN]], %c999
// CHECK:         scf.for %{{.*}} to %c700 step %c8
// CHECK:         gpu.barrier
// CHECK:         %[[ADDS:.*]] = arith.cmpi ult, %{{.*}}, %c32
// CHECK:         %[[BOTH:.*]] = arith.andi %[[ADDS]], %[[THERE]]
// CHECK:         scf.if %[[BOTH]]
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @many(%x: memref<700x1000xf32>, %y: memref<1000xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<700x1000xf32>) outs(%y : memref<1000xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Few rows times a large matrix that lies across: the matrix decides, so threads have columns of it
// rather than a workgroup a sum.

// CHECK-LABEL: func.func @few_rows
// CHECK:         blocks in (%c256, %c1, %c1)
// CHECK:       gpu.func @kernel0(
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.for
// CHECK:         gpu.return
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @few_rows(%x: memref<8x500xf32>, %w: memref<500x8192xf32>, %y: memref<8x8192xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x500xf32>, memref<500x8192xf32>) outs(%y : memref<8x8192xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
}

// -----

// Threads that share columns meet in the same memory for the second sums as for the first. What
// reads both, four at once and so in other threads, waits for the second ones to be stored.

// CHECK:       gpu.func @kernel0(
// CHECK:         memref.store %{{.*}}, %[[HIGH:arg1]][
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         memref.store %{{.*}}, %[[LOW:arg2]][
// CHECK:         gpu.barrier
// CHECK:         vector.load %[[HIGH]]
// CHECK:         vector.load %[[LOW]]
module attributes {xtensor.target = "vulkan,software,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=8,workgroup_bytes=32768,max_threads=1024"} {
func.func @widths(%x: memref<365x24xf32>, %y: memref<24xf32>) {
  %low = memref.alloc() : memref<24xf32>
  %high = memref.alloc() : memref<24xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<365x24xf32>) outs(%high : memref<24xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %s, %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<365x24xf32>) outs(%low : memref<24xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.minimumf %s, %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%high, %low : memref<24xf32>, memref<24xf32>) outs(%y : memref<24xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %t = arith.subf %a, %c : f32
    linalg.yield %t : f32
  }
  return
}
}
