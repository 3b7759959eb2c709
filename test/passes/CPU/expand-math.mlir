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

// CHECK-LABEL: func.func @number
// CHECK: arith.mulf %{{.*}} : f64
// CHECK: scf.if
func.func @number(%x: f64) -> f64 {
  %y = xtensor.elementary "i0e" %x : f64
  return %y : f64
}
