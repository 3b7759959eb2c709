// Running combinations along one named dim.
#ifndef XTENSOR_SCAN_OPS_TD
#define XTENSOR_SCAN_OPS_TD

include "XTensor/Base.td"

def XTensor_CumulativeKind : I32EnumAttr<"CumulativeKind", "running combination", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>,
    I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::xtensor";
}

def XTensor_CumulativeOp : XTensor_InferredOp<"cumulative"> {
  let summary = "Running sum, product, maximum or minimum along a dim";
  let description = [{
    Element t combines elements 0 to t. With `exclusive`, it combines only the elements before t.
    Element 0 is then the identity of the kind: 0, 1, the lowest or the highest number. With
    `reverse`, the op runs from the last element to the first. After a NaN, all results are NaN.

    Constraint: (cumulative_c1) The dim is a dim of the operand.

    Example: `xtensor.cumulative max %x along t {reverse, exclusive} :
    !xtensor.array<t: 4, space: 3, f32>`
  }];
  let arguments = (ins XTensor_CumulativeKind:$kind, XTensor_NumberArray:$x, StrAttr:$dim,
                       UnitAttr:$reverse, UnitAttr:$exclusive);
  let results = (outs XTensor_NumberArray:$y);
  let assemblyFormat = "$kind $x `along` custom<Name>($dim) attr-dict `:` type($x)";
  let hasFolder = 1;
}

def XTensor_RecurrenceOp : XTensor_InferredOp<"recurrence"> {
  let summary = "Linear recurrence of first order along a dim";
  let description = [{
    y[t] = decay[t] * y[t - 1] + input[t], where the value before the first element is 0. If a decay
    is 0, the earlier values have no effect, even if they are infinite. So zeros cut a dim into
    independent segments.

    * With `exclusive`, element t is the value before step t.
    * With `late`, the op uses the decay of the previous step: y[t] = decay[t - 1] * y[t - 1] +
      input[t].
    * With `reverse`, the op runs from the last element to the first.

    The derivatives of running products and extrema have this form. So do the derivatives of a
    recurrence.

    Constraints:
    * (recurrence_c1) Operands have one float type, and equal names have equal sizes.
    * (recurrence_c2) The dim is a dim of an operand.
    * (recurrence_c3) `exclusive` and `late` exclude each other.

    Example: `xtensor.recurrence %decay, %input along t : !xtensor.array<t: 4, f32>,
    !xtensor.array<t: 4, space: 3, f32>`
  }];
  let arguments = (ins XTensor_FloatArray:$decay, XTensor_FloatArray:$input, StrAttr:$dim,
                       UnitAttr:$reverse, UnitAttr:$exclusive, UnitAttr:$late);
  let results = (outs XTensor_FloatArray:$y);
  let assemblyFormat = [{
    $decay `,` $input `along` custom<Name>($dim) attr-dict `:` type($decay) `,` type($input)
  }];
  let hasVerifier = 1;
}

#endif // XTENSOR_SCAN_OPS_TD
