// dA R^-1 by a triangular solve, an upper triangle of which both tangents are products; what a wide matrix
// has beside that is a tangent of its own.
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
// LINEAR-NEXT: %[[V5:.+]] = xtensor.compare le %[[V3]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V7:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V8:.+]] = xtensor.compare gt %[[V6]], %[[V7]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.slice %{{.+}} [col] offsets [2] sizes [1] strides [1]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V11:.+]] = xtensor.slice %[[T0]] [col] offsets [0] sizes [2] strides [1]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.rename %[[V11]] [col] to ["col~0"]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.triangular_solve %[[V1]], %[[V12]] on ["col~0", k]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.contract %[[V2]], %[[V13]] over [row]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V5]], %[[V14]], %[[V15]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V18:.+]] = xtensor.select %[[V8]], %[[V14]], %[[V17]]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.rename %[[V18]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.add %[[V16]], %[[V19]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.triangular_contract %[[V20]], %[[V2]] over ["k~0"] on [k, "k~0"]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.sub %[[V13]], %[[V21]]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.triangular_contract %[[V20]], %{{.+}} over [k] on [k, "k~0"]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.rename %[[V23]] ["k~0"] to [k]
// LINEAR-NEXT: %[[V25:.+]] = xtensor.slice %[[T0]] [col] offsets [2] sizes [1] strides [1]
// LINEAR-NEXT: %[[V26:.+]] = xtensor.contract %[[V13]], %[[V9]] over [k]
// LINEAR-NEXT: %[[V27:.+]] = xtensor.sub %[[V25]], %[[V26]]
// LINEAR-NEXT: %[[V28:.+]] = xtensor.contract %{{.+}}, %[[V27]] over [row]
// LINEAR-NEXT: %[[V29:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V30:.+]] = xtensor.pad %[[V28]] with %[[V29]] [col] low [2] high [0] interior [0]
// LINEAR-NEXT: %[[V31:.+]] = xtensor.add %[[V24]], %[[V30]]
// LINEAR-NEXT: xtensor.yield %[[V22]], %[[V31]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V32:.+]] = xtensor.transposed %[[V10]]
// LINEAR: return

// BACK-LABEL: func.func @qr(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V4:.+]] = xtensor.slice %[[T1]] [col] offsets [2] sizes [1] strides [1]
// BACK-NEXT: %[[V5:.+]] = xtensor.contract %[[V4]], %{{.+}} over [k] order [row, col]
// BACK-NEXT: %[[V6:.+]] = xtensor.neg %[[V5]]
// BACK-NEXT: %[[V7:.+]] = xtensor.contract %[[V6]], %{{.+}} over [col]
// BACK-NEXT: %[[V8:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V9:.+]] = xtensor.pad %[[V5]] with %[[V8]] [col] low [2] high [0] interior [0]
// BACK-NEXT: %[[V10:.+]] = xtensor.rename %[[T1]] [k] to ["k~0"]
// BACK-NEXT: %[[V11:.+]] = xtensor.triangular_contract %[[V10]], %{{.+}} over [col] on [k, "k~0"]
// BACK-NEXT: %[[V12:.+]] = xtensor.add %[[V7]], %[[T0]]
// BACK-NEXT: %[[V13:.+]] = xtensor.neg %[[T0]]
// BACK-NEXT: %[[V14:.+]] = xtensor.broadcast %[[V13]]
// BACK-NEXT: %[[V15:.+]] = xtensor.triangular_contract %[[V14]], %{{.+}} over [row] on [k, "k~0"]
// BACK-NEXT: %[[V16:.+]] = xtensor.broadcast %[[V15]]
// BACK-NEXT: %[[V17:.+]] = xtensor.add %[[V11]], %[[V16]]
// BACK-NEXT: %[[V18:.+]] = xtensor.broadcast %[[V17]]
// BACK-NEXT: %[[V19:.+]] = xtensor.rename %[[V18]] [k, "k~0"] to ["k~0", k]
// BACK-NEXT: %[[V20:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V21:.+]] = xtensor.select %{{.+}}, %[[V19]], %[[V20]]
// BACK-NEXT: %[[V22:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V23:.+]] = xtensor.select %{{.+}}, %[[V17]], %[[V22]]
// BACK-NEXT: %[[V24:.+]] = xtensor.add %[[V21]], %[[V23]]
// BACK-NEXT: %[[V25:.+]] = xtensor.contract %[[V24]], %{{.+}} over ["k~0"] order [row, k]
// BACK-NEXT: %[[V26:.+]] = xtensor.add %[[V12]], %[[V25]]
// BACK-NEXT: %[[V27:.+]] = xtensor.triangular_solve %{{.+}}, %[[V26]] on [k, "col~0"] {upper}
// BACK-NEXT: %[[V28:.+]] = xtensor.rename %[[V27]] ["col~0"] to [col]
// BACK-NEXT: %[[V29:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V30:.+]] = xtensor.pad %[[V28]] with %[[V29]] [col] low [0] high [1] interior [0]
// BACK-NEXT: %[[V31:.+]] = xtensor.add %[[V9]], %[[V30]]
// BACK-NEXT: xtensor.yield %[[V31]]
// BACK-NEXT: }
// BACK: return
