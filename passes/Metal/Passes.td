// The pass from SPIR-V to Metal's shading language.

#ifndef XTENSOR_PASSES_METAL
#define XTENSOR_PASSES_METAL

include "mlir/Pass/PassBase.td"

def TranslateToMSL : Pass<"xtensor-translate-to-msl", "::mlir::ModuleOp"> {
  let summary = "Translate SPIR-V modules to kernels in Metal's shading language";
  let description = [{
    SPIRV-Cross translates a module to text in Metal's language. Buffer i has index i, even if the
    kernel does not use all buffers. The numbers of the kernel have the index after the last buffer.
    The compiler loads SPIRV-Cross when it translates the first kernel. If it is missing, the error
    says what to install.

    ```mlir
    gpu.module @kernel0 { .. }
    spirv.module @__spv__kernel0 { .. }
    ```
    ==>
    ```mlir
    gpu.module @kernel0 attributes {xtensor.code = "#include <metal_stdlib> .."} { .. }
    ```
  }];
}

#endif // XTENSOR_PASSES_METAL
