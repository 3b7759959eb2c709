// A product rule in the matrix, linear in the right-hand side; the transpose solves with the transposed matrix.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
!b = !xtensor.array<row: 3, n: 2, f32>
!x = !xtensor.array<col: 3, n: 2, f32>
func.func @solve(%a: !a, %b: !b) -> (!x, !xtensor.linear<(!x) -> (!a, !b)>) {
  %r0, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.solve %x, %y on [row, col] : !a, !b
    xtensor.yield %r : !x
  } : (!a, !b) -> (!x, !xtensor.linear<(!x) -> (!a, !b)>)
  return %r0, %back : !x, !xtensor.linear<(!x) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @solve(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.solve %[[A]], %[[B]] on [row, col]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.contract %[[T0]], %[[V0]] over [col]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sub %[[T1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.solve %[[A]], %[[V3]] on [row, col]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @solve(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.solve %[[A]], %[[T0]] on [row, col] transposed
// BACK-NEXT: %[[V2:.+]] = xtensor.neg %[[V1]]
// BACK-NEXT: %[[V3:.+]] = xtensor.contract %[[V2]], %{{.+}} over [n]
// BACK-NEXT: xtensor.yield %[[V3]], %[[V1]]
// BACK-NEXT: }
// BACK: return

// Of complex numbers: a product of pairs in the matrix, and the transpose solves with the adjoint.
!ca = !xtensor.array<row: 3, col: 3, p: 2, f32>
!cb = !xtensor.array<row: 3, p: 2, f32>
!cx = !xtensor.array<p: 2, col: 3, f32>
func.func @complex_solve(%a: !ca, %b: !cb) -> (!cx, !xtensor.linear<(!cx) -> (!ca, !cb)>) {
  %r0, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !ca, %y: !cb):
    %r = xtensor.solve %x, %y on [row, col] {pair = "p"} : !ca, !cb
    xtensor.yield %r : !cx
  } : (!ca, !cb) -> (!cx, !xtensor.linear<(!cx) -> (!ca, !cb)>)
  return %r0, %back : !cx, !xtensor.linear<(!cx) -> (!ca, !cb)>
}

// LINEAR-LABEL: func.func @complex_solve(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[X:.+]] = xtensor.solve %[[A]], %[[B]] on [row, col] {pair = "p"}
// LINEAR-NEXT: %[[I:.+]] = xtensor.constant dense<{{\[\[\[1.000000e\+00, 0.000000e\+00\], \[0.000000e\+00, 1.000000e\+00\]\], \[\[0.000000e\+00, 1.000000e\+00\], \[-1.000000e\+00, 0.000000e\+00\]\]\]}}>
// LINEAR-NEXT: %[[R:.+]] = xtensor.rename %[[X]] [p] to ["p~1"]
// LINEAR-NEXT: %[[TERMS:.+]] = xtensor.contract %[[R]], %[[I]] over ["p~1"]
// LINEAR-NEXT: xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[DA:.+]] = xtensor.rename %[[T0]] [p] to ["p~0"]
// LINEAR-NEXT: %[[MOVED:.+]] = xtensor.contract %[[DA]], %[[TERMS]] over [col, "p~0"]
// LINEAR-NEXT: %[[RHS:.+]] = xtensor.sub %[[T1]], %[[MOVED]]
// LINEAR-NEXT: %{{.+}} = xtensor.solve %[[A]], %[[RHS]] on [row, col] {pair = "p"}

// BACK-LABEL: func.func @complex_solve(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-NEXT: xtensor.solve %[[A]], %[[T]] on [row, col] transposed {pair = "p"}
