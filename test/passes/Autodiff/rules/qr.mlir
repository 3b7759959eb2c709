// dA R^-1 by a triangular solve, its skew part turns Q; a wide matrix solves with R's first columns.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 2, col: 3, f32>
!q = !xtensor.array<row: 2, k: 2, f32>
!r = !xtensor.array<k: 2, col: 3, f32>
func.func @qr(%a: !a) -> (!q, !r, !xtensor.linear<(!q, !r) -> !a>) {
  %r0, %r1, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %q, %r = xtensor.qr %x on [row, col] inner k : !a
    xtensor.yield %q, %r : !q, !r
  } : (!a) -> (!q, !r, !xtensor.linear<(!q, !r) -> !a>)
  return %r0, %r1, %back : !q, !r, !xtensor.linear<(!q, !r) -> !a>
}

// LINEAR-LABEL: func.func @qr(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %{{.+}}, %{{.+}} = xtensor.qr %[[A]] on [row, col] inner k
// LINEAR-NEXT: %[[V0:.+]] = xtensor.slice %{{.+}} [col] offsets [0] sizes [2] strides [1]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.rename %[[V0]] [col] to ["col~0"]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V4:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V5:.+]] = xtensor.compare gt %[[V3]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V7:.+]] = xtensor.slice %[[T0]] [col] offsets [0] sizes [2] strides [1]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.rename %[[V7]] [col] to ["col~0"]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.triangular_solve %[[V1]], %[[V8]] on ["col~0", k]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.contract %[[V2]], %[[V9]] over [row]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V12:.+]] = xtensor.select %[[V5]], %[[V10]], %[[V11]]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.rename %[[V12]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.sub %[[V12]], %[[V13]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.sub %[[V14]], %[[V10]]
// LINEAR-NEXT: %[[V16:.+]] = xtensor.contract %[[V2]], %[[V15]] over ["k~0"]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.add %[[V16]], %[[V9]]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.contract %[[V14]], %{{.+}} over [k]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.contract %{{.+}}, %[[T0]] over [row]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.rename %[[V18]] ["k~0"] to [k]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.sub %[[V19]], %[[V20]]
// LINEAR-NEXT: xtensor.yield %[[V17]], %[[V21]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V22:.+]] = xtensor.transposed %[[V6]]
// LINEAR: return

// BACK-LABEL: func.func @qr(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.neg %[[T1]]
// BACK-NEXT: %[[V3:.+]] = xtensor.rename %[[V2]] [k] to ["k~0"]
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[T1]], %{{.+}} over [k] order [row, col]
// BACK-NEXT: %[[V5:.+]] = xtensor.contract %[[V3]], %{{.+}} over [col]
// BACK-NEXT: %[[V6:.+]] = xtensor.contract %[[T0]], %{{.+}} over [row] order ["k~0", k]
// BACK-NEXT: %[[V7:.+]] = xtensor.add %[[V5]], %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.neg %[[V6]]
// BACK-NEXT: %[[V9:.+]] = xtensor.neg %[[V7]]
// BACK-NEXT: %[[V10:.+]] = xtensor.broadcast %[[V9]]
// BACK-NEXT: %[[V11:.+]] = xtensor.rename %[[V10]] [k, "k~0"] to ["k~0", k]
// BACK-NEXT: %[[V12:.+]] = xtensor.add %[[V7]], %[[V11]]
// BACK-NEXT: %[[V13:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V14:.+]] = xtensor.select %{{.+}}, %[[V12]], %[[V13]]
// BACK-NEXT: %[[V15:.+]] = xtensor.add %[[V8]], %[[V14]]
// BACK-NEXT: %[[V16:.+]] = xtensor.contract %[[V15]], %{{.+}} over ["k~0"] order [row, k]
// BACK-NEXT: %[[V17:.+]] = xtensor.add %[[T0]], %[[V16]]
// BACK-NEXT: %[[V18:.+]] = xtensor.triangular_solve %{{.+}}, %[[V17]] on [k, "col~0"] {upper}
// BACK-NEXT: %[[V19:.+]] = xtensor.rename %[[V18]] ["col~0"] to [col]
// BACK-NEXT: %[[V20:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V21:.+]] = xtensor.pad %[[V19]] with %[[V20]] [col] low [0] high [1] interior [0]
// BACK-NEXT: %[[V22:.+]] = xtensor.add %[[V4]], %[[V21]]
// BACK-NEXT: xtensor.yield %[[V22]]
// BACK-NEXT: }
// BACK: return
