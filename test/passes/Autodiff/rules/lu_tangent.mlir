// D dU + dL E goes from the tangent of the product, or its transpose from that of the cotangents, and
// through the op itself.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
func.func @lu_tangent(%p: !a, %t: !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a)>) {
  %r0, %back = xtensor.pullback at(%p, %t) wrt [0, 1] {
  ^bb0(%x: !a, %y: !a):
    %r = xtensor.lu_tangent %x, %y on [row, col] : !a, !a
    xtensor.yield %r : !a
  } : (!a, !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a)>)
  return %r0, %back : !a, !xtensor.linear<(!a) -> (!a, !a)>
}

// LINEAR-LABEL: func.func @lu_tangent(
// LINEAR-SAME: %[[P:[a-z0-9]+]]: {{[^%]+}}, %[[T:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.lu_tangent %[[P]], %[[T]] on [row, col]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<-1.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V3:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V4:.+]] = xtensor.compare gt %[[V2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.not %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V7:.+]] = xtensor.select %[[V4]], %[[V0]], %[[V6]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.rename %[[V7]] [col] to ["row~0"]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.mul %[[V8]], %[[V1]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V11:.+]] = xtensor.select %[[V5]], %[[V0]], %[[V10]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.rename %[[V11]] [row] to ["row~0"]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.mul %[[V12]], %[[V1]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V4]], %[[T0]], %[[V15]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.rename %[[V16]] [col] to ["row~0"]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V19:.+]] = xtensor.select %[[V5]], %[[T0]], %[[V18]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.rename %[[V19]] [row] to ["row~0"]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.contract %[[V9]], %[[V20]] over ["row~0"]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.contract %[[V17]], %[[V13]] over ["row~0"]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.add %[[V21]], %[[V22]]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.add %[[T1]], %[[V23]]
// LINEAR-NEXT: %[[V25:.+]] = xtensor.lu_tangent %[[P]], %[[V24]] on [row, col]
// LINEAR-NEXT: xtensor.yield %[[V25]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V26:.+]] = xtensor.transposed %[[V14]]
// LINEAR: return

// BACK-LABEL: func.func @lu_tangent(
// BACK-SAME: %[[P:[a-z0-9]+]]: {{[^%]+}}, %[[T:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.lu_tangent %[[P]], %[[T0]] on [row, col] transposed
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[V3]], %{{.+}} over [col]
// BACK-NEXT: %[[V5:.+]] = xtensor.contract %[[V3]], %{{.+}} over [row] order ["row~0", col]
// BACK-NEXT: %[[V6:.+]] = xtensor.rename %[[V5]] ["row~0"] to [row]
// BACK-NEXT: %[[V7:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V8:.+]] = xtensor.select %{{.+}}, %[[V6]], %[[V7]]
// BACK-NEXT: %[[V9:.+]] = xtensor.rename %[[V4]] ["row~0"] to [col]
// BACK-NEXT: %[[V10:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V11:.+]] = xtensor.select %{{.+}}, %[[V9]], %[[V10]]
// BACK-NEXT: %[[V12:.+]] = xtensor.add %[[V8]], %[[V11]]
// BACK-NEXT: xtensor.yield %[[V12]], %[[V3]]
// BACK-NEXT: }
// BACK: return
