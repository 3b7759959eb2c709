// Discrete Fourier transforms, of pairs of floats.
#ifndef XTENSOR_FOURIER_OPS_TD
#define XTENSOR_FOURIER_OPS_TD

include "XTensor/Base.td"

// The numbers are those of fourier::Kind in runtime/Fourier/Level.h.
def XTensor_FourierKind : I32EnumAttr<"FourierKind", "Fourier transform", [
    I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"backward", 1>, I32EnumAttrCase<"real", 2>,
    I32EnumAttrCase<"hermitian", 3>]> {
  let cppNamespace = "::xtensor";
}

def XTensor_FourierArray : XTensor_ArrayOf<"e.isF32() || e.isF64()", "f32 or f64">;

def XTensor_FourierOp : XTensor_InferredOp<"fourier"> {
  let summary = "Discrete Fourier transform along one or more dims";
  let description = [{
    A complex number is a pair of floats along the dim `pair`, which has size 2. Transforms along
    several dims are done one after another. The result is multiplied by `scale`.

    * `forward`: y[k] = sum over t of x[t] exp(-2 pi i k t / n).
    * `backward`: the same with exp(+2 pi i k t / n).
    * `real`: `x` is real, without the dim `pair`. The result is that of `forward` for the first n /
      2 + 1 positions along the last of `dims`. The others are their conjugates. The dim `pair`
      comes last.
    * `hermitian`: the inverse of `real`, apart from a factor. `x` holds the first `size` / 2 + 1
      positions along the last of `dims`. The others are taken to be their conjugates. The result is
      that of `backward`, which is real, without the dim `pair`.

    The op is linear. `forward` and `backward` are the transposes of each other.

    Constraints:
    * (fourier_c1) `dims` are dims of the operand, each named once. `pair` is not in `dims`.
    * (fourier_c2) For `real`, the operand does not have the dim `pair`. For the other kinds, it has
      this dim, with size 2.
    * (fourier_c3) For `hermitian`, `size` is given and fits the size of the last dim. For the
      others, it is not given.
    * (fourier_c4) For `real` and `hermitian`, the last of `dims` has a static size.
    * (fourier_c5) No size along `dims` is 0.

    Folds: `forward` and `backward` along dims of size 1 with scale 1 are the operand.

    Example: `xtensor.fourier forward %x along [t] pair c : !xtensor.array<b: 4, t: 8, c: 2, f32>`
  }];
  let arguments = (ins XTensor_FourierKind:$kind, XTensor_FourierArray:$x, StrArrayAttr:$dims,
                       StrAttr:$pair, OptionalAttr<I64Attr>:$size,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs XTensor_FourierArray:$y);
  let hasFolder = 1;
  let assemblyFormat = [{
    $kind $x `along` custom<Names>($dims) `pair` custom<Name>($pair) (`size` $size^)? attr-dict
    `:` type($x)
  }];
  let extraClassDeclaration = [{
    /// The dim that is halved by `real`.
    ::mlir::StringAttr getLastDim() {
      return ::llvm::cast<::mlir::StringAttr>(getDims()[getDims().size() - 1]);
    }
  }];
}

#endif // XTENSOR_FOURIER_OPS_TD
