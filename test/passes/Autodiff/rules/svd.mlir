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
// LINEAR-NEXT: %[[V3:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V4:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V5:.+]] = xtensor.compare eq %[[V3]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V7:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V8:.+]] = xtensor.select %[[V5]], %[[V6]], %[[V7]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.sub %{{.+}}, %[[V1]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.add %{{.+}}, %[[V1]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.mul %[[V9]], %[[V10]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V13:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V14:.+]] = xtensor.compare eq %[[V12]], %[[V13]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V14]], %[[V15]], %[[V11]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V18:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V19:.+]] = xtensor.div %[[V18]], %[[V16]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.select %[[V14]], %[[V17]], %[[V19]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V22:.+]] = xtensor.div %[[V21]], %{{.+}}
// LINEAR-NEXT: %[[V23:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V24:.+]] = xtensor.contract %[[V0]], %[[T0]] over [row]
// LINEAR-NEXT: %[[V25:.+]] = xtensor.contract %[[V24]], %{{.+}} over [col]
// LINEAR-NEXT: %[[V26:.+]] = xtensor.contract %[[V25]], %[[V8]] over ["k~0"]
// LINEAR-NEXT: %[[V27:.+]] = xtensor.mul %[[V25]], %{{.+}}
// LINEAR-NEXT: %[[V28:.+]] = xtensor.rename %[[V27]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V29:.+]] = xtensor.add %[[V27]], %[[V28]]
// LINEAR-NEXT: %[[V30:.+]] = xtensor.mul %[[V20]], %[[V29]]
// LINEAR-NEXT: %[[V31:.+]] = xtensor.contract %[[V0]], %[[V30]] over ["k~0"]
// LINEAR-NEXT: %[[V32:.+]] = xtensor.mul %[[V25]], %[[V1]]
// LINEAR-NEXT: %[[V33:.+]] = xtensor.rename %[[V32]] ["k~0", k] to [k, "k~0"]
// LINEAR-NEXT: %[[V34:.+]] = xtensor.add %[[V32]], %[[V33]]
// LINEAR-NEXT: %[[V35:.+]] = xtensor.mul %[[V20]], %[[V34]]
// LINEAR-NEXT: %[[V36:.+]] = xtensor.contract %[[V35]], %[[V2]] over ["k~0"]
// LINEAR-NEXT: %[[V37:.+]] = xtensor.contract %[[T0]], %{{.+}} over [col]
// LINEAR-NEXT: %[[V38:.+]] = xtensor.contract %[[V0]], %[[V25]] over ["k~0"]
// LINEAR-NEXT: %[[V39:.+]] = xtensor.sub %[[V37]], %[[V38]]
// LINEAR-NEXT: %[[V40:.+]] = xtensor.mul %[[V39]], %[[V22]]
// LINEAR-NEXT: %[[V41:.+]] = xtensor.add %[[V31]], %[[V40]]
// LINEAR-NEXT: xtensor.yield %[[V41]], %[[V26]], %[[V36]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V42:.+]] = xtensor.transposed %[[V23]]
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
// BACK-NEXT: %[[V19:.+]] = xtensor.mul %{{.+}}, %[[T1]]
// BACK-NEXT: %[[V20:.+]] = xtensor.add %[[V18]], %[[V19]]
// BACK-NEXT: %[[V21:.+]] = xtensor.contract %[[V20]], %{{.+}} over [k]
// BACK-NEXT: %[[V22:.+]] = xtensor.contract %[[V21]], %{{.+}} over ["k~0"] order [row, col]
// BACK-NEXT: %[[V23:.+]] = xtensor.add %[[V4]], %[[V22]]
// BACK-NEXT: xtensor.yield %[[V23]]
// BACK-NEXT: }
// BACK: return
