// RUN: xtensor-opt %s --pass-pipeline='builtin.module(func.func(xtensor-reuse-operands))' | FileCheck %s

#row = affine_map<(d0) -> (d0)>
#reversed = affine_map<(d0) -> (63 - d0)>

// What a temporary held is overwritten row by row: one slice is read and written.
// CHECK-LABEL: func @temporary
// CHECK: %[[C:.*]] = linalg.matmul
// CHECK: scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %[[C]])
// CHECK-NEXT: %[[ROW:.*]] = tensor.extract_slice %[[OUT]]
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[ROW]] : {{.*}}) outs(%[[ROW]] : {{.*}})
func.func @temporary(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %empty = tensor.empty() : tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %other = tensor.empty() : tensor<64x64xf32>
  %y = scf.forall (%i) in (64) shared_outs(%out = %other) -> (tensor<64x64xf32>) {
    %row = tensor.extract_slice %c[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %place = tensor.extract_slice %out[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %e = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%row : tensor<64xf32>) outs(%place : tensor<64xf32>) {
    ^bb0(%in: f32, %o: f32):
      %exp = math.exp %in : f32
      linalg.yield %exp : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %out[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<64x64xf32>
    }
  }
  return %y : tensor<64x64xf32>
}

// The row is read backwards while it is written.
// CHECK-LABEL: func @elsewhere
// CHECK: linalg.matmul
// CHECK: %[[OTHER:.*]] = tensor.empty
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[OTHER]])
func.func @elsewhere(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %empty = tensor.empty() : tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %other = tensor.empty() : tensor<64x64xf32>
  %y = scf.forall (%i) in (64) shared_outs(%out = %other) -> (tensor<64x64xf32>) {
    %row = tensor.extract_slice %c[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %place = tensor.extract_slice %out[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %e = linalg.generic {indexing_maps = [#reversed, #row], iterator_types = ["parallel"]} ins(%row : tensor<64xf32>) outs(%place : tensor<64xf32>) {
    ^bb0(%in: f32, %o: f32):
      %exp = math.exp %in : f32
      linalg.yield %exp : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %out[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<64x64xf32>
    }
  }
  return %y : tensor<64x64xf32>
}

// Arguments, and temporaries that something else reads, stay as they are.
// CHECK-LABEL: func @others
// CHECK: %[[OTHER:.*]] = tensor.empty
// CHECK: %[[Y:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[OTHER]])
// CHECK: %[[NEXT:.*]] = tensor.empty
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[NEXT]])
// CHECK-NEXT: tensor.extract_slice %[[Y]]
func.func @others(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %other = tensor.empty() : tensor<64x64xf32>
  %y = scf.forall (%i) in (64) shared_outs(%out = %other) -> (tensor<64x64xf32>) {
    %row = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %again = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %place = tensor.extract_slice %out[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %e = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%row, %again : tensor<64xf32>, tensor<64xf32>) outs(%place : tensor<64xf32>) {
    ^bb0(%in: f32, %in2: f32, %o: f32):
      %s = arith.addf %in, %in2 : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %out[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<64x64xf32>
    }
  }
  %next = tensor.empty() : tensor<64x64xf32>
  %z = scf.forall (%i) in (64) shared_outs(%out = %next) -> (tensor<64x64xf32>) {
    %row = tensor.extract_slice %y[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %place = tensor.extract_slice %out[%i, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %e = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%row : tensor<64xf32>) outs(%place : tensor<64xf32>) {
    ^bb0(%in: f32, %o: f32):
      %s = math.exp %in : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %out[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<64x64xf32>
    }
  }
  return %y, %z : tensor<64x64xf32>, tensor<64x64xf32>
}
