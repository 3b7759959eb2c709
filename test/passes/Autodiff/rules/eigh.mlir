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
// LINEAR-NEXT: %[[V2:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V3:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V4:.+]] = xtensor.compare eq %[[V2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V7:.+]] = xtensor.select %[[V4]], %[[V5]], %[[V6]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.sub %{{.+}}, %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V11:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V12:.+]] = xtensor.compare eq %[[V10]], %[[V11]]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V14:.+]] = xtensor.select %[[V12]], %[[V13]], %[[V9]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V17:.+]] = xtensor.div %[[V16]], %[[V14]]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.select %[[V12]], %[[V15]], %[[V17]]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.constant dense<5.000000e-01>
// LINEAR-NEXT: %[[V20:.+]] = xtensor.mul %[[V18]], %[[V19]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V22:.+]] = xtensor.contract %[[T0]], %[[V1]] over [col]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.contract %[[V0]], %[[V22]] over [row]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.contract %[[V23]], %[[V7]] over ["k~0"]
// LINEAR-NEXT: %[[V25:.+]] = xtensor.rename %[[V23]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V26:.+]] = xtensor.add %[[V23]], %[[V25]]
// LINEAR-NEXT: %[[V27:.+]] = xtensor.mul %[[V20]], %[[V26]]
// LINEAR-NEXT: %[[V28:.+]] = xtensor.contract %[[V0]], %[[V27]] over ["k~0"]
// LINEAR-NEXT: xtensor.yield %[[V24]], %[[V28]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V29:.+]] = xtensor.transposed %[[V21]]
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
// BACK-NEXT: %[[V7:.+]] = xtensor.add %[[V5]], %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.contract %[[V7]], %{{.+}} over ["k~0"] order [row, k]
// BACK-NEXT: %[[V9:.+]] = xtensor.contract %[[V8]], %{{.+}} over [k]
// BACK-NEXT: xtensor.yield %[[V9]]
// BACK-NEXT: }
// BACK: return
