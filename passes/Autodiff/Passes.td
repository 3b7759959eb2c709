// The passes that expand derivatives. Each example is part of test/passes/Autodiff/passes.mlir.
#ifndef XTENSOR_AUTODIFF_PASSES_TD
#define XTENSOR_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

//===- expansion -----------------------------------------------------------===//

def Differentiate : Pass<"xtensor-differentiate"> {
  let summary = "Expand every derivative request, of any order";
  let description = [{
    Why: requests may be nested. For a derivative of a derivative, one request is in the region of
    another. A request is ready if its region holds no request. The pass runs batch, linearize,
    guard-selects, transpose, inline-derivatives and CSE in a loop, and each round expands the ready
    requests. It ends when no request is left. The only derivative ops that remain are linear maps
    that a function returns.
  }];
  let options = [Option<"guards", "guard-selects", "bool", "true",
                        "whether guard-selects runs; false to measure its cost">];
}

def FuseLoops : Pass<"xtensor-fuse-loops"> {
  let summary = "Merge a loop and the loop of its tangents";
  let description = [{
    Why: linearize puts the tangents of a loop into a second loop. Forward mode does not need two
    loops. If a scan reads the stacked values of another scan slice by slice, the pass merges the
    two, so the values need not be stacked. If a while loop computes all carries of another one
    again, it replaces the other one. Inside linear maps, the pass does not merge loops, because the
    maps may still be transposed.

    ```mlir
    %c, %z = xtensor.scan along t carry(%a) over(%x) {..}       // %z is read below only
    %dc = xtensor.scan along t carry(%da) over(%dx, %z) {..}
    ==>
    %c, %dc = xtensor.scan along t carry(%a, %da) over(%x, %dx) {..}
    ```
  }];
}

def InlineDerivatives : Pass<"xtensor-inline-derivatives"> {
  let summary = "Copy linear maps to the places where they are applied";
  let description = [{
    Why: after the code of a linear map is inlined where the map is applied, its residuals are
    ordinary values, and all simplifications apply to them. If a map is applied only once, the pass
    moves its code instead of copying it.

    ```mlir
    %l = xtensor.linear {
    ^bb0(%t: !x):
      %u = xtensor.mul %d, %t : !x, !x
      xtensor.yield %u : !x
    } : <(!x) -> !x>
    %dy = xtensor.apply %l(%v) : <(!x) -> !x>, (!x) -> !x
    ==>
    %dy = xtensor.mul %d, %v : !x, !x
    ```
  }];
}

def Linearize : Pass<"xtensor-linearize"> {
  let summary = "Split requests into primal code and a linear map";
  let description = [{
    Why: derivatives are linear in the tangents, and only linear code can be transposed. The primal
    ops stay in place, unchanged. The residuals are the values that the linear region captures from
    them. A request whose region holds derivative ops is not expanded in this round.

    ```mlir
    %y, %back = xtensor.pullback at(%x) wrt [0] {
    ^bb0(%x_: !x):
      %e = xtensor.tanh %x_ : !x
      xtensor.yield %e : !x
    } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
    ==>
    %y = xtensor.tanh %x : !x
    %0 = xtensor.mul %y, %y : !x, !x
    %d = xtensor.sub %one, %0 : !xtensor.array<f32>, !x
    %l = xtensor.linear {
    ^bb0(%t: !x):
      %u = xtensor.mul %d, %t : !x, !x
      xtensor.yield %u : !x
    } : <(!x) -> !x>
    %back = xtensor.transposed %l : <(!x) -> !x>
    ```
  }];
}

