// The ops that need more than another type, one function each.
// RUN: xtensor-opt %s --xtensor-batch | FileCheck %s

!s = !xtensor.array<f32>
!n = !xtensor.array<i64>
!v = !xtensor.array<v: 4, f32>
!t = !xtensor.array<t: 3, f32>
!vt = !xtensor.array<v: 4, t: 3, f32>

// CHECK-LABEL: func @broadcast(
// CHECK: xtensor.broadcast %{{.+}} : (!xtensor.array<v: 4, f32>) -> !xtensor.array<v: 4, t: 3, f32>
func.func @broadcast(%x: !v) -> !vt {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    %b = xtensor.broadcast %x_ : (!s) -> !t
    xtensor.yield %b : !t
  } : (!v) -> !vt
  return %y : !vt
}

// CHECK-LABEL: func @concat(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[U:[a-z0-9]+]]:
// CHECK-NEXT: %[[B:.+]] = xtensor.broadcast %[[U]] : {{.*}} -> !xtensor.array<v: 4, t: 3, f32>
// CHECK-NEXT: xtensor.concat %[[B]], %[[X]] along t
func.func @concat(%x: !vt, %u: !t) -> !xtensor.array<v: 4, t: 6, f32> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !t):
    %c = xtensor.concat %u, %x_ along t : !t, !t
    xtensor.yield %c : !xtensor.array<t: 6, f32>
  } : (!vt) -> !xtensor.array<v: 4, t: 6, f32>
  return %y : !xtensor.array<v: 4, t: 6, f32>
}

// Every instance pads with a value of its own.
// CHECK-LABEL: func @pad(
// CHECK-SAME: %[[V:[a-z0-9]+]]: {{[^%]+}}, %[[U:[a-z0-9]+]]:
// CHECK: %[[OUT:.+]] = xtensor.pad %{{.+}} with %{{.+}} [t] low [1] high [2] interior [0] : <t: 3, i1>, <i1>
// CHECK: %[[IN:.+]] = xtensor.pad %{{.+}} with %{{.+}} [t] low [1] high [2] interior [0] : <v: 4, t: 3, f32>, <f32>
// CHECK: %[[WHERE:.+]] = xtensor.broadcast %[[OUT]]
// CHECK: xtensor.select %[[WHERE]], %[[V]], %[[IN]]
func.func @pad(%v: !v, %u: !t) -> !xtensor.array<v: 4, t: 6, f32> {
  %y = xtensor.vectorize over [v] at(%v) {
  ^bb0(%v_: !s):
    %c = xtensor.pad %u with %v_ [t] low [1] high [2] interior [0] : !t, !s
    xtensor.yield %c : !xtensor.array<t: 6, f32>
  } : (!v) -> !xtensor.array<v: 4, t: 6, f32>
  return %y : !xtensor.array<v: 4, t: 6, f32>
}

// Positions of its own in a source of its own: pointwise in the batch name.
// CHECK-LABEL: func @gather(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[I:[a-z0-9]+]]:
// CHECK-NEXT: %[[G:.+]] = xtensor.gather raise %[[X]] at %[[I]] along [t] : <v: 4, t: 3, f32>, !xtensor.array<v: 4, i64>
// CHECK-NEXT: return %[[G]]
func.func @gather(%x: !vt, %i: !xtensor.array<v: 4, i64>) -> !v {
  %y = xtensor.vectorize over [v] at(%x, %i) {
  ^bb0(%x_: !t, %i_: !n):
    %g = xtensor.gather raise %x_ at %i_ along [t] : !t, !n
    xtensor.yield %g : !s
  } : (!vt, !xtensor.array<v: 4, i64>) -> !v
  return %y : !v
}

// CHECK-LABEL: func @scatter(
// CHECK-SAME: %[[I:[a-z0-9]+]]: {{[^%]+}}, %[[U:[a-z0-9]+]]:
// CHECK-NEXT: %[[B:.+]] = xtensor.broadcast %[[U]] : {{.*}} -> !xtensor.array<v: 4, t: 3, f32>
// CHECK-NEXT: xtensor.scatter add drop %[[B]] at %[[I]] with %{{.+}} along [t] : <v: 4, t: 3, f32>, <f32>, !xtensor.array<v: 4, i64>
func.func @scatter(%i: !xtensor.array<v: 4, i64>, %u: !t, %one: !s) -> !vt {
  %y = xtensor.vectorize over [v] at(%i) {
  ^bb0(%i_: !n):
    %g = xtensor.scatter add drop %u at %i_ with %one along [t] : !t, !s, !n
    xtensor.yield %g : !t
  } : (!xtensor.array<v: 4, i64>) -> !vt
  return %y : !vt
}

