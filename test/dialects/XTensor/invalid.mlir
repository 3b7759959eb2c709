// Every constraint of the dialect's ops, with its exact message. Those of scans, regions and matrices are in
// invalid-scans.mlir, invalid-control.mlir and invalid-matrices.mlir.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics

// array_twice
// expected-error@+1 {{dim "i" is named twice}}
func.func private @f(!xtensor.array<i: 2, i: 3, f32>)

// -----

// array_negative
// expected-error@+1 {{dim "i" has negative size -2}}
func.func private @f(!xtensor.array<i: -2, f32>)

// -----

// array_element
// expected-error@+1 {{no element type: 'i3'}}
func.func private @f(!xtensor.array<i: 2, i3>)

// -----

// elementwise_conflict
func.func @f(%x: !xtensor.array<i: 2, f32>, %y: !xtensor.array<j: 1, i: 3, f32>) {
  // expected-error@+1 {{add: dim "i" has sizes 2 and 3; equal names must have equal sizes; operands: (i: 2), (j: 1, i: 3)}}
  %0 = xtensor.add %x, %y : !xtensor.array<i: 2, f32>, !xtensor.array<j: 1, i: 3, f32>
  return
}

// -----

// elementwise_dynamic
func.func @f(%x: !xtensor.array<i: 2, f32>, %y: !xtensor.array<i: ?, f32>) {
  // expected-error@+1 {{add: dim "i" has sizes 2 and ?}}
  %0 = xtensor.add %x, %y : !xtensor.array<i: 2, f32>, !xtensor.array<i: ?, f32>
  return
}

// -----

// elementwise_types
func.func @f(%x: !xtensor.array<i: 2, f32>, %y: !xtensor.array<f64>) {
  // expected-error@+1 {{mul: element types differ: 'f32' and 'f64'}}
  %0 = xtensor.mul %x, %y : !xtensor.array<i: 2, f32>, !xtensor.array<f64>
  return
}

// -----

// float_only
func.func @f(%x: !xtensor.array<i: 2, i32>) {
  // expected-error@+1 {{'xtensor.tanh' op operand #0 must be array of floats, but got '!xtensor.array<i: 2, i32>'}}
  %0 = xtensor.tanh %x : !xtensor.array<i: 2, i32>
  return
}

// -----

// reduce_c1
func.func @f(%x: !xtensor.array<i: 2, j: 3, f32>) {
  // expected-error@+1 {{sum: no dim "k"; the array has (i: 2, j: 3)}}
  %0 = xtensor.reduce sum %x over [k] : !xtensor.array<i: 2, j: 3, f32>
  return
}

// -----

// reduce_c2
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{sum: dim "i" is named twice}}
  %0 = xtensor.reduce sum %x over [i, i] : !xtensor.array<i: 2, f32>
  return
}

// -----

// reduce_c3
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{any takes bools, got 'f32'}}
  %0 = xtensor.reduce any %x over [i] : !xtensor.array<i: 2, f32>
  return
}

// -----

// reduce_c4
func.func @f(%x: !xtensor.array<i: 2, j: 2, f32>) {
  // expected-error@+1 {{argmax: expected exactly one dim, got 2}}
  %0 = xtensor.reduce argmax %x over [i, j] : !xtensor.array<i: 2, j: 2, f32>
  return
}

// -----

// reduce_c5
func.func @f(%x: !xtensor.array<i: 2, j: 0, f32>) {
  // expected-error@+1 {{max: dim "j" has size 0: max of no elements is undefined}}
  %0 = xtensor.reduce max %x over [j] : !xtensor.array<i: 2, j: 0, f32>
  return
}

// -----

// contract_c3
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{contract: no dim "k"; the array has (i: 2)}}
  %0 = xtensor.contract %x, %x over [k] : !xtensor.array<i: 2, f32>, !xtensor.array<i: 2, f32>
  return
}

// -----

// contract_c4
func.func @f(%x: !xtensor.array<i: 2, j: 2, f32>) {
  // expected-error@+1 {{contract: order names 1 of 2 dims; the result has (i: 2, j: 2)}}
  %0 = xtensor.contract %x, %x over [] order [i] : !xtensor.array<i: 2, j: 2, f32>, !xtensor.array<i: 2, j: 2, f32>
  return
}

// -----

// rename_c3
func.func @f(%x: !xtensor.array<i: 2, j: 3, f32>) {
  // expected-error@+1 {{rename: the result would have dim "j" twice}}
  %0 = xtensor.rename %x [i] to [j] : !xtensor.array<i: 2, j: 3, f32>
  return
}

// -----

// broadcast_c1
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{the result lacks dim "i" of the operand}}
  %0 = xtensor.broadcast %x : (!xtensor.array<i: 2, f32>) -> !xtensor.array<j: 2, f32>
  return
}

