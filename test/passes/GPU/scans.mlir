// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// One long scan: a launch leaves what each part comes to, the next goes through the parts from what
// those before come to. In a part, threads have four elements each; those of a subgroup exchange what
// they come to, subgroups meet in memory, the upper bits of a thread's number last.

// CHECK:       func.func @sums
// CHECK:         %[[TOTALS:.*]] = memref.alloc() : memref<{{[0-9]+}}xf32>
// CHECK:         gpu.launch_func @kernel0::@kernel0
// CHECK:         gpu.launch_func @kernel1::@kernel1
// CHECK:       gpu.func @kernel0(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %cst) -> (f32) {
// CHECK:           vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-3:   arith.addf
// CHECK:           gpu.shuffle xor %{{.*}}, %c1_i32, %c32_i32
// CHECK:           gpu.shuffle xor {{.*}}, %c16_i32
// CHECK:           gpu.barrier
// CHECK:           arith.xori %{{.*}}, %c1
// CHECK:           gpu.barrier
// CHECK:           arith.xori %{{.*}}, %c2
// CHECK:           gpu.barrier
// CHECK:           arith.xori %{{.*}}, %c4
// CHECK:       gpu.func @kernel1(
// CHECK:         %[[BEFORE:.*]] = scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args(%{{.*}} = %cst) -> (f32) {
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[BEFORE]]) -> (f32) {
// CHECK:           scf.if
// CHECK:             memref.store
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @sums(%x: memref<1000000xf32>, %y: memref<1000000xf32>, %last: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%last : memref<f32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<1000000xf32>) outs(%y, %last : memref<1000000xf32>, memref<f32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%v: f32, %o: f32, %s: f32):
    %t = arith.addf %s, %v : f32
    linalg.yield %t, %t : f32, f32
  }
  return
}
}

// -----

// A recurrence: pairs of a decay and a value. What overflows on the way is done again in order, by one
// thread.

// CHECK-NOT:   memref.alloc
// CHECK:       gpu.func @kernel0(
// CHECK:         scf.for
// CHECK:           gpu.shuffle xor
// CHECK:           arith.mulf
// CHECK:           gpu.barrier
// CHECK:           scf.if %[[FINE:.*]] {
// CHECK:           } else {
// CHECK:             scf.if
// CHECK:               scf.for
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @recurrence(%d: memref<8x4096xf32>, %x: memref<8x4096xf32>, %y: memref<8x4096xf32>, %last: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%last : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%d, %x : memref<8x4096xf32>, memref<8x4096xf32>) outs(%y, %last : memref<8x4096xf32>, memref<8xf32>) attrs = {xtensor.scan = "reverse"} {
  ^bb0(%a: f32, %v: f32, %o: f32, %s: f32):
    %c0 = arith.constant 0.0 : f32
    %forgets = arith.cmpf oeq, %a, %c0 : f32
    %p = arith.mulf %a, %s : f32
    %q = arith.select %forgets, %c0, %p : f32
    %t = arith.addf %q, %v : f32
    linalg.yield %t, %t : f32, f32
  }
  return
}
}

// -----

// What the workgroup cannot combine goes in order: a thread per scan.

// CHECK:       gpu.func @kernel0(
// CHECK-NOT:     gpu.barrier
// CHECK:         math.sin
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
module attributes {xtensor.target = "vulkan,nvidia,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=32,workgroup_bytes=32768,max_threads=1024"} {
func.func @neither(%x: memref<8x4096xf32>, %y: memref<8x4096xf32>, %last: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%last : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x4096xf32>) outs(%y, %last : memref<8x4096xf32>, memref<8xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%v: f32, %o: f32, %s: f32):
    %p = math.sin %s : f32
    %t = arith.addf %p, %v : f32
    linalg.yield %t, %t : f32, f32
  }
  return
}
}

// -----

// A device that leaves loops: the kernel says so if it did.

// CHECK:       module attributes {{.*}}xtensor.limited
// CHECK:       call @xtensor_report_words
// CHECK:       gpu.func @kernel0(
// CHECK:         %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(
// CHECK:         %[[LEFT:.*]] = arith.cmpi slt, %[[LOOP]]#1
// CHECK:         scf.if %[[LEFT]]
// CHECK:           memref.store %c2147483647_i32
// CHECK:           memref.store %c65535_i32
module attributes {xtensor.target = "vulkan,software,f64,i64,f16,i16,i8,s16,s8,shuffle,subgroup=8,workgroup_bytes=32768,max_threads=1024"} {
func.func @many(%x: memref<8x400000xf32>, %last: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%last : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x400000xf32>) outs(%last : memref<8xf32>) {
  ^bb0(%v: f32, %s: f32):
    %p = math.sin %s : f32
    %t = arith.addf %p, %v : f32
    linalg.yield %t : f32
  }
  return
}
}
