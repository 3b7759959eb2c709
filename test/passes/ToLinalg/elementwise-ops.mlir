// Every elementwise op, and what keeps integers from trapping.
// RUN: xtensor-opt %s --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

!f = !xtensor.array<i: 4, f32>
!i = !xtensor.array<i: 4, i32>
!u = !xtensor.array<i: 4, ui32>
!b = !xtensor.array<i: 4, i1>

// CHECK-LABEL: func.func @functions
func.func @functions(%0: !f) -> !f {
  // CHECK: math.acos
  %1 = xtensor.acos %0 : !f
  // CHECK: math.acosh
  %2 = xtensor.acosh %1 : !f
  // CHECK: math.asin
  %3 = xtensor.asin %2 : !f
  // CHECK: math.asinh
  %4 = xtensor.asinh %3 : !f
  // CHECK: math.atan
  %5 = xtensor.atan %4 : !f
  // CHECK: math.atanh
  %6 = xtensor.atanh %5 : !f
  // CHECK: math.cbrt
  %7 = xtensor.cbrt %6 : !f
  // CHECK: math.ceil
  %8 = xtensor.ceil %7 : !f
  // CHECK: math.cos
  %9 = xtensor.cos %8 : !f
  // CHECK: math.cosh
  %10 = xtensor.cosh %9 : !f
  // CHECK: math.erf
  %11 = xtensor.erf %10 : !f
  // CHECK: math.erfc
  %12 = xtensor.erfc %11 : !f
  // CHECK: math.exp
  %13 = xtensor.exp %12 : !f
  // CHECK: math.exp2
  %14 = xtensor.exp2 %13 : !f
  // CHECK: math.expm1
  %15 = xtensor.expm1 %14 : !f
  // CHECK: math.floor
  %16 = xtensor.floor %15 : !f
  // CHECK: math.log
  %17 = xtensor.log %16 : !f
  // CHECK: math.log10
  %18 = xtensor.log10 %17 : !f
  // CHECK: math.log1p
  %19 = xtensor.log1p %18 : !f
  // CHECK: math.log2
  %20 = xtensor.log2 %19 : !f
  // CHECK: math.roundeven
  %21 = xtensor.round %20 : !f
  // CHECK: math.rsqrt
  %22 = xtensor.rsqrt %21 : !f
  // CHECK: math.sin
  %23 = xtensor.sin %22 : !f
  // CHECK: math.sinh
  %24 = xtensor.sinh %23 : !f
  // CHECK: math.sqrt
  %25 = xtensor.sqrt %24 : !f
  // CHECK: math.tan
  %26 = xtensor.tan %25 : !f
  // CHECK: math.tanh
  %27 = xtensor.tanh %26 : !f
  // CHECK: math.trunc
  %28 = xtensor.trunc %27 : !f
  // CHECK: math.absf
  %29 = xtensor.abs %28 : !f
  // CHECK: arith.negf
  %30 = xtensor.neg %29 : !f
  // CHECK: cmpf oeq
  // CHECK: cmpf olt
  // CHECK: cmpf ogt
  %31 = xtensor.sign %30 : !f
  // Identities are no ops.
  // CHECK-NOT: linalg.generic
  %n = xtensor.constant dense<4> : tensor<i64> as !xtensor.array<i64>
  %b = xtensor.barrier "one" of %31 : !f
  %32 = xtensor.sized %b by () : (!f) -> !f
  %33 = xtensor.stop_gradient %32 : !f
  return %33 : !f
}

// CHECK-LABEL: func.func @tests
func.func @tests(%x: !f) -> (!b, !b) {
  // CHECK: arith.cmpf uno
  %0 = xtensor.isnan %x : !f
  // CHECK: arith.cmpf oeq
  %1 = xtensor.isinf %x : !f
  // CHECK: arith.cmpf olt
  %2 = xtensor.isfinite %x : !f
  // CHECK: arith.ori {{.*}} : i1
  %3 = xtensor.or %0, %1 : !b, !b
  // CHECK: arith.xori {{.*}} : i1
  %4 = xtensor.not %2 : !b
  // CHECK: arith.cmpf une
  %5 = xtensor.compare ne %x, %x : !f, !f
  // CHECK: arith.xori {{.*}} : i1
  %6 = xtensor.xor %4, %5 : !b, !b
  return %3, %6 : !b, !b
}

