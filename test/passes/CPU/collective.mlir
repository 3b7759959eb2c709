// A collective finds the place in the user's program before its options: a number, and the text in
// 15 words. If a branch or loop has one, all processes compare the call before that.
// RUN: xtensor-opt %s --xtensor-call-library --split-input-file --mlir-print-debuginfo=false | FileCheck %s

// CHECK: func.func private @xt_all_reduce(!llvm.ptr, !llvm.ptr)
// CHECK: func.func @main
// 16 words, 4 options, and a size and a stride of each operand.
// CHECK: %[[COUNT:.*]] = arith.constant 24 : i64
// CHECK-NEXT: %[[NUMBERS:.*]] = llvm.alloca %[[COUNT]] x i64
// CHECK-NOT: xt_begin_together
// "f.py:7\0\0", little-endian.
// CHECK: arith.constant 60724285025894 : i64
// CHECK: %[[OPTIONS:.*]] = llvm.getelementptr %[[NUMBERS]][16]
// CHECK: call @xt_all_reduce(%{{.*}}, %[[OPTIONS]])
func.func @main(%x: memref<3xf32>, %y: memref<3xf32>) {
  xtensor.library "xt_all_reduce" ins(%x : memref<3xf32>) outs(%y : memref<3xf32>) {options = array<i64: 0, 0, 0, 1>} loc("f.py":7:2)
  return
}

// -----

// CHECK: func.func @main
// CHECK: call @xt_begin_together(
// CHECK: scf.if
// CHECK: call @xt_all_reduce(
func.func @main(%x: memref<3xf32>, %y: memref<3xf32>, %is: i1) {
  scf.if %is {
    xtensor.library "xt_all_reduce" ins(%x : memref<3xf32>) outs(%y : memref<3xf32>) {options = array<i64: 0, 0, 0, 1>}
  }
  return
}
