// RUN: xtensor-opt %s --split-input-file --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Calls with the number of the program and of the kernel stand around each kernel, and around all.
// What a kernel does is kept on the module: here a read of 256 bytes and 64 sums, and the sort. So is
// the memory that it reads and writes: the arguments are -1, -2 and -3.
// CHECK: module attributes {xtensor.kernels = [
// CHECK-SAME: {bytes = 0.000000e+00 : f64, flops = 0.000000e+00 : f64, kind = "program", loc = 
// CHECK-SAME: {bytes = 7.680000e+02 : f64, flops = 0.000000e+00 : f64, kind = "xt_argsort", loc = {{.*}}, reads = array<i64: -1>, writes = array<i64: -3>}
// CHECK-SAME: {bytes = 2.600000e+02 : f64, flops = 6.400000e+01 : f64, kind = "loops", loc = {{.*}}, reads = array<i64: -1>, writes = array<i64: -2>}
// CHECK-SAME: xtensor.profile = 3 : i64}
module attributes {xtensor.profile = 3 : i64} {
  // CHECK-LABEL: func.func @main
  // CHECK: %[[ALL:.*]] = arith.constant 3145728 : i64
  // CHECK-NEXT: call @xt_profile_begin(%[[ALL]])
  // CHECK: call @xt_profile_begin(%[[LOOPS:.*]])
  // CHECK: vector.reduction <add>
  // CHECK: call @xt_profile_end
  // CHECK: call @xt_profile_begin
  // CHECK-NEXT: xtensor.library "xt_argsort"
  // CHECK: call @xt_profile_end
  // CHECK: call @xt_profile_end
  // CHECK-NEXT: return
  func.func @main(%x: memref<64xf32>, %s: memref<f32>, %order: memref<64xi64>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
    linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : memref<64xf32>) outs(%s : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    }
    xtensor.library "xt_argsort" ins(%x : memref<64xf32>) outs(%order : memref<64xi64>) {options = array<i64: 0, 0>}
    return
  }
}

// -----

#id = affine_map<(d0) -> (d0)>

