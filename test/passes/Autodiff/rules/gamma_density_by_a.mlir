// d/db: the next order; d/dc: slopeOfGammaDensity(a, b, c, y); orders have no derivative.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @gamma_density_by_a(%a: !a, %x: !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a)>) {
  %n = xtensor.constant dense<2.0> : tensor<f32> as !xtensor.array<f32>
  %p, %back = xtensor.pullback at(%a, %x) wrt [0, 1] {
  ^bb0(%u: !a, %v: !a):
    %r = xtensor.gamma_density_by_a %n, %u, %v : !xtensor.array<f32>, !a, !a
    xtensor.yield %r : !a
  } : (!a, !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !a)>
}

// LINEAR-LABEL: func.func @gamma_density_by_a(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// LINEAR: %[[Y:.+]] = xtensor.gamma_density_by_a %{{.+}}, %[[A]], %[[X]]
// LINEAR: %[[THREE:.+]] = xtensor.constant dense<3.000000e+00>
// LINEAR-NEXT: %[[BY_A:.+]] = xtensor.gamma_density_by_a %[[THREE]], %[[A]], %[[X]]
// LINEAR: %[[LESS:.+]] = xtensor.sub %[[A]]
// LINEAR: %[[QUOTIENT:.+]] = xtensor.div %[[LESS]], %[[X]]
// LINEAR: %[[FACTOR:.+]] = xtensor.sub %[[QUOTIENT]]
// LINEAR-NEXT: %[[SLOPE:.+]] = xtensor.scale %[[FACTOR]], %[[Y]]
// LINEAR: %[[SHARE:.+]] = xtensor.div %{{.+}}, %[[X]]
// LINEAR: %[[BEFORE:.+]] = xtensor.gamma_density_by_a %{{.+}}, %[[A]], %[[X]]
// LINEAR-NEXT: %[[MORE:.+]] = xtensor.mul %[[SHARE]], %[[BEFORE]]
// LINEAR-NEXT: %[[BY_X:.+]] = xtensor.add %[[SLOPE]], %[[MORE]]
// LINEAR: xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: xtensor.mul %[[BY_A]], %[[T0]]
// LINEAR-NEXT: xtensor.mul %[[BY_X]], %[[T1]]

// BACK-LABEL: func.func @gamma_density_by_a(
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-NEXT: %[[X:.+]] = xtensor.mul %[[T]], %{{.+}}
// BACK-NEXT: %[[A:.+]] = xtensor.mul %[[T]], %{{.+}}
// BACK-NEXT: xtensor.yield %[[A]], %[[X]]
