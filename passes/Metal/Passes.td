// The pass from SPIR-V to Metal's shading language.

#ifndef XTENSOR_PASSES_METAL
#define XTENSOR_PASSES_METAL

include "mlir/Pass/PassBase.td"

def TranslateToMSL : Pass<"xtensor-translate-to-msl", "::mlir::ModuleOp"> {
  let summary = "SPIR-V modules become kernels in Metal's shading language";
  let description = [{
    SPIRV-Cross writes the text, with buffer i at index i and the numbers at the
    index after the buffers, whether a kernel uses all of them or not. It is
    loaded when the first kernel comes; without it the error says what to
    install.

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
