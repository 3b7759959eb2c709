// The program of one process: sizes are divided, and what needs the elements of others asks them.
// RUN: xtensor-opt %s --xtensor-distribute --split-input-file | FileCheck %s

!x = !xtensor.array<b: 8, i: 3, f32>
!w = !xtensor.array<i: 3, f32>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, i: 3, f32>{{.*}}, %[[W:[a-z0-9]+]]: !xtensor.array<i: 3, f32>
// CHECK-NEXT: %[[Y:.+]] = xtensor.contract %[[X]], %[[W]] over [i] : !xtensor.array<b: 4, i: 3, f32>, !xtensor.array<i: 3, f32>
// CHECK-NEXT: %[[P:.+]] = xtensor.contract %[[X]], %[[Y]] over [b]
// CHECK-NEXT: %[[G:.+]] = xtensor.all_reduce sum %[[P]] across data communicator 7 : !xtensor.array<i: 3, f32>
// CHECK-NEXT: return %[[G]] : !xtensor.array<i: 3, f32>
func.func @main(%x: !x, %w: !w) -> !w
    attributes {xtensor.mesh = {data = array<i64: 2, 7>}, xtensor.split = {b = "data"}} {
  %y = xtensor.contract %x, %w over [i] : !x, !w
  %g = xtensor.contract %x, %y over [b] : !x, !xtensor.array<b: 8, f32>
  return %g : !w
}

// -----

// A dim of the result that is split alike: the sum of this process's part would be of other elements.
// CHECK-LABEL: func.func @both(
// CHECK: %[[ALL:.+]] = xtensor.all_gather %{{.+}} along b across data communicator 0 of 2 : <b: 4, f32>
// CHECK: %[[Y:.+]] = xtensor.contract %[[ALL]], %{{.+}} over [b] : !xtensor.array<b: 8, f32>, !xtensor.array<c: 2, f32>
// CHECK-NEXT: return %[[Y]] : !xtensor.array<c: 2, f32>
func.func @both(%x: !xtensor.array<b: 8, f32>, %y: !xtensor.array<c: 4, f32>) -> !xtensor.array<c: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data", c = "data"}} {
  %z = xtensor.contract %x, %y over [b] : !xtensor.array<b: 8, f32>, !xtensor.array<c: 4, f32>
  return %z : !xtensor.array<c: 4, f32>
}

// -----

// Sums of 16 bits are taken in 32, across processes too.
// CHECK-LABEL: func.func @narrow(
// CHECK: %[[F:.+]] = xtensor.cast %{{.+}} to f32
// CHECK: %[[S:.+]] = xtensor.reduce sum %[[F]] over
// CHECK: %[[D:.+]] = xtensor.all_reduce sum %[[S]] across data
// CHECK: %[[M:.+]] = xtensor.all_reduce sum %[[D]] across model
// CHECK: xtensor.cast %[[M]] to f16
func.func @narrow(%x: !xtensor.array<b: 8, h: 4, f16>) -> !xtensor.array<f16>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>, model = array<i64: 4, 1>},
                xtensor.split = {b = "data", h = "model"}} {
  %s = xtensor.reduce sum %x over [b, h] : !xtensor.array<b: 8, h: 4, f16>
  return %s : !xtensor.array<f16>
}

// -----

// The sorted array is whole; each process takes its part.
// CHECK-LABEL: func.func @sorted(
// CHECK: %[[ALL:.+]] = xtensor.all_gather %{{.+}} along b across data
// CHECK: %[[AT:.+]] = xtensor.argsort %[[ALL]] along b : <b: 8, f32>
// CHECK: %[[HERE:.+]] = xtensor.process_index across data communicator 0
// CHECK: %[[MINE:.+]] = xtensor.gather clip %[[AT]] at %{{.+}} along [b]
// CHECK: return %[[MINE]] : !xtensor.array<b: 4, i64>
func.func @sorted(%x: !xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, i64>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.argsort %x along b : !xtensor.array<b: 8, f32>
  return %y : !xtensor.array<b: 8, i64>
}

// -----

// What is read from outside is whole.
// CHECK-LABEL: func.func @captured(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, f32>{{.*}}, %[[C:[a-z0-9]+]]: !xtensor.array<b: 8, f32>
// CHECK: %[[MINE:.+]] = xtensor.gather clip %[[C]]
// CHECK: xtensor.add %[[X]], %[[MINE]]
func.func @captured(%x: !xtensor.array<b: 8, f32>, %c: !xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.whole = array<i64: 1>} {
  %y = xtensor.add %x, %c : !xtensor.array<b: 8, f32>, !xtensor.array<b: 8, f32>
  return %y : !xtensor.array<b: 8, f32>
}

// -----

