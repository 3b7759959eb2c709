// RUN: xtensor-opt %s --split-input-file --xtensor-split-reductions="parts=256 tile=32" | FileCheck %s
// RUN: xtensor-opt %s --split-input-file --xtensor-split-reductions | FileCheck %s --check-prefix=CPU

// What a device has many parts for. On a CPU a library does these products, whatever their shape.

// Sums of products that are long, and few of them: tiles would be mostly empty, and one of them.
// CHECK-LABEL: func.func @narrow
// CHECK: scf.forall (%[[I:.*]]) = (0) to (100000) step (160) shared_outs(%{{.*}} = %{{.*}}) -> (tensor<625x12x12xf32>)
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0] [160, 12] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0] [160, 12] [1, 1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<12x12xf32>)
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]} ins(%{{.*}} : tensor<625x12x12xf32>)
// CHECK-NOT: arith.mulf
// CPU-LABEL: func.func @narrow
// CPU-NOT: scf.forall
func.func @narrow(%x: tensor<100000x12xf32>, %y: tensor<100000x12xf32>, %old: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<100000x12xf32>, tensor<100000x12xf32>) outs(%old : tensor<12x12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<12x12xf32>
  return %0 : tensor<12x12xf32>
}

// -----

// One side is narrow; a part has 16 steps for each of its sums at least.
// CHECK-LABEL: func.func @one_side
// CHECK: scf.forall {{.*}} = (0) to (1024) step (16) {{.*}} -> (tensor<64x8x1024xf32>)
// CPU-LABEL: func.func @one_side
// CPU-NOT: scf.forall
func.func @one_side(%x: tensor<1024x8xf32>, %y: tensor<1024x1024xf32>, %old: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<1024x8xf32>, tensor<1024x1024xf32>) outs(%old : tensor<8x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x1024xf32>
  return %0 : tensor<8x1024xf32>
}

// -----

// Half a tile is enough for it.
// CHECK-LABEL: func.func @less_than_half
// CHECK: scf.forall
// CPU-LABEL: func.func @less_than_half
func.func @less_than_half(%x: tensor<100000x16xf32>, %y: tensor<100000x31xf32>, %old: tensor<16x31xf32>) -> tensor<16x31xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<100000x16xf32>, tensor<100000x31xf32>) outs(%old : tensor<16x31xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<16x31xf32>
  return %0 : tensor<16x31xf32>
}

// -----

// CHECK-LABEL: func.func @half
// CHECK-NOT: scf.forall
// CPU-LABEL: func.func @half
func.func @half(%x: tensor<100000x16xf32>, %y: tensor<100000x32xf32>, %old: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<100000x16xf32>, tensor<100000x32xf32>) outs(%old : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

// Tiles are of what is multiplied in 32 or 64 bits.
// CHECK-LABEL: func.func @bytes
// CHECK: scf.forall
// CPU-LABEL: func.func @bytes
// CPU-NOT: scf.forall
func.func @bytes(%x: tensor<100000x32xi8>, %y: tensor<100000x32xi8>, %old: tensor<32x32xi8>) -> tensor<32x32xi8> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<100000x32xi8>, tensor<100000x32xi8>) outs(%old : tensor<32x32xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %m = arith.muli %a, %b : i8
    %r = arith.addi %o, %m : i8
    linalg.yield %r : i8
  } -> tensor<32x32xi8>
  return %0 : tensor<32x32xi8>
}

// -----

// Rows are enough workgroups as they are.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: scf.forall
// CPU-LABEL: func.func @rows
func.func @rows(%x: tensor<12x100000xf32>, %y: tensor<12x100000xf32>, %old: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<12x100000xf32>, tensor<12x100000xf32>) outs(%old : tensor<12x12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<12x12xf32>
  return %0 : tensor<12x12xf32>
}

// -----

// A length that only the call knows is taken for a long one.
// CHECK-LABEL: func.func @open
// CHECK: %[[SIZE:.*]] = tensor.dim
// CHECK: %[[PARTS:.*]] = arith.ceildivui %{{.*}}, %c2048
// CHECK: tensor.empty(%[[PARTS]]) : tensor<?xf32>
// CHECK: scf.forall {{.*}} step (2048)
// CPU-LABEL: func.func @open
// CPU-NOT: scf.forall
func.func @open(%x: tensor<?xf32>, %y: tensor<?xf32>, %old: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%old : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Of no sums there is nothing to cut.
// CHECK-LABEL: func.func @none
// CHECK-NOT: scf.forall
// CPU-LABEL: func.func @none
func.func @none(%x: tensor<?x0xf32>, %old: tensor<0xf32>) -> tensor<0xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x0xf32>) outs(%old : tensor<0xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// -----

// What a sum reads and others read, too, is computed chunk by chunk where the sum reads it: one launch rather than two,
// and read from cache. On a CPU it stays a loop of its own.
// CHECK-LABEL: func.func @computed_where_it_is_read
// CHECK: %[[BOTH:.*]]:2 = scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step (2048) shared_outs(%[[PARTS:.*]] = %{{.*}}, %[[WHOLE:.*]] = %{{.*}})
// CHECK:   %[[X:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [%[[N:.*]]] [1]
// CHECK:   %[[PLACE:.*]] = tensor.extract_slice %[[WHOLE]][%[[I]]] [%[[N]]] [1]
// CHECK:   %[[E:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[X]], %{{.*}} : tensor<?xf32>, tensor<f32>) outs(%[[PLACE]]
// CHECK:     %[[AT:.*]] = linalg.index 0
// CHECK:     arith.addi %[[AT]], %[[I]]
// CHECK:     math.exp
// CHECK:   %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[E]]
// CHECK:   tensor.parallel_insert_slice %[[S]] into %[[PARTS]]
// CHECK:   tensor.parallel_insert_slice %[[E]] into %[[WHOLE]][%[[I]]] [%[[N]]] [1]
// CHECK-NOT: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[BOTH]]#1, %{{.*}} : tensor<?xf32>, tensor<f32>)
// CHECK: arith.divf
// CPU-LABEL: func.func @computed_where_it_is_read
// CPU: math.exp
// CPU-NOT: math.exp
#row = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @computed_where_it_is_read(%x: tensor<?xf32>, %shift: tensor<f32>, %zero: tensor<f32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %e = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel"]} ins(%x, %shift : tensor<?xf32>, tensor<f32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %at = linalg.index 0 : index
    %i = arith.index_cast %at : index to i32
    %f = arith.sitofp %i : i32 to f32
    %d = arith.subf %a, %b : f32
    %p = arith.mulf %d, %f : f32
    %r = math.exp %p : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["reduction"]} ins(%e : tensor<?xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %q = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel"]} ins(%e, %s : tensor<?xf32>, tensor<f32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %q : tensor<?xf32>
}
