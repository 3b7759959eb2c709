// Constants, and ops that change which dims an array has, their names, sizes or order.
#ifndef XTENSOR_SHAPE_OPS_TD
#define XTENSOR_SHAPE_OPS_TD

include "XTensor/Base.td"

def XTensor_ConstantOp : XTensor_Op<"constant", [Pure, ConstantLike]> {
  let summary = "Array known at compile time";
  let description = [{
    Example: `xtensor.constant dense<[1.0, 2.0]> : tensor<2xf32> as !xtensor.array<i: 2, f32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$value attr-dict `as` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def XTensor_IotaOp : XTensor_Op<"iota", [Pure]> {
  let summary = "0, 1, 2, ... along one dim";
  let description = [{
    The result has one dim. If its size is `?`, `size` gives it.

    Example: `xtensor.iota : !xtensor.array<i: 5, i64>`
  }];
  let arguments = (ins Optional<XTensor_SizeArray>:$size);
  let results = (outs XTensor_IntegerArray:$y);
  let assemblyFormat = "(`size` $size^ `:` type($size))? attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def XTensor_SizeOp : XTensor_InferredOp<"size"> {
  let summary = "The size of a dim, as an i64 array without dims";
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim);
  let results = (outs XTensor_SizeArray:$y);
  let assemblyFormat = "$x custom<Name>($dim) attr-dict `:` type($x)";
  let hasFolder = 1;
}

def XTensor_RenameOp : XTensor_InferredOp<"rename"> {
  let summary = "Changes the names of dims";
  let description = [{
    All names change at the same time, so names may be swapped.

    Constraints:
    * (rename_c1) `from` are dims of the operand, each at most once.
    * (rename_c2) There are as many `to` as `from`.
    * (rename_c3) The names of the result are unique.

    Example: `xtensor.rename %x [a, b] to [b, a] : !xtensor.array<a: 2, b: 3, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrArrayAttr:$from, StrArrayAttr:$to);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x custom<Names>($from) `to` custom<Names>($to) attr-dict `:` type($x)";
  let hasFolder = 1;
}

def XTensor_BroadcastOp : XTensor_Op<"broadcast", [Pure]> {
  let summary = "The same values with more dims, or with dims in another order";
  let description = [{
    The result has all dims of the operand and may have more, in any order. `sizes` gives the sizes
    of the dynamic dims that only the result has, in their order.

    Constraints:
    * (broadcast_c1) The result has all dims of the operand, with their sizes.
    * (broadcast_c2) There is one size operand per new dynamic dim.
  }];
  let arguments = (ins XTensor_ArrayType:$x, Variadic<XTensor_SizeArray>:$sizes);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x (`sizes` `(` $sizes^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def XTensor_SqueezeOp : XTensor_InferredOp<"squeeze"> {
  let summary = "Removes dims of size 1";
  let description = [{
    Constraint: (squeeze_c1) Every named dim is a dim of the operand and has size 1.
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrArrayAttr:$dims);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x custom<Names>($dims) attr-dict `:` type($x)";
  let hasFolder = 1;
}

def XTensor_SliceOp : XTensor_InferredOp<"slice"> {
  let summary = "Elements at regular distances along dims";
  let description = [{
    For each dim, `offsets` has the first position, `sizes` the number of elements, and `strides`
    the distance between them, which is at least 1.

    Constraints:
    * (slice_c1) The dims are dims of the operand, each at most once.
    * (slice_c2) The selection lies inside the array.
    * (slice_c3) A dim of size `?` cannot be sliced, because the result would have the same name
      with another size.

    Example: `xtensor.slice %x [t] offsets [1] sizes [2] strides [3] : !xtensor.array<t: 8, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrArrayAttr:$dims, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x custom<Names>($dims) `offsets` $offsets `sizes` $sizes `strides` $strides
    attr-dict `:` type($x)
  }];
  let hasFolder = 1;
}

def XTensor_PadOp : XTensor_InferredOp<"pad"> {
  let summary = "Adds elements of one value before, after and between the elements";
  let description = [{
    Along each named dim, the op adds `low` elements before the array, `high` elements after it, and
    `interior` elements between neighbours. A strided slice undoes the padding by `interior`.

    Constraints:
    * (pad_c1) The dims are dims of the operand, each at most once.
    * (pad_c2) No number of added elements is negative.
    * (pad_c3) `value` has no dims, and has the element type of the operand.
    * (pad_c4) A dim of size `?` cannot be padded.
  }];
  let arguments = (ins XTensor_ArrayType:$x, XTensor_ArrayType:$value, StrArrayAttr:$dims,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$interior);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x `with` $value custom<Names>($dims) `low` $low `high` $high `interior` $interior
    attr-dict `:` type($x) `,` type($value)
  }];
}

def XTensor_ConcatOp : XTensor_InferredOp<"concat"> {
  let summary = "Arrays one after another along a dim";
  let description = [{
    The result has the dims and the order of the first operand.

    Constraints:
    * (concat_c1) There is at least one operand, and all have one element type.
    * (concat_c2) All operands have the same dims, `dim` among them.
    * (concat_c3) The other dims have equal sizes.
    * (concat_c4) `dim` has a static size in all operands.

    Example: `xtensor.concat %a, %b along t : !xtensor.array<t: 2, f32>, !xtensor.array<t: 3, f32>`
  }];
  let arguments = (ins Variadic<XTensor_ArrayType>:$inputs, StrAttr:$dim);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$inputs `along` custom<Name>($dim) attr-dict `:` type($inputs)";
  let hasFolder = 1;
}

def XTensor_MergeOp : XTensor_InferredOp<"merge"> {
  let summary = "Merges several dims into one (stack); the last named dim is the fastest";
  let description = [{
    The new dim comes last.

    Constraints:
    * (merge_c1) There is at least one dim. All are dims of the operand, each at most once.
    * (merge_c2) `into` is not a dim that stays.

    Example: `xtensor.merge %x [a, b] into z : !xtensor.array<a: 2, b: 3, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrArrayAttr:$dims, StrAttr:$into);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x custom<Names>($dims) `into` custom<Name>($into) attr-dict `:` type($x)";
}

def XTensor_SplitOp : XTensor_InferredOp<"split"> {
  let summary = "Splits one dim into several (unstack); the last new dim is the fastest";
  let description = [{
    The new dims come last.

    Constraints:
    * (split_c1) `dim` is a dim of the operand, and its size is static.
    * (split_c2) The product of the new sizes is the size of `dim`.
    * (split_c3) The new names are unique, and are not names of dims that stay.

    Example: `xtensor.split %x z into [a, b] sizes [2, 3] : !xtensor.array<z: 6, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim, StrArrayAttr:$into,
                       DenseI64ArrayAttr:$sizes);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x custom<Name>($dim) `into` custom<Names>($into) `sizes` $sizes attr-dict `:` type($x)
  }];
}

def XTensor_ReverseOp : XTensor_InferredOp<"reverse"> {
  let summary = "Reverses the order of elements along dims";
  let description = [{
    Constraint: (reverse_c1) The dims are dims of the operand, each at most once.
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrArrayAttr:$dims);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x custom<Names>($dims) attr-dict `:` type($x)";
  let hasFolder = 1;
}

#endif // XTENSOR_SHAPE_OPS_TD
