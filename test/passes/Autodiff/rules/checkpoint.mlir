// The linear part holds a copy of the region, which reads through a barrier: nothing of what the
// primal region computes is a residual.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!s = !xtensor.array<f32>
func.func @checkpoint(%x: !s) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.checkpoint {
      %e = xtensor.exp %x_ : !s
      %m = xtensor.sin %e : !s
      xtensor.yield %m : !s
    } : !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}

// LINEAR-LABEL: func.func @checkpoint(
// LINEAR-SAME: %[[A0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:[a-z0-9]+]] = xtensor.checkpoint {
// LINEAR-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[A0]]
// LINEAR-NEXT: %[[V2:[a-z0-9]+]] = xtensor.sin %[[V1]]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:[a-z0-9]+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[V4:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V5:[a-z0-9]+]] = xtensor.checkpoint {
// LINEAR-NEXT: %[[V6:[a-z0-9]+]] = xtensor.barrier distinct[{{[0-9]+}}]<> of %[[A0]]
// LINEAR-NEXT: %[[V7:[a-z0-9]+]] = xtensor.exp %[[V6]]
// LINEAR-NEXT: %[[V8:[a-z0-9]+]] = xtensor.sin %[[V7]]
// LINEAR-NEXT: %[[V9:[a-z0-9]+]] = xtensor.cos %[[V7]]
// LINEAR-NEXT: %[[V10:[a-z0-9]+]] = xtensor.mul %[[V7]], %[[V4]]
// LINEAR-NEXT: %[[V11:[a-z0-9]+]] = xtensor.mul %[[V9]], %[[V10]]
// LINEAR-NEXT: xtensor.yield %[[V11]]
// LINEAR-NEXT: }
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V12:[a-z0-9]+]] = xtensor.transposed %[[V3]]
// LINEAR: return

// BACK-LABEL: func.func @checkpoint(
// BACK-SAME: %[[A0:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]] = xtensor.checkpoint {
// BACK-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[A0]]
// BACK-NEXT: %[[V2:[a-z0-9]+]] = xtensor.sin %[[V1]]
// BACK-NEXT: xtensor.yield %[[V2]]
// BACK-NEXT: }
// BACK-NEXT: %[[V3:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V4:[a-z0-9]+]]:
// BACK-NEXT: %[[V5:[a-z0-9]+]] = xtensor.checkpoint {
// BACK-NEXT: %[[V6:[a-z0-9]+]] = xtensor.barrier distinct[{{[0-9]+}}]<> of %[[A0]]
// BACK-NEXT: %[[V7:[a-z0-9]+]] = xtensor.exp %[[V6]]
// BACK-NEXT: %[[V8:[a-z0-9]+]] = xtensor.sin %[[V7]]
// BACK-NEXT: %[[V9:[a-z0-9]+]] = xtensor.cos %[[V7]]
// BACK-NEXT: %[[V10:[a-z0-9]+]] = xtensor.mul %[[V4]], %[[V9]]
// BACK-NEXT: %[[V11:[a-z0-9]+]] = xtensor.mul %[[V10]], %[[V7]]
// BACK-NEXT: xtensor.yield %[[V11]]
// BACK-NEXT: }
// BACK-NEXT: xtensor.yield %[[V5]]
// BACK-NEXT: }
// BACK: return
