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
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.scatter set raise %[[T0]] at %[[B]] with %[[V2]] along [r]
// BACK-NEXT: %[[V4:.+]] = xtensor.constant dense<1>
// BACK-NEXT: %[[V5:.+]] = xtensor.iota
// BACK-NEXT: %[[V6:.+]] = xtensor.mul %[[V5]], %[[V4]]
// BACK-NEXT: %[[V7:.+]] = xtensor.constant dense<2>
// BACK-NEXT: %[[V8:.+]] = xtensor.mul %[[V4]], %[[V7]]
// BACK-NEXT: %[[V9:.+]] = xtensor.constant dense<-1>
// BACK-NEXT: %[[V10:.+]] = xtensor.broadcast %[[V9]]
// BACK-NEXT: %[[V11:.+]] = xtensor.scatter set raise %[[V10]] at %[[B]] with %[[V6]] along [r]
// BACK-NEXT: %[[V12:.+]] = xtensor.gather raise %[[V11]] at %[[B]] along [r]
// BACK-NEXT: %[[V13:.+]] = xtensor.compare eq %[[V12]], %[[V6]]
// BACK-NEXT: %[[V14:.+]] = xtensor.gather raise %[[T0]] at %[[B]] along [r]
// BACK-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V16:.+]] = xtensor.select %[[V13]], %[[V14]], %[[V15]]
// BACK-NEXT: xtensor.yield %[[V3]], %[[V16]]
// BACK-NEXT: }
// BACK: return
