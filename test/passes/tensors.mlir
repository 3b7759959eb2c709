// Tensors that no phase compiles: the op is named before bufferization meets it.
// RUN: not xtensor-opt %s --split-input-file --xtensor-to-spirv 2>&1 | FileCheck %s
// RUN: not xtensor-opt %s --split-input-file --compile-to=llvm 2>&1 | FileCheck %s --check-prefix=MAIN
// RUN: not xtensor-opt %s --split-input-file --xtensor-to-ptx 2>&1 | FileCheck %s
// RUN: xtensor-opt %s --split-input-file --convert-elementwise-to-linalg 2>&1 | FileCheck %s --check-prefix=LINALG

// MAIN: error: there is no function @main
// LINALG: linalg.generic
// CHECK: error: 'math.exp' of tensors is not compiled: write it as an op of xtensor, or run --convert-elementwise-to-linalg before
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: 'arith.addi' has elements of type 'i7', which no array has: integers have 8, 16, 32 or 64 bits, or are i1
func.func @f(%x: tensor<4xi7>) -> tensor<4xi7> {
  %0 = arith.addi %x, %x : tensor<4xi7>
  return %0 : tensor<4xi7>
}

// -----

// CHECK: error: 'func.func' has elements of type 'i7'
func.func @f(%x: tensor<4xi7>) -> tensor<4xi7> {
  return %x : tensor<4xi7>
}
