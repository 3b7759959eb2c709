// Ops with regions: numbers are carried as numbers, arrays as tensors that the end of the body
// writes; what is scanned over is read in slices of where it is stored.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

!s = !xtensor.array<f32>
!x = !xtensor.array<t: 100, f32>

// No memory is touched but the element read and the element written.
// CHECK-LABEL: func.func @recurrence
// CHECK: %[[C:.*]] = tensor.extract %arg0[] : tensor<f32>
// CHECK: %[[YS:.*]] = tensor.empty() : tensor<100xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[A:.*]] = %[[C]], %[[S:.*]] = %[[YS]]) -> (f32, tensor<100xf32>) {
// CHECK-NEXT: %[[E:.*]] = tensor.extract %arg1[%[[I]]] : tensor<100xf32>
// CHECK-NEXT: %[[N:.*]] = arith.addf %[[A]], %[[E]] : f32
// CHECK-NEXT: %[[W:.*]] = tensor.insert %[[A]] into %[[S]][%[[I]]] : tensor<100xf32>
// CHECK-NEXT: scf.yield %[[N]], %[[W]] : f32, tensor<100xf32>
func.func @recurrence(%c: !s, %x: !x) -> (!s, !x) {
  %0:2 = xtensor.scan along t carry(%c) over(%x) {
  ^bb0(%c_: !s, %x_: !s):
    %1 = xtensor.add %c_, %x_ : !s, !s
    xtensor.yield %1, %c_ : !s, !s
  } : (!s, !x) -> (!s, !x)
  return %0#0, %0#1 : !s, !x
}

// -----

// The reversed view of a reversed scan is read where it is; the carry's place is written at the
// end of the body.
!h = !xtensor.array<i: 3, f32>
!xs = !xtensor.array<t: 5, i: 3, f32>

// CHECK-LABEL: func.func @arrays
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[H:.*]] = %arg0, %[[S:.*]] = %{{.*}}) -> (tensor<3xf32>, tensor<5x3xf32>) {
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.subi %[[LAST]], %[[I]] : index
// CHECK: %[[X:.*]] = tensor.extract_slice %arg1[%{{.*}}, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[H]], %[[X]] : tensor<3xf32>, tensor<3xf32>)
// CHECK: %[[W:.*]] = tensor.insert_slice %[[N]] into %[[S]][%[[AT]], 0] [1, 3] [1, 1]
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[N]] : tensor<3xf32>) outs(%[[H]] : tensor<3xf32>)
// CHECK: scf.yield %[[C]], %[[W]]
func.func @arrays(%h: !h, %x: !xs) -> (!h, !xs) {
  %r = xtensor.reverse %x [t] : !xs
  %0:2 = xtensor.scan along t reverse carry(%h) over(%r) {
  ^bb0(%h_: !h, %x_: !h):
    %1 = xtensor.add %h_, %x_ : !h, !h
    xtensor.yield %1, %1 : !h, !h
  } : (!h, !xs) -> (!h, !xs)
  return %0#0, %0#1 : !h, !xs
}

// -----

// What goes into a step is stacked by an op, which can share a loop with the step's own.
!h = !xtensor.array<i: 3, f32>
!xs = !xtensor.array<t: 5, i: 3, f32>

// CHECK-LABEL: func.func @stacked_carry
// CHECK: scf.for {{.*}} iter_args(%[[H:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (tensor<3xf32>, tensor<5x3xf32>) {
// CHECK: %[[SLOT:.*]] = tensor.extract_slice %[[S]][%[[AT:.*]], 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[H]] : tensor<3xf32>) outs(%[[SLOT]] : tensor<3xf32>)
// CHECK: tensor.insert_slice %[[COPY]] into %[[S]][%[[AT]], 0] [1, 3] [1, 1]
func.func @stacked_carry(%h: !h, %x: !xs) -> (!h, !xs) {
  %0:2 = xtensor.scan along t carry(%h) over(%x) {
  ^bb0(%h_: !h, %x_: !h):
    %1 = xtensor.add %h_, %x_ : !h, !h
    xtensor.yield %1, %h_ : !h, !h
  } : (!h, !xs) -> (!h, !xs)
  return %0#0, %0#1 : !h, !xs
}

// -----

// Steps that read one state and make the next one beside it, in one stack. Those before the steps and
// those after it are two views of the stack, backwards as well; what the last step made is in it, too.
!h = !xtensor.array<i: 3, f32>
!xs = !xtensor.array<t: 5, i: 3, f32>

