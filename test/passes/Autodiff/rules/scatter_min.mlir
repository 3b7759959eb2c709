// As max; an update that was dropped owns nothing.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, f32>
!b = !xtensor.array<p: 2, i64>
!c = !xtensor.array<p: 2, f32>
func.func @scatter_min(%a: !a, %b: !b, %c: !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c) wrt [0, 2] {
  ^bb0(%x: !a, %y: !b, %z: !c):
    %r = xtensor.scatter min drop %x at %y with %z along [r] : !a, !c, !b
    xtensor.yield %r : !a
  } : (!a, !b, !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !c)>
}

// LINEAR-LABEL: func.func @scatter_min(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.scatter min drop %[[A]] at %[[B]] with %[[C]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.gather clip %[[V0]] at %[[B]] along [r]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.isnan %[[A]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.or %[[V2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.compare eq %[[C]], %[[V1]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.isnan %[[C]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.or %[[V5]], %[[V6]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.constant dense<4>
// LINEAR-NEXT: %[[V9:.+]] = xtensor.compare lt %[[B]], %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.neg %[[V8]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.compare ge %[[B]], %[[V10]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.and %[[V9]], %[[V11]]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.and %[[V7]], %[[V12]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V15:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V16:.+]] = xtensor.select %[[V4]], %[[V15]], %[[V14]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.select %[[V13]], %[[V15]], %[[V14]]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.scatter add drop %[[V16]] at %[[B]] with %[[V17]] along [r]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.div %[[V15]], %[[V18]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V21:.+]] = xtensor.select %[[V4]], %[[T0]], %[[V14]]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.select %[[V13]], %[[T1]], %[[V14]]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.scatter add drop %[[V21]] at %[[B]] with %[[V22]] along [r]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.mul %[[V19]], %[[V23]]
// LINEAR-NEXT: xtensor.yield %[[V24]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V25:.+]] = xtensor.transposed %[[V20]]
// LINEAR: return

// BACK-LABEL: func.func @scatter_min(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.scatter min drop %[[A]] at %[[B]] with %[[C]] along [r]
// BACK-NEXT: %[[V1:.+]] = xtensor.gather clip %[[V0]] at %[[B]] along [r]
// BACK-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// BACK-NEXT: %[[V3:.+]] = xtensor.isnan %[[A]]
// BACK-NEXT: %[[V4:.+]] = xtensor.or %[[V2]], %[[V3]]
// BACK-NEXT: %[[V5:.+]] = xtensor.compare eq %[[C]], %[[V1]]
// BACK-NEXT: %[[V6:.+]] = xtensor.isnan %[[C]]
// BACK-NEXT: %[[V7:.+]] = xtensor.or %[[V5]], %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.constant dense<4>
// BACK-NEXT: %[[V9:.+]] = xtensor.compare lt %[[B]], %[[V8]]
// BACK-NEXT: %[[V10:.+]] = xtensor.neg %[[V8]]
// BACK-NEXT: %[[V11:.+]] = xtensor.compare ge %[[B]], %[[V10]]
// BACK-NEXT: %[[V12:.+]] = xtensor.and %[[V9]], %[[V11]]
// BACK-NEXT: %[[V13:.+]] = xtensor.and %[[V7]], %[[V12]]
// BACK-NEXT: %[[V14:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V15:.+]] = xtensor.constant dense<1.000000e+00>
// BACK-NEXT: %[[V16:.+]] = xtensor.select %[[V4]], %[[V15]], %[[V14]]
// BACK-NEXT: %[[V17:.+]] = xtensor.select %[[V13]], %[[V15]], %[[V14]]
// BACK-NEXT: %[[V18:.+]] = xtensor.scatter add drop %[[V16]] at %[[B]] with %[[V17]] along [r]
// BACK-NEXT: %[[V19:.+]] = xtensor.div %[[V15]], %[[V18]]
// BACK-NEXT: %[[V20:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V21:.+]] = xtensor.mul %[[T0]], %[[V19]]
// BACK-NEXT: %[[V22:.+]] = xtensor.gather clip %[[V21]] at %[[B]] along [r]
// BACK-NEXT: %[[V23:.+]] = xtensor.constant dense<4>
// BACK-NEXT: %[[V24:.+]] = xtensor.compare lt %[[B]], %[[V23]]
// BACK-NEXT: %[[V25:.+]] = xtensor.neg %[[V23]]
// BACK-NEXT: %[[V26:.+]] = xtensor.compare ge %[[B]], %[[V25]]
// BACK-NEXT: %[[V27:.+]] = xtensor.and %[[V24]], %[[V26]]
// BACK-NEXT: %[[V28:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V29:.+]] = xtensor.select %[[V27]], %[[V22]], %[[V28]]
// BACK-NEXT: %[[V30:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V31:.+]] = xtensor.select %[[V13]], %[[V29]], %[[V30]]
// BACK-NEXT: %[[V32:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V33:.+]] = xtensor.select %[[V4]], %[[V21]], %[[V32]]
// BACK-NEXT: xtensor.yield %[[V33]], %[[V31]]
// BACK-NEXT: }
// BACK: return
