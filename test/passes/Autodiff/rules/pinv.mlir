// Three products with the pseudoinverse and the projections on what A does not reach.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 2, f32>
!p = !xtensor.array<col: 2, row: 3, f32>
func.func @pinv(%a: !a) -> (!p, !xtensor.linear<(!p) -> !a>) {
  %r0, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %p = xtensor.pinv %x on [row, col] : !a
    xtensor.yield %p : !p
  } : (!a) -> (!p, !xtensor.linear<(!p) -> !a>)
  return %r0, %back : !p, !xtensor.linear<(!p) -> !a>
}

// LINEAR-LABEL: func.func @pinv(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.pinv %[[A]] on [row, col]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.rename %[[V0]] [row] to ["row~0"]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.rename %[[V0]] [col] to ["col~0"]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.rename %[[A]] [row] to ["row~0"]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.contract %[[V3]], %[[V0]] over [col]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.rename %[[A]] [col] to ["col~0"]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.contract %[[V0]], %[[V5]] over [row]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V8:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V9:.+]] = xtensor.compare eq %[[V7]], %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V11:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V12:.+]] = xtensor.select %[[V9]], %[[V10]], %[[V11]]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.sub %[[V12]], %[[V4]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V15:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V16:.+]] = xtensor.compare eq %[[V14]], %[[V15]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V18:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V19:.+]] = xtensor.select %[[V16]], %[[V17]], %[[V18]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.sub %[[V19]], %[[V6]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.contract %[[V0]], %[[V2]] over [row]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.contract %[[V1]], %[[V0]] over [col]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V24:.+]] = xtensor.rename %[[T0]] [row, col] to ["row~0", "col~0"]
// LINEAR-NEXT: %[[V25:.+]] = xtensor.contract %[[V1]], %[[V24]] over ["row~0"]
// LINEAR-NEXT: %[[V26:.+]] = xtensor.contract %[[V25]], %[[V2]] over ["col~0"]
// LINEAR-NEXT: %[[V27:.+]] = xtensor.contract %[[V21]], %[[V24]] over ["col~0"]
// LINEAR-NEXT: %[[V28:.+]] = xtensor.contract %[[V27]], %[[V13]] over ["row~0"]
// LINEAR-NEXT: %[[V29:.+]] = xtensor.contract %[[V20]], %[[V24]] over ["col~0"]
// LINEAR-NEXT: %[[V30:.+]] = xtensor.contract %[[V29]], %[[V22]] over ["row~0"]
// LINEAR-NEXT: %[[V31:.+]] = xtensor.add %[[V28]], %[[V30]]
// LINEAR-NEXT: %[[V32:.+]] = xtensor.sub %[[V31]], %[[V26]]
// LINEAR-NEXT: xtensor.yield %[[V32]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V33:.+]] = xtensor.transposed %[[V23]]
// LINEAR: return

// BACK-LABEL: func.func @pinv(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.neg %[[T0]]
// BACK-NEXT: %[[V2:.+]] = xtensor.contract %[[T0]], %{{.+}} over [row]
// BACK-NEXT: %[[V3:.+]] = xtensor.contract %[[V2]], %{{.+}} over [col]
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[T0]], %{{.+}} over [row]
// BACK-NEXT: %[[V5:.+]] = xtensor.contract %[[V4]], %{{.+}} over [col]
// BACK-NEXT: %[[V6:.+]] = xtensor.add %[[V3]], %[[V5]]
// BACK-NEXT: %[[V7:.+]] = xtensor.contract %[[V1]], %{{.+}} over [row]
// BACK-NEXT: %[[V8:.+]] = xtensor.contract %[[V7]], %{{.+}} over [col] order ["row~0", "col~0"]
// BACK-NEXT: %[[V9:.+]] = xtensor.add %[[V6]], %[[V8]]
// BACK-NEXT: %[[V10:.+]] = xtensor.rename %[[V9]] ["row~0", "col~0"] to [row, col]
// BACK-NEXT: xtensor.yield %[[V10]]
// BACK-NEXT: }
// BACK: return
