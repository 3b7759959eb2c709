// Reading and updating by arrays of positions.
#ifndef XTENSOR_INDEX_OPS_TD
#define XTENSOR_INDEX_OPS_TD

include "XTensor/Base.td"

def XTensor_IndexMode : I32EnumAttr<"IndexMode", "what an index outside of the dim does", [
    I32EnumAttrCase<"raise", 0>, I32EnumAttrCase<"clip", 1>, I32EnumAttrCase<"drop", 2>]> {
  let cppNamespace = "::xtensor";
}
def XTensor_ScatterKind : I32EnumAttr<"ScatterKind", "update", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"set", 1>, I32EnumAttrCase<"mul", 2>,
    I32EnumAttrCase<"max", 3>, I32EnumAttrCase<"min", 4>]> {
  let cppNamespace = "::xtensor";
}
def XTensor_AccumulateKind : I32EnumAttr<"AccumulateKind", "what a recurrence gives", [
    I32EnumAttrCase<"last", 0>, I32EnumAttrCase<"states", 1>]> {
  let cppNamespace = "::xtensor";
}

/// Pure except for its error: an index out of range is an error even if the result is not read.
class XTensor_IndexedOp<string mnemonic>
    : XTensor_Op<mnemonic, [InferTypeOpAdaptor,
                            DeclareOpInterfaceMethods<ConditionallySpeculatable>,
                            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def XTensor_GatherOp : XTensor_IndexedOp<"gather"> {
  let summary = "Elements at positions given by index arrays, one for each dim that is read";
  let description = [{
    Index arrays are aligned by name: along a dim that two of them share, their elements are paired.
    If an index array has a dim that the source keeps, it is paired with the source along this dim,
    too. Along different dims, all combinations of positions are read. In the result, the dims of
    the index arrays take the place of the first dim that is read. Negative positions count from the
    end.

    If a position is outside of the dim, `raise` makes the call fail with an IndexError, even if the
    result is not used. `clip` reads the nearest element. If the dim has size 0, the result is 0.

    Constraints:
    * (gather_c1) There are as many index arrays as dims in `along`, at least one.
    * (gather_c2) The dims are dims of the source, each at most once.
    * (gather_c3) Indices are integers.
    * (gather_c4) Equal names have equal sizes.
    * (gather_c5) The mode is `raise` or `clip`.
    * (gather_c6) With `raise`, no dim read has size 0, unless the result is empty.

    Example: `xtensor.gather raise %x at %i along [row] : !xtensor.array<row: 9, col: 4, f32>,
    !xtensor.array<pick: 3, i64>`
  }];
  let arguments = (ins XTensor_IndexMode:$mode, XTensor_ArrayType:$source,
                       Variadic<XTensor_IntegerArray>:$indices, StrArrayAttr:$along);
  let results = (outs XTensor_ArrayType:$y);
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $mode $source `at` $indices `along` custom<Names>($along)
    attr-dict `:` type($source) `,` type($indices)
  }];
}

def XTensor_ScatterOp : XTensor_IndexedOp<"scatter"> {
  let summary = "A copy of the target, combined with updates at given positions";
  let description = [{
    The gathered view is the result of a gather of the target at the same indices. `updates` has
    dims of the gathered view, and is broadcast along the others. Updates of one position are
    applied one after another, in index order. Index order is row-major over the dims of the index
    arrays, sorted alphabetically. So the stored order of dims has no meaning. `set` keeps the last
    update. In `max` and `min`, NaN wins. `drop` skips updates at positions outside of the dim.

    Constraints, in addition to those of gather:
    * (scatter_c1) Target and updates have one element type.
    * (scatter_c2) The dims of the updates are among those of the gathered view.
    * (scatter_c3) `add` and `mul` are not for bools.

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

def XTensor_AccumulateOp : XTensor_IndexedOp<"accumulate"> {
  let summary = "At each position, state <- factor * state + term for one update after another";
  let description = [{
    With terms of 0, the op is `scatter mul`. Its derivatives can be written with the same op. The
    op is linear in start and terms. Its transpose is the same op with the order of updates
    reversed.

    * `last` returns the states after all updates.
    * `states` returns the state before each update, with the dims of the gathered view. For an
      update that is dropped, it returns 0.

    Index order is that of scatter.

    Constraints: factors and terms satisfy those of the updates of scatter. In addition:
    * (accumulate_c1) Elements are floats.

    Example: `xtensor.accumulate last drop %start at %i times %f plus %t along [row] :
    !xtensor.array<row: 9, f32>, !xtensor.array<pick: 3, f32>, !xtensor.array<f32>,
    !xtensor.array<pick: 3, i64>`
  }];
  let arguments = (ins XTensor_AccumulateKind:$kind, XTensor_IndexMode:$mode,
                       XTensor_FloatArray:$start, XTensor_FloatArray:$terms,
                       XTensor_FloatArray:$factors, Variadic<XTensor_IntegerArray>:$indices,
                       StrArrayAttr:$along, UnitAttr:$reverse);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $kind $mode $start `at` $indices `times` $factors `plus` $terms `along` custom<Names>($along)
    attr-dict `:` type($start) `,` type($factors) `,` type($terms) `,` type($indices)
  }];
}

#endif // XTENSOR_INDEX_OPS_TD