// What a process has computed as a whole, it does not ask the others for.
// CHECK-LABEL: func.func @again(
// CHECK: %[[ALL:.+]] = xtensor.all_gather %{{.+}} along b
// CHECK-NEXT: %[[AT:.+]] = xtensor.argsort %[[ALL]] along b
// CHECK-NEXT: xtensor.argsort %[[AT]] along b
// CHECK-NOT: all_gather
// CHECK: return
func.func @again(%x: !xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, i64>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.argsort %x along b : !xtensor.array<b: 8, f32>
  %z = xtensor.argsort %y along b : !xtensor.array<b: 8, i64>
  return %z : !xtensor.array<b: 8, i64>
}

// -----

// A running sum: of the part, plus that of the parts before, of which one element each is passed.
// CHECK-LABEL: func.func @scanned(
// CHECK: %[[MINE:.+]] = xtensor.cumulative sum %{{.+}} along b : <b: 4, i: 3, f32>
// CHECK: %[[LAST:.+]] = xtensor.slice %[[MINE]] [b] offsets [3] sizes [1] strides [1]
// CHECK: %[[LASTS:.+]] = xtensor.all_gather %[[LAST]] along b across data communicator 0 of 2 : <b: 1, i: 3, f32>
// CHECK: %[[SUMS:.+]] = xtensor.cumulative sum %[[LASTS]] along b {exclusive} : <b: 2, i: 3, f32>
// CHECK: %[[HERE:.+]] = xtensor.process_index across data communicator 0
// CHECK: %[[BEFORE:.+]] = xtensor.gather clip %[[SUMS]] at %[[HERE]] along [b]
// CHECK: %[[Y:.+]] = xtensor.add %[[MINE]], %[[BEFORE]] : <b: 4, i: 3, f32>, <i: 3, f32>
// CHECK-NEXT: return %[[Y]]
func.func @scanned(%x: !xtensor.array<b: 8, i: 3, f32>) -> !xtensor.array<b: 8, i: 3, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.cumulative sum %x along b : !xtensor.array<b: 8, i: 3, f32>
  return %y : !xtensor.array<b: 8, i: 3, f32>
}

// -----

// From the other end, without the element itself. 16 bits are rounded once.
// CHECK-LABEL: func.func @reverse(
// CHECK: %[[F:.+]] = xtensor.cast %{{.+}} to f32
// CHECK-DAG: %[[MINE:.+]] = xtensor.cumulative prod %[[F]] along b {exclusive, reverse} : <b: 4, f32>
// CHECK-DAG: xtensor.slice %[[MINE]] [b] offsets [0] sizes [1]
// CHECK-DAG: xtensor.slice %[[F]] [b] offsets [0] sizes [1]
// CHECK: xtensor.cumulative prod %{{.+}} along b {exclusive, reverse} : <b: 2, f32>
// CHECK: %[[Y:.+]] = xtensor.cast %{{.+}} to f16
// CHECK: return %[[Y]]
func.func @reverse(%x: !xtensor.array<b: 8, f16>) -> !xtensor.array<b: 8, f16>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.cumulative prod %x along b {exclusive, reverse} : !xtensor.array<b: 8, f16>
  return %y : !xtensor.array<b: 8, f16>
}

// -----

// Each process calls its own function: one with effects on its part, one with results on the whole.
// CHECK-LABEL: func.func @callbacks(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, f32>
// CHECK: xtensor.callback ordered "x {}" number 0(%[[X]]) : (!xtensor.array<b: 4, f32>) -> ()
// CHECK: %[[ALL:.+]] = xtensor.all_gather %[[X]] along b across data communicator 7 of 2 : <b: 4, f32>
// CHECK: xtensor.callback "f" number 1(%[[ALL]]) : (!xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, f32>
func.func @callbacks(%x: !xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 7>}, xtensor.split = {b = "data"}} {
  xtensor.callback ordered "x {}" number 0 (%x) : (!xtensor.array<b: 8, f32>) -> ()
  %y = xtensor.callback "f" number 1 (%x) : (!xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, f32>
  return %y : !xtensor.array<b: 8, f32>
}

// -----

// Sums across the same processes are added before they are sent.
// CHECK-LABEL: func.func @sums(
// CHECK-COUNT-1: all_reduce
// CHECK-NOT: all_reduce
// CHECK: return
func.func @sums(%x: !xtensor.array<b: 8, i: 3, f32>, %y: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %e = xtensor.exp %x : !xtensor.array<b: 8, i: 3, f32>
  %s = xtensor.reduce sum %x over [b] : !xtensor.array<b: 8, i: 3, f32>
  %t = xtensor.reduce sum %e over [b] : !xtensor.array<b: 8, i: 3, f32>
  %a = xtensor.add %y, %s : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
  %z = xtensor.add %a, %t : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
  return %z : !xtensor.array<i: 3, f32>
}

// -----

// The position of a maximum: one element and one position of each part are passed.
// CHECK-LABEL: func.func @position(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, i: 3, f32>
// CHECK: %[[AT:.+]] = xtensor.reduce argmax %[[X]] over [b] : <b: 4, i: 3, f32>
// CHECK: xtensor.gather clip %[[X]] at %[[AT]] along [b]
// CHECK: %[[XS:.+]] = xtensor.all_gather %{{.+}} along b across data communicator 0 of 2 : <b: 1, i: 3, f32>
// CHECK: %[[PLACES:.+]] = xtensor.all_gather %{{.+}} along b across data communicator 0 of 2 : <b: 1, i: 3, i64>
// CHECK: %[[OWNER:.+]] = xtensor.reduce argmax %[[XS]] over [b] : <b: 2, i: 3, f32>
// CHECK: %[[Y:.+]] = xtensor.gather clip %[[PLACES]] at %[[OWNER]] along [b]
// CHECK: return %[[Y]] : !xtensor.array<i: 3, i64>
func.func @position(%x: !xtensor.array<b: 8, i: 3, f32>) -> !xtensor.array<i: 3, i64>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.reduce argmax %x over [b] : !xtensor.array<b: 8, i: 3, f32>
  return %y : !xtensor.array<i: 3, i64>
}

