// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// A large operation: a thread for each four points that lie side by side, found without divisions.

// CHECK-LABEL: func.func @exponential
// CHECK-DAG:     %[[GROUPS:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[X:.*]] = memref.reinterpret_cast %{{.*}} : memref<64x1024xf32> to memref<?xf32>
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%[[GROUPS]], %{{.*}}) threads in (%[[THREADS]], %{{.*}}) args(%[[X]] : memref<?xf32>
// CHECK:       gpu.func @kernel0(%[[IN:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<?xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:     %[[GROUP:.*]] = gpu.block_id x
// CHECK-NOT:     arith.remui
// CHECK:         %[[AT:.*]] = arith.muli %{{.*}}, %c4
// CHECK-NEXT:    %[[V:.*]] = vector.load %[[IN]][%[[AT]]] : memref<?xf32>, vector<4xf32>
// CHECK:         %[[X0:.*]] = vector.extract %[[V]][0]
// CHECK:         math.exp %[[X0]]
// CHECK-COUNT-3: math.exp
// CHECK-NEXT:    %[[E:.*]] = vector.from_elements
// CHECK-NEXT:    vector.store %[[E]], %[[OUT]][%[[AT]]]
// CHECK-NEXT:    gpu.return
func.func @exponential(%x: memref<64x1024xf32>, %y: memref<64x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x1024xf32>) outs(%y : memref<64x1024xf32>) {
  ^bb0(%a: f32, %old: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}

// -----

// A group over rows: a workgroup for each. What the row holds in between is workgroup memory, the
// reduction is shared by the threads, and starts from the number it was filled with.

// CHECK-LABEL: func.func @normalise
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%c512
// CHECK:       gpu.func @kernel0(
// CHECK-SAME:    workgroup(%{{.*}} : memref<1xf32, #gpu.address_space<workgroup>>, %[[PARTS:.*]] : memref<256xf32, #gpu.address_space<workgroup>>)
// CHECK:         %[[PART:.*]] = scf.for {{.*}} iter_args
// CHECK:         memref.store %[[PART]], %[[PARTS]]
// CHECK:         gpu.barrier
// CHECK:         memref.load %[[PARTS]]
// CHECK:         gpu.barrier
// CHECK:         arith.divf
func.func @normalise(%x: memref<512x1024xf32>, %y: memref<512x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (512) {
    %row = memref.subview %x[%i, 0] [1, 1024] [1, 1] : memref<512x1024xf32> to memref<1024xf32, strided<[1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, 1024] [1, 1] : memref<512x1024xf32> to memref<1024xf32, strided<[1], offset: ?>>
    %sum = memref.alloc() : memref<f32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<f32>)
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%row : memref<1024xf32, strided<[1], offset: ?>>) outs(%sum : memref<f32>) {
    ^bb0(%a: f32, %s: f32):
      %t = arith.addf %s, %a : f32
      linalg.yield %t : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%row, %sum : memref<1024xf32, strided<[1], offset: ?>>, memref<f32>) outs(%out : memref<1024xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %s: f32, %old: f32):
      %q = arith.divf %a, %s : f32
      linalg.yield %q : f32
    }
  }
  return
}

// -----

// Small operations and what they decide are one kernel of one workgroup; the host reads nothing.

// CHECK-LABEL: func.func @decide
// CHECK-NOT:     memref.load
// CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%c1,
// CHECK-NOT:     gpu.launch_func
// CHECK:       gpu.func @kernel0(
// CHECK:         %[[V:.*]] = memref.load
// CHECK:         %[[TAKEN:.*]] = arith.cmpf ogt, %[[V]]
// CHECK:         scf.if %[[TAKEN]]
func.func @decide(%x: memref<f32>, %y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<16xf32>)
  %v = memref.load %x[] : memref<f32>
  %c = arith.cmpf ogt, %v, %zero : f32
  scf.if %c {
    linalg.fill ins(%one : f32) outs(%y : memref<16xf32>)
  }
  return
}

// -----

// A loop over large operations is the host's. The number that ends it is left by a kernel, and read.

