// Passes that write schedules. The choices themselves are rows of
// library/<target>.def.

#ifndef XTENSOR_PASSES_SCHEDULE
#define XTENSOR_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"xtensor-schedule", "::mlir::func::FuncOp"> {
  let summary = "Look up how each op is vectorised, unrolled, called or chunked";
  let description = [{
    The best unroll factors, vectorised loops and libraries depend on the machine. They are found by
    experiment, not by a cost model. The pass looks them up by target, kind of op and element type,
    and writes them as attributes on the ops. So they can be read, tested and changed in the IR.
    `xtensor.schedule` has these fields:

    * on linalg.generic: `kind`, and either `library`, or `unroll` and `vector`;
    * on scf.forall: `grain`, the least number of iterations per chunk.

    `library` is the library routine that computes the op. `unroll` is the number of independent
    vectors per step. `vector` is the index of the loop that is vectorised, or -1.

    ```mlir
    %s = linalg.generic ins(%row) outs(%zero) { addf }     // [1024] -> []
    ```
    ==>
    ```mlir
    %s = linalg.generic ins(%row) outs(%zero)
        attrs = {xtensor.schedule = {kind = "row-reduction", unroll = 4, vector = 0}} { addf }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"",
                        "which table of passes/Schedule/library to use">];
}

#endif // XTENSOR_PASSES_SCHEDULE
