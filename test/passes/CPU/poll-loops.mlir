// RUN: xtensor-opt %s --split-input-file --xtensor-estimate-work | FileCheck %s --check-prefix=WORK
// RUN: xtensor-opt %s --split-input-file --xtensor-estimate-work --xtensor-poll-loops | FileCheck %s --check-prefix=POLL

// A loop with an end that is known when it runs may take long, so it asks before each block of steps.
// WORK: module attributes {xtensor.long}
// WORK: func.func @open
// WORK: } {xtensor.poll = 16384 : i64}
// POLL: func.func private @xt_poll() -> i32
// POLL-LABEL: func.func @open
// POLL: %[[STRIDE:.*]] = arith.muli
// POLL: scf.while (%[[BLOCK:.*]] = %c0{{.*}}, %{{.*}} = %{{.*}})
// POLL: %[[MORE:.*]] = arith.cmpi slt, %[[BLOCK]], %arg0
// POLL: scf.if %[[MORE]]
// POLL: call @xt_poll
// POLL: scf.condition
// POLL: ^bb0(%[[BEGIN:.*]]: index, %[[SUM:.*]]: f32):
// POLL: %[[LENGTH:.*]] = arith.minsi %{{.*}}, %[[STRIDE]]
// POLL: %[[END:.*]] = arith.addi %[[BEGIN]], %[[LENGTH]]
// POLL: %[[INNER:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[SUM]])
// POLL: scf.yield %[[END]], %[[INNER]]
// POLL-NOT: call
// POLL: return
func.func @open(%n: index, %x: memref<f32>, %out: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %x[] : memref<f32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %v) -> (f32) {
    %a = arith.addf %s, %v : f32
    scf.yield %a : f32
  }
  memref.store %sum, %out[] : memref<f32>
  return
}

// -----

// A while loop counts its steps.
// WORK: module attributes {xtensor.long}
// WORK: func.func @while
// WORK: xtensor.poll = 16384 : i64
// POLL-LABEL: func.func @while
// POLL: scf.while (%{{.*}} = %{{.*}}, %[[TAKEN:.*]] = %c0{{.*}}) : (f32, i64) -> (f32, i64)
// POLL: arith.andi %[[TAKEN]]
// POLL: scf.if
// POLL: call @xt_poll
// POLL: scf.condition
// POLL: arith.addi
func.func @while(%x: memref<f32>, %out: memref<f32>) {
  %limit = arith.constant 1.0 : f32
  %v = memref.load %x[] : memref<f32>
  %end = scf.while (%s = %v) : (f32) -> f32 {
    %more = arith.cmpf olt, %s, %limit : f32
    scf.condition(%more) %s : f32
  } do {
  ^bb0(%s: f32):
    %next = arith.addf %s, %s : f32
    scf.yield %next : f32
  }
  memref.store %end, %out[] : memref<f32>
  return
}

// -----

// Few steps of little work are short, many do not ask before they take milliseconds.
// WORK: module {{{$}}
// WORK: func.func @short
// WORK-NOT: poll
// WORK: return
// POLL-LABEL: func.func @short
// POLL-NOT: xt_poll
// POLL: return
func.func @short(%x: memref<100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i] : memref<100xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %x[%i] : memref<100xf32>
  }
  return
}

// -----

// WORK: module attributes {xtensor.long}
// WORK: func.func @long
// WORK-NOT: poll
// WORK: return
func.func @long(%x: memref<100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c99 = arith.constant 99 : index
  scf.for %j = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %c99 step %c1 {
      %a = memref.load %x[%i] : memref<100xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %x[%i] : memref<100xf32>
    }
  }
  return
}

// -----

// What takes more than a step of 60 us asks at every one; what works on arrays counts by elements.
// WORK: module attributes {xtensor.long}
// WORK: func.func @arrays
// WORK: linalg.generic
// WORK: } {xtensor.poll = 1 : i64}
// POLL-LABEL: func.func @arrays
// POLL: call @xt_poll
// POLL: linalg.generic
func.func @arrays(%x: memref<1000000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %j = %c0 to %c100 step %c1 {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%x : memref<1000000xf32>) {
    ^bb0(%a: f32):
      %b = arith.addf %a, %a : f32
      linalg.yield %b : f32
    }
  }
  return
}