// -----

// broadcast_c2
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{expected 1 sizes, one per new dynamic dim, got 0}}
  %0 = xtensor.broadcast %x : (!xtensor.array<f32>) -> !xtensor.array<j: ?, f32>
  return
}

// -----

// squeeze_c1
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{squeeze: dim "i" has size 2, not 1}}
  %0 = xtensor.squeeze %x [i] : !xtensor.array<i: 2, f32>
  return
}

// -----

// slice_c2
func.func @f(%x: !xtensor.array<i: 5, f32>) {
  // expected-error@+1 {{slice: along dim "i" 3 elements from 1 by 2 do not fit into size 5}}
  %0 = xtensor.slice %x [i] offsets [1] sizes [3] strides [2] : !xtensor.array<i: 5, f32>
  return
}

// -----

// slice_c3
func.func @f(%x: !xtensor.array<i: ?, f32>) {
  // expected-error@+1 {{slice: dim "i" has a dynamic size, which cannot change inside a function}}
  %0 = xtensor.slice %x [i] offsets [1] sizes [3] strides [2] : !xtensor.array<i: ?, f32>
  return
}

// -----

// pad_c2
func.func @f(%x: !xtensor.array<i: 5, f32>, %v: !xtensor.array<f32>) {
  // expected-error@+1 {{pad: along dim "i" a negative amount: low -1, high 0, interior 0}}
  %0 = xtensor.pad %x with %v [i] low [-1] high [0] interior [0] : !xtensor.array<i: 5, f32>, !xtensor.array<f32>
  return
}

// -----

// concat_c2
func.func @f(%x: !xtensor.array<i: 5, f32>, %y: !xtensor.array<i: 5, j: 2, f32>) {
  // expected-error@+1 {{concat: all operands need the same dims, got (i: 5) and (i: 5, j: 2)}}
  %0 = xtensor.concat %x, %y along i : !xtensor.array<i: 5, f32>, !xtensor.array<i: 5, j: 2, f32>
  return
}

// -----

// split_c2
func.func @f(%x: !xtensor.array<i: 5, f32>) {
  // expected-error@+1 {{split: the sizes' product is 4, but dim "i" has size 5}}
  %0 = xtensor.split %x i into [a, b] sizes [2, 2] : !xtensor.array<i: 5, f32>
  return
}

// -----

// gather_c1
func.func @f(%x: !xtensor.array<i: 5, j: 2, f32>, %k: !xtensor.array<p: 3, i64>) {
  // expected-error@+1 {{gather: expected one index array per dim, got 1 for 2 dims}}
  %0 = xtensor.gather raise %x at %k along [i, j] : !xtensor.array<i: 5, j: 2, f32>, !xtensor.array<p: 3, i64>
  return
}

// -----

// gather_c5
func.func @f(%x: !xtensor.array<i: 5, f32>, %k: !xtensor.array<p: 3, i64>) {
  // expected-error@+1 {{gather: mode drop is for updates; use raise or clip}}
  %0 = xtensor.gather drop %x at %k along [i] : !xtensor.array<i: 5, f32>, !xtensor.array<p: 3, i64>
  return
}

// -----

// gather_c6
func.func @f(%x: !xtensor.array<i: 0, f32>, %k: !xtensor.array<p: 3, i64>) {
  // expected-error@+1 {{gather: dim "i" has size 0: there is nothing to read}}
  %0 = xtensor.gather raise %x at %k along [i] : !xtensor.array<i: 0, f32>, !xtensor.array<p: 3, i64>
  return
}

// -----

// scatter_c2
func.func @f(%x: !xtensor.array<i: 5, f32>, %k: !xtensor.array<p: 3, i64>, %u: !xtensor.array<q: 3, f32>) {
  // expected-error@+1 {{scatter: updates have dim "q", which the selected view lacks; it has (p: 3)}}
  %0 = xtensor.scatter add drop %x at %k with %u along [i] : !xtensor.array<i: 5, f32>, !xtensor.array<q: 3, f32>, !xtensor.array<p: 3, i64>
  return
}

// -----

// scatter_c3
func.func @f(%x: !xtensor.array<i: 5, i1>, %k: !xtensor.array<p: 3, i64>, %u: !xtensor.array<i1>) {
  // expected-error@+1 {{scatter: mul is not for bools; use set, max or min}}
  %0 = xtensor.scatter mul drop %x at %k with %u along [i] : !xtensor.array<i: 5, i1>, !xtensor.array<i1>, !xtensor.array<p: 3, i64>
  return
}

// -----

