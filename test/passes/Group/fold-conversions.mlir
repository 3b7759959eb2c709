// RUN: xtensor-opt %s --xtensor-fold-conversions | FileCheck %s

// A product reads half precision and widens what it has read; a transposed operand stays one.

// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[A:.*]]: tensor<64x32xf16>, %[[B:.*]]: tensor<16x32xf16>
// CHECK-NOT:     linalg.generic {{.*}}["parallel", "parallel"]
// CHECK:         linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<64x32xf16>, tensor<16x32xf16>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[S:.*]]: f32):
// CHECK-DAG:       %[[V:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG:       %[[W:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK:           %[[P:.*]] = arith.mulf %[[V]], %[[W]]
// CHECK:           arith.addf %[[S]], %[[P]]
func.func @product(%a: tensor<64x32xf16>, %b: tensor<16x32xf16>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x32xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x32xf16>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%x: f16, %old: f32):
    %v = arith.extf %x : f16 to f32
    linalg.yield %v : f32
  } -> tensor<64x32xf32>
  %f = tensor.empty() : tensor<32x16xf32>
  %turned = linalg.generic {indexing_maps = [affine_map<(k, j) -> (j, k)>, affine_map<(k, j) -> (k, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<16x32xf16>) outs(%f : tensor<32x16xf32>) {
  ^bb0(%x: f16, %old: f32):
    %v = arith.extf %x : f16 to f32
    linalg.yield %v : f32
  } -> tensor<32x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wide, %turned : tensor<64x32xf32>, tensor<32x16xf32>) outs(%c : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// A factor that is computed in half precision and widened at once lies in memory as half precision.

// CHECK-LABEL: func.func @computed
// CHECK:         %[[SIN:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x32xf16>)
// CHECK:           %[[N:.*]] = arith.truncf
// CHECK-NEXT:      linalg.yield %[[N]] : f16
// CHECK:         linalg.generic {{.*}} ins(%[[SIN]], %{{.*}} : tensor<64x32xf16>, tensor<32x16xf16>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %{{.*}}: f32):
// CHECK:           arith.extf %[[X]] : f16 to f32
func.func @computed(%a: tensor<64x32xf32>, %b: tensor<32x16xf16>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x32xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %s = math.sin %x : f32
    %n = arith.truncf %s : f32 to f16
    %v = arith.extf %n : f16 to f32
    linalg.yield %v : f32
  } -> tensor<64x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wide, %b : tensor<64x32xf32>, tensor<32x16xf16>) outs(%c : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f16, %s: f32):
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// What others read as well stays wide.

// CHECK-LABEL: func.func @shared
// CHECK:         linalg.yield %{{.*}} : f32
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32x16xf16>)
func.func @shared(%a: tensor<64x32xf32>, %b: tensor<32x16xf16>, %c: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x32xf32>) {
  %e = tensor.empty() : tensor<64x32xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %s = math.sin %x : f32
    %n = arith.truncf %s : f32 to f16
    %v = arith.extf %n : f16 to f32
    linalg.yield %v : f32
  } -> tensor<64x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wide, %b : tensor<64x32xf32>, tensor<32x16xf16>) outs(%c : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f16, %s: f32):
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x16xf32>
  return %r, %wide : tensor<64x16xf32>, tensor<64x32xf32>
}
