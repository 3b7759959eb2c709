// Passes from kernels of the gpu dialect to SPIR-V binaries.

#ifndef XTENSOR_PASSES_SPIRV
#define XTENSOR_PASSES_SPIRV

include "mlir/Pass/PassBase.td"

def ConvertToSPIRV : Pass<"xtensor-convert-to-spirv", "::mlir::ModuleOp"> {
  let summary = "Convert kernels to SPIR-V for Vulkan, beside their gpu.module";
  let description = [{
    The pass uses upstream's patterns and adds what they lack for our kernels:

    * Numbers are push constants rather than one buffer each.
    * Workgroup memory may be an attribution.
    * Barriers order buffers as well as workgroup memory.
    * Loops keep their results if they run zero times.

    ```mlir
    gpu.func @kernel0(%x: memref<?xf32>, %n: i32) kernel { .. }
    ```
    ==>
    ```mlir
    spirv.module Logical GLSL450 {
      spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
      spirv.GlobalVariable @kernel0_numbers : !spirv.ptr<!spirv.struct<(!spirv.array<1 x i32, stride=4> [0])>, PushConstant>
      spirv.func @kernel0() { .. }
      spirv.EntryPoint "GLCompute" @kernel0, ..
    }
    ```
  }];
  let dependentDialects = ["::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::spirv::SPIRVDialect",
                           "::mlir::vector::VectorDialect"];
}

def DeclareCapabilities : Pass<"xtensor-declare-capabilities", "::mlir::spirv::ModuleOp"> {
  let summary = "Declare capabilities that ops need and do not request";
  let description = [{
    Upstream adds the capabilities that ops request. Atomic ops of 64-bit integers request only that
    of the type. The variable that holds a subgroup's number requests none. The pass runs after
    xtensor's conversion and upstream's spirv-update-vce.

    ```mlir
    spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Int64, Shader], []>
      %now = spirv.AtomicCompareExchange <Device> <None> <None> %place, %new, %old : !spirv.ptr<i64, StorageBuffer>
    ```
    ==>
    ```mlir
    spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Int64, Shader, Int64Atomics], []>
    ```
  }];
}

def SerializeSPIRV : Pass<"xtensor-serialize-spirv", "::mlir::ModuleOp"> {
  let summary = "Turn SPIR-V modules into the code of their kernels";
  let description = [{
    The binary is an attribute of the gpu.module. The host's object takes it from there. Upstream's
    gpu-module-to-binary leaves an op that only its own runtimes read.

    ```mlir
    gpu.module @kernel0 { .. }
    spirv.module @__spv__kernel0 { .. }
    ```
    ==>
    ```mlir
    gpu.module @kernel0 attributes {xtensor.code = "\03\02\23\07.."} { .. }
    ```
  }];
}

def NarrowComparisons : Pass<"xtensor-narrow-comparisons"> {
  let summary = "Compare integers with constants in the width that they come in";
  let description = [{
    The pass removes 64-bit operations, which GPUs do slowly or not at all. llvmpipe (Mesa 22.3)
    also gives wrong results if a 32-bit integer is extended and then compared with a constant.
    Upstream's canonicalisation leaves the extension.

    After the driver has unrolled a loop, it may find such a comparison where the kernel has none.
    So the pass flips the signs of other 64-bit integers and compares them as unsigned numbers.

    ```mlir
    %wide = arith.extsi %x : i32 to i64
    %y = arith.cmpi slt, %wide, %c0 : i64
    ```
    ==>
    ```mlir
    %y = arith.cmpi slt, %x, %c0_i32 : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TruncateInSteps : Pass<"xtensor-truncate-in-steps"> {
  let summary = "Convert float64 to bfloat16 through float32, rounded once";
  let description = [{
    Upstream's expansion of casts to bfloat16 takes the upper half of its operand, even of a
    float64. Rounding to float32 and then to bfloat16 would round twice. So the first step rounds to
    odd, and the second step decides as if it were the only one.

    ```mlir
    %y = arith.truncf %x : f64 to bf16
    ```
    ==>
    ```mlir
    %odd = ..   // float32, the last bit set if anything was cut off
    %y = arith.truncf %odd : f32 to bf16
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // XTENSOR_PASSES_SPIRV
