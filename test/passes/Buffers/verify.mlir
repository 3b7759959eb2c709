// The contract of the phase buffers: only memory is left, and its places are an offset and strides.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --xtensor-verify-buffers

func.func @memory(%x: memref<4x?xf32, strided<[?, 2], offset: ?>>, %n: index) -> f32 {
  %r = memref.load %x[%n, %n] : memref<4x?xf32, strided<[?, 2], offset: ?>>
  return %r : f32
}

// -----

// expected-error@+1 {{'func.func' has 'tensor<3xf32>', a tensor where only memory may be left: run the phases up to `buffers` first}}
func.func @tensor(%x: tensor<3xf32>) {
  return
}

// -----

func.func @inside() {
  // expected-error@+1 {{'tensor.empty' has 'tensor<3xf32>', a tensor where only memory may be left}}
  %x = tensor.empty() : tensor<3xf32>
  return
}

// -----

// expected-error@+1 {{'func.func' has '!xtensor.array<i: 3, f32>', an array with names where only memory may be left}}
func.func @named(%x: !xtensor.array<i: 3, f32>) {
  return
}

// -----

// expected-error@+1 {{'func.func' has 'memref<*xf32>', memory without a number of axes}}
func.func @unranked(%x: memref<*xf32>) {
  return
}

// -----

// expected-error@+1 {{memory whose layout is not an offset and strides}}
func.func @layout(%x: memref<3x3xf32, affine_map<(i, j) -> (i mod 2, j)>>) {
  return
}

// -----

// expected-error@+1 {{'func.func' has 'memref<3xcomplex<f32>>', memory that holds no numbers}}
func.func @elements(%x: memref<3xcomplex<f32>>) {
  return
}

// -----

func.func @axis(%x: memref<3xf32>) -> index {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'memref.dim' asks for the size of an axis that its memory does not have}}
  %n = memref.dim %x, %c1 : memref<3xf32>
  return %n : index
}

// -----

// expected-error@+1 {{'func.func' has an xtensor.type that is not the array of its argument}}
func.func @array(%x: memref<3x4xf32> {xtensor.type = !xtensor.array<i: 3, f32>}) {
  return
}

// -----

func.func @dropped(%x: memref<1x5x3x?xf64>, %row: index, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'memref.subview' drops dims of size 1 that its type does not determine: use memref.collapse_shape}}
  %part = memref.subview %x[0, 0, %row, 0] [1, 5, 1, %n] [1, 1, 1, 1] : memref<1x5x3x?xf64> to memref<1x5x?xf64, strided<[?, ?, 1], offset: ?>>
  %r = memref.load %part[%c0, %c0, %c0] : memref<1x5x?xf64, strided<[?, ?, 1], offset: ?>>
  return %r : f64
}
