// The passes that vectorize by name. Each example is part of test/passes/Batch/batch.mlir.
#ifndef XTENSOR_BATCH_PASSES_TD
#define XTENSOR_BATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def Batch : Pass<"xtensor-batch"> {
  let summary = "Expand functions of one instance to all instances";
  let description = [{
    Why: ops meet by name, so that for most of them a batch is one more name of whatever
    depends on a batched value. The few ops that need more have a rule. A request for a
    derivative, or another vectorize, inside of the region is expanded first.

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
    Why: whatever is not by name, readable in a minute. Fails if an op of the dialect is not
    in the table.
  }];
}

#endif // XTENSOR_BATCH_PASSES_TD
