// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Two float64 are 16 bytes. A row that all share is read at the same columns; what does not depend on
// the column is read once.

// CHECK-LABEL: gpu.func @kernel0(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf64>, %[[ROW:[a-z0-9]*]]: memref<?xf64>, %[[SCALE:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>
// CHECK:         vector.load %[[X]][%{{.*}}] : memref<?xf64>, vector<2xf64>
// CHECK:         vector.load %[[ROW]][%{{.*}}] : memref<?xf64>, vector<2xf64>
// CHECK:         memref.load %[[SCALE]]
// CHECK-NOT:     memref.load
// CHECK:         vector.store %{{.*}}, %[[Y]][%{{.*}}] : memref<?xf64>, vector<2xf64>
func.func @affine(%x: memref<512x256xf64>, %row: memref<256xf64>, %scale: memref<512xf64>, %y: memref<512x256xf64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %row, %scale : memref<512x256xf64>, memref<256xf64>, memref<512xf64>) outs(%y : memref<512x256xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %old: f64):
    %s = arith.mulf %a, %c : f64
    %t = arith.addf %s, %b : f64
    linalg.yield %t : f64
  }
  return
}

// -----

// What is read across is read one by one; what is written goes out at once.

// CHECK-LABEL: gpu.func @kernel0(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf32>, %[[Y:[a-z0-9]*]]: memref<?xf32>
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK:         vector.store %{{.*}}, %[[Y]]
func.func @transpose(%x: memref<256x512xf32>, %y: memref<512x256xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<256x512xf32>) outs(%y : memref<512x256xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Not where rows have an odd length, and not where a part of a row begins anywhere.

// CHECK-LABEL: gpu.func @kernel0(
// CHECK-NOT:     vector.
// CHECK:         gpu.return
func.func @odd(%x: memref<511x257xf32>, %row: memref<257xf32>, %y: memref<511x257xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<511x257xf32>, memref<257xf32>) outs(%y : memref<511x257xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: gpu.func @kernel0(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf32>
// CHECK-COUNT-4: memref.load %[[X]]
func.func @part(%x: memref<512x260xf32>, %y: memref<512x256xf32>) {
  %part = memref.subview %x[0, 3] [512, 256] [1, 1] : memref<512x260xf32> to memref<512x256xf32, strided<[260, 1], offset: 3>>
  memref.copy %part, %y : memref<512x256xf32, strided<[260, 1], offset: 3>> to memref<512x256xf32>
  return
}