// CHECK-LABEL: func.func @repeat
// CHECK:         scf.while
// CHECK:           gpu.launch_func
// CHECK:           %[[LEFT:.*]] = memref.load %{{.*}}[] {xtensor.spill} : memref<i1>
// CHECK:           scf.condition(%[[LEFT]])
// CHECK:         } do {
// CHECK:           gpu.launch_func
func.func @repeat(%x: memref<65536xf32>) {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 1.0 : f32
  scf.while : () -> () {
    %v = memref.load %x[%c0] : memref<65536xf32>
    %go = arith.cmpf ogt, %v, %limit : f32
    scf.condition(%go)
  } do {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<65536xf32>) {
    ^bb0(%a: f32):
      %h = arith.addf %a, %a : f32
      linalg.yield %h : f32
    }
    scf.yield
  }
  return
}

// -----

// Sizes that the call brings are numbers of the kernel.

// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         %[[WORD:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK:         %[[GROUPS:.*]] = arith.minui
// CHECK:         gpu.launch_func {{.*}} blocks in (%[[GROUPS]], {{.*}} args({{.*}}, %[[WORD]] : i32
// CHECK:       gpu.func @kernel0(%{{.*}}: memref<?xf32>, %{{.*}}: i32, %{{.*}}: i32)
func.func @dynamic(%x: memref<?x4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<?x4xf32>)
  return
}

// -----

// Named ops are the generic ones that they stand for.
// CHECK-LABEL: func.func @named(
// CHECK: gpu.launch_func
// CHECK-NOT: linalg
func.func @named(%x: memref<8xf32>, %y: memref<8xf32>) {
  linalg.copy ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// -----

// A block of an open dim, whose last one is shorter: every workgroup's scratch has room for a whole one, and lies
// behind as many of them as there are workgroups before.

#place = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @blocks(
// CHECK:         %[[GROUPS:.*]] = arith.minui
// CHECK:         %[[ROOM:.*]] = arith.muli %[[GROUPS]], %c65536
// CHECK:         memref.alloc(%[[ROOM]])
// CHECK:       gpu.func @kernel0(
// CHECK:         %[[ROWS:.*]] = arith.minsi %{{.*}}, %c1024
// CHECK:         %[[PART:.*]] = arith.muli %block_id_x, %c65536
// CHECK:         %[[ROW:.*]] = arith.addi %[[PART]]
// CHECK:         arith.addi %[[ROW]]
// CHECK:         vector.store
func.func @blocks(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  scf.forall (%i) = (0) to (%n) step (1024) {
    %c1024 = arith.constant 1024 : index
    %rest = arith.subi %n, %i : index
    %rows = arith.minsi %rest, %c1024 : index
    %from = memref.subview %x[%i, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    %to = memref.subview %y[%i, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    %scratch = memref.alloc(%rows) : memref<?x64xf32>
    linalg.generic {indexing_maps = [#place, #place], iterator_types = ["parallel", "parallel"]}
        ins(%from : memref<?x64xf32, strided<[64, 1], offset: ?>>) outs(%scratch : memref<?x64xf32>) {
    ^bb0(%v: f32, %o: f32):
      %e = math.exp %v : f32
      linalg.yield %e : f32
    }
    linalg.generic {indexing_maps = [#place, #place], iterator_types = ["parallel", "parallel"]}
        ins(%scratch : memref<?x64xf32>) outs(%to : memref<?x64xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %e = arith.addf %v, %v : f32
      linalg.yield %e : f32
    }
  }
  return
}

// -----

// More temporaries than a kernel names buffers, none of which the workgroup's memory holds: parts of
// one buffer, of which each workgroup has its own.

// CHECK-LABEL: func.func @temporaries
// CHECK:         memref.alloc() : memref<3407872xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func @kernel0::@kernel0
// CHECK:       gpu.func @kernel0(%{{[^,]*}}: memref<?xf32>, %{{[^,]*}}: memref<?xf32>, %{{[^,]*}}: memref<?xf32>) kernel
func.func @temporaries(%x: memref<8x16384xf32>, %y: memref<8x16384xf32>) {
  scf.forall (%i) in (8) {
    %row = memref.subview %x[%i, 0] [1, 16384] [1, 1] : memref<8x16384xf32> to memref<16384xf32, strided<[1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, 16384] [1, 1] : memref<8x16384xf32> to memref<16384xf32, strided<[1], offset: ?>>
    %t0 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t0 : memref<16384xf32>)
    %t1 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t1 : memref<16384xf32>)
    %t2 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t2 : memref<16384xf32>)
    %t3 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t3 : memref<16384xf32>)
    %t4 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t4 : memref<16384xf32>)
    %t5 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t5 : memref<16384xf32>)
    %t6 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t6 : memref<16384xf32>)
    %t7 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t7 : memref<16384xf32>)
    %t8 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t8 : memref<16384xf32>)
    %t9 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t9 : memref<16384xf32>)
    %t10 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t10 : memref<16384xf32>)
    %t11 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t11 : memref<16384xf32>)
    %t12 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t12 : memref<16384xf32>)
    %t13 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t13 : memref<16384xf32>)
    %t14 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t14 : memref<16384xf32>)
    %t15 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t15 : memref<16384xf32>)
    %t16 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t16 : memref<16384xf32>)
    %t17 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t17 : memref<16384xf32>)
    %t18 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t18 : memref<16384xf32>)
    %t19 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t19 : memref<16384xf32>)
    %t20 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t20 : memref<16384xf32>)
    %t21 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t21 : memref<16384xf32>)
    %t22 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t22 : memref<16384xf32>)
    %t23 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t23 : memref<16384xf32>)
    %t24 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t24 : memref<16384xf32>)
    %t25 = memref.alloc() : memref<16384xf32>
    linalg.copy ins(%row : memref<16384xf32, strided<[1], offset: ?>>) outs(%t25 : memref<16384xf32>)
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %t8, %t9, %t10, %t11, %t12, %t13, %t14, %t15, %t16, %t17, %t18, %t19, %t20, %t21, %t22, %t23, %t24, %t25 : memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>)
        outs(%out : memref<16384xf32, strided<[1], offset: ?>>) {
    ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %a9: f32, %a10: f32, %a11: f32, %a12: f32, %a13: f32, %a14: f32, %a15: f32, %a16: f32, %a17: f32, %a18: f32, %a19: f32, %a20: f32, %a21: f32, %a22: f32, %a23: f32, %a24: f32, %a25: f32, %old: f32):
      %s = arith.addf %a0, %a25 : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// A row of a mask counts as words, as a device without bytes keeps it: beside what the threads meet
