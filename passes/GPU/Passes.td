// Passes for kernels of GPUs. Each description says why, then shows IR before ==> after;
// test/passes/GPU has the same examples.

#ifndef XTENSOR_PASSES_GPU
#define XTENSOR_PASSES_GPU

include "mlir/Pass/PassBase.td"

def ExpandScalarMath : Pass<"xtensor-expand-scalar-math"> {
  let summary = "Write elementary functions of scalars as arithmetic";
  let description = [{
    Kernels have no libm. SPIR-V's instructions know no float64 exponential or
    sine, promise little of float32 ones, and have no erf or cbrt; PTX has fewer.
    This writes every function in additions, products, quotients, roots, and
    operations on 32-bit words, to the accuracy that the README states. Upstream's
    polynomials are float32 only and wrong for large arguments. Long functions
    become one function per type in the nearest symbol table (a gpu.module).

    ```mlir
    %y = math.exp %x : f64
    ```
    ==>
    ```mlir
    %y = func.call @xt_exp_f64(%x) : (f64) -> f64
    ```
  }];
  let options = [Option<"calls", "calls", "bool", "true",
                        "long functions are called; false: all are written in line">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // XTENSOR_PASSES_GPU
