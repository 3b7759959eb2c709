// Clean-up passes. Each example is part of test/passes/Simplify/simplify.mlir.
#ifndef XTENSOR_SIMPLIFY_PASSES_TD
#define XTENSOR_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def Simplify : Pass<"xtensor-simplify"> {
  let summary = "Remove work that no result needs";
  let description = [{
    Why: each derivative rule emits code without knowledge of the others. So derivative code
    contains redundant ops: sums of a broadcast, products with ones, two ops that compute the same
    value.

    ```mlir
    %b = xtensor.broadcast %s : (!xtensor.array<f32>) -> !xtensor.array<i: 3, f32>
    %0 = xtensor.mul %b, %x : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
    ==>
    %0 = xtensor.mul %s, %x : !xtensor.array<f32>, !xtensor.array<i: 3, f32>
    ```
  }];
}

#endif // XTENSOR_SIMPLIFY_PASSES_TD
