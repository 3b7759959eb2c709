// Ops of the phases after `linalg`, in which dims have no names: calls of routines of the runtime,
// on tensors and later on memory, and functions of numbers.
#ifndef XTENSOR_LIBRARY_OPS_TD
#define XTENSOR_LIBRARY_OPS_TD

include "XTensor/Base.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def XTensor_Stored : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef], "tensor or strided memref">;

def XTensor_LibraryOp : XTensor_Op<"library", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "One call of a routine of the runtime, with results in the outs";
  let description = [{
    Some operations are not worth generating as loops: factorisations, transforms, sorts. The op
    calls a routine for them. On tensors, each result is the updated value of an out. Bufferization
    replaces the outs by the buffers in which the results are needed, so no result is copied. On
    memrefs, the op has no results.

    The routine gets one `xt_array` per operand (ins, then outs: pointer, element type, sizes,
    strides). It also gets `options`, integers whose meaning the routine defines (runtime.h). Its
    results depend only on operands and options, so CSE may merge equal calls. The routine may read
    the values that an out has before the call. If it does not, pass `tensor.empty`. An `ordered`
    call has other effects, too. Such calls run in order.

    `axes` gives, for each operand, the order in which the routine sees its axes. So a permuted
    array needs no copy. -1 adds an axis of size 1 and stride 0. Without `axes`, the order is that
    of the type.

    With `contiguous`, the routine needs stride 1 in the last stored axis of every operand.
    Bufferization copies the operands that do not have it. Without `contiguous`, the routine works
    on any strides.

    Constraints:
    * (library_c1) All operands are tensors, and the results have the types of the outs; or all
      operands are memrefs, and the op has no results.
    * (library_c2) `axes` has a list per operand, with each of its axes once and any number of -1.
    * (library_c3) There is at least one out, or the call is ordered.

    Example: `%l = xtensor.library "xt_cholesky" ins(%a : tensor<8x4x4xf32>) outs(%e :
    tensor<8x4x4xf32>) {axes = [array<i64: 0, 2, 1>, array<i64: 0, 1, 2>], options = array<i64: 1>}
    -> tensor<8x4x4xf32>`
  }];
  let arguments = (ins StrAttr:$routine, Variadic<XTensor_Stored>:$inputs,
                       Variadic<XTensor_Stored>:$outs,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "orders of axes">>:$axes,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$options,
                       UnitAttr:$contiguous, UnitAttr:$ordered);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $routine (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$routine, "::mlir::ValueRange":$inputs,
                                 "::mlir::ValueRange":$outs,
                                 CArg<"::mlir::ArrayAttr", "{}">:$axes,
                                 CArg<"::llvm::ArrayRef<int64_t>", "{}">:$options,
                                 CArg<"bool", "false">:$contiguous,
                                 CArg<"bool", "false">:$ordered)>];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
  let hasVerifier = 1;
}

def XTensor_FunctionOperand
    : TypeOrValueSemanticsContainer<AnyTypeOf<[F32, F64]>, "f32 or f64">;

def XTensor_ElementaryOp : XTensor_Op<"elementary", !listconcat(
    [Pure, SameOperandsAndResultType], ElementwiseMappable.traits)> {
  let summary = "A function that the math dialect lacks, of numbers or of vectors";
  let description = [{
    `xtensor-expand-math` and `xtensor-expand-scalar-math` write it as arithmetic, by the function of
    passes/Functions that ElementwiseOps.td names.

    Constraints:
    * (elementary_c1) `function` is one of those functions, and has its number of operands.

    Example: `%y = xtensor.elementary "lgamma" %x : vector<16xf32>`
  }];
  let arguments = (ins StrAttr:$function, Variadic<XTensor_FunctionOperand>:$operands);
  let results = (outs XTensor_FunctionOperand:$result);
  let assemblyFormat = "$function $operands attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def XTensor_BitsOp : XTensor_Op<"bits", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "Memory of floats as memory of their bits";
  let description = [{
    A kernel reads some buffers of floats as integers: buffers of bfloat16, and those that it
    updates by compare-and-exchange. The host passes each buffer with the type that the kernel
    declares.

    Constraints:
    * (bits_c1) The types differ only in the element type: a float, and a signless integer that is as
      wide.

    Example: `%b = xtensor.bits %m : memref<?xbf16> to memref<?xi16>`
  }];
  let arguments = (ins AnyStridedMemRef:$source);
  let results = (outs AnyStridedMemRef:$bits);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($bits)";
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::getViewSource() { return getSource(); }
  }];
  let hasVerifier = 1;
}

#endif // XTENSOR_LIBRARY_OPS_TD
