// RUN: xtensor-opt %s --xtensor-pass-call | FileCheck %s

// Every function of the module gets the call; functions of libc do not.
// CHECK-DAG: llvm.func @xta_arena_acquire(i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @xta_parallel_for(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr)
// CHECK-DAG: llvm.func @xta_xt_argsort(!llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-DAG: llvm.func @expf(f32) -> f32
// CHECK-NOT: xt_begin_call
// CHECK-NOT: xt_poll
llvm.func @xt_begin_call(!llvm.ptr)
llvm.func @xt_arena_acquire(i64) -> !llvm.ptr
llvm.func @xt_parallel_for(!llvm.ptr, !llvm.ptr, i64, i64)
llvm.func @xt_argsort(!llvm.ptr, !llvm.ptr)
llvm.func @expf(f32) -> f32
llvm.func @xt_poll() -> i32

// CHECK: llvm.func @entry(%[[B:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[CALL:.*]]: !llvm.ptr) {
llvm.func @entry(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %status: !llvm.ptr) {
  llvm.call @xt_begin_call(%status) : (!llvm.ptr) -> ()
  %n = llvm.mlir.constant(64 : i64) : i64
  // CHECK: llvm.call @xta_arena_acquire(%{{.*}}, %[[CALL]]) : (i64, !llvm.ptr) -> !llvm.ptr
  %p = llvm.call @xt_arena_acquire(%n) : (i64) -> !llvm.ptr
  // CHECK: llvm.mlir.addressof @parallel0
  %body = llvm.mlir.addressof @parallel0 : !llvm.ptr
  // CHECK: llvm.call @xta_parallel_for({{.*}}, %[[CALL]])
  llvm.call @xt_parallel_for(%body, %p, %n, %n) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.return
}

// CHECK: llvm.func @parallel0(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %[[INNER:.*]]: !llvm.ptr)
llvm.func @parallel0(%context: !llvm.ptr, %begin: i64, %end: i64) {
  %x = llvm.load %context : !llvm.ptr -> f32
  // CHECK: llvm.call @expf(%{{.*}}) : (f32) -> f32
  %y = llvm.call @expf(%x) : (f32) -> f32
  // CHECK: llvm.call @xta_xt_argsort(%{{.*}}, %{{.*}}, %[[INNER]])
  llvm.call @xt_argsort(%context, %context) : (!llvm.ptr, !llvm.ptr) -> ()
  // No call is to end.
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK: llvm.store %[[ZERO]], %{{.*}} : i32, !llvm.ptr
  %stop = llvm.call @xt_poll() : () -> i32
  llvm.store %stop, %context : i32, !llvm.ptr
  llvm.return
}
