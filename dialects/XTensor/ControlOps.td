// Ops that say which of their regions run, and how often. Every region captures from above
// freely and ends in `xtensor.yield`.
#ifndef XTENSOR_CONTROL_OPS_TD
#define XTENSOR_CONTROL_OPS_TD

include "XTensor/DiffOps.td"
include "mlir/Interfaces/LoopLikeInterface.td"

class XTensor_ControlOp<string mnemonic, list<Trait> traits = []>
    : XTensor_Op<mnemonic, !listconcat([RecursiveMemoryEffects, SingleBlock], traits)> {
  let hasVerifier = 1;
}

def XTensor_SwitchOp : XTensor_ControlOp<"switch", [RecursivelySpeculatable]> {
  let summary = "Runs one of several regions";
  let description = [{
    The op runs the region with the number `selector`, clamped into range, and returns the values
    that it yields.

    Constraints:
    * (switch_c1) There is at least one region. No region has arguments.
    * (switch_c2) Every region yields the result types.

    ```mlir
    %y = xtensor.switch %i {
      xtensor.yield %a : !xtensor.array<f32>
    }, {
      xtensor.yield %b : !xtensor.array<f32>
    } : (!xtensor.array<i64>) -> !xtensor.array<f32>
    ```
  }];
  let arguments = (ins XTensor_SizeArray:$selector);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = "$selector $branches attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

def XTensor_WhileOp
    : XTensor_ControlOp<"while", [DeclareOpInterfaceMethods<LoopLikeOpInterface>]> {
  let summary = "Repeats a body while a condition holds";
  let description = [{
    The carries start as `init`. While `cond` yields true for the carries, `body` maps them to the
    next carries. The results are the last carries. If `max_steps` is given, the loop stops after
    this number of steps at the latest.

    Constraints:
    * (while_c1) Both regions take the types of `init`.
    * (while_c2) `cond` yields one bool without dims.
    * (while_c3) `body` yields the types of `init`, which are also the result types.

    ```mlir
    %n = xtensor.while init(%zero) max_steps 10 cond {
    ^bb0(%i: !xtensor.array<i64>):
      %more = xtensor.compare lt %i, %end : !xtensor.array<i64>, !xtensor.array<i64>
      xtensor.yield %more : !xtensor.array<i1>
    } body {
    ^bb0(%i: !xtensor.array<i64>):
      %next = xtensor.add %i, %one : !xtensor.array<i64>, !xtensor.array<i64>
      xtensor.yield %next : !xtensor.array<i64>
    } : (!xtensor.array<i64>) -> !xtensor.array<i64>
    ```
  }];
  let arguments = (ins Variadic<XTensor_ArrayType>:$init,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$max_steps);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$condRegion, SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    `init` `(` $init `)` (`max_steps` $max_steps^)? `cond` $condRegion `body` $bodyRegion
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    YieldOp getCondYield();
    YieldOp getBodyYield();
  }];
  let hasCanonicalizer = 1;
}

def XTensor_ScanOp
    : XTensor_ControlOp<"scan", [AttrSizedOperandSegments, RecursivelySpeculatable,
                                 DeclareOpInterfaceMethods<LoopLikeOpInterface>]> {
  let summary = "Runs a body once per position of a dim, and carries values along";
  let description = [{
    At each position of the dim, the body gets the carries, then the slice of each array of `over`
    at that position, without the dim. It yields the next carries, then values to stack. The results
    are the last carries, then the stacked values, with the dim as a new first dim. With `reverse`,
    the loop runs from the last position to the first. The value that a step stacks has the position
    at which the step read its slices. If `over` is empty, `length` or `size` gives the number of
    steps.

    Constraints:
    * (scan_c1) Every array of `over` has the dim, and the sizes are equal.
    * (scan_c2) `length` or `size` is given if and only if `over` is empty.
    * (scan_c3) The body takes the types of `carry`, then those of `over` without the dim.
    * (scan_c4) The body yields the types of `carry`, then values that lack the dim.
    * (scan_c5) The results are the carries, then the other values with the dim first.

    ```mlir
    %last, %sums = xtensor.scan along t carry(%zero) over(%x) {
    ^bb0(%sum: !xtensor.array<f32>, %e: !xtensor.array<f32>):
      %next = xtensor.add %sum, %e : !xtensor.array<f32>, !xtensor.array<f32>
      xtensor.yield %next, %next : !xtensor.array<f32>, !xtensor.array<f32>
    } : (!xtensor.array<f32>, !xtensor.array<t: 5, f32>)
        -> (!xtensor.array<f32>, !xtensor.array<t: 5, f32>)
    ```
  }];
  let arguments = (ins StrAttr:$dim, UnitAttr:$reverse, Variadic<XTensor_ArrayType>:$carry,
                       Variadic<XTensor_ArrayType>:$over,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$length,
                       Optional<XTensor_SizeArray>:$size);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    `along` custom<Name>($dim) (`reverse` $reverse^)? `carry` `(` $carry `)`
    `over` `(` $over `)` (`length` $length^)? (`size` $size^)? $bodyRegion
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The number of steps, `ArrayType::kDynamic` where it is known only at run time.
    int64_t getSteps();
    /// The number of steps as a value.
    ::mlir::Value getStepsValue(::mlir::OpBuilder &b);
    unsigned getNumCarries() { return getCarry().size(); }
    YieldOp getYield();
    ::mlir::ValueRange getFinals() { return getResults().take_front(getNumCarries()); }
    ::mlir::ValueRange getStacked() { return getResults().drop_front(getNumCarries()); }
    ::mlir::Block::BlockArgListType getCarryArguments() {
      return getBody()->getArguments().take_front(getNumCarries());
    }
    ::mlir::Block::BlockArgListType getOverArguments() {
      return getBody()->getArguments().drop_front(getNumCarries());
    }
    /// What the body yields as next carries, and to be stacked.
    ::mlir::OperandRange getYieldedCarries();
    ::mlir::OperandRange getYieldedStacked();
  }];
  let hasCanonicalizer = 1;
}

