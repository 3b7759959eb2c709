// Constraints of scans and windows, with their exact messages.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics

// cumulative_c1
func.func @f(%x: !xtensor.array<i: 2, j: 3, f32>) {
  // expected-error@+1 {{cumulative sum: no dim "k"; the array has (i: 2, j: 3)}}
  %0 = xtensor.cumulative sum %x along k : !xtensor.array<i: 2, j: 3, f32>
  return
}

// -----

// cumulative_numbers
func.func @f(%x: !xtensor.array<i: 2, i1>) {
  // expected-error@+1 {{'xtensor.cumulative' op operand #0 must be array of numbers, but got '!xtensor.array<i: 2, i1>'}}
  %0 = xtensor.cumulative sum %x along i : !xtensor.array<i: 2, i1>
  return
}

// -----

// recurrence_c1
func.func @f(%x: !xtensor.array<i: 2, f32>, %y: !xtensor.array<i: 3, f32>) {
  // expected-error@+1 {{recurrence: dim "i" has sizes 2 and 3; equal names must have equal sizes; operands: (i: 2), (i: 3)}}
  %0 = xtensor.recurrence %x, %y along i : !xtensor.array<i: 2, f32>, !xtensor.array<i: 3, f32>
  return
}

// -----

// recurrence_c2
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{recurrence: no dim "k"; the array has (i: 2)}}
  %0 = xtensor.recurrence %x, %x along k : !xtensor.array<i: 2, f32>, !xtensor.array<i: 2, f32>
  return
}

// -----

// recurrence_c3
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{'xtensor.recurrence' op exclusive and late exclude each other}}
  %0 = xtensor.recurrence %x, %x along i {exclusive, late} : !xtensor.array<i: 2, f32>, !xtensor.array<i: 2, f32>
  return
}

// -----

// window_c1
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{window: no dim "k"; the array has (i: 2)}}
  %0 = xtensor.window %x k into w size 1 stride 1 dilation 1 : !xtensor.array<i: 2, f32>
  return
}

// -----

// window_c1_dynamic
func.func @f(%x: !xtensor.array<i: ?, f32>) {
  // expected-error@+1 {{window: dim "i" has a dynamic size; windows need a static one}}
  %0 = xtensor.window %x i into w size 1 stride 1 dilation 1 : !xtensor.array<i: ?, f32>
  return
}

// -----

// window_c2
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{window: along dim "i" size 1, stride 0, dilation 1; expected at least 1 of each}}
  %0 = xtensor.window %x i into w size 1 stride 0 dilation 1 : !xtensor.array<i: 2, f32>
  return
}

// -----

// window_c3
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{window: the result would have dim "i" twice}}
  %0 = xtensor.window %x i into i size 1 stride 1 dilation 1 : !xtensor.array<i: 2, f32>
  return
}

// -----

// overlap_add_c1
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{overlap_add: no dim "w"; the array has (i: 2)}}
  %0 = xtensor.overlap_add %x i from w length 4 stride 1 dilation 1 : !xtensor.array<i: 2, f32>
  return
}

// -----

// overlap_add_c1_twice
func.func @f(%x: !xtensor.array<i: 2, f32>) {
  // expected-error@+1 {{overlap_add: dim "i" is named twice}}
  %0 = xtensor.overlap_add %x i from i length 4 stride 1 dilation 1 : !xtensor.array<i: 2, f32>
  return
}

// -----

// overlap_add_c1_dynamic
func.func @f(%x: !xtensor.array<i: ?, w: 2, f32>) {
  // expected-error@+1 {{overlap_add: dim "i" has a dynamic size; windows need a static one}}
  %0 = xtensor.overlap_add %x i from w length 4 stride 1 dilation 1 : !xtensor.array<i: ?, w: 2, f32>
  return
}

// -----

// overlap_add_c2
func.func @f(%x: !xtensor.array<i: 2, w: 2, f32>) {
  // expected-error@+1 {{overlap_add: along dim "i" stride 1, dilation 0; expected at least 1 of each}}
  %0 = xtensor.overlap_add %x i from w length 4 stride 1 dilation 0 : !xtensor.array<i: 2, w: 2, f32>
  return
}

// -----

// overlap_add_c3
func.func @f(%x: !xtensor.array<i: 2, w: 3, f32>) {
  // expected-error@+1 {{overlap_add: along dim "i" 2 windows of 3 elements, stride 2, dilation 1, do not fit into 4}}
  %0 = xtensor.overlap_add %x i from w length 4 stride 2 dilation 1 : !xtensor.array<i: 2, w: 3, f32>
  return
}
