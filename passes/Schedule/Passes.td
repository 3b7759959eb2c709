// The pass that chooses the chunks of parallel loops.

#ifndef XTENSOR_PASSES_SCHEDULE
#define XTENSOR_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"xtensor-schedule", "::mlir::func::FuncOp"> {
  let summary = "Choose the size of the chunks of parallel loops";
  let description = [{
    A thread takes chunks of a parallel loop. A chunk of little work costs more than it brings: to
    wake a thread takes about two microseconds. The pass estimates the work of one iteration. It
    writes on each `scf.forall` how many iterations a chunk has at least, as the attribute
    `xtensor.grain`. So the choice can be read, tested and changed in the IR.

    ```mlir
    scf.forall (%i) in (1000) { linalg.generic { negf } }           // 100 elements for each %i
    ```
    ==>
    ```mlir
    scf.forall (%i) in (1000) { linalg.generic { negf } } {xtensor.grain = 163 : i64}
    ```

    Upstream has no such pass. How a loop is vectorised and unrolled is chosen where its code is
    emitted, by `xtensor-emit-vectors`.
  }];
}

#endif // XTENSOR_PASSES_SCHEDULE
