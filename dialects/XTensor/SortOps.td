// Sorting: positions alone, which a gather turns into sorted values and their derivative.
#ifndef XTENSOR_SORT_OPS_TD
#define XTENSOR_SORT_OPS_TD

include "XTensor/Base.td"

def XTensor_ArgsortOp : XTensor_InferredOp<"argsort"> {
  let summary = "Positions along a dim in the order of their elements";
  let description = [{
    Each result element is a position, as i64: that of the element which comes there when `x` is
    sorted along `dim`. Equal elements keep their order, also with `descending`. -0.0 and 0.0 are
    equal. NaN comes last in both orders.

    Constraint: (argsort_c1) The dim is a dim of the array.

    Example: `xtensor.argsort %x along t {descending} : !xtensor.array<b: 4, t: 3, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim, UnitAttr:$descending);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x `along` custom<Name>($dim) attr-dict `:` type($x)";
}

#endif // XTENSOR_SORT_OPS_TD
