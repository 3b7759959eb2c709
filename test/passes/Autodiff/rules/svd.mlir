// ds = diag(U^T dA V); U turns in its space, and leaves it since there are more rows than columns.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 2, f32>
!u = !xtensor.array<row: 3, k: 2, f32>
!s = !xtensor.array<k: 2, f32>
!v = !xtensor.array<k: 2, col: 2, f32>
func.func @svd(%a: !a) -> (!u, !s, !v, !xtensor.linear<(!u, !s, !v) -> !a>) {
  %r0, %r1, %r2, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %u, %s, %v = xtensor.svd %x on [row, col] inner k : !a
    xtensor.yield %u, %s, %v : !u, !s, !v
  } : (!a) -> (!u, !s, !v, !xtensor.linear<(!u, !s, !v) -> !a>)
  return %r0, %r1, %r2, %back : !u, !s, !v, !xtensor.linear<(!u, !s, !v) -> !a>
}

// LINEAR-LABEL: func.func @svd(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %{{.+}}, %{{.+}}, %{{.+}} = xtensor.svd %[[A]] on [row, col] inner k
// LINEAR-NEXT: %[[V0:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.rename %{{.+}} [k] to ["k~0"]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sub %{{.+}}, %[[V1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %{{.+}}, %[[V1]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.mul %[[V3]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V7:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V8:.+]] = xtensor.compare eq %[[V6]], %[[V7]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V10:.+]] = xtensor.select %[[V8]], %[[V9]], %[[V5]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V12:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V13:.+]] = xtensor.div %[[V12]], %[[V10]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.select %[[V8]], %[[V11]], %[[V13]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.div %[[V15]], %{{.+}}
// LINEAR-NEXT: %[[V17:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V18:.+]] = xtensor.contract %[[V0]], %[[T0]] over [row]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.contract %[[V18]], %{{.+}} over [col]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.rename %[[V18]] ["k~0"] to [k]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.contract %[[V20]], %{{.+}} over [col]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.mul %[[V19]], %{{.+}}
// LINEAR-NEXT: %[[V23:.+]] = xtensor.rename %[[V22]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.add %[[V22]], %[[V23]]
// LINEAR-NEXT: %[[V25:.+]] = xtensor.mul %[[V14]], %[[V24]]
// LINEAR-NEXT: %[[V26:.+]] = xtensor.contract %[[V0]], %[[V25]] over ["k~0"]
// LINEAR-NEXT: %[[V27:.+]] = xtensor.mul %[[V19]], %[[V1]]
// LINEAR-NEXT: %[[V28:.+]] = xtensor.rename %[[V27]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V29:.+]] = xtensor.add %[[V27]], %[[V28]]
// LINEAR-NEXT: %[[V30:.+]] = xtensor.mul %[[V14]], %[[V29]]
// LINEAR-NEXT: %[[V31:.+]] = xtensor.contract %[[V30]], %[[V2]] over ["k~0"]
// LINEAR-NEXT: %[[V32:.+]] = xtensor.contract %[[T0]], %{{.+}} over [col]
// LINEAR-NEXT: %[[V33:.+]] = xtensor.contract %[[V0]], %[[V19]] over ["k~0"]
// LINEAR-NEXT: %[[V34:.+]] = xtensor.sub %[[V32]], %[[V33]]
// LINEAR-NEXT: %[[V35:.+]] = xtensor.mul %[[V34]], %[[V16]]
// LINEAR-NEXT: %[[V36:.+]] = xtensor.add %[[V26]], %[[V35]]
// LINEAR-NEXT: xtensor.yield %[[V36]], %[[V21]], %[[V31]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V37:.+]] = xtensor.transposed %[[V17]]
// LINEAR: return

// BACK-LABEL: func.func @svd(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]: {{[^%]+}}, %[[T2:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.mul %[[T0]], %{{.+}}
// BACK-NEXT: %[[V2:.+]] = xtensor.neg %[[V1]]
// BACK-NEXT: %[[V3:.+]] = xtensor.contract %[[V2]], %{{.+}} over [row] order ["k~0", k]
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[V1]], %{{.+}} over [k]
// BACK-NEXT: %[[V5:.+]] = xtensor.contract %[[T2]], %{{.+}} over [col] order ["k~0", k]
// BACK-NEXT: %[[V6:.+]] = xtensor.mul %[[V5]], %{{.+}}
// BACK-NEXT: %[[V7:.+]] = xtensor.broadcast %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.rename %[[V7]] [k, "k~0"] to ["k~0", k]
// BACK-NEXT: %[[V9:.+]] = xtensor.add %[[V6]], %[[V8]]
// BACK-NEXT: %[[V10:.+]] = xtensor.mul %[[V9]], %{{.+}}
// BACK-NEXT: %[[V11:.+]] = xtensor.add %[[V3]], %[[V10]]
// BACK-NEXT: %[[V12:.+]] = xtensor.contract %[[T0]], %{{.+}} over [row] order ["k~0", k]
// BACK-NEXT: %[[V13:.+]] = xtensor.mul %[[V12]], %{{.+}}
// BACK-NEXT: %[[V14:.+]] = xtensor.broadcast %[[V13]]
// BACK-NEXT: %[[V15:.+]] = xtensor.rename %[[V14]] [k, "k~0"] to ["k~0", k]
// BACK-NEXT: %[[V16:.+]] = xtensor.add %[[V13]], %[[V15]]
// BACK-NEXT: %[[V17:.+]] = xtensor.mul %[[V16]], %{{.+}}
// BACK-NEXT: %[[V18:.+]] = xtensor.add %[[V11]], %[[V17]]
// BACK-NEXT: %[[V19:.+]] = xtensor.mul %[[T1]], %{{.+}}
// BACK-NEXT: %[[V20:.+]] = xtensor.rename %[[V19]] [k] to ["k~0"]
// BACK-NEXT: %[[V21:.+]] = xtensor.contract %[[V18]], %{{.+}} over [k]
// BACK-NEXT: %[[V22:.+]] = xtensor.add %[[V20]], %[[V21]]
// BACK-NEXT: %[[V23:.+]] = xtensor.contract %[[V22]], %{{.+}} over ["k~0"] order [row, col]
// BACK-NEXT: %[[V24:.+]] = xtensor.add %[[V4]], %[[V23]]
// BACK-NEXT: xtensor.yield %[[V24]]
// BACK-NEXT: }
// BACK: return
