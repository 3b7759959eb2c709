// The caller's buffers have no holes: of each, the entry gets an address and the sizes of dynamic dims.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --compile-from=buffers --compile-to=llvm

// expected-error @below {{argument 1 is not a contiguous buffer: 'memref<4xf32, strided<[2]>>'}}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32, strided<[2]>>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32, strided<[2]>>
  return
}

// -----

// expected-error @below {{argument 0 is not a contiguous buffer: 'index'}}
func.func @main(%n: index, %y: memref<4xf32>) {
  return
}
