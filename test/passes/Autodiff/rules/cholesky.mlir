// L phi(L^-1 dA L^-T); backwards the same from the other side.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
func.func @cholesky(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %r0, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %l = xtensor.cholesky %x on [row, col] : !a
    xtensor.yield %l : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %r0, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @cholesky(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.cholesky %[[A]] on [row, col]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V2:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V3:.+]] = xtensor.compare gt %[[V1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V5:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V6:.+]] = xtensor.compare eq %[[V4]], %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.constant dense<2.500000e-01>
// LINEAR-NEXT: %[[V8:.+]] = xtensor.constant dense<5.000000e-01>
// LINEAR-NEXT: %[[V9:.+]] = xtensor.select %[[V6]], %[[V7]], %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.or %[[V3]], %[[V6]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V12:.+]] = xtensor.rename %[[T0]] [col] to ["col~0"]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.triangular_solve %[[V0]], %[[V12]] on [row, col]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.rename %[[V13]] [col, "col~0"] to ["row~0", row]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.triangular_solve %[[V0]], %[[V14]] on [row, col]
// LINEAR-NEXT: %[[V16:.+]] = xtensor.rename %[[V15]] ["row~0", col] to [col, "row~0"]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.add %[[V15]], %[[V16]]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.mul %[[V9]], %[[V17]]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V20:.+]] = xtensor.select %[[V10]], %[[V18]], %[[V19]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.rename %[[V0]] [col] to ["row~0"]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.contract %[[V21]], %[[V20]] over ["row~0"]
// LINEAR-NEXT: xtensor.yield %[[V22]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V23:.+]] = xtensor.transposed %[[V11]]
// LINEAR: return

// BACK-LABEL: func.func @cholesky(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.rename %{{.+}} [col] to ["row~0"]
// BACK-NEXT: %[[V3:.+]] = xtensor.contract %[[T0]], %[[V2]] over [row] order ["row~0", col]
// BACK-NEXT: %[[V4:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V5:.+]] = xtensor.select %[[C:.+]], %[[V3]], %[[V4]]
// BACK-NEXT: %[[P:.+]] = xtensor.mul %[[V3]], %{{.+}}
// BACK-NEXT: %[[V6:.+]] = xtensor.select %[[C]], %[[P]], %[[V4]]
// BACK-NEXT: %[[V7:.+]] = xtensor.broadcast %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.rename %[[V7]] [col, "row~0"] to ["row~0", col]
// BACK-NEXT: %[[V9:.+]] = xtensor.add %[[V6]], %[[V8]]
// BACK-NEXT: %[[V10:.+]] = xtensor.triangular_solve %{{.+}}, %[[V9]] on [col, row] {upper}
// BACK-NEXT: %[[V11:.+]] = xtensor.rename %[[V10]] ["row~0", row] to [col, "col~0"]
// BACK-NEXT: %[[V12:.+]] = xtensor.triangular_solve %{{.+}}, %[[V11]] on [col, row] {upper}
// BACK-NEXT: %[[V13:.+]] = xtensor.rename %[[V12]] ["col~0"] to [col]
// BACK-NEXT: xtensor.yield %[[V13]]
// BACK-NEXT: }
// BACK: return
