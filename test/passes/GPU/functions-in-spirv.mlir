// Every function, of both types, is SPIR-V that Vulkan runs: no 64-bit integers, and no rounding that a
// driver may change.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(gpu.module(xtensor-expand-scalar-math{inexact=f32}),xtensor-convert-to-spirv)' \
// RUN:   | FileCheck %s --implicit-check-not=' : i64' --implicit-check-not='{{spirv.F(Add|Sub|Mul|Div) %[a-z0-9_]+, %[a-z0-9_]+ :}}'

// CHECK-LABEL: spirv.module
// CHECK: spirv.func @xt_atan2_f64
// CHECK: spirv.func @kernel
// CHECK: spirv.FunctionCall @xt_acos_f32
// CHECK: spirv.FunctionCall @xt_acos_f64
// CHECK: spirv.FunctionCall @xt_powf_f64
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%x: memref<?xf32>, %y: memref<?xf64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.global_id x
      %s = memref.load %x[%i] : memref<?xf32>
      %d = memref.load %y[%i] : memref<?xf64>
      %a0 = math.acos %s : f32
      %a1 = math.acosh %a0 : f32
      %a2 = math.asin %a1 : f32
      %a3 = math.asinh %a2 : f32
      %a4 = math.atan %a3 : f32
      %a5 = math.atanh %a4 : f32
      %a6 = math.cbrt %a5 : f32
      %a7 = math.cos %a6 : f32
      %a8 = math.cosh %a7 : f32
      %a9 = math.erf %a8 : f32
      %a10 = math.erfc %a9 : f32
      %a11 = math.exp %a10 : f32
      %a12 = math.exp2 %a11 : f32
      %a13 = math.expm1 %a12 : f32
      %a14 = math.log %a13 : f32
      %a15 = math.log10 %a14 : f32
      %a16 = math.log1p %a15 : f32
      %a17 = math.log2 %a16 : f32
      %a18 = math.round %a17 : f32
      %a19 = math.rsqrt %a18 : f32
      %a20 = math.sin %a19 : f32
      %a21 = math.sinh %a20 : f32
      %a22 = math.tan %a21 : f32
      %a23 = math.tanh %a22 : f32
      %a24 = math.trunc %a23 : f32
      %ap = math.powf %a24, %s : f32
      %aq = math.atan2 %ap, %s : f32
      %ar = arith.remf %aq, %s : f32
      %as = math.copysign %ar, %s : f32
      memref.store %as, %x[%i] : memref<?xf32>
      %b0 = math.acos %d : f64
      %b1 = math.acosh %b0 : f64
      %b2 = math.asin %b1 : f64
      %b3 = math.asinh %b2 : f64
      %b4 = math.atan %b3 : f64
      %b5 = math.atanh %b4 : f64
      %b6 = math.cbrt %b5 : f64
      %b7 = math.cos %b6 : f64
      %b8 = math.cosh %b7 : f64
      %b9 = math.erf %b8 : f64
      %b10 = math.erfc %b9 : f64
      %b11 = math.exp %b10 : f64
      %b12 = math.exp2 %b11 : f64
      %b13 = math.expm1 %b12 : f64
      %b14 = math.log %b13 : f64
      %b15 = math.log10 %b14 : f64
      %b16 = math.log1p %b15 : f64
      %b17 = math.log2 %b16 : f64
      %b18 = math.round %b17 : f64
      %b19 = math.rsqrt %b18 : f64
      %b20 = math.sin %b19 : f64
      %b21 = math.sinh %b20 : f64
      %b22 = math.tan %b21 : f64
      %b23 = math.tanh %b22 : f64
      %b24 = math.trunc %b23 : f64
      %bp = math.powf %b24, %d : f64
      %bq = math.atan2 %bp, %d : f64
      %br = arith.remf %bq, %d : f64
      %bs = math.copysign %br, %d : f64
      memref.store %bs, %y[%i] : memref<?xf64>
      gpu.return
    }
  }
}
