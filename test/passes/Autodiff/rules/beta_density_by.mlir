// By a and b: the next order of each; by x: slopeOfBetaDensity(a, b, c, d, e, y).
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @beta_density_by(%a: !a, %b: !a, %x: !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a, !a)>) {
  %m = xtensor.constant dense<1.0> : tensor<f32> as !xtensor.array<f32>
  %n = xtensor.constant dense<2.0> : tensor<f32> as !xtensor.array<f32>
  %p, %back = xtensor.pullback at(%a, %b, %x) wrt [0, 1, 2] {
  ^bb0(%u: !a, %v: !a, %w: !a):
    %r = xtensor.beta_density_by %m, %n, %u, %v, %w : !xtensor.array<f32>, !xtensor.array<f32>, !a, !a, !a
    xtensor.yield %r : !a
  } : (!a, !a, !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a, !a)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !a, !a)>
}

// LINEAR-LABEL: func.func @beta_density_by(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// LINEAR: %[[Y:.+]] = xtensor.beta_density_by
// LINEAR: %[[BY_A:.+]] = xtensor.beta_density_by %{{.+}}, %{{.+}}, %[[A]], %[[B]], %[[X]]
// LINEAR: %[[BY_B:.+]] = xtensor.beta_density_by %{{.+}}, %{{.+}}, %[[A]], %[[B]], %[[X]]
// LINEAR: %[[SLOPE:.+]] = xtensor.scale %{{.+}}, %[[Y]]
// LINEAR: %[[FIRST:.+]] = xtensor.beta_density_by
// LINEAR-NEXT: xtensor.mul %{{.+}}, %[[FIRST]]
// LINEAR-NEXT: xtensor.add %[[SLOPE]]
// LINEAR: %[[SECOND:.+]] = xtensor.beta_density_by
// LINEAR-NEXT: xtensor.mul %{{.+}}, %[[SECOND]]
// LINEAR-NEXT: %[[BY_X:.+]] = xtensor.sub
// LINEAR: xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]: {{[^%]+}}, %[[T2:[a-z0-9]+]]:
// LINEAR-NEXT: xtensor.mul %[[BY_A]], %[[T0]]
// LINEAR-NEXT: xtensor.mul %[[BY_B]], %[[T1]]
// LINEAR-NEXT: xtensor.add
// LINEAR-NEXT: xtensor.mul %[[BY_X]], %[[T2]]
// LINEAR-NEXT: xtensor.add

// BACK-LABEL: func.func @beta_density_by(
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-NEXT: %[[X:.+]] = xtensor.mul %[[T]], %{{.+}}
// BACK-NEXT: %[[B:.+]] = xtensor.mul %[[T]], %{{.+}}
// BACK-NEXT: %[[A:.+]] = xtensor.mul %[[T]], %{{.+}}
// BACK-NEXT: xtensor.yield %[[A]], %[[B]], %[[X]]