// -----

// Small sums across the same processes are sent in one message; what reads one of them comes after
// it. The large one has a message of its own.
// CHECK-LABEL: func.func @one_message(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, i: 3, f32>
// CHECK: %[[S:.+]] = xtensor.reduce sum %[[X]] over [b]
// CHECK: %[[E:.+]] = xtensor.exp %[[X]]
// CHECK: %[[T:.+]] = xtensor.reduce sum %[[E]] over [b, i]
// CHECK: %[[M:.+]] = xtensor.reduce max %[[X]] over [b]
// CHECK: xtensor.all_reduce max %[[M]] across data
// CHECK: xtensor.all_reduce sum %{{.+}} across data communicator 7 : !xtensor.array<i: 3, j: 65536, f32>
// CHECK: %[[L:.+]] = xtensor.reduce sum %{{.+}} over [b, i]
// CHECK: %[[ALL:.+]]:3 = xtensor.all_reduce sum %[[S]], %[[T]], %[[L]] across data communicator 7 : !xtensor.array<i: 3, f32>, !xtensor.array<f32>, !xtensor.array<f32>
// CHECK: xtensor.sin %[[ALL]]#0
// CHECK-NOT: all_reduce
func.func @one_message(%x: !xtensor.array<b: 8, i: 3, f32>, %v: !xtensor.array<b: 8, j: 65536, f32>)
    -> (!xtensor.array<i: 3, f32>, !xtensor.array<f32>, !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, j: 65536, f32>, !xtensor.array<f32>)
    attributes {xtensor.mesh = {data = array<i64: 2, 7>}, xtensor.split = {b = "data"}} {
  %s = xtensor.reduce sum %x over [b] : !xtensor.array<b: 8, i: 3, f32>
  %y = xtensor.sin %s : !xtensor.array<i: 3, f32>
  %e = xtensor.exp %x : !xtensor.array<b: 8, i: 3, f32>
  %t = xtensor.reduce sum %e over [b, i] : !xtensor.array<b: 8, i: 3, f32>
  %m = xtensor.reduce max %x over [b] : !xtensor.array<b: 8, i: 3, f32>
  %w = xtensor.contract %x, %v over [b] : !xtensor.array<b: 8, i: 3, f32>, !xtensor.array<b: 8, j: 65536, f32>
  %c = xtensor.cos %x : !xtensor.array<b: 8, i: 3, f32>
  %l = xtensor.reduce sum %c over [b, i] : !xtensor.array<b: 8, i: 3, f32>
  return %y, %t, %m, %w, %l : !xtensor.array<i: 3, f32>, !xtensor.array<f32>, !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, j: 65536, f32>, !xtensor.array<f32>
}

// -----

// A sum that needs another one is not sent with it.
// CHECK-LABEL: func.func @one_after_the_other(
// CHECK: %[[S:.+]] = xtensor.all_reduce sum %{{.+}} across data communicator 7 : !xtensor.array<f32>
// CHECK: %[[V:.+]] = xtensor.all_reduce sum %{{.+}} across data communicator 7 : !xtensor.array<f32>
// CHECK: return %[[V]]
func.func @one_after_the_other(%x: !xtensor.array<b: 8, f32>) -> !xtensor.array<f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 7>}, xtensor.split = {b = "data"}} {
  %s = xtensor.reduce sum %x over [b] : !xtensor.array<b: 8, f32>
  %d = xtensor.sub %x, %s : !xtensor.array<b: 8, f32>, !xtensor.array<f32>
  %q = xtensor.mul %d, %d : !xtensor.array<b: 8, f32>, !xtensor.array<b: 8, f32>
  %v = xtensor.reduce sum %q over [b] : !xtensor.array<b: 8, f32>
  return %v : !xtensor.array<f32>
}
