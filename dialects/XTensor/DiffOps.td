// The derivative ops. A request for a derivative is an op with a region. A linear map is a value.
// The residuals are the values that the region of a linear map captures.
#ifndef XTENSOR_DIFF_OPS_TD
#define XTENSOR_DIFF_OPS_TD

include "XTensor/ElementwiseOps.td"

def XTensor_YieldOp : XTensor_Op<"yield", [Pure, Terminator]> {
  let summary = "The results of a region";
  let arguments = (ins Variadic<XTensor_ArrayType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def XTensor_PullbackOp : XTensor_Op<"pullback", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "The results of a function and the transpose of its derivative";
  let description = [{
    `results` are the values that the body yields for `args`. `back` is a linear map: it maps
    cotangents of the float results to cotangents of the arguments that `wrt` lists. The body may
    capture values from above. This derivative treats captured values as constants.

    Constraints:
    * (pullback_c1) The body arguments have the types of `args`.
    * (pullback_c2) `wrt` lists float arguments, each at most once.
    * (pullback_c3) The result types are the yielded types. The type of `back` follows from them and
      from `wrt`.

    ```mlir
    %y, %back = xtensor.pullback at(%x, %w) wrt [1] {
    ^bb0(%x_: !xtensor.array<i: 3, f32>, %w_: !xtensor.array<i: 3, f32>):
      %s = xtensor.contract %x_, %w_ over [i] : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
      xtensor.yield %s : !xtensor.array<f32>
    } : (!xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>)
        -> (!xtensor.array<f32>, !xtensor.linear<(!xtensor.array<f32>) -> !xtensor.array<i: 3, f32>>)
    ```
  }];
  let arguments = (ins Variadic<XTensor_ArrayType>:$args, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<XTensor_ArrayType>:$results, XTensor_LinearType:$back);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    `at` `(` $args `)` `wrt` $wrt $bodyRegion attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def XTensor_PushforwardOp
    : XTensor_Op<"pushforward", [AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "The results of a function and their derivatives along tangents";
  let description = [{
    Returns the results of the body at `args`, then the tangents of its float results along
    `tangents`. `tangents` has one tangent for each argument that `wrt` lists.

    Constraints:
    * (pushforward_c1) The body arguments have the types of `args`.
    * (pushforward_c2) `wrt` lists float arguments, each at most once.
    * (pushforward_c3) A tangent has the type of its argument.
    * (pushforward_c4) The result types are the yielded types, then the types of the float results
      again, for their tangents.
  }];
  let arguments = (ins Variadic<XTensor_ArrayType>:$args, DenseI64ArrayAttr:$wrt,
                       Variadic<XTensor_ArrayType>:$tangents);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    `at` `(` $args `)` `wrt` $wrt `along` `(` $tangents `)` $bodyRegion attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def XTensor_LinearOp : XTensor_Op<"linear", [Pure, SingleBlock]> {
  let summary = "A linear map as a region";
  let description = [{
    The result is a map from tangents to tangents, or from cotangents to cotangents. The residuals
    are the values that the region captures from above. `sizes` are the sizes of the dynamic dims of
    the inputs, then of the outputs, in order. A `trusted` map is a user's pullback rule. The
    compiler checks that it is linear only if its transpose is needed.

    Constraints:
    * (linear_c1) Body arguments and yielded values have the types of the map.
    * (linear_c2) There is one size operand per dynamic dim.
  }];
  let arguments = (ins Variadic<XTensor_SizeArray>:$sizes, UnitAttr:$trusted);
  let results = (outs XTensor_LinearType:$map);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    (`trusted` $trusted^)? (`sizes` `(` $sizes^ `)`)? $bodyRegion attr-dict `:` type($map) (`,` type($sizes)^)?
  }];
  let extraClassDeclaration = [{
    /// The sizes of the dynamic dims of input `i`.
    ::llvm::SmallVector<::mlir::Value> getSizesOfInput(unsigned i);
  }];
  let hasVerifier = 1;
}

def XTensor_TransposedOp : XTensor_InferredOp<"transposed"> {
  let summary = "The transpose of a linear map";
  let arguments = (ins XTensor_LinearType:$map);
  let results = (outs XTensor_LinearType:$back);
  let assemblyFormat = "$map attr-dict `:` type($map)";
  let hasFolder = 1;
}

def XTensor_ApplyOp : XTensor_Op<"apply", [Pure]> {
  let summary = "Applies a linear map to arrays";
  let description = [{
    Constraint: (apply_c1) Operand and result types are those of the map.
  }];
  let arguments = (ins XTensor_LinearType:$map, Variadic<XTensor_ArrayType>:$args);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let assemblyFormat = [{
    $map `(` $args `)` attr-dict `:` type($map) `,` functional-type($args, $results)
  }];
  let hasVerifier = 1;
}

def XTensor_SizedOp : XTensor_Op<"sized", [Pure]> {
  let summary = "The identity, with the sizes of the dynamic dims of a tangent";
  let description = [{
    In linear code, the op keeps sizes that the transpose needs for a broadcast. Outside of linear
    code, it folds to its operand.
  }];
  let arguments = (ins XTensor_ArrayType:$x, Variadic<XTensor_SizeArray>:$sizes);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x `by` `(` $sizes `)` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def XTensor_BarrierOp : XTensor_Op<"barrier", [Pure, AllTypesMatch<["x", "y"]>]> {
  let summary = "The identity; common subexpression elimination stops at it";
  let description = [{
    The reverse derivative of a checkpoint recomputes values. The op keeps CSE from merging the
    recomputed values with the values of the primal code. Two barriers with the same `id` and the
    same operand are equal.

    ```mlir
    %y = xtensor.barrier distinct[0]<> of %x : !xtensor.array<i: 3, f32>
    ```
  }];
  let arguments = (ins XTensor_ArrayType:$x, AnyAttr:$id);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$id `of` $x attr-dict `:` type($x)";
}

def XTensor_StopGradientOp : XTensor_UnaryOp<"stop_gradient",
    "The identity, whose derivative is zero", XTensor_FloatArray>;

#endif // XTENSOR_DIFF_OPS_TD
