// Products of the small matrices of a batch run over tiles of their results, and do not call the library.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(xtensor-emit-vectors{vector-bits=512})' --split-input-file | FileCheck %s

// 12 rows of two matrices are 24 vectors, of which 4 lanes lie beyond the matrix: they are masked.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: call
// CHECK: scf.forall (%{{.*}}) = (0) to (1000) step (2)
// CHECK: vector.maskedload
// CHECK-COUNT-24: vector.maskedstore
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func @rows(%x: memref<1000x12x12xf32>, %y: memref<1000x12x12xf32>, %z: memref<1000x12x12xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<1000x12x12xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(n, i, j, k) -> (n, i, k)>, affine_map<(n, i, j, k) -> (n, k, j)>,
                       affine_map<(n, i, j, k) -> (n, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<1000x12x12xf32>, memref<1000x12x12xf32>) outs(%z : memref<1000x12x12xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// The right factor is stored by columns: its lanes are loaded one by one, and none beyond the matrix is.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: call
// CHECK: vector.from_elements %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[ZERO:cst[_0-9]*]], %[[ZERO]], %[[ZERO]] : vector<8xf64>
// CHECK: return
func.func @columns(%x: memref<?x7x9xf64>, %y: memref<?x5x9xf64>, %z: memref<?x7x5xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%z : memref<?x7x5xf64>)
  linalg.generic {
      indexing_maps = [affine_map<(n, i, j, k) -> (n, i, k)>, affine_map<(n, i, j, k) -> (n, j, k)>,
                       affine_map<(n, i, j, k) -> (n, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<?x7x9xf64>, memref<?x5x9xf64>) outs(%z : memref<?x7x5xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %0 = arith.mulf %a, %b : f64
    %1 = arith.addf %c, %0 : f64
    linalg.yield %1 : f64
  }
  return
}

// -----

// Matrices of 64 rows, columns and terms are large enough for the library.
// CHECK-LABEL: func.func @large
// CHECK: call @xt_gemm_f32
// CHECK: return
func.func @large(%x: memref<9x64x64xf32>, %y: memref<9x64x64xf32>, %z: memref<9x64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<9x64x64xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(n, i, j, k) -> (n, i, k)>, affine_map<(n, i, j, k) -> (n, k, j)>,
                       affine_map<(n, i, j, k) -> (n, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<9x64x64xf32>, memref<9x64x64xf32>) outs(%z : memref<9x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
