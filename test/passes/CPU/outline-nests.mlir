// RUN: xtensor-opt %s --xtensor-outline-nests | FileCheck %s --check-prefix=SHARE
// RUN: xtensor-opt %s --xtensor-outline-nests="max-nests=2" | FileCheck %s --check-prefix=CUT

// Equal nests, with what reads their results, are one function; one that differs stays.
// SHARE-LABEL: func.func @equal
// SHARE-SAME: (%[[X:.*]]: memref<64xf32>, %[[Y:.*]]: memref<64xf32>, %[[S:.*]]: memref<f32>)
// SHARE-NOT: scf.for
// SHARE: call @nest0(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// SHARE-NOT: scf.for
// SHARE: call @nest0(
// SHARE: return
func.func @equal(%x: memref<64xf32>, %y: memref<64xf32>, %s: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %a = scf.for %i = %c0 to %c64 step %c1 iter_args(%r = %zero) -> f32 {
    %v = memref.load %x[%i] : memref<64xf32>
    %n = arith.addf %r, %v : f32
    scf.yield %n : f32
  } {xtensor.nest}
  memref.store %a, %s[] : memref<f32>
  %b = scf.for %i = %c0 to %c64 step %c1 iter_args(%r = %zero) -> f32 {
    %v = memref.load %y[%i] : memref<64xf32>
    %n = arith.addf %r, %v : f32
    scf.yield %n : f32
  } {xtensor.nest}
  memref.store %b, %s[] : memref<f32>
  return
}

// Another constant is another nest, and so is another pattern of operands. The loops of a program,
// which no emitter marked, stay where they are.
// SHARE-LABEL: func.func @unequal
// SHARE-NOT: call @nest
// SHARE: return
func.func @unequal(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  scf.for %t = %c0 to %c64 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %one, %x[%i] : memref<64xf32>
    } {xtensor.nest}
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %two, %x[%i] : memref<64xf32>
    } {xtensor.nest}
  }
  scf.for %t = %c0 to %c64 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %v = memref.load %x[%i] : memref<64xf32>
      memref.store %v, %y[%i] : memref<64xf32>
    } {xtensor.nest}
    scf.for %i = %c0 to %c64 step %c1 {
      %v = memref.load %x[%i] : memref<64xf32>
      memref.store %v, %x[%i] : memref<64xf32>
    } {xtensor.nest}
  }
  return
}

// A long block is cut. Parts make their addresses again; a number that a later part needs keeps
// the two together.
// CUT-LABEL: func.func @long
// CUT: call @[[A:part[0-9]+]](
// CUT: call @[[B:part[0-9]+]](
// CUT-NOT: call @part
// CUT: scf.for
// CUT: return
func.func @long(%memory: memref<1024xi8>, %n: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c64 = arith.constant 64 : index
  %x = memref.view %memory[%c0][] : memref<1024xi8> to memref<64xf32>
  %y = memref.view %memory[%c256][] : memref<1024xi8> to memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.divf %v, %v : f32
    memref.store %w, %y[%i] : memref<64xf32>
  } {xtensor.nest}
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<64xf32>
  } {xtensor.nest}
  %one = memref.load %n[] : memref<f32>
  %two = arith.addf %one, %one : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.mulf %v, %v : f32
    memref.store %w, %y[%i] : memref<64xf32>
  } {xtensor.nest}
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %y[%i] : memref<64xf32>
    %w = arith.addf %v, %one : f32
    memref.store %w, %x[%i] : memref<64xf32>
  } {xtensor.nest}
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %y[%i] : memref<64xf32>
    %w = arith.mulf %v, %two : f32
    memref.store %w, %x[%i] : memref<64xf32>
  } {xtensor.nest}
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %y[%i] : memref<64xf32>
    %w = arith.subf %v, %v : f32
    memref.store %w, %x[%i] : memref<64xf32>
  } {xtensor.nest}
  return
}

// What a loop hands to its next step stays with it, and so does what runs per element.
// CUT-LABEL: func.func @carried
// CUT-NOT: call @part
// CUT: return
func.func @carried(%x: memref<64xf32>, %n: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %last = scf.for %t = %c0 to %c64 step %c1 iter_args(%c = %zero) -> f32 {
    %one = memref.load %n[] : memref<f32>
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %c, %x[%i] : memref<64xf32>
    } {xtensor.nest}
    scf.for %i = %c0 to %c64 step %c1 {
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.subf %v, %c : f32
      memref.store %w, %x[%i] : memref<64xf32>
    } {xtensor.nest}
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %v = vector.load %x[%j] : memref<64xf32>, vector<4xf32>
        vector.store %v, %x[%i] : memref<64xf32>, vector<4xf32>
        %u = vector.load %x[%i] : memref<64xf32>, vector<4xf32>
        vector.store %u, %x[%j] : memref<64xf32>, vector<4xf32>
      }
    } {xtensor.nest}
    %next = arith.addf %c, %one : f32
    scf.yield %next : f32
  }
  memref.store %last, %n[] : memref<f32>
  return
}

// SHARE-LABEL: func.func private @nest0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// SHARE: %[[SUM:.*]] = scf.for
// SHARE: memref.store %[[SUM]]
// SHARE-NOT: @nest1

// CUT: func.func private @[[A]](%{{[^,]*}}: !llvm.ptr)
// CUT: memref.view
// CUT-COUNT-2: scf.for

// CUT: func.func private @[[B]](
// CUT: memref.load
// CUT: arith.addf
// CUT-COUNT-3: scf.for
