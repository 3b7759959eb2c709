// RUN: xtensor-opt %s --compile-from=gpu --compile-to=nvvm --target=cuda | FileCheck %s
// RUN: xtensor-opt %s --compile-from=gpu --compile-to=ptx --target=cuda | FileCheck %s --check-prefix=PTX

// Loops become branches; a function of the kernel's module is its own; booleans are bytes.

// CHECK:       llvm.func internal @twice(%{{.*}}: f64) -> f64
// CHECK:       llvm.func @kernel0(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: i32)
// CHECK:         llvm.cond_br
// CHECK:         llvm.call @twice
// CHECK:         llvm.store %{{.*}} : i1, !llvm.ptr<1>
// PTX-NOT:     .extern
// PTX-NOT:     .func
// PTX:         ld.global.b64
// PTX:         st.global.b8
// PTX-NOT:     .extern
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    func.func private @twice(%x: f64) -> f64 {
      %y = arith.addf %x, %x : f64
      return %y : f64
    }
    gpu.func @kernel0(%x: memref<?xf64>, %flags: memref<?xi1>, %n: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %size = arith.index_cast %n : i32 to index
      scf.for %i = %c0 to %size step %c1 {
        %v = memref.load %x[%i] : memref<?xf64>
        %w = func.call @twice(%v) : (f64) -> f64
        %b = arith.cmpf olt, %w, %zero : f64
        memref.store %b, %flags[%i] : memref<?xi1>
      }
      gpu.return
    }
  }
}
