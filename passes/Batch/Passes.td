// The passes that vectorize by name. Each example is part of test/passes/Batch/batch.mlir.
#ifndef XTENSOR_BATCH_PASSES_TD
#define XTENSOR_BATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def Batch : Pass<"xtensor-batch"> {
  let summary = "Expand functions of one instance to all instances";
  let description = [{
    Why: ops align operands by name. So for most ops, the pass only adds the batch names to every
    value that depends on a batched value. The few other ops have a rule of their own. If the region
    contains a request for a derivative or another vectorize, that is expanded first.

    ```mlir
    %y = xtensor.vectorize over [v] at(%x, %w) {
    ^bb0(%x_: !xtensor.array<i: 3, f32>, %w_: !xtensor.array<i: 3, o: 2, f32>):
      %h = xtensor.contract %x_, %w_ over [i] : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, o: 2, f32>
      %s = xtensor.reduce max %h over [o] : !xtensor.array<o: 2, f32>
      xtensor.yield %s : !xtensor.array<f32>
    } : (!xtensor.array<v: 8, i: 3, f32>, !xtensor.array<i: 3, o: 2, f32>) -> !xtensor.array<v: 8, f32>
    ==>
    %h = xtensor.contract %x, %w over [i] : !xtensor.array<v: 8, i: 3, f32>, !xtensor.array<i: 3, o: 2, f32>
    %y = xtensor.reduce max %h over [o] : !xtensor.array<v: 8, o: 2, f32>
    ```
  }];
}

def PrintBatchRules : Pass<"xtensor-print-batch-rules"> {
  let summary = "Print the table of how ops are vectorized";
  let description = [{
    Why: the table shows which ops have a rule of their own. The pass fails if an op of the dialect
    is not in the table.
  }];
}

#endif // XTENSOR_BATCH_PASSES_TD
