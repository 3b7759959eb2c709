// Functions that the math dialect lacks become arithmetic on all lanes, and logarithms polynomials.
// What only some arguments need is skipped if no lane has one.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(func.func(xtensor-expand-math))' | FileCheck %s --implicit-check-not=xtensor. --implicit-check-not=math.log

// CHECK-LABEL: func.func @f32
// CHECK: arith.mulf %{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: %[[ANY:.+]] = vector.reduction <or>, %[[FAR:.+]] : vector<16xi1> into i1
// CHECK: scf.if %[[ANY]]
// CHECK: arith.select %[[FAR]]
func.func @f32(%x: vector<16xf32>) -> vector<16xf32> {
  %y = xtensor.elementary "erfinv" %x : vector<16xf32>
  return %y : vector<16xf32>
}

// erfinv of f64 takes its logarithm by arithmetic, of numbers between 0 and 1: no call of libmvec.
// CHECK-LABEL: func.func @f64
// CHECK: arith.shrsi %{{.*}} : vector<8xi64>
// CHECK: arith.sitofp %{{.*}} : vector<8xi64> to vector<8xf64>
func.func @f64(%x: vector<8xf64>) -> vector<8xf64> {
  %y = xtensor.elementary "erfinv" %x : vector<8xf64>
  return %y : vector<8xf64>
}

// CHECK-LABEL: func.func @number
// CHECK: arith.mulf %{{.*}} : f64
// CHECK: scf.if
func.func @number(%x: f64) -> f64 {
  %y = xtensor.elementary "i0e" %x : f64
  return %y : f64
}

// The rest of a quotient that has places below one takes one rounding. Other lanes call fmod.
// CHECK-LABEL: func.func @rest
// CHECK: arith.divf
// CHECK: math.floor
// CHECK: math.fma
// CHECK: scf.if
// CHECK: arith.remf
func.func @rest(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %r = arith.remf %x, %y : vector<16xf32>
  return %r : vector<16xf32>
}

// By way of f32. If this lies halfway between two, then with the last bit set where it is inexact,
// so that it is rounded once.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// CHECK: scf.if
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
func.func @narrow(%x: vector<8xf64>) -> vector<8xbf16> {
  %y = arith.truncf %x : vector<8xf64> to vector<8xbf16>
  return %y : vector<8xbf16>
}

// tanh of f64 is arithmetic, with one division. The power of two is made of the last places of a sum.
// CHECK-LABEL: func.func @tanh
// CHECK-NOT: math.tanh
// CHECK: arith.shli %{{.*}} : vector<8xi64>
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: math.copysign
func.func @tanh(%x: vector<8xf64>) -> vector<8xf64> {
  %y = math.tanh %x : vector<8xf64>
  return %y : vector<8xf64>
}

// expm1 of f32 is arithmetic: upstream's polynomial is e^x - 1 by way of a logarithm.
// CHECK-LABEL: func.func @expm1
// CHECK-NOT: math.expm1
// CHECK: arith.mulf %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK-NOT: arith.divf
// CHECK: return
func.func @expm1(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.expm1 %x : vector<8xf32>
  return %y : vector<8xf32>
}

// exp of f32 is arithmetic: a polynomial and a power, made of the last places of a sum.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.floor
// CHECK-NOT: math.exp
// CHECK: arith.shli %{{.*}} : vector<16xi32>
// CHECK: arith.addf %{{.*}} fastmath<contract>
// CHECK: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// The larger one of two numbers: both orders of an instruction that gives the second one of two
// zeros, and a branch for NaN. Vectors stay.
// CHECK-LABEL: func.func @larger
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[Y]]
// CHECK: scf.if %[[NAN]]
// CHECK: arith.addf %[[X]], %[[Y]]
// CHECK: arith.cmpf ogt, %[[X]], %[[Y]]
// CHECK: arith.cmpf ogt, %[[Y]], %[[X]]
// CHECK: arith.andi
// CHECK: arith.maximumf %{{.*}} : vector<16xf32>
func.func @larger(%x: f32, %y: f32, %v: vector<16xf32>) -> (f32, vector<16xf32>) {
  %z = arith.maximumf %x, %y : f32
  %w = arith.maximumf %v, %v : vector<16xf32>
  return %z, %w : f32, vector<16xf32>
}

// CHECK-LABEL: func.func @smaller
// CHECK: arith.cmpf uno
// CHECK: arith.cmpf olt
// CHECK: arith.ori
func.func @smaller(%x: f64, %y: f64) -> f64 {
  %z = arith.minimumf %x, %y : f64
  return %z : f64
}
