// RUN: xtensor-opt %s --compile-from=gpu --compile-to=ptx --target=cuda,sm=80 | FileCheck %s

// shl.b64 reads 32 bits of its count: what may have more is bounded first, and 0 is chosen for it by
// a comparison of its own. A count that is known to be small is shifted by as it is.

// CHECK:       .visible .entry kernel0
// CHECK-DAG:   min.u64 \09%[[LOW:rd[0-9]+]], %[[COUNT:rd[0-9]+]], 63;
// CHECK-DAG:   setp.gt.u64 \09%[[FAR:p[0-9]+]], %[[COUNT]], 63;
// CHECK:       cvt.u32.u64 \09%[[PLACES:r[0-9]+]], %[[LOW]];
// CHECK:       shl.b64 \09%[[MOVED:rd[0-9]+]], %{{rd[0-9]+}}, %[[PLACES]];
// CHECK:       selp.b64 \09%{{rd[0-9]+}}, 0, %[[MOVED]], %[[FAR]];
// CHECK-NOT:   min.u64
// CHECK:       shr.u64
module attributes {gpu.container_module, xtensor.target = "cuda,f64,i64,sm=80"} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xi64>, %n: memref<?xi64>, %m: memref<?xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %zero = arith.constant 0 : i64
      %width = arith.constant 64 : i64
      %i = gpu.thread_id x
      %a = memref.load %x[%i] : memref<?xi64>
      %count = memref.load %n[%i] : memref<?xi64>
      %far = arith.cmpi uge, %count, %width : i64
      %safe = arith.select %far, %zero, %count : i64
      %moved = arith.shli %a, %safe : i64
      %y = arith.select %far, %zero, %moved : i64
      memref.store %y, %x[%i] : memref<?xi64>
      %word = memref.load %m[%i] : memref<?xi32>
      %few = arith.extui %word : i32 to i64
      %back = arith.shrui %y, %few : i64
      memref.store %back, %n[%i] : memref<?xi64>
      gpu.return
    }
  }
}
