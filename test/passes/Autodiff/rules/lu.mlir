// The tangent's rows in their order, and from there an op of its own.
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
// LINEAR-NEXT: %[[V0:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V1:.+]] = xtensor.gather clip %[[T0]] at %{{.+}} along [row]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.lu_tangent %{{.+}}, %[[V1]] on [row, col]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V0]]
// LINEAR: return

// BACK-LABEL: func.func @lu(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.lu_tangent %{{.+}}, %[[T0]] on [row, col] transposed
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]]
// BACK-NEXT: %[[V4:.+]] = xtensor.scatter add clip %[[V3]] at %{{.+}} with %[[V1]] along [row]
// BACK-NEXT: xtensor.yield %[[V4]]
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