// CHECK-LABEL: func @accumulate(
// CHECK-SAME: %[[F:[a-z0-9]+]]: {{[^%]+}}, %[[U:[a-z0-9]+]]:
// CHECK-NEXT: %[[B:.+]] = xtensor.broadcast %[[U]] : {{.*}} -> !xtensor.array<v: 4, t: 3, f32>
// CHECK-NEXT: xtensor.accumulate last drop %[[B]] at %{{.+}} times %[[F]] plus %{{.+}} along [t] {reverse} : <v: 4, t: 3, f32>, <v: 4, f32>
func.func @accumulate(%f: !v, %u: !t, %i: !n, %zero: !s) -> !vt {
  %y = xtensor.vectorize over [v] at(%f) {
  ^bb0(%f_: !s):
    %g = xtensor.accumulate last drop %u at %i times %f_ plus %zero along [t] {reverse} : !t, !s, !s, !n
    xtensor.yield %g : !t
  } : (!v) -> !vt
  return %y : !vt
}

// CHECK-LABEL: func @argsort(
// CHECK: xtensor.argsort %{{.+}} along t : <v: 4, t: 3, f32>
func.func @argsort(%x: !vt) -> !xtensor.array<v: 4, t: 3, i64> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !t):
    %i = xtensor.argsort %x_ along t : !t
    xtensor.yield %i : !xtensor.array<t: 3, i64>
  } : (!vt) -> !xtensor.array<v: 4, t: 3, i64>
  return %y : !xtensor.array<v: 4, t: 3, i64>
}

// CHECK-LABEL: func @fourier(
// CHECK: xtensor.fourier real %{{.+}} along [t] pair c : <v: 4, t: 3, f32>
func.func @fourier(%x: !vt) -> !xtensor.array<v: 4, t: 2, c: 2, f32> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !t):
    %z = xtensor.fourier real %x_ along [t] pair c : !t
    xtensor.yield %z : !xtensor.array<t: 2, c: 2, f32>
  } : (!vt) -> !xtensor.array<v: 4, t: 2, c: 2, f32>
  return %y : !xtensor.array<v: 4, t: 2, c: 2, f32>
}

// CHECK-LABEL: func @checkpoint(
// CHECK: xtensor.checkpoint {
// CHECK-NEXT: xtensor.exp %{{.+}} : <v: 4, f32>
// CHECK-NEXT: xtensor.yield
// CHECK-NEXT: } : !xtensor.array<v: 4, f32>
func.func @checkpoint(%x: !v) -> !v {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    %c = xtensor.checkpoint {
      %e = xtensor.exp %x_ : !s
      xtensor.yield %e : !s
    } : !s
    xtensor.yield %c : !s
  } : (!v) -> !v
  return %y : !v
}

// The cotangent of an argument that the instances share is the sum of theirs.
// CHECK-LABEL: func @custom(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[W:[a-z0-9]+]]:
// CHECK: xtensor.custom_derivative at(%[[X]], %[[W]]) primal {
// CHECK: } forward {
// CHECK: } backward {
// CHECK-NEXT: ^bb0(%[[RX:.+]]: !xtensor.array<v: 4, f32>, %[[RW:.+]]: !xtensor.array<f32>, %[[CT:.+]]: !xtensor.array<v: 4, f32>):
// CHECK-NEXT: %[[GX:.+]] = xtensor.mul %[[CT]], %[[RW]]
// CHECK-NEXT: %[[GW:.+]] = xtensor.mul %[[CT]], %[[RX]]
// CHECK-NEXT: %[[SUM:.+]] = xtensor.reduce sum %[[GW]] over [v]
// CHECK-NEXT: xtensor.yield %[[GX]], %[[SUM]]
func.func @custom(%x: !v, %w: !s) -> !v {
  %y = xtensor.vectorize over [v] at(%x, %w) {
  ^bb0(%x_: !s, %w_: !s):
    %c = xtensor.custom_derivative at(%x_, %w_) primal {
    ^bb1(%a: !s, %b: !s):
      %p = xtensor.mul %a, %b : !s, !s
      xtensor.yield %p : !s
    } forward {
    ^bb1(%a: !s, %b: !s):
      %p = xtensor.mul %a, %b : !s, !s
      xtensor.yield %p, %a, %b : !s, !s, !s
    } backward {
    ^bb1(%a: !s, %b: !s, %ct: !s):
      %da = xtensor.mul %ct, %b : !s, !s
      %db = xtensor.mul %ct, %a : !s, !s
      xtensor.yield %da, %db : !s, !s
    } : (!s, !s) -> !s
    xtensor.yield %c : !s
  } : (!v, !s) -> !v
  return %y : !v
}