// CHECK-LABEL: func.func @select
// CHECK: ^bb0(%[[C:.*]]: i8, %[[X:.*]]: f16, %{{.*}}: f16):
// CHECK: %[[P:.*]] = arith.cmpi ne, %[[C]]
// What is passed through is not converted.
// CHECK: arith.select %[[P]], %[[X]], %{{.*}} : f16
func.func @select(%c: !b, %x: !xtensor.array<i: 4, f16>) -> !xtensor.array<i: 4, f16> {
  %zero = xtensor.constant dense<0.0> : tensor<f16> as !xtensor.array<f16>
  %y = xtensor.select %c, %x, %zero : !b, !xtensor.array<i: 4, f16>, !xtensor.array<f16>
  return %y : !xtensor.array<i: 4, f16>
}

// CHECK-LABEL: func.func @floats
func.func @floats(%x: !f, %y: !f) -> !f {
  // CHECK: arith.addf
  %0 = xtensor.add %x, %y : !f, !f
  // CHECK: arith.subf
  %1 = xtensor.sub %0, %y : !f, !f
  // CHECK: arith.divf
  %2 = xtensor.div %1, %y : !f, !f
  // CHECK: math.powf
  %3 = xtensor.pow %2, %y : !f, !f
  // CHECK: arith.maximumf
  %4 = xtensor.maximum %3, %y : !f, !f
  // CHECK: arith.minimumf
  %5 = xtensor.minimum %4, %y : !f, !f
  // CHECK: math.atan2
  %6 = xtensor.atan2 %5, %y : !f, !f
  // CHECK: math.copysign
  %7 = xtensor.copysign %6, %y : !f, !f
  // CHECK: arith.remf
  %8 = xtensor.mod %7, %y : !f, !f
  // A zero wins over inf and NaN.
  // CHECK: ^bb0(%[[L:.*]]: f32, %[[R:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[Z:.*]] = arith.cmpf oeq, %[[R]]
  // CHECK: %[[P:.*]] = arith.mulf %[[L]], %[[R]]
  // CHECK: arith.select %[[Z]], %{{.*}}, %[[P]]
  %9 = xtensor.scale %8, %y : !f, !f
  // CHECK: arith.mulf
  // CHECK-NOT: math.powf
  %two = xtensor.constant dense<2.0> : tensor<f32> as !xtensor.array<f32>
  %10 = xtensor.pow %9, %two : !f, !xtensor.array<f32>
  return %10 : !f
}

// CHECK-LABEL: func.func @integers
func.func @integers(%x: !i, %y: !i, %u: !u) -> (!i, !u) {
  // The divisor is never 0 or -1; by 0 the quotient is 0.
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
  // CHECK: %[[SAFE:.*]] = arith.select
  // CHECK: %[[SAFER:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SAFE]]
  // CHECK: arith.divsi %{{.*}}, %[[SAFER]]
  %0 = xtensor.floor_div %x, %y : !i, !i
  // CHECK: arith.divui
  %v = xtensor.floor_div %u, %u : !u, !u
  // CHECK: scf.for
  %1 = xtensor.pow %0, %y : !i, !i
  // CHECK: arith.cmpi uge
  // CHECK: arith.shli
  %2 = xtensor.shl %1, %y : !i, !i
  // CHECK: arith.shrsi
  %3 = xtensor.shr %2, %y : !i, !i
  // CHECK: arith.shrui
  %w = xtensor.shr %v, %v : !u, !u
  // CHECK: arith.maxui
  %m = xtensor.maximum %w, %u : !u, !u
  // CHECK: arith.muli
  %4 = xtensor.mul %3, %y : !i, !i
  // CHECK: arith.andi
  %5 = xtensor.and %4, %y : !i, !i
  // CHECK: arith.uitofp
  %f = xtensor.cast %m to f32 : !u
  // Clamped before the conversion, which would otherwise be undefined.
  // CHECK: arith.cmpf uno
  // CHECK: arith.cmpf ogt
  // CHECK: arith.fptosi
  %g = xtensor.cast %f to i32 : !f
  // CHECK: arith.addi
  %6 = xtensor.add %5, %g : !i, !i
  return %6, %m : !i, !u
}

