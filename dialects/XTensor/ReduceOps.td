// Reductions and contractions over named dims.
#ifndef XTENSOR_REDUCE_OPS_TD
#define XTENSOR_REDUCE_OPS_TD

include "XTensor/Base.td"

def XTensor_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>,
    I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"any", 4>, I32EnumAttrCase<"all", 5>,
    I32EnumAttrCase<"argmax", 6>, I32EnumAttrCase<"argmin", 7>]> {
  let cppNamespace = "::xtensor";
}

def XTensor_ReduceOp : XTensor_InferredOp<"reduce"> {
  let summary = "Reduction over named dims";
  let description = [{
    The result lacks the reduced dims. `argmax` and `argmin` return the first position (i64) of the
    extremum, along exactly one dim. In `max`, `min`, `argmax` and `argmin`, NaN wins. If there are
    no elements, `sum` is 0, `prod` is 1, `any` is false and `all` is true.

    Constraints:
    * (reduce_c1) Every dim is a dim of the operand.
    * (reduce_c2) Each dim is named at most once.
    * (reduce_c3) `any` and `all` take bools, the others numbers.
    * (reduce_c4) `argmax` and `argmin` take one dim.
    * (reduce_c5) `max`, `min`, `argmax`, `argmin` need at least one element.

    Example: `xtensor.reduce sum %x over [time] : !xtensor.array<time: 4, space: 3, f32>`
  }];
  let arguments = (ins XTensor_ReduceKind:$kind, XTensor_ArrayType:$x, StrArrayAttr:$dims);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$kind $x `over` custom<Names>($dims) attr-dict `:` type($x)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def XTensor_ContractOp : XTensor_InferredOp<"contract"> {
  let summary = "Product of any number of arrays, summed over named dims";
  let description = [{
    The op covers dot, matrix, batched and outer products, and every einsum. The result has all dims
    of the operands except the summed dims. They are in order of first appearance, or in the given
    `order`.

    Constraints:
    * (contract_c1) There is at least one operand, and all have one number type.
    * (contract_c2) Equal names have equal sizes.
    * (contract_c3) Every summed dim is a dim of an operand and named once.
    * (contract_c4) `order` is a permutation of the result's dims.

    Example: `xtensor.contract %a, %b over [k] : !xtensor.array<i: 2, k: 3, f32>,
    !xtensor.array<k: 3, j: 4, f32>`
  }];
  let arguments = (ins Variadic<XTensor_NumberArray>:$inputs, StrArrayAttr:$over,
                       OptionalAttr<StrArrayAttr>:$order);
  let results = (outs XTensor_NumberArray:$y);
  let assemblyFormat = [{
    $inputs `over` custom<Names>($over) (`order` custom<Names>($order)^)?
    attr-dict `:` type($inputs)
  }];
  let hasCanonicalizer = 1;
}

#endif // XTENSOR_REDUCE_OPS_TD
