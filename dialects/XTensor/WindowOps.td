// Sliding windows over a dim, and their transpose.
#ifndef XTENSOR_WINDOW_OPS_TD
#define XTENSOR_WINDOW_OPS_TD

include "XTensor/Base.td"

def XTensor_WindowOp : XTensor_InferredOp<"window"> {
  let summary = "The windows along a dim, with the positions inside a window as a new last dim";
  let description = [{
    y[t, w] = x[t * stride + w * dilation]. The result contains only whole windows. The size of
    `dim` is (n - (size - 1) * dilation - 1) / stride + 1, or 0 if no window fits. If the next op
    reduces or contracts the windows, no data is copied.

    Constraints:
    * (window_c1) The dim is a dim of the operand and has a static size.
    * (window_c2) size, stride and dilation are at least 1.
    * (window_c3) `into` is not a dim of the operand.

    Example: `xtensor.window %x t into w size 3 stride 1 dilation 1 :
    !xtensor.array<t: 8, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim, StrAttr:$into, I64Attr:$size,
                       I64Attr:$stride, I64Attr:$dilation);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x custom<Name>($dim) `into` custom<Name>($into) `size` $size `stride` $stride
    `dilation` $dilation attr-dict `:` type($x)
  }];
}

def XTensor_OverlapAddOp : XTensor_InferredOp<"overlap_add"> {
  let summary = "Adds windows up where they overlap: the transpose of `window`";
  let description = [{
    y[t * stride + w * dilation] += x[t, w], over a dim of `length` elements. Elements that no
    window covers are 0.

    Constraints:
    * (overlap_add_c1) `dim` and `from` are two different dims of the operand with static sizes.
    * (overlap_add_c2) stride and dilation are at least 1.
    * (overlap_add_c3) The windows fit into `length`.

    Example: `xtensor.overlap_add %x t from w length 8 stride 1 dilation 1 :
    !xtensor.array<t: 6, w: 3, f32>`
  }];
  let arguments = (ins XTensor_NumberArray:$x, StrAttr:$dim, StrAttr:$from, I64Attr:$length,
                       I64Attr:$stride, I64Attr:$dilation);
  let results = (outs XTensor_NumberArray:$y);
  let assemblyFormat = [{
    $x custom<Name>($dim) `from` custom<Name>($from) `length` $length `stride` $stride
    `dilation` $dilation attr-dict `:` type($x)
  }];
}

#endif // XTENSOR_WINDOW_OPS_TD