def SplitPullbacks : Pass<"xtensor-split-pullbacks", "::mlir::ModuleOp"> {
  let summary = "Turn linear maps that functions return into functions";
  let description = [{
    Why: a user may keep a pullback after the call that returned it. So the linear map becomes a
    function `NAME.back`, which takes the residuals and the cotangents. The function NAME returns
    the residuals in addition to its results. Cheap residuals are recomputed instead. A residual
    that is an argument or a result of NAME is not returned again. The attribute `xtensor.residuals`
    of `NAME.back` gives the place of each residual: `i` is result `i` of NAME, and `-1 - i` is
    argument `i`.

    ```mlir
    func.func @f(%x: !x) -> (!x, !xtensor.linear<(!x) -> !x>) {
      %y = xtensor.tanh %x : !x
      %l = xtensor.linear { ... } : <(!x) -> !x>     // captures 1 - %y * %y
      return %y, %l : !x, !xtensor.linear<(!x) -> !x>
    }
    ==>
    func.func @f(%x: !x) -> !x attributes {xtensor.back = @f.back} { ... }
    func.func @f.back(%y: !x, %ct: !x) -> !x attributes {xtensor.residuals = array<i64: 0>}
    ```
  }];
}

def Transpose : Pass<"xtensor-transpose"> {
  let summary = "Turn transposed linear maps into linear maps";
  let description = [{
    Why: reverse mode is the transpose of the linear map. The pass builds the transpose op by op,
    from the last op to the first.

    ```mlir
    %l = xtensor.linear {
    ^bb0(%t: !xtensor.array<i: 3, f32>):
      %s = xtensor.reduce sum %t over [i] : !xtensor.array<i: 3, f32>
      xtensor.yield %s : !xtensor.array<f32>
    } : <(!xtensor.array<i: 3, f32>) -> !xtensor.array<f32>>
    %back = xtensor.transposed %l : <(!xtensor.array<i: 3, f32>) -> !xtensor.array<f32>>
    ==>
    %back = xtensor.linear {
    ^bb0(%ct: !xtensor.array<f32>):
      %b = xtensor.broadcast %ct : (!xtensor.array<f32>) -> !xtensor.array<i: 3, f32>
      xtensor.yield %b : !xtensor.array<i: 3, f32>
    } : <(!xtensor.array<f32>) -> !xtensor.array<i: 3, f32>>
    ```
  }];
}

//===- safety --------------------------------------------------------------===//

def GuardSelects : Pass<"xtensor-guard-selects"> {
  let summary = "Keep branches that a select did not choose out of gradients";
  let description = [{
    Why: the cotangent of a branch that was not chosen is 0, but 0 times an infinite derivative is
    NaN. In linear maps that will be transposed, products that reach a select become `scale`, a
    product in which a zero wins. They stay products if the factor cannot be infinite. Contractions
    stay as they are, too. If a contraction sums over no dim of the select, xtensor-transpose moves
    the select behind it.

    The derivative of a pullback contains `scale` ops whose factor is a tangent. These only get the
    mark `xtensor.guard`. If xtensor-transpose finds the select of a marked op, it multiplies inside
    of the select. So few `scale` ops remain.

    ```mlir
    %u = xtensor.mul %d, %t : !x, !x
    %v = xtensor.select %c, %u, %zero : ...
    ==>
    %u = xtensor.scale %d, %t {xtensor.guard} : !x, !x
    %v = xtensor.select %c, %u, %zero : ...
    ```
  }];
}

def VerifyDifferentiated : Pass<"xtensor-verify-differentiated"> {
  let summary = "Check that no derivative op is left";
  let description = [{
    Why: later phases cannot lower derivative ops. The error names the user's line.
  }];
}

def VerifyLinear : Pass<"xtensor-verify-linear"> {
  let summary = "Check that linear maps are linear";
  let description = [{
    Why: only a linear map has a transpose. Every op of a linear region that depends on a tangent
    must be linear in it. All other ops compute coefficients of the map.
  }];
}

//===- reading -------------------------------------------------------------===//

def PrintRules : Pass<"xtensor-print-rules"> {
  let summary = "Print the tables of derivative rules";
  let description = [{
    Why: the output shows the rules of all ops. The pass fails if an op of the dialect is in none of
    the tables.
  }];
}

#endif // XTENSOR_AUTODIFF_PASSES_TD
