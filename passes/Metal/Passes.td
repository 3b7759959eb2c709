// The pass from SPIR-V to Metal's shading language.

#ifndef XTENSOR_PASSES_METAL
#define XTENSOR_PASSES_METAL

include "mlir/Pass/PassBase.td"

def TranslateToMSL : Pass<"xtensor-translate-to-msl", "::mlir::ModuleOp"> {
  let summary = "Translate SPIR-V modules to kernels in Metal's shading language";
  let description = [{
    SPIRV-Cross writes the text. Buffer i is at index i. The numbers are at the index after the
    buffers. This holds even if a kernel does not use all of them. The compiler loads SPIRV-Cross at
    the first kernel. If it is missing, the error says what to install.

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
