// A routine finds its operands described on the stack: type code, rank, sizes and strides in the
// order of axes that the op states, and its options.
// RUN: xtensor-opt %s --xtensor-call-library | FileCheck %s
// RUN: xtensor-opt %s --xtensor-call-library --xtensor-to-llvm | FileCheck %s --check-prefix=LLVM

// CHECK: func.func private @xt_name(!llvm.ptr, !llvm.ptr)
// CHECK-LABEL: func.func @main
// Options, then sizes and strides: 1 + 2 * 3 + 2 * 1 numbers.
// CHECK: %[[COUNT:.*]] = arith.constant 9 : i64
// CHECK-NEXT: %[[NUMBERS:.*]] = llvm.alloca %[[COUNT]] x i64
// CHECK: %[[ARRAYS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i32, i32, ptr, ptr)>
// CHECK: scf.for
// CHECK: %[[OPTIONS:.*]] = llvm.getelementptr %[[NUMBERS]][0]
// CHECK: call @xt_name(%[[ARRAYS]], %[[OPTIONS]]) : (!llvm.ptr, !llvm.ptr) -> ()
// LLVM: llvm.call @xt_name(
func.func @main(%x: memref<4x?xf32>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    xtensor.library "xt_name" ins(%x : memref<4x?xf32>) outs(%y : memref<?xf64>)
        {axes = [array<i64: 1, -1, 0>, array<i64: 0>], options = array<i64: 5>}
  }
  return
}
