// A dim gets the smallest size with which the program still fails, in all types and constants.
// RUN: rm -rf %t && mkdir %t && printf '#!/bin/sh\nxtensor-opt --canonicalize "$1" | grep -q mul || exit 0\ngrep -q "i: [2-9].*f64" "$1" && exit 1\nexit 0\n' > %t/fails.sh && chmod +x %t/fails.sh
// RUN: xtensor-reduce %s --reduction-tree="traversal-mode=0 test=%t/fails.sh" -o %t/once.mlir
// RUN: xtensor-reduce %t/once.mlir --reduction-tree="traversal-mode=0 test=%t/fails.sh" | FileCheck %s

func.func @main(%x: !xtensor.array<i: 4, j: 3, f64>) -> !xtensor.array<i: 4, j: 3, f64> {
  %c = xtensor.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<4x3xf64> as <i: 4, j: 3, f64>
  %y = xtensor.mul %x, %c : <i: 4, j: 3, f64>, <i: 4, j: 3, f64>
  return %y : !xtensor.array<i: 4, j: 3, f64>
}

// CHECK: func.func @main(%arg0: !xtensor.array<i: 2, j: 1, f64>)
// CHECK-NEXT: %[[C:.*]] = xtensor.constant dense<{{\[\[}}1.000000e+00], [4.000000e+00]]> : tensor<2x1xf64> as <i: 2, j: 1, f64>
// CHECK-NEXT: xtensor.mul %arg0, %[[C]]
