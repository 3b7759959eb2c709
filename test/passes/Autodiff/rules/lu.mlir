// Triangular solves with the unit factors; only what lies below the diagonal is divided by pivots.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
func.func @lu(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %r0, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %p, %o, %i, %s = xtensor.lu %x on [row, col] : !a
    xtensor.yield %p : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %r0, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @lu(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} = xtensor.lu %[[A]] on [row, col]
// LINEAR-NEXT: %[[V0:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.rename %{{.+}} [col] to ["row~0"]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V4:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V5:.+]] = xtensor.compare gt %[[V3]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.select %[[V5]], %[[V2]], %[[V0]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V8:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V9:.+]] = xtensor.compare eq %[[V7]], %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.select %[[V9]], %[[V1]], %[[V6]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.rename %{{.+}} [row] to ["col~0"]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V13:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V14:.+]] = xtensor.compare eq %[[V12]], %[[V13]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V14]], %[[V11]], %[[V15]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.reduce sum %[[V16]] over [col]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V19:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V20:.+]] = xtensor.compare eq %[[V17]], %[[V18]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.select %[[V20]], %[[V19]], %[[V17]]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.div %[[V19]], %[[V21]]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.select %[[V20]], %[[V18]], %[[V22]]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V25:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V26:.+]] = xtensor.compare lt %[[V24]], %[[V25]]
// LINEAR-NEXT: %[[V27:.+]] = xtensor.mul %[[V11]], %[[V23]]
// LINEAR-NEXT: %[[V28:.+]] = xtensor.select %[[V26]], %[[V27]], %[[V0]]
// LINEAR-NEXT: %[[V29:.+]] = xtensor.select %[[V14]], %[[V1]], %[[V28]]
// LINEAR-NEXT: %[[V30:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V31:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V32:.+]] = xtensor.compare gt %[[V30]], %[[V31]]
// LINEAR-NEXT: %[[V33:.+]] = xtensor.not %[[V32]]
// LINEAR-NEXT: %[[V34:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V35:.+]] = xtensor.gather clip %[[T0]] at %{{.+}} along [row]
// LINEAR-NEXT: %[[V36:.+]] = xtensor.triangular_solve %[[V10]], %[[V35]] on [row, "row~0"] {unit}
// LINEAR-NEXT: %[[V37:.+]] = xtensor.triangular_solve %[[V29]], %[[V36]] on [col, "col~0"] {unit}
// LINEAR-NEXT: %[[V38:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V39:.+]] = xtensor.select %[[V32]], %[[V37]], %[[V38]]
// LINEAR-NEXT: %[[V40:.+]] = xtensor.mul %[[V39]], %[[V23]]
// LINEAR-NEXT: %[[V41:.+]] = xtensor.contract %[[V10]], %[[V40]] over ["row~0"]
// LINEAR-NEXT: %[[V42:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V43:.+]] = xtensor.select %[[V33]], %[[V37]], %[[V42]]
// LINEAR-NEXT: %[[V44:.+]] = xtensor.contract %[[V43]], %[[V29]] over ["col~0"]
// LINEAR-NEXT: %[[V45:.+]] = xtensor.rename %[[V41]] ["col~0"] to [col]
// LINEAR-NEXT: %[[V46:.+]] = xtensor.rename %[[V44]] ["row~0"] to [row]
// LINEAR-NEXT: %[[V47:.+]] = xtensor.add %[[V45]], %[[V46]]
// LINEAR-NEXT: xtensor.yield %[[V47]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V48:.+]] = xtensor.transposed %[[V34]]
// LINEAR: return

// BACK-LABEL: func.func @lu(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.rename %[[T0]] [row] to ["row~0"]
// BACK-NEXT: %[[V4:.+]] = xtensor.rename %[[T0]] [col] to ["col~0"]
// BACK-NEXT: %[[V5:.+]] = xtensor.contract %[[V3]], %{{.+}} over [col]
// BACK-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V7:.+]] = xtensor.select %{{.+}}, %[[V5]], %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.contract %[[V4]], %{{.+}} over [row] order ["row~0", "col~0"]
// BACK-NEXT: %[[V9:.+]] = xtensor.mul %[[V8]], %{{.+}}
// BACK-NEXT: %[[V10:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V11:.+]] = xtensor.select %{{.+}}, %[[V9]], %[[V10]]
// BACK-NEXT: %[[V12:.+]] = xtensor.add %[[V7]], %[[V11]]
// BACK-NEXT: %[[V13:.+]] = xtensor.triangular_solve %{{.+}}, %[[V12]] on ["col~0", col] {unit, upper}
// BACK-NEXT: %[[V14:.+]] = xtensor.triangular_solve %{{.+}}, %[[V13]] on ["row~0", row] {unit, upper}
// BACK-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V16:.+]] = xtensor.broadcast %[[V15]]
// BACK-NEXT: %[[V17:.+]] = xtensor.scatter add clip %[[V16]] at %{{.+}} with %[[V14]] along [row]
// BACK-NEXT: xtensor.yield %[[V17]]
// BACK-NEXT: }
// BACK: return

// Nothing is read of an empty dim, whatever the other size turns out to be.
// BACK-LABEL: func.func @lu_of_nothing(
// BACK-NOT: xtensor.gather clip %arg0
// BACK: return
!e = !xtensor.array<row: ?, col: 0, f32>
func.func @lu_of_nothing(%a: !e) -> (!e, !xtensor.linear<(!e) -> !e>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !e):
    %packed, %order, %inverse, %parity = xtensor.lu %x on [row, col] : !e
    xtensor.yield %packed : !e
  } : (!e) -> (!e, !xtensor.linear<(!e) -> !e>)
  return %p, %back : !e, !xtensor.linear<(!e) -> !e>
}
