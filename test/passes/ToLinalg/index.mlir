// Reading and updating by position: clamped always, reported on the side where that is asked for.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// The check is a reduction and a call with three numbers; the gather does not depend on it.
// CHECK: module attributes {xtensor.sites = [{dim = "row", loc = "{{.*}}index.mlir:[[@LINE+22]]"}]}
// CHECK: func.func private @xt_report_index(i32, i64, i64)
// CHECK-LABEL: func.func @gather
// CHECK: %[[N:.*]] = arith.constant 9 : i64
// CHECK: %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%arg1 : tensor<3xi32>) outs(%{{.*}} : tensor<i64>)
// CHECK: arith.maxui
// CHECK: %[[WORST:.*]] = tensor.extract %[[R]][]
// CHECK: %[[OUT:.*]] = arith.cmpi uge, %[[WORST]], %[[N]]
// CHECK: scf.if %[[OUT]]
// CHECK: call @xt_report_index
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3xi32>) outs(%{{.*}} : tensor<3x4xf32>)
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: tensor.extract %arg0[%[[I]], %[[J]]]
// A second read at the same positions needs no second check.
// CHECK-NOT: call @xt_report_index
func.func @gather(%x: !xtensor.array<row: 9, col: 4, f32>, %i: !xtensor.array<p: 3, i32>)
    -> (!xtensor.array<p: 3, col: 4, f32>, !xtensor.array<p: 3, col: 4, f32>) {
  %e = xtensor.exp %x : !xtensor.array<row: 9, col: 4, f32>

  %y = xtensor.gather raise %x at %i along [row] : !xtensor.array<row: 9, col: 4, f32>, !xtensor.array<p: 3, i32>
  %z = xtensor.gather raise %e at %i along [row] : !xtensor.array<row: 9, col: 4, f32>, !xtensor.array<p: 3, i32>
  return %y, %z : !xtensor.array<p: 3, col: 4, f32>, !xtensor.array<p: 3, col: 4, f32>
}

// -----

// Rows are added as a whole; what is dropped adds what changes no bit.
// CHECK-LABEL: func.func @scatter_rows
// CHECK: scf.for %[[P:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg0) -> (tensor<9x4xf32>)
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[U:.*]] = tensor.extract_slice %arg2[%[[P]], 0] [1, 4] [1, 1]
// CHECK: %[[O:.*]] = tensor.extract_slice %[[T]][%[[I:.*]], 0] [1, 4] [1, 1]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[U]] : tensor<4xf32>) outs(%[[O]] : tensor<4xf32>)
// CHECK: arith.constant -0.000000e+00 : f32
// CHECK: arith.select %[[IN]]
// CHECK: arith.addf
// CHECK: tensor.insert_slice %[[S]] into %[[T]][%[[I]], 0]
// CHECK-NOT: xt_report_index
func.func @scatter_rows(%t: !xtensor.array<row: 9, col: 4, f32>, %i: !xtensor.array<p: 3, i64>,
                        %u: !xtensor.array<p: 3, col: 4, f32>) -> !xtensor.array<row: 9, col: 4, f32> {
  %y = xtensor.scatter add drop %t at %i with %u along [row] : !xtensor.array<row: 9, col: 4, f32>,
      !xtensor.array<p: 3, col: 4, f32>, !xtensor.array<p: 3, i64>
  return %y : !xtensor.array<row: 9, col: 4, f32>
}

// -----

// A histogram: numbers, one after another, into a fresh tensor.
// CHECK-LABEL: func.func @scatter_numbers
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[Z]])
// CHECK: tensor.extract %[[T]][%[[I:.*]]]
// CHECK: arith.addf
// CHECK: tensor.insert %{{.*}} into %[[T]][%[[I]]]
func.func @scatter_numbers(%i: !xtensor.array<p: 100, i64>, %u: !xtensor.array<p: 100, f64>) -> !xtensor.array<g: 5, f64> {
  %zero = xtensor.constant dense<0.0> : tensor<5xf64> as !xtensor.array<g: 5, f64>
  %y = xtensor.scatter add clip %zero at %i with %u along [g] : !xtensor.array<g: 5, f64>,
      !xtensor.array<p: 100, f64>, !xtensor.array<p: 100, i64>
  return %y : !xtensor.array<g: 5, f64>
}
