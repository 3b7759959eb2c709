// A loop's carry is read and written part by part, in one place: no iteration of the group keeps
// the old value of what another one writes.
// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-group | FileCheck %s
// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-group --xtensor-bufferize \
// RUN:   --xtensor-loop-buffers | FileCheck %s --check-prefix=BUFFERS

#row = affine_map<(d0, d1) -> (d0, d1)>
#other = affine_map<(d0, d1) -> (-d0 + 299, d1)>

// CHECK-LABEL: func.func @in_place
// CHECK: scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}})
// CHECK: scf.forall {{.*}} shared_outs(%[[O:.*]] = %[[C]])
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[O]]
// CHECK: linalg.generic {{.*}} ins(%[[PART]] : tensor<{{.*}}>) outs(%[[PART]]

// BUFFERS-LABEL: func.func @in_place
// BUFFERS: scf.for
// BUFFERS-NOT: memref.alloc
// BUFFERS: linalg.generic
func.func @in_place(%x: tensor<300x400xf32>) -> tensor<300x400xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%c = %x) -> tensor<300x400xf32> {
    %e = tensor.empty() : tensor<300x400xf32>
    %0 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
        ins(%c : tensor<300x400xf32>) outs(%e : tensor<300x400xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = math.tanh %a : f32
      linalg.yield %t : f32
    } -> tensor<300x400xf32>
    %1 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
        ins(%0 : tensor<300x400xf32>) outs(%c : tensor<300x400xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<300x400xf32>
    scf.yield %1 : tensor<300x400xf32>
  }
  return %r : tensor<300x400xf32>
}

// What reads other rows is computed beside, and neither fuses with nor joins the copy.
// CHECK-LABEL: func.func @across
// CHECK: scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}})
// CHECK: %[[NEW:.*]] = scf.forall
// CHECK: math.tanh
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[C]])
func.func @across(%x: tensor<300x400xf32>) -> tensor<300x400xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%c = %x) -> tensor<300x400xf32> {
    %e = tensor.empty() : tensor<300x400xf32>
    %0 = linalg.generic {indexing_maps = [#other, #row], iterator_types = ["parallel", "parallel"]}
        ins(%c : tensor<300x400xf32>) outs(%e : tensor<300x400xf32>) {
    ^bb0(%a: f32, %b: f32):
      %t = math.tanh %a : f32
      linalg.yield %t : f32
    } -> tensor<300x400xf32>
    %1 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
        ins(%0 : tensor<300x400xf32>) outs(%c : tensor<300x400xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<300x400xf32>
    scf.yield %1 : tensor<300x400xf32>
  }
  return %r : tensor<300x400xf32>
}