// accumulate: as scatter_c2
func.func @f(%x: !xtensor.array<i: 5, f32>, %k: !xtensor.array<p: 3, i64>, %u: !xtensor.array<q: 3, f32>) {
  // expected-error@+1 {{accumulate: factors have dim "q", which the selected view lacks; it has (p: 3)}}
  %0 = xtensor.accumulate last drop %x at %k times %u plus %u along [i] : !xtensor.array<i: 5, f32>, !xtensor.array<q: 3, f32>, !xtensor.array<q: 3, f32>, !xtensor.array<p: 3, i64>
  return
}

// -----

// accumulate_c1
func.func @f(%x: !xtensor.array<i: 5, i32>, %k: !xtensor.array<p: 3, i64>, %u: !xtensor.array<i32>) {
  // expected-error@+1 {{operand #0 must be array of floats}}
  %0 = xtensor.accumulate last drop %x at %k times %u plus %u along [i] : !xtensor.array<i: 5, i32>, !xtensor.array<i32>, !xtensor.array<i32>, !xtensor.array<p: 3, i64>
  return
}

// -----

// argsort_c1
func.func @f(%x: !xtensor.array<i: 5, f32>) {
  // expected-error@+1 {{argsort: no dim "t"; the array has (i: 5)}}
  %0 = xtensor.argsort %x along t : !xtensor.array<i: 5, f32>
  return
}

// -----

// pullback_c2
func.func @f(%x: !xtensor.array<i: 5, i32>) {
  // expected-error@+1 {{argument 0 has element type 'i32'; only floats have derivatives}}
  %y, %b = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !xtensor.array<i: 5, i32>):
    xtensor.yield %x_ : !xtensor.array<i: 5, i32>
  } : (!xtensor.array<i: 5, i32>) -> (!xtensor.array<i: 5, i32>, !xtensor.linear<() -> !xtensor.array<i: 5, i32>>)
  return
}

// -----

