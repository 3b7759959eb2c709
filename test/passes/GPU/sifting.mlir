// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// An update by position, by the workgroups that have the places: threads look at 8 positions each at
// once, note in order which of them are the workgroup's, and only those are done one after another.

// CHECK-LABEL: gpu.func @kernel0(
// CHECK-SAME:    %[[LIST:[a-z0-9]+]] : memref<256xi32, #gpu.address_space<workgroup>>, %[[COUNTS:[a-z0-9]+]] : memref<32xi32, #gpu.address_space<workgroup>>
// CHECK:         scf.for %{{.*}} = %c0 to %c4096 step %c256
// CHECK-COUNT-8:   arith.cmpi ult, %{{.*}}, %c125
// CHECK:           memref.store %{{.*}}, %[[COUNTS]]
// CHECK:           gpu.barrier
// CHECK-COUNT-8:   memref.store %{{.*}}, %[[LIST]]
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK:             memref.load %[[LIST]]
// CHECK:             arith.addf
// CHECK:             gpu.barrier
func.func @rows(%places: memref<4096xi32>, %rows: memref<4096x64xf32>, %y: memref<1000x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c125 = arith.constant 125 : index
  %n = arith.constant 4096 : index
  scf.forall (%g) in (8) {
    %first = arith.muli %g, %c125 : index
    scf.for %i = %c0 to %n step %c1 {
      %place = memref.load %places[%i] : memref<4096xi32>
      %row = arith.index_cast %place : i32 to index
      %own = arith.subi %row, %first : index
      %mine = arith.cmpi ult, %own, %c125 : index
      scf.if %mine {
        %update = memref.subview %rows[%i, 0] [1, 64] [1, 1] : memref<4096x64xf32> to memref<64xf32, strided<[1], offset: ?>>
        %target = memref.subview %y[%row, 0] [1, 64] [1, 1] : memref<1000x64xf32> to memref<64xf32, strided<[1], offset: ?>>
        linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
            ins(%update : memref<64xf32, strided<[1], offset: ?>>) outs(%target : memref<64xf32, strided<[1], offset: ?>>) {
        ^bb0(%a: f32, %old: f32):
          %s = arith.addf %old, %a : f32
          linalg.yield %s : f32
        }
      }
    }
  }
  return
}

// -----

// Single numbers: each place has a thread of its own, so nobody waits between updates.

// CHECK-LABEL: gpu.func @kernel0(
// CHECK:         scf.for %{{.*}} = %c0 to %c4096
// CHECK:           scf.for
// CHECK:             %[[OWNER:.*]] = arith.remui %{{.*}}, %c32
// CHECK:             %[[MINE:.*]] = arith.cmpi eq, %[[OWNER]], %{{.*}}
// CHECK:             scf.if %[[MINE]]
// CHECK:               memref.store
// CHECK-NOT:         gpu.barrier
// CHECK:           }
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.barrier
func.func @numbers(%places: memref<4096xi32>, %x: memref<4096xf32>, %y: memref<1000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c125 = arith.constant 125 : index
  %n = arith.constant 4096 : index
  scf.forall (%g) in (8) {
    %first = arith.muli %g, %c125 : index
    scf.for %i = %c0 to %n step %c1 {
      %place = memref.load %places[%i] : memref<4096xi32>
      %at = arith.index_cast %place : i32 to index
      %own = arith.subi %at, %first : index
      %mine = arith.cmpi ult, %own, %c125 : index
      scf.if %mine {
        %v = memref.load %x[%i] : memref<4096xf32>
        %old = memref.load %y[%at] : memref<1000xf32>
        %s = arith.addf %old, %v : f32
        memref.store %s, %y[%at] : memref<1000xf32>
      }
    }
  }
  return
}

// -----

// Not where what is asked could change on the way.

// CHECK-LABEL: gpu.func @kernel0(
// CHECK-NOT:     xi32, #gpu.address_space<workgroup>>
// CHECK:         scf.for %{{.*}} = %c0 to %c4096 step %c1
func.func @changing(%y: memref<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%g) in (8) {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %y[%i] : memref<4096xf32>
      %mine = arith.cmpf ogt, %v, %zero : f32
      scf.if %mine {
        memref.store %zero, %y[%c0] : memref<4096xf32>
      }
    }
  }
  return
}
