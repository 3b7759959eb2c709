// Reading and updating by arrays of positions.
#ifndef XTENSOR_INDEX_OPS_TD
#define XTENSOR_INDEX_OPS_TD

include "XTensor/Base.td"

def XTensor_IndexMode : I32EnumAttr<"IndexMode", "what an index outside of the dim does", [
    I32EnumAttrCase<"raise", 0>, I32EnumAttrCase<"clip", 1>, I32EnumAttrCase<"drop", 2>]> {
  let cppNamespace = "::xtensor";
}
def XTensor_ScatterKind : I32EnumAttr<"ScatterKind", "update", [
    I32EnumAttrCase<"add", 0>]> {
  let cppNamespace = "::xtensor";
}

def XTensor_GatherOp : XTensor_InferredOp<"gather"> {
  let summary = "Elements at positions given by arrays, one array per dim read";
  let description = [{
    Index arrays that share a name go together (pointwise), also with a dim that the source
    keeps; different names make an outer product. In the result the index arrays' dims stand
    where the first dim read was. Negative positions count from the end. Beyond that `raise`
    makes the call fail with an IndexError, `clip` takes the nearest element.

    Constraints: (gather_c1) as many index arrays as dims `along`, at least one, (gather_c2)
    the dims are the source's, none twice, (gather_c3) indices are integers, (gather_c4) equal
    names have equal sizes, (gather_c5) the mode is `raise` or `clip`, (gather_c6) no dim read
    has size 0 unless the result is empty.

    Example: `xtensor.gather raise %x at %i along [row] : !xtensor.array<row: 9, col: 4, f32>,
    !xtensor.array<pick: 3, i64>`
  }];
  let arguments = (ins XTensor_IndexMode:$mode, XTensor_ArrayType:$source,
                       Variadic<XTensor_IntegerArray>:$indices, StrArrayAttr:$along);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $mode $source `at` $indices `along` custom<Names>($along)
    attr-dict `:` type($source) `,` type($indices)
  }];
}

def XTensor_ScatterOp : XTensor_InferredOp<"scatter"> {
  let summary = "A copy of the target with updates combined in at given positions";
  let description = [{
    The transpose of `gather`: `updates` has dims from what a gather of the target at the same
    indices has; a missing one broadcasts. Updates at one position accumulate. `drop` leaves
    out what lies outside of the target.
    Constraints: as gather's, and (scatter_c1) target and updates have one element type,
    (scatter_c2) the updates' dims are among those of the gathered view.
    Example: `xtensor.scatter add drop %t at %i with %u along [row] :
    !xtensor.array<row: 9, f32>, !xtensor.array<pick: 3, f32>, !xtensor.array<pick: 3, i64>`
  }];
  let arguments = (ins XTensor_ScatterKind:$kind, XTensor_IndexMode:$mode,
                       XTensor_ArrayType:$target, Variadic<XTensor_IntegerArray>:$indices,
                       XTensor_ArrayType:$updates, StrArrayAttr:$along);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $kind $mode $target `at` $indices `with` $updates `along` custom<Names>($along)
    attr-dict `:` type($target) `,` type($updates) `,` type($indices)
  }];
}

#endif // XTENSOR_INDEX_OPS_TD
