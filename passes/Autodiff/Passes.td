// The passes that expand derivatives. Each example is part of test/passes/Autodiff/passes.mlir.
#ifndef XTENSOR_AUTODIFF_PASSES_TD
#define XTENSOR_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

//===- expansion -----------------------------------------------------------===//

def Differentiate : Pass<"xtensor-differentiate"> {
  let summary = "Expand every derivative, of any order";
  let description = [{
    Why: a derivative of a derivative is a request inside the region of another, and so is a
    vectorize in either. A request is ready when its region holds no request at all, so batch,
    linearize, guard-selects, transpose, inline-derivatives and a CSE take turns until none is
    left. What remains is a program without derivative ops, but for maps that a function
    returns.
  }];
  let options = [Option<"guards", "guard-selects", "bool", "true",
                        "whether guard-selects has its turn: off to measure what it costs">];
}

def FuseLoops : Pass<"xtensor-fuse-loops"> {
  let summary = "Make one loop of a loop and the tangents' loop";
  let description = [{
    Why: linearize leaves the tangents of a loop in a loop of their own, which forward mode
    needs not: a scan that reads what another stacked, slice by slice, becomes one with it, and
    nothing is stacked any more. A while loop that repeats all of another's carries takes its
    place. Inside of linear maps, which may yet be transposed, loops stay apart.

    ```mlir
    %c, %z = xtensor.scan along t carry(%a) over(%x) {..}       // %z is read below only
    %dc = xtensor.scan along t carry(%da) over(%dx, %z) {..}
    ==>
    %c, %dc = xtensor.scan along t carry(%a, %da) over(%x, %dx) {..}
    ```
  }];
}

def InlineDerivatives : Pass<"xtensor-inline-derivatives"> {
  let summary = "Copy linear maps to where they are applied";
  let description = [{
    Why: once a map's code stands where it is applied, residuals are ordinary values and
    ordinary simplifications see them. A map applied once is moved, not copied.

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
  let summary = "Part requests into primal code and a linear map";
  let description = [{
    Why: derivatives are linear in the tangents, and only linear code can be transposed. The
    primal ops stay as they are, in place; what the linear region takes from them are the
    residuals. Requests that hold derivative ops wait.

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
  let summary = "Make functions of the linear maps that functions return";
  let description = [{
    Why: a pullback that a user keeps outlives the call that made it. The function returns the
    residuals as well; `NAME.back` takes residuals and cotangents. What is cheap is worked out
    again, arguments and results are not returned twice: `xtensor.residuals` of `NAME.back`
    says where each residual is found, `i` being result `i` of NAME and `-1 - i` its argument.

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
    Why: reverse mode is the transpose of the linear map, worked out op by op, backwards.

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
  let summary = "Keep branches that were not chosen from poisoning gradients";
  let description = [{
    Why: the cotangent of the branch not chosen is 0, but 0 times an infinite derivative is
    NaN. In maps that will be transposed, products from which a select is reached become
    `scale`, in which a zero wins, unless the factor cannot be infinite. Contractions stay:
    Transpose puts the select behind those that sum over none of its dims.
    A `scale` by a tangent, which the derivative of a pullback is made of, gets the mark alone.
    Transpose multiplies inside of the select where it sees it, so that few remain.

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
    Why: no later phase knows derivative ops; an error here names the user's line.
  }];
}

def VerifyLinear : Pass<"xtensor-verify-linear"> {
  let summary = "Check that linear maps are linear";
  let description = [{
    Why: the transpose of anything else is meaningless. Every op of a linear region that
    depends on a tangent must do so linearly; all others are coefficients.
  }];
}

//===- reading -------------------------------------------------------------===//

def PrintRules : Pass<"xtensor-print-rules"> {
  let summary = "Print the tables of derivative rules";
  let description = [{
    Why: all rules, readable in a minute. Fails if an op of the dialect is in no table.
  }];
}

#endif // XTENSOR_AUTODIFF_PASSES_TD
