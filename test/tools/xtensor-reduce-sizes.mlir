// A dim gets the smallest size with which the program still fails, in all types and constants.
// RUN: rm -rf %t && mkdir %t && printf '#!/bin/sh\nxtensor-opt --canonicalize "$1" | grep -q mul || exit 0\ngrep -q "i: [2-9].*f64" "$1" && exit 1\nexit 0\n' > %t/fails.sh && chmod +x %t/fails.sh
// RUN: xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/fails.sh" -o %t/once.mlir
// RUN: xtensor-reduce %t/once.mlir --reduction-tree="traversal-mode=0 test=%t/fails.sh" | FileCheck %s
// Tests that are content with ops that nothing uses, or with a text, keep these ops in use.
// RUN: printf '#!/bin/sh\ngrep -q mul "$1" || exit 0\nxtensor-opt "$1" >/dev/null 2>&1 && exit 1\nexit 0\n' > %t/dead.sh && chmod +x %t/dead.sh
// RUN: xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/dead.sh" | FileCheck %s --check-prefix=DEAD
// RUN: printf '#!/bin/sh\ngrep -q mul "$1" && exit 1\nexit 0\n' > %t/text.sh && chmod +x %t/text.sh
// RUN: xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/text.sh" | FileCheck %s --check-prefix=DEAD

func.func @main(%x: !xtensor.array<i: 4, j: 3, f64>) -> !xtensor.array<i: 4, j: 3, f64> {
  %c = xtensor.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<4x3xf64> as <i: 4, j: 3, f64>
  %y = xtensor.mul %x, %c : <i: 4, j: 3, f64>, <i: 4, j: 3, f64>
  return %y : !xtensor.array<i: 4, j: 3, f64>
}

// A test that needs an op that nothing uses is told so: the driver of upstream's pass erases it.
// RUN: printf 'func.func @main(%%%%x: !xtensor.array<f32>) -> !xtensor.array<f32> {\n %%%%y = xtensor.mul %%%%x, %%%%x : <f32>, <f32>\n return %%%%x : !xtensor.array<f32>\n}\n' > %t/unused.mlir
// RUN: not xtensor-reduce %t/unused.mlir --reduction-tree="traversal-mode=0 test=%t/dead.sh" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: printf 'func.func @f(%%%%x: i32) -> i32 {\n %%%%y = arith.muli %%%%x, %%%%x : i32\n return %%%%x : i32\n}\n' > %t/unused.mlir
// RUN: not xtensor-reduce %t/unused.mlir --reduction-tree="traversal-mode=0 test=%t/text.sh" 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: xtensor-reduce: the test ends with 0 once ops are folded, and ops that nothing uses are erased
// DEAD: func.func @main
// DEAD: xtensor.mul
// CHECK: func.func @main(%arg0: !xtensor.array<i: 2, j: 1, f64>)
// CHECK-NEXT: %[[C:.*]] = xtensor.constant dense<{{\[\[}}1.000000e+00], [4.000000e+00]]> : tensor<2x1xf64> as <i: 2, j: 1, f64>
// CHECK-NEXT: xtensor.mul %arg0, %[[C]]