// in, 4094 of them have no room in the workgroup's memory.

// CHECK-LABEL: func.func @masked(
// CHECK:         memref.alloc() : memref<262016xi1>
// CHECK:       gpu.func @kernel0(
// CHECK-NOT:     memref<4094xi{{[0-9]+}}, #gpu.address_space<workgroup>>
func.func @masked(%x: memref<64x4094xf32>, %y: memref<64x4094xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4094] [1, 1] : memref<64x4094xf32> to memref<4094xf32, strided<[1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, 4094] [1, 1] : memref<64x4094xf32> to memref<4094xf32, strided<[1], offset: ?>>
    %mask = memref.alloc() : memref<4094xi1>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%row : memref<4094xf32, strided<[1], offset: ?>>) outs(%mask : memref<4094xi1>) {
    ^bb0(%a: f32, %old: i1):
      %t = arith.cmpf ogt, %a, %zero : f32
      linalg.yield %t : i1
    }
    %sum = memref.alloc() : memref<f32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<f32>)
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%row, %mask : memref<4094xf32, strided<[1], offset: ?>>, memref<4094xi1>) outs(%sum : memref<f32>) {
    ^bb0(%a: f32, %m: i1, %s: f32):
      %v = arith.select %m, %a, %zero : f32
      %t = arith.addf %s, %v : f32
      linalg.yield %t : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%row, %mask, %sum : memref<4094xf32, strided<[1], offset: ?>>, memref<4094xi1>, memref<f32>) outs(%out : memref<4094xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %m: i1, %s: f32, %old: f32):
      %q = arith.divf %a, %s : f32
      %v = arith.select %m, %q, %zero : f32
      linalg.yield %v : f32
    }
  }
  return
}

// -----

// A kernel knows the bits of bfloat16, and the host gives it those.

// CHECK-LABEL: func.func @half
// CHECK:         %[[X:.*]] = memref.reinterpret_cast %arg0 {{.*}} to memref<?xbf16>
// CHECK:         %[[XS:.*]] = xtensor.bits %[[X]] : memref<?xbf16> to memref<?xi16>
// CHECK:         gpu.launch_func {{.*}} args(%[[XS]] : memref<?xi16>, %{{.*}} : memref<?xi16>)
// CHECK:       gpu.func @kernel0(%{{.*}}: memref<?xi16>, %{{.*}}: memref<?xi16>)
func.func @half(%x: memref<8xbf16>, %out: memref<8xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xbf16>) outs(%out : memref<8xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.addf %a, %a : bf16
    linalg.yield %0 : bf16
  }
  return
}