// apply_c1
func.func @f(%l: !xtensor.linear<(!xtensor.array<i: 2, f32>) -> !xtensor.array<f32>>, %x: !xtensor.array<f32>) {
  // expected-error@+1 {{the map takes ('!xtensor.array<i: 2, f32>'), got ('!xtensor.array<f32>')}}
  %0 = xtensor.apply %l(%x) : !xtensor.linear<(!xtensor.array<i: 2, f32>) -> !xtensor.array<f32>>, (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// library_c1
func.func @f(%t: tensor<3xf32>, %m: memref<3xf32>) {
  // expected-error@+1 {{'xtensor.library' op mixes tensors and memory}}
  xtensor.library "xt_name" ins(%t : tensor<3xf32>) outs(%m : memref<3xf32>)
  return
}

// -----

// library_c1
func.func @f(%t: tensor<3xf32>) {
  // expected-error@+1 {{'xtensor.library' op has results ('tensor<4xf32>'), expected those of its outs ('tensor<3xf32>')}}
  %r = xtensor.library "xt_name" outs(%t : tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

// library_c2
func.func @f(%m: memref<3x4xf32>) {
  // expected-error@+1 {{'xtensor.library' op has 2 orders of axes for 1 operands}}
  xtensor.library "xt_name" outs(%m : memref<3x4xf32>) {axes = [array<i64: 0, 1>, array<i64: 0, 1>]}
  return
}

// -----

// library_c2
func.func @f(%m: memref<3x4xf32>) {
  // expected-error@+1 {{'xtensor.library' op order [1, -1] of operand 0 must have each of its 2 axes once, and -1 for axes that are not there}}
  xtensor.library "xt_name" outs(%m : memref<3x4xf32>) {axes = [array<i64: 1, -1>]}
  return
}

// -----

// library_c3
func.func @f(%m: memref<3x4xf32>) {
  // expected-error@+1 {{'xtensor.library' op has no out to write to}}
  "xtensor.library"(%m) <{routine = "xt_name", operandSegmentSizes = array<i32: 1, 0>}> : (memref<3x4xf32>) -> ()
  return
}

// -----

// callback_c1
func.func @f(%a: !xtensor.array<i: ?, f32>) {
  // expected-error@+1 {{'xtensor.callback' op result j: ?: no argument has the dim "j", so its size is not known}}
  %y = xtensor.callback "f" number 0 (%a) : (!xtensor.array<i: ?, f32>) -> !xtensor.array<j: ?, f32>
  return
}

// -----

// callback_c2
func.func @f(%a: !xtensor.array<f32>) {
  // expected-error@+1 {{'xtensor.callback' op has 1 names of instances: the last arguments must be as many positions, i64 without dims}}
  xtensor.callback ordered "f" number 0 (%a) instances [v] : (!xtensor.array<f32>) -> ()
  return
}

// -----

// callback_c3
func.func @f(%a: !xtensor.array<f32>) {
  // expected-error@+1 {{'xtensor.callback' op has no results and is not ordered: nothing would keep it}}
  xtensor.callback "f" number 0 (%a) : (!xtensor.array<f32>) -> ()
  return
}

// -----

// callback_c4
func.func @f(%a: !xtensor.array<f32>) {
  // expected-error@+1 {{'xtensor.callback' op is ordered: it is made for one instance after another, not together}}
  %y = xtensor.callback ordered together "f" number 0 (%a) : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// elementary_c1
func.func @unknown_function(%x: f32) {
  // expected-error@+1 {{'xtensor.elementary' op has no function "name"}}
  %0 = xtensor.elementary "name" %x : f32
  return
}

// -----

// elementary_c1
func.func @operands_of_function(%x: f32) {
  // expected-error@+1 {{'xtensor.elementary' op of "lgamma" takes 1 operand, not 2}}
  %0 = xtensor.elementary "lgamma" %x, %x : f32
  return
}

// -----

// fourier_c1
func.func @no_dims(%x: !xtensor.array<t: 4, c: 2, f32>) {
  // expected-error@+1 {{fourier: expected dims to transform along, and "c" is none of them}}
  %y = xtensor.fourier forward %x along [] pair c : !xtensor.array<t: 4, c: 2, f32>
  return
}

// -----

// fourier_c1
func.func @along_the_pairs(%x: !xtensor.array<t: 4, c: 2, f32>) {
  // expected-error@+1 {{fourier: expected dims to transform along, and "c" is none of them}}
  %y = xtensor.fourier forward %x along [c] pair c : !xtensor.array<t: 4, c: 2, f32>
  return
}

// -----

// fourier_c1
func.func @unknown_dim(%x: !xtensor.array<t: 4, c: 2, f32>) {
  // expected-error@+1 {{fourier: no dim "q"; the array has (t: 4, c: 2)}}
  %y = xtensor.fourier forward %x along [q] pair c : !xtensor.array<t: 4, c: 2, f32>
  return
}

// -----

// fourier_c2
func.func @no_pairs(%x: !xtensor.array<t: 4, f32>) {
  // expected-error@+1 {{fourier: expected two elements along "c"; the array has (t: 4)}}
  %y = xtensor.fourier forward %x along [t] pair c : !xtensor.array<t: 4, f32>
  return
}

// -----

// fourier_c2
func.func @pairs_of_real(%x: !xtensor.array<t: 4, c: 2, f32>) {
  // expected-error@+1 {{fourier: expected no dim "c"; the array has (t: 4, c: 2)}}
  %y = xtensor.fourier real %x along [t] pair c : !xtensor.array<t: 4, c: 2, f32>
  return
}

// -----

// fourier_c3
func.func @no_size(%x: !xtensor.array<t: 4, c: 2, f32>) {
  // expected-error@+1 {{fourier: only hermitian takes a size, and needs one}}
  %y = xtensor.fourier hermitian %x along [t] pair c : !xtensor.array<t: 4, c: 2, f32>
  return
}

// -----

// fourier_c3
func.func @size_that_does_not_fit(%x: !xtensor.array<t: 4, c: 2, f32>) {
  // expected-error@+1 {{fourier: 8 real numbers along "t" come from 5 complex ones, not from 4}}
  %y = xtensor.fourier hermitian %x along [t] pair c size 8 : !xtensor.array<t: 4, c: 2, f32>
  return
}

// -----

// fourier_c4
func.func @open_size_of_real(%x: !xtensor.array<t: ?, f32>) {
  // expected-error@+1 {{fourier: dim "t" has a dynamic size; a transform from or to real numbers needs a static one}}
  %y = xtensor.fourier real %x along [t] pair c : !xtensor.array<t: ?, f32>
  return
}

// -----

// fourier_c5
func.func @nothing(%x: !xtensor.array<t: 0, c: 2, f32>) {
  // expected-error@+1 {{fourier: dim "t" has size 0; a transform needs at least one element}}
  %y = xtensor.fourier forward %x along [t] pair c : !xtensor.array<t: 0, c: 2, f32>
  return
}

// -----

// bits_c1
func.func @bits_of_integers(%x: memref<?xi16>) {
  // expected-error@+1 {{'xtensor.bits' op of 'memref<?xi16>' gives integers of the width of its floats, not 'memref<?xi16>'}}
  %0 = xtensor.bits %x : memref<?xi16> to memref<?xi16>
  return
}

// -----

// bits_c1
func.func @bits_of_another_width(%x: memref<?xbf16>) {
  // expected-error@+1 {{'xtensor.bits' op of 'memref<?xbf16>' gives integers of the width of its floats, not 'memref<?xi32>'}}
  %0 = xtensor.bits %x : memref<?xbf16> to memref<?xi32>
  return
}
