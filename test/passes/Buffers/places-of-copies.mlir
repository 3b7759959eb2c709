// The copy of a result is from the place of the op that gives the result, not from that of the return.
// RUN: xtensor-opt %s --xtensor-bufferize --xtensor-out-params --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s

// CHECK: memref.copy {{.*}} loc("p.py":3:4)
// CHECK: memref.copy %arg0, {{.*}} loc("p.py":9:1)
func.func @main(%x: tensor<8x3xf32>) -> (tensor<4x3xf32>, tensor<8x3xf32>) {
  %y = tensor.extract_slice %x[1, 0] [4, 3] [1, 1] : tensor<8x3xf32> to tensor<4x3xf32> loc("p.py":3:4)
  return %y, %x : tensor<4x3xf32>, tensor<8x3xf32> loc("p.py":9:1)
}
