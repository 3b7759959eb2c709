// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#ijk_ij = affine_map<(i, j, k) -> (i, j)>

// Sixteen rows of sixteen elements are transposed in registers: four rounds of sixteen shuffles.
// Every cache line is read and written as a whole.
// CHECK-LABEL: func.func @transpose
// CHECK-NOT: vector.gather
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
// CHECK-NOT: vector.
// CHECK: return
func.func @transpose(%x: memref<64x32xf32>, %y: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%y : memref<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Rows of y are 4,096 bytes apart: one square after the other along them.
// CHECK-LABEL: func.func @along_what_is_written
// CHECK: scf.for %[[ACROSS:.*]] = %c0{{.*}} to %c64
// CHECK: scf.for %[[ALONG:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK-NOT: scf.for
// CHECK: vector.load
func.func @along_what_is_written(%x: memref<1024x64xf32>, %y: memref<64x1024xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<1024x64xf32>) outs(%y : memref<64x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Rows of x are: one square after the other along what is read.
// CHECK-LABEL: func.func @along_what_is_read
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c16
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c16
// CHECK-NOT: scf.for
// CHECK: vector.load
func.func @along_what_is_read(%x: memref<64x1024xf32>, %y: memref<1024x64xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x1024xf32>) outs(%y : memref<1024x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// What a square lacks at the ends of rows and columns is masked.
// CHECK-LABEL: func.func @ends
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: vector.gather
// CHECK: return
func.func @ends(%x: memref<20x19xf32>, %y: memref<19x20xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<20x19xf32>) outs(%y : memref<19x20xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Three vectors of elements that interleave: read with neighbouring lanes apart.
// CHECK-LABEL: func.func @from_strip
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-3: vector.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: vector.store
// CHECK-NOT: vector.
// CHECK: return
func.func @from_strip(%x: memref<32x3xf32>, %y: memref<3x32xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<32x3xf32>) outs(%y : memref<3x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// And written: each element twice.
// CHECK-LABEL: func.func @to_strip
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK: vector.load
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 2, 18
// CHECK: vector.store
// CHECK: vector.shuffle {{.*}} [8, 24, 9, 25, 10, 26
// CHECK: vector.store
// CHECK-NOT: vector.
// CHECK: return
func.func @to_strip(%x: memref<32xf32>, %y: memref<32x2xf32>) {
  linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<32xf32>) outs(%y : memref<32x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Rows of three that are summed: read with neighbouring lanes apart. Of the last rows, only the
// elements are read.
// CHECK-LABEL: func.func @sum_of_strips
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-3: vector.load %{{.*}} : memref<105xf32>, vector<16xf32>
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: arith.addf %{{.*}} : vector<16xf32>
// CHECK: vector.store
// CHECK: scf.for
// CHECK-COUNT-3: vector.maskedload
// CHECK-NOT: vector.gather
// CHECK: vector.maskedstore
// CHECK: return
func.func @sum_of_strips(%x: memref<35x3xf32>, %y: memref<35xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<35x3xf32>) outs(%y : memref<35xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// All of every second row of three is summed: one accumulator for each column, joined at the end.
// CHECK-LABEL: func.func @sum_of_both
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-6: vector.load
// CHECK: vector.shuffle
// CHECK-NOT: vector.gather
// CHECK: vector.reduction
func.func @sum_of_both(%x: memref<64x3xf32, strided<[6, 1]>>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : memref<64x3xf32, strided<[6, 1]>>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// An array that only gives the loops their ranges does not keep them from one row of memory.
// CHECK-LABEL: func.func @reversed_with_ranges
// CHECK: scf.for
// CHECK: vector.load
// CHECK-NOT: vector.shuffle
// CHECK: vector.reduction
func.func @reversed_with_ranges(%x: memref<64x3xf32>, %w: memref<3xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 2 - j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x, %w : memref<64x3xf32>, memref<3xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// Reversed rows of three, of every second row: from six vectors of memory, the last of which ends
// at the last element. No lane is gathered.
// CHECK-LABEL: func.func @reversed_strip
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-6: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-21: vector.shuffle
// CHECK-NOT: vector.gather
// CHECK: return
func.func @reversed_strip(%x: memref<64x3xf32>, %y: memref<32x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2, 2 - j)>, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x3xf32>) outs(%y : memref<32x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// A sum over rows in reverse goes forwards, as one row of memory.
// CHECK-LABEL: func.func @reversed_sum
// CHECK: vector.load
// CHECK-NOT: vector.shuffle
// CHECK: vector.reduction
func.func @reversed_sum(%x: memref<32x3xf32, strided<[-3, -1], offset: 95>>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : memref<32x3xf32, strided<[-3, -1], offset: 95>>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// Every second element is sorted out of two vectors.
// CHECK-LABEL: func.func @every_second
// CHECK: vector.load
// CHECK: vector.load
// CHECK: vector.shuffle {{.*}} [0, 2, 4
// CHECK: vector.reduction
func.func @every_second(%x: memref<512xf32, strided<[2]>>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : memref<512xf32, strided<[2]>>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// Two arrays are interleaved: one row of memory, although a loop has an index of its own.
// CHECK-LABEL: func.func @interleaved
// CHECK: scf.for
// CHECK-COUNT-2: vector.load
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17
// CHECK: vector.store
// CHECK: vector.shuffle {{.*}} [8, 24, 9, 25
// CHECK: vector.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @interleaved(%x: memref<32x5xf32>, %y: memref<32x5xf32>, %z: memref<32x5x2xf32>) {
  linalg.generic {indexing_maps = [#ijk_ij, #ijk_ij, #ijk], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %y : memref<32x5xf32>, memref<32x5xf32>) outs(%z : memref<32x5x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %k = linalg.index 2 : index
    %zero = arith.constant 0 : index
    %first = arith.cmpi eq, %k, %zero : index
    %s = arith.select %first, %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
