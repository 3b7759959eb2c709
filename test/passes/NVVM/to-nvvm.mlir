// RUN: xtensor-opt %s --compile-from=gpu --compile-to=nvvm --target=cuda | FileCheck %s
// RUN: xtensor-opt %s --compile-from=gpu --compile-to=ptx --target=cuda,sm=90 | FileCheck %s --check-prefix=PTX

// Buffers are addresses in global memory, numbers are words, in the order of the runtime. Memory of
// the workgroup is a variable. The original stays for the launch. Sums are rounded, not fused, and
// the text ends with a zero.

// CHECK:       gpu.module @kernel0
// CHECK:       module @kernel0_code
// CHECK:         llvm.mlir.global internal @kernel0_memory3() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK:         llvm.func @kernel0(%[[X:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[N:.*]]: i32, %{{.*}}: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}
// CHECK-DAG:       %[[S:.*]] = llvm.mlir.addressof @kernel0_memory3 : !llvm.ptr<3>
// CHECK-DAG:       %[[I:.*]] = llvm.sext %[[N]] : i32 to i64
// CHECK:           %[[AT:.*]] = llvm.getelementptr %[[X]][%[[I]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK:           %[[V:.*]] = llvm.load %[[AT]] : !llvm.ptr<1> -> f32
// CHECK:           llvm.fadd %[[V]], %[[V]] : f32
// CHECK:           nvvm.barrier0

// PTX:         gpu.module @kernel0 attributes {xtensor.code = "
// PTX:           .target sm_90
// PTX:           .visible .entry kernel0(
// PTX:             .param .u64 .ptr .global .align 16 kernel0_param_0,
// PTX:             .param .u32 kernel0_param_1,
// PTX:             .param .u32 kernel0_param_2
// PTX:           .reqntid 64, 1, 1
// PTX:             .shared .align 16 .b8 kernel0_memory3[256];
// PTX:             ld.global.b32
// PTX:             mul.rn.f32
// PTX:             add.rn.f32
// PTX:             st.shared.b32
// PTX:             bar.sync
// PTX:           \00"}
// PTX-NOT:     module @kernel0_code
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %n: i32, %m: i32) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %i = arith.index_cast %n : i32 to index
      %j = arith.index_cast %m : i32 to index
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      %p = arith.mulf %w, %v : f32
      %q = arith.addf %p, %w : f32
      memref.store %q, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %u = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %u, %x[%t] : memref<?xf32>
      gpu.return
    }
  }
}
