// What has no polynomial goes to libmvec a register at a time; a lone element takes the same way.
// REQUIRES: x86_64
// RUN: xtensor-opt %s --xtensor-call-vector-library=vector-bits=256 | FileCheck %s
// RUN: xtensor-opt %s --xtensor-call-vector-library=vector-bits=256 --xtensor-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: vector.shuffle
// LLVM: llvm.func @narrow
// LLVM-NOT: vector.shuffle

// CHECK-DAG: func.func private @_ZGVdN8v_sinf(vector<8xf32>) -> vector<8xf32>
// CHECK-DAG: func.func private @_ZGVdN4vv_pow(vector<4xf64>, vector<4xf64>) -> vector<4xf64>

// CHECK-LABEL: func.func @whole
func.func @whole(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: call @_ZGVdN8v_sinf(%arg0)
  %y = math.sin %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @element
func.func @element(%x: f32) -> f32 {
  // CHECK: %[[X:.*]] = vector.broadcast %arg0 : f32 to vector<8xf32>
  // CHECK: %[[Y:.*]] = call @_ZGVdN8v_sinf(%[[X]])
  // CHECK: vector.extract %[[Y]][0]
  %y = math.sin %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @parts
func.func @parts(%x: vector<6xf64>, %y: vector<6xf64>) -> vector<6xf64> {
  // CHECK: vector.shuffle %arg0, %arg0 [0, 1, 2, 3]
  // CHECK: call @_ZGVdN4vv_pow
  // CHECK: vector.shuffle %arg0, %arg0 [4, 5, 5, 5]
  // CHECK: call @_ZGVdN4vv_pow
  // CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
  // CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5]
  %z = math.powf %x, %y : vector<6xf64>
  return %z : vector<6xf64>
}

// Lanes of f32 beside as many of f64 fill half of a register.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: vector<4xf32>) -> vector<4xf32> {
  // CHECK: vector.shuffle %arg0, %arg0 [0, 1, 2, 3, 3, 3, 3, 3]
  // CHECK: call @_ZGVdN8v_sinf
  // CHECK: vector.shuffle {{.*}} [0, 1, 2, 3]
  %y = math.sin %x : vector<4xf32>
  return %y : vector<4xf32>
}

// CHECK-LABEL: func.func @stays
func.func @stays(%x: vector<8xf16>, %y: vector<8xf32>) -> (vector<8xf16>, vector<8xf32>) {
  // CHECK-NOT: call
  %z = math.sin %x : vector<8xf16>
  %w = math.sqrt %y : vector<8xf32>
  return %z, %w : vector<8xf16>, vector<8xf32>
}