// CHECK-LABEL: func.func @states
// CHECK: %[[E:.*]] = tensor.empty() : tensor<6x3xf32>
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<3xf32>)
// CHECK: %[[INIT:.*]] = tensor.insert_slice %[[FIRST]] into %[[E]][%[[LAST:.*]], 0] [1, 3] [1, 1]
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[INIT]]) -> (tensor<6x3xf32>) {
// CHECK: %[[END:.*]] = arith.subi
// CHECK: %[[AT:.*]] = arith.subi %[[END]]
// CHECK: %[[LATER:.*]] = arith.addi %[[AT]], %{{.*}}
// CHECK: %[[H:.*]] = tensor.extract_slice %[[S]][%[[LATER]], 0] [1, 3] [1, 1] : tensor<6x3xf32> to tensor<3xf32>
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[H]], %{{.*}} : tensor<3xf32>, tensor<3xf32>)
// CHECK: %[[W:.*]] = tensor.insert_slice %[[N]] into %[[S]][%[[AT]], 0] [1, 3] [1, 1]
// CHECK: scf.yield %[[W]]
// CHECK-DAG: tensor.extract_slice %[[R]][%{{.*}}, 0] [1, 3] [1, 1] : tensor<6x3xf32> to tensor<3xf32>
// CHECK-DAG: tensor.extract_slice %[[R]][1, 0] [5, 3] [1, 1] : tensor<6x3xf32> to tensor<5x3xf32>
// CHECK-DAG: tensor.extract_slice %[[R]][0, 0] [5, 3] [1, 1] : tensor<6x3xf32> to tensor<5x3xf32>
func.func @states(%h: !h, %x: !xs) -> (!h, !xs) {
  %0:3 = xtensor.scan along t reverse carry(%h) over(%x) {
  ^bb0(%h_: !h, %x_: !h):
    %1 = xtensor.add %h_, %x_ : !h, !h
    xtensor.yield %1, %h_, %1 : !h, !h, !h
  } : (!h, !xs) -> (!h, !xs, !xs)
  %1 = xtensor.mul %0#1, %0#2 : !xs, !xs
  return %0#0, %1 : !h, !xs
}

// -----

// An array whose last axis is scanned is brought into another order once, and so is a captured
// operand of a matrix product, before the loop.
!h = !xtensor.array<b: 4, i: 3, f32>

// CHECK-LABEL: func.func @packed
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<6x4x3xf32>)
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3x3xf32>)
// CHECK-NOT: outs(%{{.*}} : tensor<3x3xf32>)
// CHECK: scf.yield
func.func @packed(%h: !h, %x: !xtensor.array<b: 4, i: 3, t: 6, f32>, %w: !xtensor.array<i: 3, j: 3, f32>) -> !h {
  %0 = xtensor.scan along t carry(%h) over(%x) {
  ^bb0(%h_: !h, %x_: !h):
    %1 = xtensor.contract %h_, %w over [i] : !h, !xtensor.array<i: 3, j: 3, f32>
    %2 = xtensor.rename %1 [j] to [i] : !xtensor.array<b: 4, j: 3, f32>
    %3 = xtensor.add %2, %x_ : !h, !h
    xtensor.yield %3 : !h
  } : (!h, !xtensor.array<b: 4, i: 3, t: 6, f32>) -> !h
  return %0 : !h
}

// -----

