// Sliding windows over a dim, and their transpose.
#ifndef XTENSOR_WINDOW_OPS_TD
#define XTENSOR_WINDOW_OPS_TD

include "XTensor/Base.td"

def XTensor_WindowOp : XTensor_InferredOp<"window"> {
  let summary = "The windows of a dim, the places inside of each as a new last dim";
  let description = [{
    y[t, w] = x[t * stride + w * dilation]. Only whole windows: `dim` is left with
    (n - (size - 1) * dilation - 1) / stride + 1 elements, none if no window fits. Nothing is
    copied where the windows are reduced or contracted at once.

    Constraints: (window_c1) the dim is one of the operand's and has a static size, (window_c2)
    size, stride and dilation are at least 1, (window_c3) `into` is no dim of the operand.

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
  let summary = "Windows added up where they lie: the transpose of `window`";
  let description = [{
    y[t * stride + w * dilation] += x[t, w], over a dim of `length` elements; 0 where no window
    lies.

    Constraints: (overlap_add_c1) `dim` and `from` are the operand's, differ and have static
    sizes, (overlap_add_c2) stride and dilation are at least 1, (overlap_add_c3) the windows fit
    into `length`.

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
