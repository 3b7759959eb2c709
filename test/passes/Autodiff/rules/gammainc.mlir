// d/da: gammaincByA(1, a, b)
// d/db: gammaDensityByA(0, a, b)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!x = !xtensor.array<a: 3, b: 2, f32>
func.func @gammainc(%a: !a, %x: !x) -> (!x, !xtensor.linear<(!x) -> (!a, !x)>) {
  %p, %back = xtensor.pullback at(%a, %x) wrt [0, 1] {
  ^bb0(%u: !a, %v: !x):
    %r = xtensor.gammainc %u, %v : !a, !x
    xtensor.yield %r : !x
  } : (!a, !x) -> (!x, !xtensor.linear<(!x) -> (!a, !x)>)
  return %p, %back : !x, !xtensor.linear<(!x) -> (!a, !x)>
}

// LINEAR-LABEL: func.func @gammainc(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// LINEAR-NEXT: xtensor.gammainc %[[A]], %[[X]]
// LINEAR-NEXT: %[[ONE:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[BY_A:.+]] = xtensor.gammainc_by_a %[[ONE]], %[[A]], %[[X]]
// LINEAR-NEXT: %[[ZERO:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[BY_X:.+]] = xtensor.gamma_density_by_a %[[ZERO]], %[[A]], %[[X]]
// LINEAR-NEXT: xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[M0:.+]] = xtensor.mul %[[BY_A]], %[[T0]]
// LINEAR-NEXT: %[[M1:.+]] = xtensor.mul %[[BY_X]], %[[T1]]
// LINEAR-NEXT: %[[Y:.+]] = xtensor.add %[[M0]], %[[M1]]
// LINEAR-NEXT: xtensor.yield %[[Y]]

// BACK-LABEL: func.func @gammainc(
// BACK: xtensor.gammainc_by_a
// BACK: xtensor.gamma_density_by_a
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-DAG: xtensor.contract %[[T]], %{{.+}} over [b]
// BACK-DAG: xtensor.mul %[[T]], %{{.+}}
// BACK: xtensor.yield
