// Passes from kernels of the gpu dialect to PTX.

#ifndef XTENSOR_PASSES_NVVM
#define XTENSOR_PASSES_NVVM

include "mlir/Pass/PassBase.td"

def ConvertToNVVM : Pass<"xtensor-convert-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Convert kernels to the LLVM dialect for NVIDIA's GPUs, beside their gpu.module";
  let description = [{
    The pass uses upstream's patterns, except for memory. Our kernels have flat buffers, and a
    buffer is an address. Upstream passes five numbers per buffer, or needs static sizes. Its
    elementary functions call a library of NVIDIA.

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
    LLVM writes the text for the chip of the module's target. On first use, the driver's assembler
    makes machine code of it. The text is an attribute of the gpu.module and ends with a zero. The
    host's object takes it from there. Upstream's gpu-module-to-binary leaves an op that only its
    own runtimes read.

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
