// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=256" | FileCheck %s --check-prefix=NARROW
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
#back = affine_map<(d0) -> (99 - d0)>
#second = affine_map<(d0) -> (d0, 1)>
#columns = affine_map<(d0, d1) -> (d1)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// A reduction starts from what its output was filled with, keeps several vectors in flight, and is
// stored once.
// CHECK-LABEL: func.func @sum
// CHECK-NOT: linalg.fill
// CHECK: %[[ACC:.*]]:8 = scf.for {{.*}} step %c128
// CHECK-COUNT-8: vector.load
// CHECK: vector.reduction <add>
// CHECK-COUNT-1: memref.store
// CHECK-NOT: memref.store
func.func @sum(%x: memref<1024xf32>, %s: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : memref<1024xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  return
}

// Contiguous dims merge into one loop; 100 elements are six vectors and a masked one. Without cheap
// masks the rest is a shorter vector.
// CHECK-LABEL: func.func @tail
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c96{{.*}} step %c16
// CHECK: vector.load
// CHECK-NOT: scf.for
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// NARROW-LABEL: func.func @tail
// NARROW: scf.for %{{.*}} to %c96{{.*}} step %c8
// NARROW: vector<8xf32>
// NARROW: vector.load %{{.*}} vector<4xf32>
// NARROW: vector.store %{{.*}} vector<4xf32>
// NARROW-NOT: memref.load
// NARROW-NOT: maskedload
func.func @tail(%x: memref<4x25xf32>, %y: memref<4x25xf32>) {
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x25xf32>) outs(%y : memref<4x25xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
  return
}

// Without cheap masks, the vector that ends at the last of 13 elements adds the five that are left.
// NARROW-LABEL: func.func @rest_of_sum
// NARROW: dense<[false, false, false, true, true, true, true, true]>
// NARROW: arith.select
// NARROW: vector.reduction <add>
func.func @rest_of_sum(%x: memref<13xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : memref<13xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  return
}

// What no cache holds is read along rows, four at once. The sums are a row in memory.
// NARROW-LABEL: func.func @along_rows
// NARROW: scf.for %{{.*}} to %c4096{{.*}} step %c8
// NARROW: vector.store
// NARROW: scf.for %{{.*}} to %c64{{.*}} step %c4
// NARROW: scf.for %{{.*}} to %c4096{{.*}} step %c8
// NARROW-COUNT-5: vector.load
// NARROW: vector.store
// NARROW-LABEL: func.func @reversed
func.func @along_rows(%x: memref<64x4096xf32>, %s: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<4096xf32>)
  linalg.generic {indexing_maps = [#id2, #columns], iterator_types = ["reduction", "parallel"]} ins(%x : memref<64x4096xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  return
}

// A reversed operand is loaded as a vector and shuffled.
// CHECK-LABEL: func.func @reversed
// CHECK: %[[V:.*]] = vector.load
// CHECK: vector.shuffle %[[V]], %[[V]] [15, 14, 13,
func.func @reversed(%x: memref<100xf32>, %y: memref<100xf32>) {
  linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Every second element: two rows that touch, so that nothing behind the last one is read.
// CHECK-LABEL: func.func @every_second
// CHECK: %[[LOW:.*]] = vector.load
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c15
// CHECK: %[[HIGH:.*]] = vector.load %{{.*}}[%[[NEXT]]]
// CHECK: vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
func.func @every_second(%x: memref<64x2xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#second, #id], iterator_types = ["parallel"]} ins(%x : memref<64x2xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Every third: three rows.
// CHECK-LABEL: func.func @every_third
// CHECK-NOT: vector.gather
// CHECK-COUNT-3: vector.load
// CHECK: vector.shuffle {{.*}} [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30,
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 22, 25, 28, 31]
// CHECK-NOT: vector.gather
// CHECK: return
func.func @every_third(%x: memref<200xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (3 * i)>, #id], iterator_types = ["parallel"]} ins(%x : memref<200xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// exp and sum share a loop; what is only handed over needs no memory.
// CHECK-LABEL: func.func @fused
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: vector.load
// CHECK: math.exp
// CHECK-NOT: vector.store
// CHECK: arith.addf
// CHECK: vector.reduction
func.func @fused(%x: memref<1024xf32>, %s: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1024xf32>) outs(%e : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%e : memref<1024xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  return
}

// A product of matrices is a call; the fill becomes "do not accumulate", the second factor is
// transposed.
// CHECK-LABEL: func.func @gemm
// CHECK-NOT: linalg.fill
// CHECK: call @xt_gemm_f32(%c0_i64, %c1_i64,
// NARROW-LABEL: func.func @gemm
func.func @gemm(%a: memref<64x32xf32>, %b: memref<48x32xf32>, %c: memref<64x48xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x48xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<64x32xf32>, memref<48x32xf32>) outs(%c : memref<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  }
  return
}

// What is read a second time lies in cache: meanwhile the row of the next iteration is fetched, once.
// CHECK-LABEL: func.func @read_ahead
// CHECK: scf.forall (%[[ROW:.*]]) in (64)
// CHECK-NOT: memref.prefetch
// CHECK: vector.reduction <maximumf>
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c1024{{.*}}
// CHECK-NEXT: memref.prefetch %{{.*}}[%[[AT]]], read, locality<3>, data
// CHECK: vector.reduction <add>
// CHECK-NOT: memref.prefetch
// CHECK: arith.subf
func.func @read_ahead(%x: memref<64x1024xf32>, %m: memref<64xf32>, %s: memref<64xf32>, %y: memref<64x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 1024] [1, 1] : memref<64x1024xf32> to memref<1024xf32, strided<[1], offset: ?>>
    %best = memref.subview %m[%i] [1] [1] : memref<64xf32> to memref<f32, strided<[], offset: ?>>
    %sum = memref.subview %s[%i] [1] [1] : memref<64xf32> to memref<f32, strided<[], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, 1024] [1, 1] : memref<64x1024xf32> to memref<1024xf32, strided<[1], offset: ?>>
    linalg.fill ins(%least : f32) outs(%best : memref<f32, strided<[], offset: ?>>)
    linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
        ins(%row : memref<1024xf32, strided<[1], offset: ?>>) outs(%best : memref<f32, strided<[], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.maximumf %a, %o : f32
      linalg.yield %r : f32
    }
    linalg.fill ins(%zero : f32) outs(%sum : memref<f32, strided<[], offset: ?>>)
    linalg.generic {indexing_maps = [#id, #none, #none], iterator_types = ["reduction"]}
        ins(%row, %best : memref<1024xf32, strided<[1], offset: ?>>, memref<f32, strided<[], offset: ?>>)
        outs(%sum : memref<f32, strided<[], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.divf %a, %b : f32
      %r = arith.addf %d, %o : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]}
        ins(%row, %sum : memref<1024xf32, strided<[1], offset: ?>>, memref<f32, strided<[], offset: ?>>)
        outs(%out : memref<1024xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    }
  }
  return
}

