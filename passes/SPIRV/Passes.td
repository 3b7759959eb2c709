// Passes from kernels of the gpu dialect to SPIR-V binaries.

#ifndef XTENSOR_PASSES_SPIRV
#define XTENSOR_PASSES_SPIRV

include "mlir/Pass/PassBase.td"

def ConvertToSPIRV : Pass<"xtensor-convert-to-spirv", "::mlir::ModuleOp"> {
  let summary = "Convert kernels to SPIR-V for Vulkan, beside their gpu.module";
  let description = [{
    The pass uses upstream's patterns and adds what they lack for our kernels:

    * Scalar parameters are push constants, not one buffer each.
    * Workgroup attributions of a gpu.func become variables in workgroup memory.
    * Barriers order buffers as well as workgroup memory.
    * The results of a loop are defined even if it runs zero times.

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
  let summary = "Declare capabilities that ops need, but that upstream does not derive from them";
  let description = [{
    Upstream's spirv-update-vce adds the capabilities that ops say they need. Atomic ops of 64-bit
    integers say that they need Int64, but not Int64Atomics. The variable that holds the number of a
    subgroup does not say that it needs a capability. The pass runs after xtensor-convert-to-spirv
    and spirv-update-vce, and adds these capabilities.

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
    The pass writes the SPIR-V binary into an attribute of the gpu.module. The attribute becomes a
    constant of the host's object file (xtensor-launch-kernels). Upstream's gpu-module-to-binary
    makes an op that only upstream's runtimes can use.

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
  let summary = "Compare extended integers with constants in their original width";
  let description = [{
    The pass has two reasons. GPUs do 64-bit operations slowly or not at all. llvmpipe (Mesa 22.3)
    also gives wrong results if a 32-bit integer is extended and then compared with a constant.
    Upstream's canonicalisation leaves the extension.

    A comparison may also get this form inside the driver, after it has unrolled a loop. So for
    other comparisons of 64-bit integers, the pass flips the sign bits and compares as unsigned
    numbers.

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
    odd: it sets the last bit if any bit is lost. The second step then rounds as if from the
    float64.

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