def XTensor_CheckpointOp : XTensor_ControlOp<"checkpoint", [RecursivelySpeculatable]> {
  let summary = "A region that its derivative recomputes";
  let description = [{
    The op returns the values that the region yields. Between the forward and the reverse code, its
    derivative keeps only the values that the region captures. It recomputes all values that the
    region computes.

    Constraints:
    * (checkpoint_c1) The region has no arguments.
    * (checkpoint_c2) The result types are the yielded types.

    ```mlir
    %y = xtensor.checkpoint {
      %e = xtensor.exp %x : !xtensor.array<i: 3, f32>
      xtensor.yield %e : !xtensor.array<i: 3, f32>
    } : !xtensor.array<i: 3, f32>
    ```
  }];
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "$bodyRegion attr-dict (`:` type($results)^)?";
}

def XTensor_CustomDerivativeOp : XTensor_ControlOp<"custom_derivative", [RecursivelySpeculatable]> {
  let summary = "A function with derivatives that the user defines";
  let description = [{
    * `primal` maps the arguments to the results.
    * `pushforward` maps the arguments, and the tangents of the float arguments, to the results, and
      the tangents of the float results.
    * `forward` maps the arguments to the results and the residuals.
    * `backward` maps the residuals, and the cotangents of the float results, to the cotangents of
      the float arguments.

    Either `pushforward`, or both `forward` and `backward`, may be absent.

    Constraints:
    * (custom_derivative_c1) The op has a pushforward, or a forward and a backward.
    * (custom_derivative_c2) The arguments of each region have the types that this list says.
    * (custom_derivative_c3) The values that each region yields have the types that this list says.

    ```mlir
    %y = xtensor.custom_derivative at(%x) primal {
    ^bb0(%x_: !xtensor.array<f32>):
      %e = xtensor.exp %x_ : !xtensor.array<f32>
      xtensor.yield %e : !xtensor.array<f32>
    } pushforward {
    ^bb0(%x_: !xtensor.array<f32>, %dx: !xtensor.array<f32>):
      %e = xtensor.exp %x_ : !xtensor.array<f32>
      %de = xtensor.mul %e, %dx : !xtensor.array<f32>, !xtensor.array<f32>
      xtensor.yield %e, %de : !xtensor.array<f32>, !xtensor.array<f32>
    } : (!xtensor.array<f32>) -> !xtensor.array<f32>
    ```
  }];
  let arguments = (ins Variadic<XTensor_ArrayType>:$args);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$primal, MaxSizedRegion<1>:$pushforward,
                        MaxSizedRegion<1>:$forward, MaxSizedRegion<1>:$backward);
  let assemblyFormat = [{
    `at` `(` $args `)` `primal` $primal (`pushforward` $pushforward^)?
    (`forward` $forward^ `backward` $backward)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    bool hasPushforward() { return !getPushforward().empty(); }
    bool hasPullback() { return !getForward().empty(); }
  }];
}

def XTensor_VectorizeOp : XTensor_ControlOp<"vectorize", [RecursivelySpeculatable]> {
  let summary = "A function of one instance, for all instances along names";
  let description = [{
    The body computes one instance, so its arguments do not have the dims `names`. If an operand
    does not have one of these dims, all instances along the dim share it. The results have these
    dims first, in the order of `names`.

    Constraints:
    * (vectorize_c1) There is at least one name. Names are unique. Each is a dim of an argument,
      with one size.
    * (vectorize_c2) The body takes the types of the arguments without the names.
    * (vectorize_c3) The body does not use the names.
    * (vectorize_c4) The result types are the yielded types, with the names first.

    ```mlir
    %n = xtensor.vectorize over [batch] at(%x) {
    ^bb0(%x_: !xtensor.array<i: 3, f32>):
      %s = xtensor.reduce sum %x_ over [i] : !xtensor.array<i: 3, f32>
      xtensor.yield %s : !xtensor.array<f32>
    } : (!xtensor.array<batch: 8, i: 3, f32>) -> !xtensor.array<batch: 8, f32>
    ```
  }];
  let arguments = (ins StrArrayAttr:$names, Variadic<XTensor_ArrayType>:$args);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    `over` custom<Names>($names) `at` `(` $args `)` $bodyRegion
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // XTENSOR_CONTROL_OPS_TD
