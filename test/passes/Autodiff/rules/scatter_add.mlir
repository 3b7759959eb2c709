// The target gets all, the updates what lies where they went, if they went anywhere.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, f32>
!b = !xtensor.array<p: 2, i64>
!c = !xtensor.array<p: 2, f32>
func.func @scatter_add(%a: !a, %b: !b, %c: !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c) wrt [0, 2] {
  ^bb0(%x: !a, %y: !b, %z: !c):
    %r = xtensor.scatter add drop %x at %y with %z along [r] : !a, !c, !b
    xtensor.yield %r : !a
  } : (!a, !b, !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !c)>
}

// LINEAR-LABEL: func.func @scatter_add(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.scatter add drop %[[A]] at %[[B]] with %[[C]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.scatter add drop %[[T0]] at %[[B]] with %[[T1]] along [r]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @scatter_add(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.gather clip %[[T0]] at %[[B]] along [r]
// BACK-NEXT: %[[V3:.+]] = xtensor.constant dense<4>
// BACK-NEXT: %[[V4:.+]] = xtensor.compare lt %[[B]], %[[V3]]
// BACK-NEXT: %[[V5:.+]] = xtensor.neg %[[V3]]
// BACK-NEXT: %[[V6:.+]] = xtensor.compare ge %[[B]], %[[V5]]
// BACK-NEXT: %[[V7:.+]] = xtensor.and %[[V4]], %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V9:.+]] = xtensor.select %[[V7]], %[[V2]], %[[V8]]
// BACK-NEXT: xtensor.yield %[[T0]], %[[V9]]
// BACK-NEXT: }
// BACK: return
