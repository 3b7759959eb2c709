// RUN: xtensor-opt %s --split-input-file --xtensor-fuse-elementwise | FileCheck %s

// A chain becomes one op; each input is read once.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[M:.*]]: tensor<8xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[M]] : tensor<8x4xf32>, tensor<8xf32>)
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @chain(%x: tensor<8x4xf32>, %m: tensor<8xf32>) -> tensor<8x4xf32> {
  %e0 = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x4xf32>, tensor<8xf32>) outs(%e0 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x4xf32>) outs(%e1 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%1, %x : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// x - 1 is evaluated in both of its consumers, exp(x) is stored.
// CHECK-LABEL: func.func @duplicate
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>)
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<64xf32>)
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<64xf32>)
// CHECK-NOT: math.exp
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[A]] : tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT: math.exp
// CHECK: arith.subf
// CHECK: arith.addf
#v = affine_map<(i) -> (i)>
func.func @duplicate(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.subf %a, %one : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%0 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%0, %1 : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %2, %3 : tensor<64xf32>, tensor<64xf32>
}

// -----

// Into a reduction, through a reversal; linalg.index follows the map.
// CHECK: #[[REVERSED:.*]] = affine_map<(d0) -> (-d0 + 99)>
// CHECK-LABEL: func.func @reversed_into_reduction
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#[[REVERSED]], #{{.*}}], iterator_types = ["reduction"]
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : index
// CHECK: %[[NEGATED:.*]] = arith.muli %[[I]], %[[MINUS]]
// CHECK: %[[LAST:.*]] = arith.constant 99 : index
// CHECK: arith.addi %[[NEGATED]], %[[LAST]]
// CHECK-NOT: linalg.generic
// CHECK: return
#v = affine_map<(i) -> (i)>
func.func @reversed_into_reduction(%x: tensor<100xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<100xf32>) outs(%e : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %i32 = arith.index_cast %i : index to i32
    %f = arith.sitofp %i32 : i32 to f32
    %r = arith.mulf %a, %f : f32
    linalg.yield %r : f32
  } -> tensor<100xf32>
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %n = tensor.empty() : tensor<100xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (99 - i)>, #v, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%0, %x : tensor<100xf32>, tensor<100xf32>) outs(%f1 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// The operands of a GEMM stay as they are; so does what is read by it.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%[[T]],
#id = affine_map<(i, j) -> (i, j)>
func.func @gemm(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e0 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %e1 = tensor.empty() : tensor<8x6xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %w : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f1 : tensor<8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// Work on a small operand is not repeated for every row; a fill is a scalar.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[SMALL:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[SMALL]] : tensor<8x4xf32>, tensor<4xf32>)
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
func.func @broadcast(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %two = arith.constant 2.0 : f32
  %e0 = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%b : tensor<4xf32>) outs(%e0 : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %twos = linalg.fill ins(%two : f32) outs(%e1 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #col, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %0, %twos : tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %r = arith.mulf %a, %c : f32
    %s = arith.mulf %r, %d : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// Without the broadcast value nothing would tell how long the sum is: an operand that nobody reads does.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @sum_of_broadcast
// CHECK: %[[RANGE:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[ROW]], #[[COL]], #[[ROW]]], {{.*}}"reduction"{{.*}} ins(%arg0, %[[RANGE]] : tensor<8xf32>, tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT: arith.addf %[[X]], %[[SUM]]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @sum_of_broadcast(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf32>) outs(%e0 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x4xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x4xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// The places of a window have a size only where all windows were stored.
// CHECK-LABEL: func.func @sum_over_windows
// CHECK: tensor.empty() : tensor<3xf32>
// CHECK: linalg.generic
// CHECK: arith.cmpf oge
// CHECK: arith.select
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#windows = affine_map<(i, j) -> (i + j)>
func.func @sum_over_windows(%x: tensor<10xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x3xf32>
  %0 = linalg.generic {indexing_maps = [#windows, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<10xf32>, tensor<8xf32>) outs(%e0 : tensor<8x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.cmpf oge, %a, %b : f32
    %s = arith.select %c, %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x3xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x3xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// An open size is told by nothing else: what is broadcast stays.
// CHECK-LABEL: func.func @open_sum_of_broadcast
// CHECK: %[[WIDE:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%[[WIDE]] : tensor<8x?xf32>)
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @open_sum_of_broadcast(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<8x?xf32>
  %0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf32>) outs(%e0 : tensor<8x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x?xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x?xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// x - x folds to 0, and 0 == x folds in place to x == 0: the comparison stays.
// CHECK-LABEL: func.func @folded_in_place
// CHECK: linalg.generic
// CHECK: arith.cmpi eq
#id1 = affine_map<(i) -> (i)>
func.func @folded_in_place(%x: tensor<3xi32>) -> tensor<3xi1> {
  %e0 = tensor.empty() : tensor<3xi32>
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<3xi32>) outs(%e0 : tensor<3xi32>) {
  ^bb0(%a: i32, %o: i32):
    %c0 = arith.constant 0 : i32
    linalg.yield %c0 : i32
  } -> tensor<3xi32>
  %e1 = tensor.empty() : tensor<3xi1>
  %1 = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]} ins(%0, %x : tensor<3xi32>, tensor<3xi32>) outs(%e1 : tensor<3xi1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %r = arith.cmpi eq, %a, %b : i32
    linalg.yield %r : i1
  } -> tensor<3xi1>
  return %1 : tensor<3xi1>
}

// -----

// Words of a cipher: each value is used twice, and all of it meets again in one op. Each op is there
// once, and what reads the result takes it in, as it does with a chain.
// CHECK-LABEL: func.func @diamond_of_words
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK-COUNT-3: arith.addi
// CHECK-NOT: arith.addi
// CHECK: arith.uitofp
// CHECK-NOT: linalg.generic
#id2 = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
func.func @diamond_of_words(%x: tensor<64xi32>, %init: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<64xi32>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel"]} ins(%x : tensor<64xi32>) outs(%e : tensor<64xi32>) {
  ^bb0(%a: i32, %o: i32):
    %c = arith.constant 13 : i32
    %s = arith.shli %a, %c : i32
    %t = arith.shrui %a, %c : i32
    %u = arith.ori %s, %t : i32
    %v = arith.xori %u, %a : i32
    %w = arith.xori %v, %c : i32
    %y = arith.muli %w, %c : i32
    %z = arith.addi %y, %a : i32
    linalg.yield %z : i32
  } -> tensor<64xi32>
  %e1 = tensor.empty() : tensor<64xi32>
  %1 = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel"]} ins(%0, %x : tensor<64xi32>, tensor<64xi32>) outs(%e1 : tensor<64xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %r = arith.addi %a, %b : i32
    linalg.yield %r : i32
  } -> tensor<64xi32>
  %e2 = tensor.empty() : tensor<64xi32>
  %2 = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel"]} ins(%0, %1 : tensor<64xi32>, tensor<64xi32>) outs(%e2 : tensor<64xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %r = arith.addi %a, %b : i32
    linalg.yield %r : i32
  } -> tensor<64xi32>
  %3 = linalg.generic {indexing_maps = [#id2, #one], iterator_types = ["reduction"]} ins(%2 : tensor<64xi32>) outs(%init : tensor<f32>) {
  ^bb0(%a: i32, %o: f32):
    %f = arith.uitofp %a : i32 to f32
    %r = arith.addf %f, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// Read at j = 0, x[i + j] is x[i]. The axis would give the loop its size, so the part that is read
// is cut out.
// CHECK-LABEL: func.func @first_of_window
// CHECK-SAME: (%[[X:.*]]: tensor<9xf32>)
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][0] [7] [1]
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[PART]], %[[X]] : tensor<7xf32>, tensor<9xf32>)
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func.func @first_of_open_window
// CHECK: tensor.extract_slice %{{.*}}[0] [%{{.*}}] [1]
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
#window = affine_map<(d0, d1) -> (d0 + d1)>
#second = affine_map<(d0, d1) -> (d0 + d1 + 1)>
#same = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0) -> (d0, 0)>
#id = affine_map<(d0) -> (d0)>
func.func @first_of_window(%x: tensor<9xf32>) -> tensor<7xf32> {
  %e = tensor.empty() : tensor<7x1xf32>
  %0 = linalg.generic {indexing_maps = [#window, #second, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<7x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<7x1xf32>
  %e1 = tensor.empty() : tensor<7xf32>
  %1 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]} ins(%0 : tensor<7x1xf32>) outs(%e1 : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

func.func @first_of_open_window(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?x1xf32>
  %0 = linalg.generic {indexing_maps = [#window, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<?x1xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]} ins(%0 : tensor<?x1xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A stored transpose of merged axes: one op in the order of the result, merged afterwards.
// CHECK-LABEL: func.func @repeat
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x4xf32>) outs(%{{.*}} : tensor<8x2x4xf32>)
// CHECK: %[[Z:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0, 1], [2]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[Z]]
#x = affine_map<(b, a, r) -> (a, b)>
#wide = affine_map<(b, a, r) -> (b, a, r)>
#swap = affine_map<(i, j) -> (j, i)>
#same = affine_map<(i, j) -> (i, j)>
func.func @repeat(%x: tensor<8x4xf32>) -> tensor<16x4xf32> {
  %e0 = tensor.empty() : tensor<4x8x2xf32>
  %0 = linalg.generic {indexing_maps = [#x, #wide], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e0 : tensor<4x8x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8x2xf32>
  %merged = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x8x2xf32> into tensor<4x16xf32>
  %e1 = tensor.empty() : tensor<16x4xf32>
  %1 = linalg.generic {indexing_maps = [#swap, #same], iterator_types = ["parallel", "parallel"]} ins(%merged : tensor<4x16xf32>) outs(%e1 : tensor<16x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}