// A large fill or copy outside of parallel loops is a parallel loop; what is copied to itself is nothing.
// CHECK-LABEL: func.func @transfers
// CHECK: scf.forall (%{{.*}}) = (0) to (1000) step (163)
// CHECK: arith.minsi
// CHECK: vector.store
// CHECK: scf.forall (%{{.*}}) = (0) to (1000) step (163)
// CHECK: vector.load
// CHECK: vector.store
// CHECK-NOT: scf.forall
// CHECK: return
func.func @transfers(%x: memref<1x1000x100xf32>, %y: memref<1x1000x100xf32>, %small: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<1x1000x100xf32>)
  memref.copy %x, %y : memref<1x1000x100xf32> to memref<1x1000x100xf32>
  %a = memref.subview %y[0, 0, 0] [1, 1000, 100] [1, 1, 1] : memref<1x1000x100xf32> to memref<1x1000x100xf32, strided<[100000, 100, 1]>>
  memref.copy %a, %y : memref<1x1000x100xf32, strided<[100000, 100, 1]>> to memref<1x1000x100xf32>
  linalg.fill ins(%zero : f32) outs(%small : memref<100xf32>)
  return
}

// What a product starts from is part of its call.
// CHECK-LABEL: func.func @start
// CHECK-NOT: scf.forall
// CHECK: call @xt_gemm_f32
// CHECK: return
func.func @start(%x: memref<512x512xf32>, %y: memref<512x512xf32>, %z: memref<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<512x512xf32>)
  linalg.matmul ins(%x, %y : memref<512x512xf32>, memref<512x512xf32>) outs(%z : memref<512x512xf32>)
  return
}

// One element that is left over is scalar code: LLVM 22 stores a truncated element of one known lane
// in its wide type.
// CHECK-LABEL: func.func @one_left
// CHECK: vector.store {{.*}} vector<8xi32>
// CHECK-NOT: vector.maskedstore
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: memref.store
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func @one_left(%x: memref<17xi64>, %y: memref<17xi32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<17xi64>) outs(%y : memref<17xi32>) {
  ^bb0(%a: i64, %o: i32):
    %r = arith.trunci %a : i64 to i32
    linalg.yield %r : i32
  }
  return
}

#rows = affine_map<(d0, d1) -> (d0)>

// Two of three operands are contiguous along the rows' dim, but x is read at every step: vectors are
// parts of its rows, and no lanes gather it.
// CHECK-LABEL: func.func @centered
// CHECK-NOT: vector.gather
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.gather
// CHECK: return
func.func @centered(%x: memref<32x64xf32>, %mean: memref<32xf32>, %y: memref<32xf32>) {
  linalg.generic {indexing_maps = [#id2, #rows, #rows], iterator_types = ["parallel", "reduction"]} ins(%x, %mean : memref<32x64xf32>, memref<32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = arith.mulf %d, %d : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}