// Functions that the math dialect lacks stay one op until processors or kernels are chosen.
// CHECK-LABEL: func.func @elementary
func.func @elementary(%n: !xtensor.array<f32>, %x: !f) -> (!f, !f) {
  // CHECK: xtensor.elementary "lgamma" %{{.*}} : f32
  %0 = xtensor.lgamma %x : !f
  // CHECK: xtensor.elementary "polygamma" %{{.*}}, %{{.*}} : f32
  %1 = xtensor.polygamma %n, %x : !xtensor.array<f32>, !f
  // CHECK: xtensor.elementary "digamma" %{{.*}} : f32
  %2 = xtensor.digamma %1 : !f
  // CHECK: xtensor.elementary "erfcinv" %{{.*}} : f32
  %3 = xtensor.erfcinv %2 : !f
  // CHECK: xtensor.elementary "erfcx" %{{.*}} : f32
  %4 = xtensor.erfcx %3 : !f
  // CHECK: xtensor.elementary "erfinv" %{{.*}} : f32
  %n0 = xtensor.erfinv %4 : !f
  // CHECK: xtensor.elementary "ndtr" %{{.*}} : f32
  %5 = xtensor.ndtr %n0 : !f
  // CHECK: xtensor.elementary "gammainc" %{{.*}}, %{{.*}} : f32
  %g0 = xtensor.gammainc %5, %x : !f, !f
  // CHECK: xtensor.elementary "gammaincc" %{{.*}}, %{{.*}} : f32
  %g1 = xtensor.gammaincc %g0, %x : !f, !f
  // CHECK: xtensor.elementary "gammainc_by_a" %{{.*}}, %{{.*}}, %{{.*}} : f32
  %g2 = xtensor.gammainc_by_a %n, %g1, %x : !xtensor.array<f32>, !f, !f
  // CHECK: xtensor.elementary "gamma_density_by_a" %{{.*}}, %{{.*}}, %{{.*}} : f32
  %g3 = xtensor.gamma_density_by_a %n, %g2, %x : !xtensor.array<f32>, !f, !f
  // CHECK: xtensor.elementary "betainc" %{{.*}}, %{{.*}}, %{{.*}} : f32
  %b0 = xtensor.betainc %g3, %g3, %x : !f, !f, !f
  // CHECK: xtensor.elementary "betainc_by" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32
  %b1 = xtensor.betainc_by %n, %n, %b0, %b0, %x : !xtensor.array<f32>, !xtensor.array<f32>, !f, !f, !f
  // CHECK: xtensor.elementary "beta_density_by" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32
  %b2 = xtensor.beta_density_by %n, %n, %b1, %b1, %x : !xtensor.array<f32>, !xtensor.array<f32>, !f, !f, !f
  // CHECK: xtensor.elementary "j0" %{{.*}} : f32
  %j0 = xtensor.j0 %b2 : !f
  // CHECK: xtensor.elementary "j1" %{{.*}} : f32
  %j1 = xtensor.j1 %j0 : !f
  // CHECK: xtensor.elementary "y0" %{{.*}} : f32
  %y0 = xtensor.y0 %j1 : !f
  // CHECK: xtensor.elementary "y1" %{{.*}} : f32
  %y1 = xtensor.y1 %y0 : !f
  // CHECK: xtensor.elementary "i0" %{{.*}} : f32
  %6 = xtensor.i0 %y1 : !f
  // CHECK: xtensor.elementary "i0e" %{{.*}} : f32
  %7 = xtensor.i0e %6 : !f
  // CHECK: xtensor.elementary "i1" %{{.*}} : f32
  %8 = xtensor.i1 %7 : !f
  // CHECK: xtensor.elementary "i1e" %{{.*}} : f32
  %9 = xtensor.i1e %8 : !f
  return %0, %9 : !f, !f
}