// A sequential loop of short iterations is one kernel: a clock in it would take much of its time.
// A loop of long ones has a kernel in each of them.
// CHECK: module attributes {xtensor.kernels = [
// CHECK-SAME: kind = "program"
// CHECK-SAME: {bytes = 6.240000e+02 : f64, flops = 3.000000e+01 : f64, kind = "loops", loc = {{.*}}, reads = array<i64: -1, -2>, writes = array<i64: -2>}
// CHECK-SAME: {bytes = 8.000000e+05 : f64, flops = 1.000000e+05 : f64, kind = "loops", loc = {{.*}}, reads = array<i64: -3>, writes = array<i64: -3>}
// CHECK-SAME: xtensor.profile = 4 : i64}
module attributes {xtensor.profile = 4 : i64} {
  // CHECK-LABEL: func.func @main
  // CHECK: call @xt_profile_begin
  // CHECK: call @xt_profile_begin
  // CHECK-NEXT: scf.for
  // CHECK-NOT: call
  // CHECK: call @xt_profile_end
  // CHECK: scf.for
  // CHECK: call @xt_profile_begin
  // CHECK: call @xt_profile_end
  // CHECK: call @xt_profile_end
  func.func @main(%at: memref<30xi64>, %sums: memref<24xf64>, %long: memref<100000xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c30 = arith.constant 30 : index
    %one = arith.constant 1.0 : f64
    scf.for %i = %c0 to %c30 step %c1 {
      %p = memref.load %at[%i] : memref<30xi64>
      %place = arith.index_cast %p : i64 to index
      %old = memref.load %sums[%place] : memref<24xf64>
      %new = arith.addf %old, %one : f64
      memref.store %new, %sums[%place] : memref<24xf64>
    }
    scf.for %i = %c0 to %c30 step %c1 {
      linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%long : memref<100000xf32>) {
      ^bb0(%o: f32):
        %r = arith.mulf %o, %o : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Each call tells its open sizes. With the sizes of a call on the arguments, kernels have its numbers.
// CHECK: module attributes {xtensor.kernels = [
// CHECK-SAME: kind = "program"
// CHECK-SAME: {bytes = 2.160000e+02 : f64, flops = 2.700000e+01 : f64, kind = "loops", loc = {{.*}}, reads = array<i64: -2>, writes = array<i64: -2>}
// CHECK-SAME: {bytes = 3.200000e+02 : f64, flops = 4.000000e+01 : f64, kind = "loops", loc = {{.*}}, reads = array<i64: -1>, writes = array<i64: -2>}
// CHECK-SAME: xtensor.profile = 5 : i64}
module attributes {xtensor.profile = 5 : i64} {
  // CHECK-LABEL: func.func @main
  // CHECK: call @xt_profile_begin(%[[ALL:.*]]) :
  // CHECK: %[[DIM:.*]] = memref.dim %arg0, %c1
  // CHECK-NEXT: %[[SIZE:.*]] = arith.index_cast %[[DIM]] : index to i64
  // CHECK: call @xt_profile_size(%{{.*}}, %[[SIZE]]) : (i64, i64) -> ()
  // CHECK-NOT: call @xt_profile_size
  // CHECK: return
  func.func @main(%x: memref<4x?xf32> {xtensor.sizes = array<i64: 4, 10>}, %y: memref<4x?xf32> {xtensor.sizes = array<i64: 4, 10>}) attributes {xtensor.inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x?xf32>) outs(%y : memref<4x?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %a : f32
      linalg.yield %r : f32
    }
    // All but the first column.
    %n = memref.dim %x, %c1 : memref<4x?xf32>
    %less = arith.subi %n, %c1 : index
    %most = arith.minsi %less, %n : index
    %part = memref.subview %y[0, 1] [3, %most] [1, 1] : memref<4x?xf32> to memref<3x?xf32, strided<[?, 1], offset: 1>>
    %wide = memref.cast %part : memref<3x?xf32, strided<[?, 1], offset: 1>> to memref<?x?xf32, strided<[?, 1], offset: 1>>
    %rows = memref.dim %wide, %c0 : memref<?x?xf32, strided<[?, 1], offset: 1>>
    scf.for %i = %c0 to %rows step %c1 {
      linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%wide : memref<?x?xf32, strided<[?, 1], offset: 1>>) {
      ^bb0(%o: f32):
        %r = arith.mulf %o, %o : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

// A loop over numbers is a kernel. Sizes tell the steps of the first one: 10, with 2 flops each. Those
// of the second one, whose end is loaded from memory, count as one, and so do those of a while loop.
// What is between the loops are flops of the program itself.
// CHECK: module attributes {xtensor.kernels = [
// CHECK-SAME: {bytes = 0.000000e+00 : f64, flops = 1.000000e+00 : f64, kind = "program"
// CHECK-SAME: {bytes = 8.000000e+01 : f64, flops = 2.000000e+01 : f64, kind = "loops", loc = #{{[a-z0-9]+}}, reads = array<i64: -1>, writes = array<i64: -1>}
// CHECK-SAME: {bytes = 8.000000e+00 : f64, flops = 3.000000e+00 : f64, kind = "loops"
// CHECK-SAME: {bytes = 0.000000e+00 : f64, flops = 2.000000e+00 : f64, kind = "loops"
// CHECK-SAME: xtensor.profile = 6 : i64}
module attributes {xtensor.profile = 6 : i64} {
  func.func @main(%x: memref<?xf32> {xtensor.sizes = array<i64: 10>}, %n: memref<i64>) attributes {xtensor.inputs = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: call @xt_profile_begin
    %size = memref.dim %x, %c0 : memref<?xf32>
    // CHECK: call @xt_profile_begin
    // CHECK-NEXT: scf.for
    // CHECK-NOT: call
    // CHECK: }
    // CHECK: call @xt_profile_end
    scf.for %i = %c0 to %size step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.mulf %v, %v : f32
      %y = arith.addf %w, %v : f32
      memref.store %y, %x[%i] : memref<?xf32>
    }
    %steps = memref.load %n[] : memref<i64>
    %end = arith.index_cast %steps : i64 to index
    scf.for %i = %c0 to %end step %c1 {
      %v = memref.load %x[%c0] : memref<?xf32>
      %w = arith.mulf %v, %v : f32
      %y = arith.addf %w, %v : f32
      %z = arith.addf %y, %v : f32
      memref.store %z, %x[%c0] : memref<?xf32>
    }
    %first = memref.load %x[%c1] : memref<?xf32>
    %twice = arith.addf %first, %first : f32
    %last = scf.while (%a = %twice) : (f32) -> f32 {
      %more = arith.cmpf olt, %a, %first : f32
      scf.condition(%more) %a : f32
    } do {
    ^bb0(%a: f32):
      %b = arith.mulf %a, %a : f32
      %c = arith.addf %b, %a : f32
      scf.yield %c : f32
    }
    memref.store %last, %x[%c1] : memref<?xf32>
    return
  }
}

// -----

#id = affine_map<(d0) -> (d0)>

// Parts that are clipped at the ends of an array count with their mean size: 7 rows, then 8, 8 and 4
// of 40. The rest of the array does not count.
// CHECK: module attributes {xtensor.kernels = [
// CHECK-SAME: {bytes = 2.160000e+02 : f64, flops = 2.700000e+01 : f64, kind = "loops", loc = {{.*}}, reads = array<i64: -1>, writes = array<i64: -2>}
module attributes {xtensor.profile = 7 : i64} {
  func.func @main(%x: memref<40xf32>, %y: memref<40xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c27 = arith.constant 27 : index
    scf.forall (%i) in (4) {
      %at = arith.muli %i, %c8 : index
      %before = arith.subi %at, %c1 : index
      %begin = arith.maxsi %before, %c0 : index
      %after = arith.addi %before, %c8 : index
      %end = arith.minsi %after, %c27 : index
      %size = arith.subi %end, %begin : index
      %from = memref.subview %x[%begin] [%size] [1] : memref<40xf32> to memref<?xf32, strided<[1], offset: ?>>
      %to = memref.subview %y[%begin] [%size] [1] : memref<40xf32> to memref<?xf32, strided<[1], offset: ?>>
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%from : memref<?xf32, strided<[1], offset: ?>>) outs(%to : memref<?xf32, strided<[1], offset: ?>>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.addf %a, %a : f32
        linalg.yield %r : f32
      }
      // A second view of the same place, and a copy to itself, are no more bytes.
      %again = memref.subview %y[%begin] [%size] [1] : memref<40xf32> to memref<?xf32, strided<[1], offset: ?>>
      memref.copy %to, %again : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    }
    return
  }
}
