// Sorting: positions alone, which a gather turns into sorted values and their derivative.
#ifndef XTENSOR_SORT_OPS_TD
#define XTENSOR_SORT_OPS_TD

include "XTensor/Base.td"

def XTensor_ArgsortOp : XTensor_InferredOp<"argsort"> {
  let summary = "The positions along a dim that sort its elements";
  let description = [{
    Element i of the result is the position in `x`, as i64, of element i of the sorted array. Equal
    elements keep their order, even with `descending`. -0.0 and 0.0 are equal. NaN comes last in
    both orders.

    Constraint: (argsort_c1) The dim is a dim of the array.

    Example: `xtensor.argsort %x along t {descending} : !xtensor.array<b: 4, t: 3, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim, UnitAttr:$descending);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x `along` custom<Name>($dim) attr-dict `:` type($x)";
}

#endif // XTENSOR_SORT_OPS_TD
