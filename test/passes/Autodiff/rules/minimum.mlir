// All to the owner, half to each at a tie; a NaN owns.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!b = !xtensor.array<f32>
func.func @minimum(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.minimum %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @minimum(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.minimum %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.isnan %[[A]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.or %[[V1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.compare eq %[[B]], %[[V0]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.isnan %[[B]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.or %[[V4]], %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.constant dense<5.000000e-01>
// LINEAR-NEXT: %[[V8:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V9:.+]] = xtensor.select %[[V6]], %[[V7]], %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V11:.+]] = xtensor.select %[[V3]], %[[V9]], %[[V10]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.constant dense<5.000000e-01>
// LINEAR-NEXT: %[[V13:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V14:.+]] = xtensor.select %[[V3]], %[[V12]], %[[V13]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V6]], %[[V14]], %[[V15]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V18:.+]] = xtensor.mul %[[V11]], %[[T0]]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.mul %[[V16]], %[[T1]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.add %[[V18]], %[[V19]]
// LINEAR-NEXT: xtensor.yield %[[V20]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V21:.+]] = xtensor.transposed %[[V17]]
// LINEAR: return

// BACK-LABEL: func.func @minimum(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: xtensor.select
// BACK: %[[V11:.+]] = xtensor.select
// BACK: xtensor.select
// BACK: %[[V16:.+]] = xtensor.select
// BACK: %[[V17:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V18:.+]] = xtensor.contract %[[T0]], %[[V16]] over [a]
// BACK-NEXT: %[[V19:.+]] = xtensor.mul %[[T0]], %[[V11]]
// BACK-NEXT: xtensor.yield %[[V19]], %[[V18]]
// BACK-NEXT: }
// BACK: return
