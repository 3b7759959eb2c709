// Running combinations: one op whose last loop is the scanned dim; the running value is a second output.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[RUNNING:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @sum
// CHECK: %[[START:.*]] = linalg.fill {{.*}} -> tensor<3xf32>
// CHECK: %[[R:.*]]:2 = linalg.generic {indexing_maps = [#[[X]], #[[X]], #[[RUNNING]]], iterator_types = ["parallel", "reduction"]} ins(%arg0 {{.*}} outs(%{{.*}}, %[[START]] : tensor<4x3xf32>, tensor<3xf32>) attrs = {xtensor.scan = "forward"}
// CHECK: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32, %[[OLD:.*]]: f32):
// CHECK: %[[NEXT:.*]] = arith.addf %[[OLD]], %[[A]]
// CHECK: linalg.yield %[[NEXT]], %[[NEXT]]
// CHECK: return %[[R]]#0
func.func @sum(%x: !xtensor.array<t: 4, a: 3, f32>) -> !xtensor.array<t: 4, a: 3, f32> {
  %y = xtensor.cumulative sum %x along t : !xtensor.array<t: 4, a: 3, f32>
  return %y : !xtensor.array<t: 4, a: 3, f32>
}

// -----

// Exclusive: the value before the step is shown.
// CHECK-LABEL: func.func @exclusive
// CHECK: attrs = {xtensor.scan = "reverse"}
// CHECK: ^bb0(%[[A:.*]]: i32, %{{.*}}: i32, %[[OLD:.*]]: i32):
// CHECK: %[[NEXT:.*]] = arith.maxsi %[[OLD]], %[[A]]
// CHECK: linalg.yield %[[OLD]], %[[NEXT]]
func.func @exclusive(%x: !xtensor.array<t: 4, i32>) -> !xtensor.array<t: 4, i32> {
  %y = xtensor.cumulative max %x along t {exclusive, reverse} : !xtensor.array<t: 4, i32>
  return %y : !xtensor.array<t: 4, i32>
}

// -----

// Half precision runs in f32 and is rounded at each step.
// CHECK-LABEL: func.func @half
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<?xf16>, tensor<f32>)
// CHECK: arith.extf
// CHECK: %[[NEXT:.*]] = arith.mulf
// CHECK: %[[SHOWN:.*]] = arith.truncf %[[NEXT]]
// CHECK: linalg.yield %[[SHOWN]], %[[NEXT]] : f16, f32
func.func @half(%x: !xtensor.array<t: ?, f16>) -> !xtensor.array<t: ?, f16> {
  %y = xtensor.cumulative prod %x along t : !xtensor.array<t: ?, f16>
  return %y : !xtensor.array<t: ?, f16>
}

// -----

// One step needs no loop.
// CHECK-LABEL: func.func @one_step
// CHECK-NOT: linalg.generic
// CHECK: return %arg0
func.func @one_step(%x: !xtensor.array<t: 1, f32>) -> !xtensor.array<t: 1, f32> {
  %y = xtensor.cumulative min %x along t : !xtensor.array<t: 1, f32>
  return %y : !xtensor.array<t: 1, f32>
}

// -----

// A zero decay forgets; late, it is applied after the value is shown.
// CHECK-LABEL: func.func @recurrence
// CHECK: ^bb0(%[[D:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32, %[[OLD:.*]]: f32):
// CHECK: %[[FORGETS:.*]] = arith.cmpf oeq, %[[D]]
// CHECK: %[[P:.*]] = arith.mulf %[[D]], %[[OLD]]
// CHECK: %[[KEPT:.*]] = arith.select %[[FORGETS]], %{{.*}}, %[[P]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[KEPT]], %[[X]]
// CHECK: linalg.yield %[[NEXT]], %[[NEXT]]
// CHECK: ^bb0(%[[D:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32, %[[OLD:.*]]: f32):
// CHECK: %[[SHOWN:.*]] = arith.addf %[[OLD]], %[[X]]
// CHECK: arith.mulf %[[D]], %[[SHOWN]]
// CHECK: %[[NEXT:.*]] = arith.select
// CHECK: linalg.yield %[[SHOWN]], %[[NEXT]]
func.func @recurrence(%d: !xtensor.array<t: 4, f32>, %x: !xtensor.array<t: 4, a: 3, f32>)
    -> (!xtensor.array<t: 4, a: 3, f32>, !xtensor.array<t: 4, a: 3, f32>) {
  %0 = xtensor.recurrence %d, %x along t : !xtensor.array<t: 4, f32>, !xtensor.array<t: 4, a: 3, f32>
  %1 = xtensor.recurrence %d, %x along t {late, reverse} : !xtensor.array<t: 4, f32>, !xtensor.array<t: 4, a: 3, f32>
  return %0, %1 : !xtensor.array<t: 4, a: 3, f32>, !xtensor.array<t: 4, a: 3, f32>
}
