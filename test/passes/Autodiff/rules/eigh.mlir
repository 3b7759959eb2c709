// dw = diag(V^T dA V), dV = V (F * V^T dA V): both from one product.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
!w = !xtensor.array<k: 3, f32>
!v = !xtensor.array<row: 3, k: 3, f32>
func.func @eigh(%a: !a) -> (!w, !v, !xtensor.linear<(!w, !v) -> !a>) {
  %r0, %r1, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %w, %v = xtensor.eigh %x on [row, col] inner k : !a
    xtensor.yield %w, %v : !w, !v
  } : (!a) -> (!w, !v, !xtensor.linear<(!w, !v) -> !a>)
  return %r0, %r1, %back : !w, !v, !xtensor.linear<(!w, !v) -> !a>
}

// LINEAR-LABEL: func.func @eigh(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %{{.+}}, %{{.+}} = xtensor.eigh %[[A]] on [row, col] inner k
// LINEAR-NEXT: %[[V0:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.rename %{{.+}} [row] to [col]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sub %{{.+}}, %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V5:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V6:.+]] = xtensor.compare eq %[[V4]], %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V8:.+]] = xtensor.select %[[V6]], %[[V7]], %[[V3]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V10:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V11:.+]] = xtensor.div %[[V10]], %[[V8]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.select %[[V6]], %[[V9]], %[[V11]]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.constant dense<5.000000e-01>
// LINEAR-NEXT: %[[V14:.+]] = xtensor.mul %[[V12]], %[[V13]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V16:.+]] = xtensor.contract %[[T0]], %[[V1]] over [col]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.contract %[[V0]], %[[V16]] over [row]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.contract %{{.+}}, %[[V16]] over [row]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.rename %[[V17]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.add %[[V17]], %[[V19]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.mul %[[V14]], %[[V20]]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.contract %[[V0]], %[[V21]] over ["k~0"]
// LINEAR-NEXT: xtensor.yield %[[V18]], %[[V22]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V23:.+]] = xtensor.transposed %[[V15]]
// LINEAR: return

// BACK-LABEL: func.func @eigh(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.contract %[[T1]], %{{.+}} over [row] order ["k~0", k]
// BACK-NEXT: %[[V2:.+]] = xtensor.mul %[[V1]], %{{.+}}
// BACK-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]]
// BACK-NEXT: %[[V4:.+]] = xtensor.rename %[[V3]] [k, "k~0"] to ["k~0", k]
// BACK-NEXT: %[[V5:.+]] = xtensor.add %[[V2]], %[[V4]]
// BACK-NEXT: %[[V6:.+]] = xtensor.mul %{{.+}}, %[[T0]]
// BACK-NEXT: %[[V7:.+]] = xtensor.contract %[[V5]], %{{.+}} over ["k~0"] order [row, k]
// BACK-NEXT: %[[V8:.+]] = xtensor.add %[[V6]], %[[V7]]
// BACK-NEXT: %[[V9:.+]] = xtensor.contract %[[V8]], %{{.+}} over [k]
// BACK-NEXT: xtensor.yield %[[V9]]
// BACK-NEXT: }
// BACK: return
