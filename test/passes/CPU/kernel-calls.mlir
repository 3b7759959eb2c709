// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
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
