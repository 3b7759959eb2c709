// Passes from kernels of the gpu dialect to PTX.

#ifndef XTENSOR_PASSES_NVVM
#define XTENSOR_PASSES_NVVM

include "mlir/Pass/PassBase.td"

def ConvertToNVVM : Pass<"xtensor-convert-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Convert kernels to the LLVM dialect for NVIDIA's GPUs, beside their gpu.module";
  let description = [{
    The pass uses upstream's patterns, except for memory and for elementary functions. Our kernels
    use flat buffers, so a buffer parameter is one address. Upstream passes five parameters per
    buffer, or needs static sizes. For elementary functions, upstream calls NVIDIA's libdevice.

    ```mlir
    gpu.func @kernel0(%x: memref<?xf32>, %n: i32) kernel { .. }
    ```
    ==>
    ```mlir
    module @kernel0_code {
      llvm.func @kernel0(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} { .. }
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::vector::VectorDialect"];
}

def SerializePTX : Pass<"xtensor-serialize-ptx", "::mlir::ModuleOp"> {
  let summary = "Translate kernels in the LLVM dialect to PTX";
  let description = [{
    LLVM writes the PTX text for the chip of the module's target. When a kernel is first used, the
    assembler in the driver makes machine code of the text. The pass writes the text, with a zero at
    its end, into an attribute of the gpu.module. The attribute becomes a constant of the host's
    object file (xtensor-launch-kernels). Upstream's gpu-module-to-binary makes an op that only
    upstream's runtimes can use.

    ```mlir
    gpu.module @kernel0 { .. }
    module @kernel0_code { .. }
    ```
    ==>
    ```mlir
    gpu.module @kernel0 attributes {xtensor.code = ".version 7.0 .target sm_80 .. .visible .entry kernel0 .."} { .. }
    ```
  }];
}

#endif // XTENSOR_PASSES_NVVM
