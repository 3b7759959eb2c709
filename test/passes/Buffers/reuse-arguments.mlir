// RUN: xtensor-opt %s --xtensor-reuse-arguments --xtensor-out-params --split-input-file | FileCheck %s

// An elementwise result lies where its argument did, whose elements it reads one by one.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[P:.*]]: memref<8xf32> {xtensor.donated}, %[[G:[a-z0-9]*]]: memref<8xf32>, %{{.*}}: memref<8xf32> {xtensor.reused = 0 : i64})
// CHECK-NOT: alloc
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[G]] {{.*}} outs(%[[P]]
#id = affine_map<(d0) -> (d0)>
func.func @step(%p: memref<8xf32> {xtensor.donated}, %g: memref<8xf32>) -> memref<8xf32> {
  %n = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%p, %g : memref<8xf32>, memref<8xf32>) outs(%n : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  }
  return %n : memref<8xf32>
}

// -----

// An update in three parts: two copies go, and one element is written.
// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {xtensor.donated}
// CHECK-NOT: memref.copy
// CHECK: %[[PLACE:.*]] = memref.subview %[[X]][3] [1] [1]
// CHECK: linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%[[PLACE]]
// CHECK-NOT: memref.copy
// CHECK-NOT: linalg.generic
// CHECK: return
#at3 = affine_map<(d0) -> (d0 + 3)>
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @update(%x: memref<8xf32> {xtensor.donated}, %v: memref<f32>) -> memref<8xf32> {
  %y = memref.alloc() : memref<8xf32>
  %from = memref.subview %x[0] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1]>>
  %to = memref.subview %y[0] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1]>>
  memref.copy %from, %to : memref<3xf32, strided<[1]>> to memref<3xf32, strided<[1]>>
  %one = memref.subview %y[3] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: 3>>
  linalg.generic {indexing_maps = [#at3, #none, #id], iterator_types = ["parallel"]}
      ins(%x, %v : memref<8xf32>, memref<f32>) outs(%one : memref<1xf32, strided<[1], offset: 3>>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  %rest = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  scf.forall (%i) = (0) to (4) step (2) {
    %c4 = arith.constant 4 : index
    %j = arith.addi %i, %c4 : index
    %a = memref.subview %x[%j] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: ?>>
    %b = memref.subview %rest[%i] [2] [1] : memref<4xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : memref<2xf32, strided<[1], offset: ?>>) outs(%b : memref<2xf32, strided<[1], offset: ?>>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
  }
  return %y : memref<8xf32>
}

// -----

// A group reads a part, and then writes the same part over it.
// CHECK-LABEL: func.func @group
// CHECK-SAME: %[[X:.*]]: memref<7x4xf32> {xtensor.donated}
// CHECK-SAME: xtensor.reused = 0 : i64
// CHECK: linalg.generic {{.*}} ins(%[[PART:[a-z0-9_]*]] : {{.*}} outs(%[[SUM:[a-z0-9_]*]]
// CHECK: linalg.generic {{.*}} ins(%[[PART]], %[[SUM]]
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @group(%x: memref<7x4xf32> {xtensor.donated}) -> memref<7x4xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<7x4xf32>
  scf.forall (%i) = (0) to (7) step (2) {
    %c7 = arith.constant 7 : index
    %c2 = arith.constant 2 : index
    %left = arith.subi %c7, %i : index
    %n = arith.minsi %left, %c2 : index
    %a = memref.subview %x[%i, 0] [%n, 4] [1, 1] : memref<7x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %s = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%s : memref<?xf32>)
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<?x4xf32, strided<[4, 1], offset: ?>>) outs(%s : memref<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    }
    %b = memref.subview %y[%i, 0] [%n, 4] [1, 1] : memref<7x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
        ins(%a, %s : memref<?x4xf32, strided<[4, 1], offset: ?>>, memref<?xf32>)
        outs(%b : memref<?x4xf32, strided<[4, 1], offset: ?>>) {
    ^bb0(%in: f32, %sum: f32, %out: f32):
      %0 = arith.divf %in, %sum : f32
      linalg.yield %0 : f32
    }
  }
  return %y : memref<7x4xf32>
}

// -----

// Not what is read after it would be written: at another place, in a later op, or by the next part.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT: xtensor.reused
#id = affine_map<(d0) -> (d0)>
#back = affine_map<(d0) -> (-d0 + 7)>
func.func @reversed(%x: memref<8xf32> {xtensor.donated}) -> memref<8xf32> {
  %y = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return %y : memref<8xf32>
}
// CHECK-LABEL: func.func @read_later
// CHECK-NOT: xtensor.reused
func.func @read_later(%x: memref<8xf32> {xtensor.donated}) -> (memref<8xf32>, memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  %s = memref.alloc() : memref<f32>
  linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<8xf32>) outs(%s : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return %y, %s : memref<8xf32>, memref<f32>
}
// CHECK-LABEL: func.func @neighbour
// CHECK-NOT: xtensor.reused
func.func @neighbour(%x: memref<8xf32> {xtensor.donated}) -> memref<8xf32> {
  %y = memref.alloc() : memref<8xf32>
  scf.forall (%i) = (0) to (8) step (2) {
    %a = memref.subview %x[%i] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1], offset: ?>>
    %s = memref.alloc() : memref<3xf32>
    memref.copy %a, %s : memref<3xf32, strided<[1], offset: ?>> to memref<3xf32>
    %b = memref.subview %y[%i] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1], offset: ?>>
    memref.copy %s, %b : memref<3xf32> to memref<3xf32, strided<[1], offset: ?>>
  }
  return %y : memref<8xf32>
}
// CHECK-LABEL: func.func @in_steps
// CHECK-NOT: xtensor.reused
func.func @in_steps(%x: memref<8xf32> {xtensor.donated}) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  }
  return %y : memref<8xf32>
}

// -----

// Sizes that are known at the call only: equal names have equal sizes. One argument goes to one
// result.
// CHECK-LABEL: func.func @open
// CHECK-SAME: memref<?xf32> {xtensor.reused = 0 : i64
// CHECK-SAME: memref<?xf32> {xtensor.type
// CHECK-LABEL: func.func @other_size
// CHECK-NOT: xtensor.reused
#id = affine_map<(d0) -> (d0)>
func.func @open(%x: memref<?xf32> {xtensor.donated, xtensor.type = !xtensor.array<i: ?, f32>})
    -> (memref<?xf32> {xtensor.type = !xtensor.array<i: ?, f32>}, memref<?xf32> {xtensor.type = !xtensor.array<i: ?, f32>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  %z = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<?xf32>) outs(%z : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  return %y, %z : memref<?xf32>, memref<?xf32>
}
func.func @other_size(%x: memref<?xf32> {xtensor.donated, xtensor.type = !xtensor.array<i: ?, f32>}, %n: memref<?xf32>)
    -> (memref<?xf32> {xtensor.type = !xtensor.array<j: ?, f32>}) {
  %c0 = arith.constant 0 : index
  %size = memref.dim %n, %c0 : memref<?xf32>
  %y = memref.alloc(%size) : memref<?xf32>
  memref.copy %n, %y : memref<?xf32> to memref<?xf32>
  return %y : memref<?xf32>
}
