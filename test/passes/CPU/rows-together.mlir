// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#i = affine_map<(i, j) -> (i)>

// Four rows are summed at once, and share what is read of the vector. Rows 4 to 5 have sums of the
// same kind, one row at a time.
// CHECK-LABEL: func.func @product
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step %c64
// CHECK-COUNT-20: vector.load
// CHECK: scf.yield
// CHECK-COUNT-4: vector.reduction <add>
// CHECK: scf.for %{{.*}} = %c4{{.*}} to %c6{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step %c64
// CHECK-COUNT-8: vector.load
// CHECK: scf.yield
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.reduction
func.func @product(%a: memref<6x1024xf32>, %v: memref<1024xf32>, %y: memref<6xf32>) {
  linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]} ins(%a, %v : memref<6x1024xf32>, memref<1024xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A sum of one operand comes from memory as fast row by row.
// CHECK-LABEL: func.func @sum
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step %c128
// CHECK: vector.reduction <add>
func.func @sum(%a: memref<8x1024xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x1024xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  return
}

#abc = affine_map<(b, a, c) -> (a, b, c)>
#b = affine_map<(b, a, c) -> (b)>

// Neighbouring rows of sixteen elements are one run of memory, before the sum jumps to the next matrix.
// CHECK-LABEL: func.func @neighbours
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-16: vector.load
// CHECK: scf.yield
// CHECK-COUNT-16: vector.reduction <add>
func.func @neighbours(%x: memref<8x16x16xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [#abc, #b], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : memref<8x16x16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  }
  return
}
