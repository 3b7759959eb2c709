// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=256" | FileCheck %s --check-prefix=NARROW
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#ji = affine_map<(i, j) -> (j, i)>

// Each lane searches its own elements of the row. Then half of the lanes is compared with the other
// half, down to one: of equal elements, the one with the lower place stays.
// CHECK-LABEL: func.func @argmax
// CHECK-NOT: vector.gather
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, {{.*}} vector<16xi64>
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: arith.cmpf ugt
// CHECK: arith.select {{.*}} vector<16xf32>
// CHECK: arith.select {{.*}} vector<16xi64>
// CHECK: scf.yield
// CHECK: vector.shuffle {{.*}} [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>
// CHECK: arith.cmpi slt, {{.*}} : vector<8xi64>
// CHECK: vector.shuffle {{.*}} [2, 3] : vector<4xf32>
// CHECK: vector.extract %{{.*}}[1] : f32 from vector<2xf32>
// CHECK: arith.cmpi slt, {{.*}} : i64
// CHECK-NOT: vector.gather
// CHECK: return
func.func @argmax(%x: memref<8x1024xf32>, %best: memref<8xf32>, %at: memref<8xi64>) {
  linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x1024xf32>) outs(%best, %at : memref<8xf32>, memref<8xi64>) {
  ^bb0(%a: f32, %old: f32, %place: i64):
    %more = arith.cmpf ugt, %a, %old : f32
    %number = arith.cmpf ord, %old, %old : f32
    %better = arith.andi %more, %number : i1
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %0 = arith.select %better, %a, %old : f32
    %1 = arith.select %better, %here, %place : i64
    linalg.yield %0, %1 : f32, i64
  }
  return
}

// 16 steps of each lane: for vectors of 4 lanes 64 elements.
// CHECK-LABEL: func.func @short
// CHECK: {{vector.gather|vector.insert .* into vector<8xf64>}}
// NARROW-LABEL: func.func @short
// NARROW-NOT: vector.gather
// NARROW: vector.shuffle {{.*}} [2, 3] : vector<4xf64>
// NARROW-LABEL: func.func @last
func.func @short(%x: memref<512x64xf64>, %best: memref<512xf64>, %at: memref<512xi64>) {
  linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<512x64xf64>) outs(%best, %at : memref<512xf64>, memref<512xi64>) {
  ^bb0(%a: f64, %old: f64, %place: i64):
    %more = arith.cmpf ugt, %a, %old : f64
    %number = arith.cmpf ord, %old, %old : f64
    %better = arith.andi %more, %number : i1
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %0 = arith.select %better, %a, %old : f64
    %1 = arith.select %better, %here, %place : i64
    linalg.yield %0, %1 : f64, i64
  }
  return
}

// A condition that does not order elements: one element after the other.
// CHECK-LABEL: func.func @last
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @last(%x: memref<8x1024xf32>, %best: memref<8xf32>, %at: memref<8xi64>) {
  linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x1024xf32>) outs(%best, %at : memref<8xf32>, memref<8xi64>) {
  ^bb0(%a: f32, %old: f32, %place: i64):
    %better = arith.cmpf oge, %a, %old : f32
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %0 = arith.select %better, %a, %old : f32
    %1 = arith.select %better, %here, %place : i64
    linalg.yield %0, %1 : f32, i64
  }
  return
}

// In a long search, few vectors have a better element: what they find is behind a branch. Behind it,
// all lanes get the best element, unless all have found one. Lanes that had another one
// get a place behind all others.
// CHECK-LABEL: func.func @long
// CHECK: scf.for {{.*}} -> (vector<64xi8>, vector<64xi64>)
// CHECK: %[[BETTER:.+]] = arith.cmpi ugt
// CHECK: %[[ANY:.+]] = vector.reduction <or>, %[[BETTER]]
// CHECK: scf.if %[[ANY]]
// CHECK: arith.select %[[BETTER]], {{.*}} vector<64xi64>
// CHECK: %[[OFTEN:.+]] = vector.reduction <and>, %[[BETTER]]
// CHECK: scf.if %[[OFTEN]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK: arith.select {{.*}} : vector<2xi1>, vector<2xi8>
// CHECK: %[[BEST:.+]] = vector.broadcast {{.*}} : i8 to vector<64xi8>
// CHECK: %[[WORSE:.+]] = arith.cmpi ugt, %[[BEST]]
// CHECK: %[[AT:.+]] = arith.select %[[WORSE]], %{{.*}}, %{{.*}} : vector<64xi1>, vector<64xi64>
// CHECK: scf.yield %[[BEST]], %[[AT]]
// CHECK: } else {
// CHECK-NEXT: scf.yield
func.func @long(%x: memref<1048576xi8>, %best: memref<i8>, %at: memref<i64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : memref<1048576xi8>) outs(%best, %at : memref<i8>, memref<i64>) {
  ^bb0(%a: i8, %old: i8, %place: i64):
    %better = arith.cmpi ugt, %a, %old : i8
    %i = linalg.index 0 : index
    %here = arith.index_cast %i : index to i64
    %0 = arith.select %better, %a, %old : i8
    %1 = arith.select %better, %here, %place : i64
    linalg.yield %0, %1 : i8, i64
  }
  return
}

// Lanes for the elements of a row, not for as many as a register has.
// CHECK-LABEL: func.func @narrow
// CHECK: scf.for {{.*}} -> (vector<4xi32>, vector<4xi64>)
// CHECK: scf.if
func.func @narrow(%x: memref<100000x3xi32>, %best: memref<3xi32>, %at: memref<3xi64>) {
  linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<100000x3xi32>) outs(%best, %at : memref<3xi32>, memref<3xi64>) {
  ^bb0(%a: i32, %old: i32, %place: i64):
    %better = arith.cmpi sgt, %a, %old : i32
    %i = linalg.index 1 : index
    %here = arith.index_cast %i : index to i64
    %0 = arith.select %better, %a, %old : i32
    %1 = arith.select %better, %here, %place : i64
    linalg.yield %0, %1 : i32, i64
  }
  return
}

// A search starts from both scalars. Nothing reads the best elements, so they stay in registers.
// CHECK-LABEL: func.func @filled
// CHECK-NOT: linalg.fill
// CHECK-NOT: vector.store {{.*}} vector<8xf64>
// CHECK: iter_args({{.*}}) -> (vector<8xf64>, {{.*}}vector<8xi64>
// CHECK-NOT: vector.store {{.*}} vector<8xf64>
// CHECK: return
func.func @filled(%x: memref<3x1024xf64>, %at: memref<1024xi64>) {
  %low = arith.constant 0xFFF0000000000000 : f64
  %first = arith.constant 0 : i64
  %best = memref.alloc() : memref<1024xf64>
  linalg.fill ins(%low : f64) outs(%best : memref<1024xf64>)
  linalg.fill ins(%first : i64) outs(%at : memref<1024xi64>)
  linalg.generic {indexing_maps = [#ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x1024xf64>) outs(%best, %at : memref<1024xf64>, memref<1024xi64>) {
  ^bb0(%a: f64, %old: f64, %place: i64):
    %more = arith.cmpf ugt, %a, %old : f64
    %number = arith.cmpf ord, %old, %old : f64
    %better = arith.andi %more, %number : i1
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %0 = arith.select %better, %a, %old : f64
    %1 = arith.select %better, %here, %place : i64
    linalg.yield %0, %1 : f64, i64
  }
  return
}