// Without steps that are known; the size of what is stacked comes from the operand.
!s = !xtensor.array<f32>
!n = !xtensor.array<i64>

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[N:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step
func.func @dynamic(%c: !s, %n: !n) -> !xtensor.array<u: ?, f32> {
  %0:2 = xtensor.scan along u carry(%c) over() size %n {
  ^bb0(%c_: !s):
    %1 = xtensor.add %c_, %c_ : !s, !s
    xtensor.yield %1, %1 : !s, !s
  } : (!s, !n) -> (!s, !xtensor.array<u: ?, f32>)
  return %0#1 : !xtensor.array<u: ?, f32>
}

// -----

// CHECK-LABEL: func.func @while
// CHECK: scf.while (%[[A:.*]] = %arg0, %[[K:.*]] = %{{.*}}) : (tensor<3xf32>, index) -> (tensor<3xf32>, index) {
// CHECK: %[[P:.*]] = arith.cmpf olt
// CHECK: %[[B:.*]] = arith.cmpi slt, %[[K]]
// CHECK: %[[M:.*]] = arith.andi %[[P]], %[[B]] : i1
// CHECK: scf.condition(%[[M]]) %[[A]], %[[K]]
// CHECK: } do {
// CHECK: ^bb0(%[[C:.*]]: tensor<3xf32>, %{{.*}}: index):
// CHECK: linalg.generic {{.*}} outs(%[[C]] : tensor<3xf32>)
// CHECK: scf.yield
!h = !xtensor.array<i: 3, f32>
func.func @while(%h: !h) -> !h {
  %limit = xtensor.constant dense<1.0e+03> : tensor<f32> as !xtensor.array<f32>
  %0 = xtensor.while init(%h) max_steps 10 cond {
  ^bb0(%c: !h):
    %s = xtensor.reduce sum %c over [i] : !h
    %p = xtensor.compare lt %s, %limit : !xtensor.array<f32>, !xtensor.array<f32>
    xtensor.yield %p : !xtensor.array<i1>
  } body {
  ^bb0(%c: !h):
    %d = xtensor.exp %c : !h
    xtensor.yield %d : !h
  } : (!h) -> !h
  return %0 : !h
}

// -----

// Both branches write into one place.
!h = !xtensor.array<i: 3, f32>
!n = !xtensor.array<i64>

// CHECK-LABEL: func.func @two
// CHECK: %[[PLACE:.*]] = tensor.empty() : tensor<3xf32>
// CHECK: %[[P:.*]] = arith.cmpi sgt, %{{.*}}, %c0{{.*}} : i64
// CHECK: scf.if %[[P]] -> (tensor<3xf32>, f32) {
// CHECK: linalg.generic {{.*}} outs(%[[PLACE]] : tensor<3xf32>)
// CHECK: } else {
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3xf32>) outs(%[[PLACE]] : tensor<3xf32>)
func.func @two(%i: !n, %h: !h, %s: !xtensor.array<f32>) -> (!h, !xtensor.array<f32>) {
  %0:2 = xtensor.switch %i {
    xtensor.yield %h, %s : !h, !xtensor.array<f32>
  }, {
    %e = xtensor.exp %h : !h
    xtensor.yield %e, %s : !h, !xtensor.array<f32>
  } : (!n) -> (!h, !xtensor.array<f32>)
  return %0#0, %0#1 : !h, !xtensor.array<f32>
}

// -----

// CHECK-LABEL: func.func @three
// CHECK: %[[LOW:.*]] = arith.maxsi
// CHECK: %[[AT:.*]] = arith.index_cast %[[LOW]]
// CHECK: scf.index_switch %[[AT]] -> f32
// CHECK: case 0
// CHECK: case 1
// CHECK: default
!s = !xtensor.array<f32>
func.func @three(%i: !xtensor.array<i64>, %s: !s) -> !s {
  %0 = xtensor.switch %i {
    xtensor.yield %s : !s
  }, {
    %e = xtensor.exp %s : !s
    xtensor.yield %e : !s
  }, {
    %e = xtensor.neg %s : !s
    xtensor.yield %e : !s
  } : (!xtensor.array<i64>) -> !s
  return %0 : !s
}

// -----

// A captured number is read once, before the loop, and what is made of it in the body is a number.
!s = !xtensor.array<f32>
!x = !xtensor.array<t: 100, f32>

// CHECK-LABEL: func.func @captured_number
// CHECK: %[[A:.*]] = tensor.extract %arg2[] : tensor<f32>
// CHECK: scf.for
// CHECK-NOT: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[A]] : f32
// CHECK-NOT: linalg.generic
// CHECK: scf.yield
func.func @captured_number(%c: !s, %x: !x, %a: !s) -> !s {
  %0 = xtensor.scan along t carry(%c) over(%x) {
  ^bb0(%c_: !s, %x_: !s):
    %1 = xtensor.mul %c_, %a : !s, !s
    %2 = xtensor.add %1, %x_ : !s, !s
    xtensor.yield %2 : !s
  } : (!s, !x) -> !s
  return %0 : !s
}

// -----

// Steps that a switch skips from some one on are not taken, by the loop that stacks and by the one that reads: nothing
// is written for them. Those that are need no switch any more, but for one that something else decides.
!s = !xtensor.array<f32>
!x = !xtensor.array<t: 100, f32>

