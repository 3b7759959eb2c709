// Scans: along the vector in registers, else with one running vector per column; both ways.
// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=256" | FileCheck %s --check-prefix=NARROW
#t = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
#ti = affine_map<(d0, d1) -> (d1, d0)>
#i = affine_map<(d0, d1) -> (d0)>

// Four moves within the register; of the additions one waits for the vector before. What the step
// shows is worked out for all lanes at once, and the rest is masked.
// CHECK-LABEL: func.func @along
// CHECK: scf.for {{.*}} to %c96{{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: vector.load
// CHECK: vector.shuffle {{.*}} [16, 0, 1, 2,
// CHECK: vector.shuffle {{.*}} [16, 17, 0, 1,
// CHECK: vector.shuffle {{.*}} [16, 17, 18, 19, 0,
// CHECK: vector.shuffle {{.*}} [16, 17, 18, 19, 20, 21, 22, 23, 0,
// CHECK: %[[AFTER:.*]] = arith.addf %[[CARRIED]]
// CHECK: %[[SHOWN:.*]] = arith.mulf %[[AFTER]], %[[AFTER]]
// CHECK: vector.store %[[SHOWN]]
// CHECK: vector.shuffle {{.*}} [15, 15,
// CHECK: arith.addf %[[CARRIED]]
// CHECK: vector.maskedstore
// Without masks the last elements are taken one by one.
// NARROW-LABEL: func.func @along
// NARROW: scf.for {{.*}} -> (vector<8xf32>)
// NARROW: scf.for {{.*}} -> (f32)
func.func @along(%x: memref<100xf32>, %y: memref<100xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#t, #t, #none], iterator_types = ["reduction"]} ins(%x : memref<100xf32>) outs(%y, %s : memref<100xf32>, memref<f32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %old: f32):
    %next = arith.addf %old, %a : f32
    %shown = arith.mulf %next, %next : f32
    linalg.yield %shown, %next : f32, f32
  }
  return
}

// From the end: the rest first, lanes move down, lane 0 is carried.
// CHECK-LABEL: func.func @reverse
// CHECK: vector.maskedload
// CHECK: scf.for
// CHECK: vector.shuffle {{.*}} [1, 2, 3,
// CHECK: vector.shuffle {{.*}} [0, 0,
func.func @reverse(%x: memref<100xf32>, %y: memref<100xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#t, #t, #none], iterator_types = ["reduction"]} ins(%x : memref<100xf32>) outs(%y, %s : memref<100xf32>, memref<f32>) attrs = {xtensor.scan = "reverse"} {
  ^bb0(%a: f32, %o: f32, %old: f32):
    %next = arith.maximumf %old, %a : f32
    linalg.yield %old, %next : f32, f32
  }
  return
}

// Columns: the running values stay in registers while the steps go down.
// CHECK-LABEL: func.func @across
// CHECK: scf.for {{.*}} to %c50{{.*}} iter_args(%{{.*}}) -> (vector<16xf32>, vector<16xf32>,
// CHECK-NOT: vector.shuffle
// CHECK: vector.store
// CHECK: scf.yield
func.func @across(%x: memref<50x128xf32>, %y: memref<50x128xf32>, %s: memref<128xf32>) {
  linalg.generic {indexing_maps = [#ti, #ti, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<50x128xf32>) outs(%y, %s : memref<50x128xf32>, memref<128xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %old: f32):
    %next = arith.addf %old, %a : f32
    linalg.yield %next, %next : f32, f32
  }
  return
}

// A recurrence moves decays as well, from 1.
// CHECK-LABEL: func.func @recurrence
// CHECK: %[[SUM:.*]] = vector.shuffle {{.*}} [16, 0, 1, 2,
// CHECK: arith.cmpf oeq
// CHECK: arith.mulf %{{.*}}, %[[SUM]]
// CHECK: vector.shuffle {{.*}} [16, 0, 1, 2,
func.func @recurrence(%d: memref<96xf32>, %x: memref<96xf32>, %y: memref<96xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#t, #t, #t, #none], iterator_types = ["reduction"]} ins(%d, %x : memref<96xf32>, memref<96xf32>) outs(%y, %s : memref<96xf32>, memref<f32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%c: f32, %a: f32, %o: f32, %old: f32):
    %zero = arith.constant 0.0 : f32
    %forgets = arith.cmpf oeq, %c, %zero : f32
    %product = arith.mulf %c, %old : f32
    %kept = arith.select %forgets, %zero, %product : f32
    %next = arith.addf %kept, %a : f32
    linalg.yield %next, %next : f32, f32
  }
  return
}

#ai = affine_map<(d0, d1) -> (d0, d1)>

// Rows of three: lanes are rows, and the running value goes through the steps. Nothing moves between
// lanes but what is read and written.
// CHECK-LABEL: func.func @strips
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c16
// CHECK-COUNT-3: vector.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: arith.addf {{.*}} : vector<16xf32>
// CHECK-COUNT-3: vector.store
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func @strips(%x: memref<64x3xf32>, %y: memref<64x3xf32>, %s: memref<64xf32>) {
  linalg.generic {indexing_maps = [#ai, #ai, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x3xf32>) outs(%y, %s : memref<64x3xf32>, memref<64xf32>) attrs = {xtensor.scan = "reverse"} {
  ^bb0(%a: f32, %o: f32, %old: f32):
    %next = arith.addf %old, %a : f32
    linalg.yield %next, %next : f32, f32
  }
  return
}
