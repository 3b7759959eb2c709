// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// The four vectors of a row and their lanes are joined as numbers. Two comparisons look for NaN in
// all of them.
// CHECK-LABEL: func.func @numbers
// CHECK-COUNT-2: arith.cmpf uno, {{.*}} vector<16xf32>
// CHECK-NOT: arith.cmpf
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<16xi1> into i1
// CHECK-COUNT-3: arith.maxnumf {{.*}} fastmath<{{.*}}nnan{{.*}}> : vector<16xf32>
// CHECK: %[[BEST:.*]] = vector.reduction <maxnumf>, {{.*}} fastmath<{{.*}}nnan{{.*}}> : vector<16xf32> into f32
// CHECK: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: arith.select %[[ANY]], %[[NAN]], %[[BEST]] : f32
func.func @numbers(%x: memref<8x64xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x64xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %o, %a fastmath<nsz> : f32
    linalg.yield %m : f32
  }
  return
}

// If 0 is greater than -0, numbers do not do.
// CHECK-LABEL: func.func @zeros
// CHECK-NOT: arith.maxnumf
// CHECK: vector.reduction <maximumf>
func.func @zeros(%x: memref<8x64xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x64xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  }
  return
}
