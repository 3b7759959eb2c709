// Evenly to the target and the updates that tie; a NaN owns.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, f32>
!b = !xtensor.array<p: 2, i64>
!c = !xtensor.array<p: 2, f32>
func.func @scatter_max(%a: !a, %b: !b, %c: !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c) wrt [0, 2] {
  ^bb0(%x: !a, %y: !b, %z: !c):
    %r = xtensor.scatter max clip %x at %y with %z along [r] : !a, !c, !b
    xtensor.yield %r : !a
  } : (!a, !b, !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !c)>
}

// LINEAR-LABEL: func.func @scatter_max(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.scatter max clip %[[A]] at %[[B]] with %[[C]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.gather clip %[[V0]] at %[[B]] along [r]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.isnan %[[A]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.or %[[V2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.compare eq %[[C]], %[[V1]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.isnan %[[C]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.or %[[V5]], %[[V6]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V9:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V10:.+]] = xtensor.select %[[V4]], %[[V9]], %[[V8]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.select %[[V7]], %[[V9]], %[[V8]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.scatter add clip %[[V10]] at %[[B]] with %[[V11]] along [r]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.div %[[V9]], %[[V12]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V15:.+]] = xtensor.select %[[V4]], %[[T0]], %[[V8]]
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V7]], %[[T1]], %[[V8]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.scatter add clip %[[V15]] at %[[B]] with %[[V16]] along [r]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.mul %[[V13]], %[[V17]]
// LINEAR-NEXT: xtensor.yield %[[V18]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V19:.+]] = xtensor.transposed %[[V14]]
// LINEAR: return

// BACK-LABEL: func.func @scatter_max(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.scatter max clip %[[A]] at %[[B]] with %[[C]] along [r]
// BACK-NEXT: %[[V1:.+]] = xtensor.gather clip %[[V0]] at %[[B]] along [r]
// BACK-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// BACK-NEXT: %[[V3:.+]] = xtensor.isnan %[[A]]
// BACK-NEXT: %[[V4:.+]] = xtensor.or %[[V2]], %[[V3]]
// BACK-NEXT: %[[V5:.+]] = xtensor.compare eq %[[C]], %[[V1]]
// BACK-NEXT: %[[V6:.+]] = xtensor.isnan %[[C]]
// BACK-NEXT: %[[V7:.+]] = xtensor.or %[[V5]], %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V9:.+]] = xtensor.constant dense<1.000000e+00>
// BACK-NEXT: %[[V10:.+]] = xtensor.select %[[V4]], %[[V9]], %[[V8]]
// BACK-NEXT: %[[V11:.+]] = xtensor.select %[[V7]], %[[V9]], %[[V8]]
// BACK-NEXT: %[[V12:.+]] = xtensor.scatter add clip %[[V10]] at %[[B]] with %[[V11]] along [r]
// BACK-NEXT: %[[V13:.+]] = xtensor.div %[[V9]], %[[V12]]
// BACK-NEXT: %[[V14:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V15:.+]] = xtensor.mul %[[T0]], %[[V13]]
// BACK-NEXT: %[[V16:.+]] = xtensor.gather clip %[[V15]] at %[[B]] along [r]
// BACK-NEXT: %[[V17:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V18:.+]] = xtensor.select %[[V7]], %[[V16]], %[[V17]]
// BACK-NEXT: %[[V19:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V20:.+]] = xtensor.select %[[V4]], %[[V15]], %[[V19]]
// BACK-NEXT: xtensor.yield %[[V20]], %[[V18]]
// BACK-NEXT: }
// BACK: return
