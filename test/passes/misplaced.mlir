// A pass that is given what it was not written for says so, at the op, and names the pass or phase that is missing.
// RUN: not xtensor-opt %s --split-input-file --xtensor-emit-vectors 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not xtensor-opt %s --split-input-file --xtensor-outline-kernels 2>&1 | FileCheck %s --check-prefixes=TENSOR,VECTOR
// RUN: not xtensor-opt %s --split-input-file --xtensor-outline-parallel 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not xtensor-opt %s --split-input-file --xtensor-launch-kernels 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not xtensor-opt %s --split-input-file --xtensor-to-llvm 2>&1 | FileCheck %s --check-prefixes=TENSOR,HOST
// RUN: not xtensor-opt %s --split-input-file --compile-from=buffers 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not xtensor-opt %s --split-input-file --compile-from=gpu --target=cuda 2>&1 | FileCheck %s --check-prefixes=TENSOR,MATH
// RUN: not xtensor-opt %s --split-input-file --compile-from=llvm 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: not xtensor-opt %s --split-input-file --xtensor-call-library 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: not xtensor-opt %s --split-input-file --xtensor-out-params 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not xtensor-opt %s --split-input-file --xtensor-translate-to-msl 2>&1 | FileCheck %s --check-prefix=CODE
// RUN: not xtensor-opt %s --split-input-file --xtensor-serialize-spirv 2>&1 | FileCheck %s --check-prefix=CODE

// TENSOR: [[@LINE+2]]:{{[0-9]+}}: error: 'func.func' has 'tensor<8xf32>', a tensor where only memory may be left: run the phases up to `buffers` first
// LLVM: [[@LINE+1]]:{{[0-9]+}}: error: 'func.func' is left in the llvm phase
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // LIBRARY: [[@LINE+1]]:{{[0-9]+}}: error: 'xtensor.library' has 'tensor<4x3xf32>'
  %r = xtensor.library "xt_name" outs(%a : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

func.func @main(%p: i1) -> memref<4xf32> {
  // HOST: [[@LINE+1]]:{{[0-9]+}}: error: 'memref.alloc' is not the arena of a function without results
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// -----

// BLOCKS: [[@LINE+1]]:{{[0-9]+}}: error: a function of several blocks
func.func @main(%p: i1) {
  cf.cond_br %p, ^one, ^two
^one:
  return
^two:
  return
}

// -----

func.func @main(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  // VECTOR: [[@LINE+1]]:{{[0-9]+}}: error: 'vector.load' has 'vector<8xf32>', and kernels are written from scalar code
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  vector.store %v, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

module attributes {gpu.container_module} {
  // HOST: [[@LINE+1]]:{{[0-9]+}}: error: 'gpu.module' is not code of the host: run --xtensor-launch-kernels first
  gpu.module @kernels {
    gpu.func @kernel(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.global_id x
      %s = memref.load %x[%i] : memref<?xf32>
      // MATH: [[@LINE+1]]:{{[0-9]+}}: error: 'math.sin' is left in the gpu phase: run --xtensor-expand-scalar-math first
      %y = math.sin %s : f32
      memref.store %y, %x[%i] : memref<?xf32>
      gpu.return
    }
  }
}

// -----

// CODE: [[@LINE+1]]:{{[0-9]+}}: error: 'spirv.module' is not the code of a gpu.module, which would be the op before it
spirv.module Logical GLSL450 attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3, [Shader], []>, #spirv.resource_limits<>>} {
  spirv.func @f() "None" {
    spirv.Return
  }
}
