// Places of short sorted rows are found by a network of minima and maxima.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// The median of three windows' elements: of six minima and maxima, the network needs four.
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0) -> (d0 + 1)>
// CHECK-DAG: #[[THIRD:.*]] = affine_map<(d0) -> (d0 + 2)>
// CHECK-LABEL: func.func @median
// CHECK-NOT: xtensor.library
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[SECOND]], #[[THIRD]], #{{.*}}], iterator_types = ["parallel"]}
// CHECK-COUNT-3: arith.bitcast {{.*}} : f32 to i32
// CHECK-COUNT-4: arith.{{max|min}}si
// CHECK-NOT: arith.{{max|min}}si
// CHECK: arith.bitcast {{.*}} : i32 to f32
func.func @median(%x: !xtensor.array<t: 1000, f32>) -> !xtensor.array<t: 998, f32> {
  %w = xtensor.window %x t into w size 3 stride 1 dilation 1 : !xtensor.array<t: 1000, f32>
  %order = xtensor.argsort %w along w : !xtensor.array<t: 998, w: 3, f32>
  %middle = xtensor.slice %order [w] offsets [1] sizes [1] strides [1] : !xtensor.array<t: 998, w: 3, i64>
  %at = xtensor.squeeze %middle [w] : !xtensor.array<t: 998, w: 1, i64>
  %y = xtensor.gather clip %w at %at along [w] : !xtensor.array<t: 998, w: 3, f32>, !xtensor.array<t: 998, i64>
  return %y : !xtensor.array<t: 998, f32>
}

// -----

// Two places of one network. Integers are compared as they are.
// CHECK-LABEL: func.func @two
// CHECK-NOT: xtensor.library
// CHECK: linalg.generic
// CHECK-NOT: arith.bitcast
// CHECK: arith.maxui
// CHECK: linalg.yield %{{.*}}, %{{.*}} : i8, i8
func.func @two(%x: !xtensor.array<b: 300, t: 4, ui8>) -> (!xtensor.array<b: 300, ui8>, !xtensor.array<b: 300, ui8>) {
  %order = xtensor.argsort %x along t : !xtensor.array<b: 300, t: 4, ui8>
  %0 = xtensor.slice %order [t] offsets [1] sizes [1] strides [1] : !xtensor.array<b: 300, t: 4, i64>
  %1 = xtensor.squeeze %0 [t] : !xtensor.array<b: 300, t: 1, i64>
  %2 = xtensor.gather clip %x at %1 along [t] : !xtensor.array<b: 300, t: 4, ui8>, !xtensor.array<b: 300, i64>
  %3 = xtensor.slice %order [t] offsets [2] sizes [1] strides [1] : !xtensor.array<b: 300, t: 4, i64>
  %4 = xtensor.squeeze %3 [t] : !xtensor.array<b: 300, t: 1, i64>
  %5 = xtensor.gather clip %x at %4 along [t] : !xtensor.array<b: 300, t: 4, ui8>, !xtensor.array<b: 300, i64>
  return %2, %5 : !xtensor.array<b: 300, ui8>, !xtensor.array<b: 300, ui8>
}

// -----

// A routine sorts long rows, few rows, and what somebody reads the positions of.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-3: xtensor.library
func.func @stay(%long: !xtensor.array<b: 300, t: 33, f32>, %few: !xtensor.array<b: 2, t: 3, f32>, %x: !xtensor.array<b: 300, t: 3, f32>)
    -> (!xtensor.array<b: 300, f32>, !xtensor.array<b: 2, f32>, !xtensor.array<b: 300, f32>, !xtensor.array<b: 300, i64>) {
  %0 = xtensor.argsort %long along t : !xtensor.array<b: 300, t: 33, f32>
  %1 = xtensor.slice %0 [t] offsets [1] sizes [1] strides [1] : !xtensor.array<b: 300, t: 33, i64>
  %2 = xtensor.squeeze %1 [t] : !xtensor.array<b: 300, t: 1, i64>
  %3 = xtensor.gather clip %long at %2 along [t] : !xtensor.array<b: 300, t: 33, f32>, !xtensor.array<b: 300, i64>
  %4 = xtensor.argsort %few along t : !xtensor.array<b: 2, t: 3, f32>
  %5 = xtensor.slice %4 [t] offsets [1] sizes [1] strides [1] : !xtensor.array<b: 2, t: 3, i64>
  %6 = xtensor.squeeze %5 [t] : !xtensor.array<b: 2, t: 1, i64>
  %7 = xtensor.gather clip %few at %6 along [t] : !xtensor.array<b: 2, t: 3, f32>, !xtensor.array<b: 2, i64>
  %8 = xtensor.argsort %x along t : !xtensor.array<b: 300, t: 3, f32>
  %9 = xtensor.slice %8 [t] offsets [1] sizes [1] strides [1] : !xtensor.array<b: 300, t: 3, i64>
  %10 = xtensor.squeeze %9 [t] : !xtensor.array<b: 300, t: 1, i64>
  %11 = xtensor.gather clip %x at %10 along [t] : !xtensor.array<b: 300, t: 3, f32>, !xtensor.array<b: 300, i64>
  return %3, %7, %11, %10 : !xtensor.array<b: 300, f32>, !xtensor.array<b: 2, f32>, !xtensor.array<b: 300, f32>, !xtensor.array<b: 300, i64>
}
