// Products with functions that the math dialect lacks, on a processor that multiplies and adds at once.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(func.func(xtensor-expand-math))' | FileCheck %s

module attributes {xtensor.processor = "cpu:x86-64-v3"} {
// gelu: of a finite x, x ndtr(x) is the greater one of x and 0, less a product with the tail. If it
// is rounded to 8 digits, one exponential of a polynomial is enough up to 4.
// CHECK-LABEL: func.func @gelu
// CHECK: scf.if
// CHECK: math.fma
// CHECK: } else {
// CHECK: arith.mulf %{{.*}} fastmath<contract>
// CHECK: arith.addf %{{.*}} fastmath<contract>
// CHECK-NOT: arith.select
// CHECK: arith.truncf
func.func @gelu(%z: vector<16xf32>) -> vector<16xbf16> {
  %most = arith.constant dense<15.0> : vector<16xf32>
  %least = arith.constant dense<-15.0> : vector<16xf32>
  %above = arith.cmpf ogt, %z, %most : vector<16xf32>
  %y = arith.select %above, %most, %z : vector<16xi1>, vector<16xf32>
  %below = arith.cmpf olt, %y, %least : vector<16xf32>
  %x = arith.select %below, %least, %y : vector<16xi1>, vector<16xf32>
  %n = xtensor.elementary "ndtr" %x : vector<16xf32>
  %p = arith.mulf %x, %n : vector<16xf32>
  %r = arith.truncf %p : vector<16xf32> to vector<16xbf16>
  return %r : vector<16xbf16>
}

// The emitter of vectors writes a constant as copies of a number.
// CHECK-LABEL: func.func @clamped_by_copies
// CHECK: math.fma
// CHECK: } else {
// CHECK-NOT: arith.subf
// CHECK: return
func.func @clamped_by_copies(%z: vector<16xf32>) -> vector<16xf32> {
  %fifteen = arith.constant 15.0 : f32
  %most = vector.broadcast %fifteen : f32 to vector<16xf32>
  %minus_fifteen = arith.constant -15.0 : f32
  %least = vector.broadcast %minus_fifteen : f32 to vector<16xf32>
  %above = arith.cmpf ogt, %z, %most : vector<16xf32>
  %y = arith.select %above, %most, %z : vector<16xi1>, vector<16xf32>
  %below = arith.cmpf olt, %y, %least : vector<16xf32>
  %x = arith.select %below, %least, %y : vector<16xi1>, vector<16xf32>
  %n = xtensor.elementary "ndtr" %x : vector<16xf32>
  %p = arith.mulf %x, %n : vector<16xf32>
  return %p : vector<16xf32>
}

// If x is clamped only where the tail is 0, and the result is x above the bound, no clamp is left.
// CHECK-LABEL: func.func @clamped_beyond_the_tail
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK: math.absf %[[X]]
// CHECK: } else {
// CHECK: arith.mulf
// CHECK-NEXT: %[[R:.*]] = arith.addf
// CHECK-NEXT: return %[[R]]
func.func @clamped_beyond_the_tail(%z: vector<16xf32>) -> vector<16xf32> {
  %most = arith.constant dense<15.0> : vector<16xf32>
  %least = arith.constant dense<-15.0> : vector<16xf32>
  %above = arith.cmpf ogt, %z, %most : vector<16xf32>
  %y = arith.select %above, %most, %z : vector<16xi1>, vector<16xf32>
  %below = arith.cmpf olt, %y, %least : vector<16xf32>
  %x = arith.select %below, %least, %y : vector<16xi1>, vector<16xf32>
  %n = xtensor.elementary "ndtr" %x : vector<16xf32>
  %p = arith.mulf %x, %n : vector<16xf32>
  %r = arith.select %above, %z, %p : vector<16xi1>, vector<16xf32>
  return %r : vector<16xf32>
}

// A bound of 2 changes the result.
// CHECK-LABEL: func.func @clamped_inside
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK-NOT: math.absf %[[X]]
// CHECK: } else {
// CHECK: arith.addf
// CHECK-NEXT: %[[R:.*]] = arith.select %{{.*}}, %[[X]]
// CHECK-NEXT: return %[[R]]
func.func @clamped_inside(%z: vector<16xf32>) -> vector<16xf32> {
  %most = arith.constant dense<2.0> : vector<16xf32>
  %least = arith.constant dense<-15.0> : vector<16xf32>
  %above = arith.cmpf ogt, %z, %most : vector<16xf32>
  %y = arith.select %above, %most, %z : vector<16xi1>, vector<16xf32>
  %below = arith.cmpf olt, %y, %least : vector<16xf32>
  %x = arith.select %below, %least, %y : vector<16xi1>, vector<16xf32>
  %n = xtensor.elementary "ndtr" %x : vector<16xf32>
  %p = arith.mulf %x, %n : vector<16xf32>
  %r = arith.select %above, %z, %p : vector<16xi1>, vector<16xf32>
  return %r : vector<16xf32>
}

}
