// A failing program becomes the smallest one that fails alike. docs/pipeline.md shows this example.
// RUN: rm -rf %t && mkdir %t && printf '#!/bin/sh\nxtensor-opt --compile-to=differentiated "$1" 2>&1 | grep -q "has no derivative" && exit 1\nexit 0\n' > %t/fails.sh && chmod +x %t/fails.sh
// RUN: xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/fails.sh" -o %t/once.mlir 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: xtensor-reduce %t/once.mlir --reduction-tree="traversal-mode=0 test=%t/fails.sh" -o %t/reduced.mlir
// RUN: FileCheck %s --input-file %t/reduced.mlir
// RUN: not %t/fails.sh %t/reduced.mlir
// Passes, too, make it smaller.
// RUN: xtensor-reduce %s --opt-reduction-pass="opt-pass=xtensor-simplify test=%t/fails.sh" | FileCheck %s --check-prefix=PASS
// RUN: not xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/fails.sh" -o %t/no/file.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: echo 'func.func @f() { return }' > %t/right.mlir
// RUN: not xtensor-reduce %t/right.mlir --reduction-tree="traversal-mode=0 test=%t/fails.sh" 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/nothing.sh" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not xtensor-reduce %s --reduction-tree="test=%t/right.mlir" 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: not xtensor-reduce %s --reduction-tree="traversal-mode=0 test=" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not xtensor-reduce %s --reduction-tree 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not xtensor-reduce %s --opt-reduction-pass="opt-pass=cse" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not xtensor-reduce %s --pass-pipeline="builtin.module(func.func(reduction-tree{test=}))" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: xtensor-reduce: {{.*}} has no test: add test=FILE
// NONE-NOT: LLVM ERROR
// OUTPUT: xtensor-reduce: cannot open output file '{{.*}}/no/file.mlir': No such file or directory

func.func @helper(%x: !xtensor.array<f32>) -> !xtensor.array<f32> {
  %y = xtensor.exp %x : <f32>
  return %y : !xtensor.array<f32>
}
func.func @main(%w: !xtensor.array<pixel: 64, f32>, %x: !xtensor.array<sample: 32, pixel: 64, f32>, %rate: !xtensor.array<f32>)
    -> (!xtensor.array<pixel: 64, f32>, !xtensor.array<f32>) {
  %loss, %back = xtensor.pullback at(%w) wrt [0] {
  ^bb0(%v: !xtensor.array<pixel: 64, f32>):
    %h = xtensor.contract %x, %v over [pixel] order [sample] : !xtensor.array<sample: 32, pixel: 64, f32>, !xtensor.array<pixel: 64, f32>
    %t = xtensor.tanh %h : <sample: 32, f32>
    %s = xtensor.callback "sort" number 0(%t) : (!xtensor.array<sample: 32, f32>) -> !xtensor.array<sample: 32, f32>
    %e = xtensor.exp %s : <sample: 32, f32>
    %q = xtensor.mul %t, %t : <sample: 32, f32>, <sample: 32, f32>
    %a = xtensor.add %e, %q : <sample: 32, f32>, <sample: 32, f32>
    %r = xtensor.reduce sum %a over [sample] : <sample: 32, f32>
    xtensor.yield %r : !xtensor.array<f32>
  } : (!xtensor.array<pixel: 64, f32>) -> (!xtensor.array<f32>, !xtensor.linear<(!xtensor.array<f32>) -> !xtensor.array<pixel: 64, f32>>)
  %unused = xtensor.exp %rate : <f32>
  %one = xtensor.constant dense<1.0> : tensor<f32> as <f32>
  %g = xtensor.apply %back(%one) : <(!xtensor.array<f32>) -> !xtensor.array<pixel: 64, f32>>, (!xtensor.array<f32>) -> !xtensor.array<pixel: 64, f32>
  %d = xtensor.mul %g, %rate : <pixel: 64, f32>, <f32>
  %new = xtensor.sub %w, %d : <pixel: 64, f32>, <pixel: 64, f32>
  return %new, %loss : !xtensor.array<pixel: 64, f32>, !xtensor.array<f32>
}

// QUIET-NOT: error
// CHECK-NOT: @helper
// CHECK: func.func @main(%arg0: !xtensor.array<pixel: 1, f32>, %arg1: !xtensor.array<sample: 1, pixel: 1, f32>) -> !xtensor.array<f32> {
// CHECK-NEXT: %results, %back = xtensor.pullback at(%arg0) wrt [0] {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %0 = xtensor.contract
// CHECK-NEXT: %1 = xtensor.callback "sort" number 0(%0)
// CHECK-NEXT: %2 = xtensor.reduce sum %1
// CHECK-NEXT: xtensor.yield %2
// CHECK-NEXT: }
// CHECK-NEXT: return %results
// PASS: func.func @main
// PASS: xtensor.tanh
// PASS-COUNT-1: xtensor.exp
// PASS-NOT: xtensor.exp
// RIGHT: It did not end with 1 for the input
// NOTHING: xtensor-reduce: the test {{.*}}nothing.sh does not exist
// PLAIN: right.mlir cannot be executed: chmod +x
