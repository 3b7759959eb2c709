// A switch of the branches' linear parts. What one branch keeps, the others yield as zeros.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!s = !xtensor.array<f32>
!n = !xtensor.array<i64>
func.func @switch(%x: !s, %i: !n) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.switch %i {
      %e = xtensor.exp %x_ : !s
      %m = xtensor.sin %e : !s
      xtensor.yield %m : !s
    }, {
      xtensor.yield %x_ : !s
    } : (!n) -> !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}

// LINEAR-LABEL: func.func @switch(
// LINEAR-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:[a-z0-9]+]]:3 = xtensor.switch %[[A1]] {
// LINEAR-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[A0]]
// LINEAR-NEXT: %[[V2:[a-z0-9]+]] = xtensor.sin %[[V1]]
// LINEAR-NEXT: %[[V3:[a-z0-9]+]] = xtensor.cos %[[V1]]
// LINEAR-NEXT: xtensor.yield %[[V2]], %[[V1]], %[[V3]]
// LINEAR-NEXT: }, {
// LINEAR-NEXT: %[[V4:[a-z0-9]+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V5:[a-z0-9]+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: xtensor.yield %[[A0]], %[[V4]], %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:[a-z0-9]+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[V7:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V8:[a-z0-9]+]] = xtensor.switch %[[A1]] {
// LINEAR-NEXT: %[[V9:[a-z0-9]+]] = xtensor.mul %[[V0]]#1, %[[V7]]
// LINEAR-NEXT: %[[V10:[a-z0-9]+]] = xtensor.mul %[[V0]]#2, %[[V9]]
// LINEAR-NEXT: xtensor.yield %[[V10]]
// LINEAR-NEXT: }, {
// LINEAR-NEXT: xtensor.yield %[[V7]]
// LINEAR-NEXT: }
// LINEAR-NEXT: xtensor.yield %[[V8]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V11:[a-z0-9]+]] = xtensor.transposed %[[V6]]
// LINEAR: return

// BACK-LABEL: func.func @switch(
// BACK-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]]:3 = xtensor.switch %[[A1]] {
// BACK-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[A0]]
// BACK-NEXT: %[[V2:[a-z0-9]+]] = xtensor.sin %[[V1]]
// BACK-NEXT: %[[V3:[a-z0-9]+]] = xtensor.cos %[[V1]]
// BACK-NEXT: xtensor.yield %[[V2]], %[[V1]], %[[V3]]
// BACK-NEXT: }, {
// BACK-NEXT: %[[V4:[a-z0-9]+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V5:[a-z0-9]+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: xtensor.yield %[[A0]], %[[V4]], %[[V5]]
// BACK-NEXT: }
// BACK-NEXT: %[[V6:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V7:[a-z0-9]+]]:
// BACK-NEXT: %[[V8:[a-z0-9]+]] = xtensor.switch %[[A1]] {
// BACK-NEXT: %[[V9:[a-z0-9]+]] = xtensor.mul %[[V7]], %[[V0]]#2
// BACK-NEXT: %[[V10:[a-z0-9]+]] = xtensor.mul %[[V9]], %[[V0]]#1
// BACK-NEXT: xtensor.yield %[[V10]]
// BACK-NEXT: }, {
// BACK-NEXT: xtensor.yield %[[V7]]
// BACK-NEXT: }
// BACK-NEXT: xtensor.yield %[[V8]]
// BACK-NEXT: }
// BACK: return