// One selector for all: still one branch alone runs.
// CHECK-LABEL: func @switch_shared(
// CHECK: xtensor.switch %{{.+}} {
// CHECK-NEXT: xtensor.yield %{{.+}} : !xtensor.array<v: 4, f32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %[[B:.+]] = xtensor.broadcast
// CHECK-NEXT: xtensor.yield %[[B]] : !xtensor.array<v: 4, f32>
func.func @switch_shared(%x: !v, %u: !s, %i: !n) -> !v {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    %c = xtensor.switch %i {
      xtensor.yield %x_ : !s
    }, {
      xtensor.yield %u : !s
    } : (!n) -> !s
    xtensor.yield %c : !s
  } : (!v) -> !v
  return %y : !v
}

// A selector per instance: ops that are safe anywhere run for all, and a select follows.
// CHECK-LABEL: func @switch_each(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[I:[a-z0-9]+]]:
// CHECK: %[[S:.+]] = xtensor.sqrt %[[X]]
// CHECK: %[[M:.+]] = xtensor.compare ge %[[I]], %{{.+}}
// CHECK: xtensor.select %[[M]], %[[X]], %[[S]]
// CHECK-NOT: xtensor.switch
func.func @switch_each(%x: !v, %i: !xtensor.array<v: 4, i64>) -> !v {
  %y = xtensor.vectorize over [v] at(%x, %i) {
  ^bb0(%x_: !s, %i_: !n):
    %c = xtensor.switch %i_ {
      %r = xtensor.sqrt %x_ : !s
      xtensor.yield %r : !s
    }, {
      xtensor.yield %x_ : !s
    } : (!n) -> !s
    xtensor.yield %c : !s
  } : (!v, !xtensor.array<v: 4, i64>) -> !v
  return %y : !v
}

// A read that may be out of range runs if an instance takes it, and reads for the others what
// that one reads.
// CHECK-LABEL: func @switch_stand_in(
// CHECK-SAME: %[[I:[a-z0-9]+]]: {{[^%]+}}, %[[U:[a-z0-9]+]]:
// CHECK: %[[M:.+]] = xtensor.compare le %[[I]], %{{.+}}
// CHECK: %[[ANY:.+]] = xtensor.reduce any %[[M]] over [v]
// CHECK: %[[K:.+]] = xtensor.cast %[[ANY]] to i64
// CHECK: xtensor.switch %[[K]] {
// CHECK: }, {
// CHECK: %[[P:.+]] = xtensor.reduce argmax %{{.+}} over [v]
// CHECK: %[[ONE:.+]] = xtensor.gather clip %[[I]] at %[[P]] along [v]
// CHECK: %[[SAFE:.+]] = xtensor.select %[[M]], %[[I]], %[[ONE]]
// CHECK: xtensor.gather raise %[[U]] at %[[SAFE]] along [t]
func.func @switch_stand_in(%i: !xtensor.array<v: 4, i64>, %u: !t, %z: !s) -> !v {
  %y = xtensor.vectorize over [v] at(%i) {
  ^bb0(%i_: !n):
    %c = xtensor.switch %i_ {
      %r = xtensor.gather raise %u at %i_ along [t] : !t, !n
      xtensor.yield %r : !s
    }, {
      xtensor.yield %z : !s
    } : (!n) -> !s
    xtensor.yield %c : !s
  } : (!xtensor.array<v: 4, i64>) -> !v
  return %y : !v
}

