// Functions take many instructions, most of which wait for the one before.
// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// Two functions, of eight vectors at a time. The rest is done vector by vector, and the last one is masked.
// CHECK-LABEL: func.func @two
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c896{{.*}} step %c128
// CHECK: math.exp %{{.*}} : vector<128xf32>
// CHECK: math.tanh %{{.*}} : vector<128xf32>
// CHECK: scf.for %{{.*}} = %c896{{.*}} to %c992{{.*}} step %c16
// CHECK: math.tanh %{{.*}} : vector<16xf32>
// CHECK-NOT: scf.for
// CHECK: vector.maskedstore
func.func @two(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %t = math.tanh %e : f32
    linalg.yield %t : f32
  }
  return
}

// A single function overlaps with that of the next vector as it is.
// CHECK-LABEL: func.func @one
// CHECK-NOT: vector<128xf32>
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK-NOT: vector<128xf32>
// CHECK: return
func.func @one(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %m = arith.mulf %e, %a : f32
    linalg.yield %m : f32
  }
  return
}

!column = memref<1000x1xf32, strided<[8, 1], offset: 0>>

// The lanes of a function may be apart from each other: to load and store them one by one takes less time than the
// function of each. A sum alone takes less.
// CHECK-LABEL: func.func @column
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK-LABEL: func.func @sum_of_columns
// CHECK-NOT: vector<16xf32>
// CHECK: return
func.func @column(%x: !column, %y: !column) {
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : !column) outs(%y : !column) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}
func.func @sum_of_columns(%x: !column, %y: !column) {
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : !column) outs(%y : !column) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.addf %a, %a : f32
    linalg.yield %e : f32
  }
  return
}
