// Every update goes where it went; backwards only the last of a position reads, the target what nobody wrote.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, f32>
!b = !xtensor.array<p: 2, i64>
!c = !xtensor.array<p: 2, f32>
func.func @scatter_set(%a: !a, %b: !b, %c: !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c) wrt [0, 2] {
  ^bb0(%x: !a, %y: !b, %z: !c):
    %r = xtensor.scatter set raise %x at %y with %z along [r] : !a, !c, !b
    xtensor.yield %r : !a
  } : (!a, !b, !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !c)>
}

// LINEAR-LABEL: func.func @scatter_set(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.scatter set raise %[[A]] at %[[B]] with %[[C]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.scatter set raise %[[T0]] at %[[B]] with %[[T1]] along [r]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @scatter_set(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.scatter set raise %[[A]] at %[[B]] with %[[C]] along [r]
// BACK-NEXT: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[ONE0:.+]] = xtensor.constant dense<1> : tensor<i32>
// BACK-NEXT: %[[I0:.+]] = xtensor.iota
// BACK-NEXT: %[[N0:.+]] = xtensor.mul %[[I0]], %[[ONE0]]
// BACK-NEXT: %[[P0:.+]] = xtensor.constant dense<2>
// BACK-NEXT: xtensor.mul %[[ONE0]], %[[P0]]
// BACK-NEXT: %[[NO0:.+]] = xtensor.constant dense<-1>
// BACK-NEXT: %[[NOBODY0:.+]] = xtensor.broadcast %[[NO0]]
// BACK-NEXT: %[[LAST0:.+]] = xtensor.scatter set raise %[[NOBODY0]] at %[[B]] with %[[N0]] along [r]
// BACK-NEXT: %[[ZERO0:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[FIRST:.+]] = xtensor.constant dense<0> : tensor<i32>
// BACK-NEXT: %[[KEPT:.+]] = xtensor.compare lt %[[LAST0]], %[[FIRST]]
// BACK-NEXT: %[[X:.+]] = xtensor.select %[[KEPT]], %[[T0]], %[[ZERO0]]
// BACK-NEXT: %[[READ:.+]] = xtensor.gather raise %[[LAST0]] at %[[B]] along [r]
// BACK-NEXT: %[[IS:.+]] = xtensor.compare eq %[[READ]], %[[N0]]
// BACK-NEXT: %[[CT:.+]] = xtensor.gather raise %[[T0]] at %[[B]] along [r]
// BACK-NEXT: %[[ZERO1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[Z:.+]] = xtensor.select %[[IS]], %[[CT]], %[[ZERO1]]
// BACK-NEXT: xtensor.yield %[[X]], %[[Z]]
// BACK-NEXT: }
// BACK: return
