// Passes that write schedules. The choices themselves are rows of
// library/<target>.def.

#ifndef XTENSOR_PASSES_SCHEDULE
#define XTENSOR_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"xtensor-schedule", "::mlir::func::FuncOp"> {
  let summary = "Look up how each op is to be vectorised, unrolled, called or chunked";
  let description = [{
    How wide, how often unrolled, which library: these depend on the machine
    and are tried out, not derived. They are looked up by target, kind of op
    and element type and written on the ops, so that they can be read, tested
    and overridden in the IR. Fields of `xtensor.schedule`, on linalg.generic:
    `kind`; `library` (the call that does it) or else `unroll` (independent
    vectors in flight) and `vector` (the loop taken in vectors, -1: none); on
    scf.forall: `grain` (iterations per chunk at least).

    ```mlir
    %s = linalg.generic ins(%row) outs(%zero) { addf }     // [1024] -> []
    ```
    ==>
    ```mlir
    %s = linalg.generic ins(%row) outs(%zero)
        attrs = {xtensor.schedule = {kind = "row-reduction", unroll = 8, vector = 0}} { addf }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"",
                        "which table of passes/Schedule/library to use">];
}

#endif // XTENSOR_PASSES_SCHEDULE
