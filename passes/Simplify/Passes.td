// Clean-up passes. Each example is part of test/passes/Simplify/simplify.mlir.
#ifndef XTENSOR_SIMPLIFY_PASSES_TD
#define XTENSOR_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def Simplify : Pass<"xtensor-simplify"> {
  let summary = "Remove work that no result needs";
  let description = [{
    Why: derivative code is assembled rule by rule. It holds code that nobody would write: sums of a
    broadcast, products with ones, the same value twice.

    ```mlir
    %b = xtensor.broadcast %s : (!xtensor.array<f32>) -> !xtensor.array<i: 3, f32>
    %0 = xtensor.mul %b, %x : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
    ==>
    %0 = xtensor.mul %s, %x : !xtensor.array<f32>, !xtensor.array<i: 3, f32>
    ```
  }];
}

#endif // XTENSOR_SIMPLIFY_PASSES_TD
