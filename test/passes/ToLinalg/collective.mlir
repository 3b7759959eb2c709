// Collectives are calls of the runtime; the dim along which parts are joined is stored first.
// RUN: xtensor-opt %s --xtensor-to-linalg --canonicalize | xtensor-opt --xtensor-verify-linalg | FileCheck %s

// CHECK-LABEL: func @reduced(
// CHECK: %[[E:.+]] = tensor.empty() : tensor<3x2xf32>
// CHECK: %[[Y:.+]] = xtensor.library "xt_all_reduce" ins(%{{.+}} : tensor<3x2xf32>) outs(%[[E]] : tensor<3x2xf32>) {options = array<i64: 4, 2, 0, 1>} -> tensor<3x2xf32>
// CHECK: return %[[Y]]
func.func @reduced(%x: !xtensor.array<a: 3, b: 2, f32>) -> !xtensor.array<a: 3, b: 2, f32> {
  %y = xtensor.all_reduce max %x across data communicator 4 : !xtensor.array<a: 3, b: 2, f32>
  return %y : !xtensor.array<a: 3, b: 2, f32>
}

// One message of two arrays.
// CHECK-LABEL: func @together(
// CHECK: xtensor.library "xt_all_reduce" ins(%{{.+}}, %{{.+}} : tensor<3xi32>, tensor<i32>) outs(%{{.+}}, %{{.+}} : tensor<3xi32>, tensor<i32>) {options = array<i64: 4, 0, 1, 2>} -> tensor<3xi32>, tensor<i32>
func.func @together(%x: !xtensor.array<a: 3, ui32>, %y: !xtensor.array<ui32>) -> (!xtensor.array<a: 3, ui32>, !xtensor.array<ui32>) {
  %0:2 = xtensor.all_reduce sum %x, %y across data communicator 4 : !xtensor.array<a: 3, ui32>, !xtensor.array<ui32>
  return %0#0, %0#1 : !xtensor.array<a: 3, ui32>, !xtensor.array<ui32>
}

// CHECK-LABEL: func @gathered(
// CHECK: %[[P:.+]] = linalg.{{.*}} ins(%{{.+}} : tensor<3x2xf32>) outs(%{{.+}} : tensor<2x3xf32>)
// CHECK: %[[W:.+]] = xtensor.library "xt_all_gather" ins(%[[P]] : tensor<2x3xf32>) outs(%{{.+}} : tensor<8x3xf32>) {options = array<i64: 1>} -> tensor<8x3xf32>
// CHECK: linalg.{{.*}} ins(%[[W]] : tensor<8x3xf32>) outs(%{{.+}} : tensor<3x8xf32>)
func.func @gathered(%x: !xtensor.array<a: 3, b: 2, f32>) -> !xtensor.array<a: 3, b: 8, f32> {
  %y = xtensor.all_gather %x along b across data communicator 1 of 4 : !xtensor.array<a: 3, b: 2, f32>
  return %y : !xtensor.array<a: 3, b: 8, f32>
}

// CHECK-LABEL: func @index(
// CHECK: xtensor.library "xt_process_index" outs(%{{.+}} : tensor<i64>) {options = array<i64: 0>} -> tensor<i64>
func.func @index() -> !xtensor.array<i64> {
  %y = xtensor.process_index across data communicator 0
  return %y : !xtensor.array<i64>
}

// CHECK-LABEL: func @halo(
// CHECK: %[[P:.+]] = linalg.{{.*}} ins(%{{.+}} : tensor<3x2xf32>) outs(%{{.+}} : tensor<2x3xf32>)
// CHECK: xtensor.library "xt_halo" ins(%[[P]] : tensor<2x3xf32>) outs(%{{.+}} : tensor<4x3xf32>) {options = array<i64: 1, -1, 2>} -> tensor<4x3xf32>
func.func @halo(%x: !xtensor.array<a: 3, b: 2, f32>) -> !xtensor.array<a: 3, b: 4, f32> {
  %y = xtensor.halo %x along b start -1 step 2 size 4 across data communicator 1 of 4 : !xtensor.array<a: 3, b: 2, f32>
  return %y : !xtensor.array<a: 3, b: 4, f32>
}

// The dims between which the split moves are stored first.
// CHECK-LABEL: func @moved(
// CHECK: %[[P:.+]] = linalg.{{.*}} ins(%{{.+}} : tensor<5x6x2xf32>) outs(%{{.+}} : tensor<2x6x5xf32>)
// CHECK: xtensor.library "xt_all_to_all" ins(%[[P]] : tensor<2x6x5xf32>) outs(%{{.+}} : tensor<6x2x5xf32>) {options = array<i64: 1>} -> tensor<6x2x5xf32>
func.func @moved(%x: !xtensor.array<k: 5, e: 6, b: 2, f32>) -> !xtensor.array<k: 5, e: 2, b: 6, f32> {
  %y = xtensor.all_to_all %x from b to e across data communicator 1 of 3 : !xtensor.array<k: 5, e: 6, b: 2, f32>
  return %y : !xtensor.array<k: 5, e: 2, b: 6, f32>
}
