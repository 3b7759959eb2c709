// RUN: xtensor-opt %s --xtensor-distribute --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0: dim "b" of (b: 7) is split along "data" of the mesh, and its size cannot be divided by 2 processes; rename it to a dim that is not split}}
func.func @uneven(%x: !xtensor.array<b: 7, f32>) -> !xtensor.array<b: 7, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: 7, f32>
}

// -----

// expected-error @+1 {{argument 0: dim "b" of (b: ?) is split along "data" of the mesh, so its size must be static}}
func.func @open(%x: !xtensor.array<b: ?, f32>) -> !xtensor.array<b: ?, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: ?, f32>
}

// -----

func.func @twice(%x: !xtensor.array<b: 4, f32>, %y: !xtensor.array<c: 4, f32>) -> !xtensor.array<b: 4, c: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data", c = "data"}} {
  // expected-error @+1 {{dims "b" and "c" of one array (b: 4, c: 4) are both split along "data" of the mesh; rename one of them to a dim that is not split}}
  %z = xtensor.mul %x, %y : !xtensor.array<b: 4, f32>, !xtensor.array<c: 4, f32>
  return %z : !xtensor.array<b: 4, c: 4, f32>
}

// -----

// expected-error @+1 {{attribute xtensor.split: the mesh has no dim "model"}}
func.func @nowhere(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "model"}} {
  return %x : !xtensor.array<b: 4, f32>
}

// -----

// expected-error @+1 {{attribute xtensor.mesh, dim "data": expected the number of processes and the communicator, and the position of this process if parts differ in size, got 2 : i64}}
func.func @numbers(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = 2}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: 4, f32>
}

// -----

func.func @together(%x: !xtensor.array<b: 4, f32>, %y: !xtensor.array<f64>) -> !xtensor.array<f64> {
  // expected-error @+1 {{arrays of 'f32' and 'f64' are not sent together}}
  %0:2 = xtensor.all_reduce sum %x, %y across data communicator 0 : !xtensor.array<b: 4, f32>, !xtensor.array<f64>
  return %0#1 : !xtensor.array<f64>
}

// -----

func.func @argmax(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32> {
  // expected-error @+1 {{there is no argmax of processes}}
  %y = xtensor.all_reduce argmax %x across data communicator 0 : !xtensor.array<b: 4, f32>
  return %y : !xtensor.array<b: 4, f32>
}

// -----

// expected-error @+1 {{attribute xtensor.whole: argument 1 is not there; the function has 1}}
func.func @whole(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.whole = array<i64: 1>} {
  return %x : !xtensor.array<b: 4, f32>
}

// -----

// expected-error @+1 {{attribute xtensor.whole: argument -1 is not there}}
func.func @negative(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.whole = array<i64: -1>} {
  return %x : !xtensor.array<b: 4, f32>
}

// -----

// expected-error @+1 {{attribute xtensor.whole: expected numbers of arguments, got 0 : i64}}
func.func @number(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.whole = 0} {
  return %x : !xtensor.array<b: 4, f32>
}

// -----

// expected-error @+1 {{takes or returns 'i32', and is distributed over processes: arrays are needed}}
func.func @bare(%x: !xtensor.array<b: 4, f32>, %n: i32) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: 4, f32>
}

// -----

// expected-error @+1 {{takes or returns 'index'}}
func.func @result(%x: !xtensor.array<b: 4, f32>, %n: !xtensor.array<i64>) -> index
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %i = arith.constant 0 : index
  return %i : index
}

// -----

// expected-error @+1 {{has several blocks}}
func.func @blocks(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  cf.br ^end
^end:
  return %x : !xtensor.array<b: 4, f32>
}

// -----

func.func @halo(%x: !xtensor.array<b: 4, f32>) {
  // expected-error @+1 {{halo: -1 elements of 2 parts along dim "b" of b: 4}}
  %y = xtensor.halo %x along b start 0 step 4 size -1 across data communicator 0 of 2 : !xtensor.array<b: 4, f32>
  return
}

// -----

func.func @far(%x: !xtensor.array<b: 4, f32>) {
  // expected-error @+1 {{halo: 1 elements of 4 parts along dim "b" of b: 4}}
  %y = xtensor.halo %x along b start 0 step 4611686018427387904 size 1 across data communicator 0 of 4 : !xtensor.array<b: 4, f32>
  return
}

// -----

func.func @moved(%x: !xtensor.array<b: 4, e: 3, f32>) {
  // expected-error @+1 {{all_to_all: 2 parts along dim "b" of b: 4, e: 3 become parts along dim "e"}}
  %y = xtensor.all_to_all %x from b to e across data communicator 0 of 2 : !xtensor.array<b: 4, e: 3, f32>
  return
}

// -----

func.func @open(%x: !xtensor.array<b: ?, e: 4, f32>) {
  // expected-error @+1 {{all_to_all: 2 parts along dim "b" of b: ?, e: 4 become parts along dim "e"}}
  %y = xtensor.all_to_all %x from b to e across data communicator 0 of 2 : !xtensor.array<b: ?, e: 4, f32>
  return
}

// -----

func.func @same(%x: !xtensor.array<b: 4, e: 4, f32>) {
  // expected-error @+1 {{all_to_all}}
  %y = xtensor.all_to_all %x from b to b across data communicator 0 of 2 : !xtensor.array<b: 4, e: 4, f32>
  return
}
