// The way from tensors, and later from memory, to routines of the runtime: names are gone here.
#ifndef XTENSOR_LIBRARY_OPS_TD
#define XTENSOR_LIBRARY_OPS_TD

include "XTensor/Base.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def XTensor_Stored : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef], "tensor or strided memref">;

def XTensor_LibraryOp : XTensor_Op<"library", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "One call of a routine of the runtime, results in the outs";
  let description = [{
    Takes the place of loops that nobody would want generated: factorisations, transforms, sorts.
    On tensors each result is its out, updated; bufferization gives the outs the memory where the
    results are wanted, so nothing is copied. On memory there are no results. The routine sees
    an `xt_array` per operand (ins, then outs: pointer, element type, sizes, strides) and
    `options`, integers that it gives a meaning to (runtime.h). Its results depend on those
    alone, so equal calls are one call. What an out holds before is the routine's to read: pass
    `tensor.empty` if it does not.

    `axes` says for each operand in which order the routine sees its axes, so a permuted array
    needs no copy; -1 stands for an axis that is not there, of size 1 and stride 0. Without it
    the order is the stored one. With `contiguous` the routine wants the last stored axis of
    every operand to have stride 1; bufferization copies what has not. Without it routines work
    on any strides.

    Constraints: (library_c1) operands are all tensors, whose results have the types of the
    outs, or all memory without results, (library_c2) `axes` has a list per operand, with each
    of its axes once and any number of -1, (library_c3) there is an out.

    Example: `%l = xtensor.library "xt_cholesky" ins(%a : tensor<8x4x4xf32>) outs(%e :
    tensor<8x4x4xf32>) {axes = [array<i64: 0, 2, 1>, array<i64: 0, 1, 2>], options = array<i64: 1>}
    -> tensor<8x4x4xf32>`
  }];
  let arguments = (ins StrAttr:$routine, Variadic<XTensor_Stored>:$inputs,
                       Variadic<XTensor_Stored>:$outs,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "orders of axes">>:$axes,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$options,
                       UnitAttr:$contiguous);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $routine (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outs `:` type($outs) `)`
    attr-dict (`->` type($results)^)?
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$routine, "::mlir::ValueRange":$inputs,
                                 "::mlir::ValueRange":$outs,
                                 CArg<"::mlir::ArrayAttr", "{}">:$axes,
                                 CArg<"::llvm::ArrayRef<int64_t>", "{}">:$options,
                                 CArg<"bool", "false">:$contiguous)>];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
  let hasVerifier = 1;
}

#endif // XTENSOR_LIBRARY_OPS_TD