// The carry gets the name once the body gives it; stacked values have the batch name first.
// CHECK-LABEL: func @scan(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[Z:[a-z0-9]+]]:
// CHECK: %[[INIT:.+]] = xtensor.broadcast %[[Z]] : {{.*}} -> !xtensor.array<v: 4, f32>
// CHECK: %[[S:.+]]:2 = xtensor.scan along t carry(%[[INIT]]) over(%[[X]]) {
// CHECK-NEXT: ^bb0(%{{.+}}: !xtensor.array<v: 4, f32>, %{{.+}}: !xtensor.array<v: 4, f32>):
// CHECK: -> (!xtensor.array<v: 4, f32>, !xtensor.array<t: 3, v: 4, f32>)
// CHECK: xtensor.broadcast %[[S]]#1 : {{.*}} -> !xtensor.array<v: 4, t: 3, f32>
func.func @scan(%x: !vt, %z: !s) -> (!v, !vt) {
  %y:2 = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !t):
    %r:2 = xtensor.scan along t carry(%z) over(%x_) {
    ^bb1(%c: !s, %e: !s):
      %n = xtensor.add %c, %e : !s, !s
      xtensor.yield %n, %n : !s, !s
    } : (!s, !t) -> (!s, !t)
    xtensor.yield %r#0, %r#1 : !s, !t
  } : (!vt) -> (!v, !vt)
  return %y#0, %y#1 : !v, !vt
}

// Goes on until the last instance is done; which ones go on is carried along.
// CHECK-LABEL: func @while(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[END:[a-z0-9]+]]:
// CHECK: %[[GO:.+]] = xtensor.compare lt %[[X]], %[[END]]
// CHECK: xtensor.while init(%[[GO]], %[[X]]) cond {
// CHECK-NEXT: ^bb0(%[[M:.+]]: !xtensor.array<v: 4, i1>, %{{.+}}: !xtensor.array<v: 4, f32>):
// CHECK-NEXT: %[[ANY:.+]] = xtensor.reduce any %[[M]] over [v]
// CHECK-NEXT: xtensor.yield %[[ANY]]
// CHECK-NEXT: } body {
// CHECK-NEXT: ^bb0(%[[M:.+]]: !xtensor.array<v: 4, i1>, %[[C:.+]]: !xtensor.array<v: 4, f32>):
// CHECK-NEXT: %[[D:.+]] = xtensor.add %[[C]], %[[C]]
// CHECK-NEXT: %[[N:.+]] = xtensor.select %[[M]], %[[D]], %[[C]]
// CHECK-NEXT: %[[ON:.+]] = xtensor.compare lt %[[N]], %[[END]]
// CHECK-NEXT: %[[GO:.+]] = xtensor.and %[[M]], %[[ON]]
// CHECK-NEXT: xtensor.yield %[[GO]], %[[N]]
func.func @while(%x: !v, %end: !s) -> !v {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    %r = xtensor.while init(%x_) cond {
    ^bb1(%c: !s):
      %m = xtensor.compare lt %c, %end : !s, !s
      xtensor.yield %m : !xtensor.array<i1>
    } body {
    ^bb1(%c: !s):
      %d = xtensor.add %c, %c : !s, !s
      xtensor.yield %d : !s
    } : (!s) -> !s
    xtensor.yield %r : !s
  } : (!v) -> !v
  return %y : !v
}

// A selector without a sign is compared with numbers of its own kind.
// CHECK-LABEL: func @switch_unsigned(
// CHECK: %[[I:.*]] = xtensor.cast %{{.+}} to i64
// CHECK: xtensor.compare le %[[I]]
func.func @switch_unsigned(%x: !v, %i: !xtensor.array<v: 4, ui64>) -> !v {
  %y = xtensor.vectorize over [v] at(%x, %i) {
  ^bb0(%x_: !s, %i_: !xtensor.array<ui64>):
    %z = xtensor.switch %i_ {
      xtensor.yield %x_ : !s
    }, {
      %e = xtensor.exp %x_ : !s
      xtensor.yield %e : !s
    } : (!xtensor.array<ui64>) -> !s
    xtensor.yield %z : !s
  } : (!v, !xtensor.array<v: 4, ui64>) -> !v
  return %y : !v
}