// CHECK-LABEL: func.func @ends_early
// CHECK: %[[W:.*]]:3 = scf.while
// CHECK: %[[MORE:.*]] = arith.andi
// CHECK: scf.condition(%[[MORE]])
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[W]]#2 step
// CHECK-NOT: scf.if
// CHECK: arith.cmpf ogt
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @ends_early(%c: !s, %end: !s) -> !s {
  %0:2 = xtensor.scan along t carry(%c) over() length 100 {
  ^bb0(%x: !s):
    %more = xtensor.compare lt %x, %end : !s, !s
    %which = xtensor.cast %more to i64 : !xtensor.array<i1>
    %next = xtensor.switch %which {
      xtensor.yield %x : !s
    }, {
      %e = xtensor.exp %x : !s
      xtensor.yield %e : !s
    } : (!xtensor.array<i64>) -> !s
    xtensor.yield %next, %x : !s, !s
  } {xtensor.ends_early = distinct[0]<>} : (!s) -> (!s, !x)
  %1 = xtensor.scan along t reverse carry(%c) over(%0#1) {
  ^bb0(%d: !s, %x: !s):
    %more = xtensor.compare lt %x, %end : !s, !s
    %which = xtensor.cast %more to i64 : !xtensor.array<i1>
    %p = xtensor.switch %which {
      xtensor.yield %d : !s
    }, {
      %q = xtensor.mul %d, %x : !s, !s
      xtensor.yield %q : !s
    } : (!xtensor.array<i64>) -> !s
    %other = xtensor.compare gt %x, %end : !s, !s
    %whether = xtensor.cast %other to i64 : !xtensor.array<i1>
    %r = xtensor.switch %whether {
      xtensor.yield %p : !s
    }, {
      %q = xtensor.mul %p, %x : !s, !s
      xtensor.yield %q : !s
    } : (!xtensor.array<i64>) -> !s
    xtensor.yield %r : !s
  } {xtensor.ends_early = distinct[0]<>} : (!s, !x) -> !s
  return %1 : !s
}

// -----

// Somebody reads all of the stack: all steps are taken.
!s = !xtensor.array<f32>
!x = !xtensor.array<t: 100, f32>

// CHECK-LABEL: func.func @is_read_whole
// CHECK-NOT: scf.while
// CHECK: scf.for
func.func @is_read_whole(%c: !s, %end: !s) -> !x {
  %0:2 = xtensor.scan along t carry(%c) over() length 100 {
  ^bb0(%x: !s):
    %more = xtensor.compare lt %x, %end : !s, !s
    %which = xtensor.cast %more to i64 : !xtensor.array<i1>
    %next = xtensor.switch %which {
      xtensor.yield %x : !s
    }, {
      %e = xtensor.exp %x : !s
      xtensor.yield %e : !s
    } : (!xtensor.array<i64>) -> !s
    xtensor.yield %next, %x : !s, !s
  } {xtensor.ends_early = distinct[0]<>} : (!s) -> (!s, !x)
  return %0#1 : !x
}

// -----

// What a step only updates is handed on as it is: no copy to its own place.
!k = !xtensor.array<i64>
!row = !xtensor.array<j: 4, f32>
!rows = !xtensor.array<i: ?, j: 4, f32>

// CHECK-LABEL: func.func @update
// CHECK: ^bb0(%{{.*}}: i64, %[[X:.*]]: tensor<?x4xf32>):
// CHECK: %[[Y:.*]] = scf.if %{{.*}} -> (tensor<?x4xf32>) {
// CHECK: tensor.insert_slice %{{.*}} into %[[X]]
// CHECK-NOT: linalg.generic
// CHECK: scf.yield %{{.*}}, %[[Y]] : i64, tensor<?x4xf32>
func.func @update(%n: !k, %one: !k, %k: !k, %r: !row, %x: !rows) -> !rows {
  %0:2 = xtensor.while init(%k, %x) cond {
  ^bb0(%k_: !k, %x_: !rows):
    %1 = xtensor.compare lt %k_, %n : !k, !k
    xtensor.yield %1 : !xtensor.array<i1>
  } body {
  ^bb0(%k_: !k, %x_: !rows):
    %1 = xtensor.scatter set clip %x_ at %k_ with %r along [i] : !rows, !row, !k
    %2 = xtensor.add %k_, %one : !k, !k
    xtensor.yield %2, %1 : !k, !rows
  } : (!k, !rows) -> (!k, !rows)
  return %0#1 : !rows
}
