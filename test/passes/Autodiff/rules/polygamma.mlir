// d/db: polygamma(a + 1, b); orders have no derivative.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!n = !xtensor.array<f32>
!a = !xtensor.array<a: 3, f32>
func.func @polygamma(%n: !n, %a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.polygamma %n, %x : !n, !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @polygamma(
// LINEAR-SAME: %[[N:[a-z0-9]+]]: !xtensor.array<f32>, %[[A:[a-z0-9]+]]:
// LINEAR: xtensor.polygamma %[[N]], %[[A]]
// LINEAR: %[[NEXT:.+]] = xtensor.add %[[N]]
// LINEAR: %[[D:.+]] = xtensor.polygamma %[[NEXT]], %[[A]]
// LINEAR: xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// LINEAR-NEXT: %[[Y:.+]] = xtensor.mul %[[D]], %[[T]]
// LINEAR-NEXT: xtensor.yield %[[Y]]

// BACK-LABEL: func.func @polygamma(
// BACK: %[[D:.+]] = xtensor.polygamma
// BACK: %[[D:.+]] = xtensor.polygamma
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-NEXT: %[[Y:.+]] = xtensor.mul %[[T]], %[[D]]
// BACK-NEXT: xtensor.yield %[[Y]]
