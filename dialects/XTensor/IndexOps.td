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

/// Pure but for its report: an index out of range is an error though nobody reads the result.
class XTensor_IndexedOp<string mnemonic>
    : XTensor_Op<mnemonic, [InferTypeOpAdaptor,
                            DeclareOpInterfaceMethods<ConditionallySpeculatable>,
                            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def XTensor_GatherOp : XTensor_IndexedOp<"gather"> {
  let summary = "Elements at positions given by arrays, one array per dim read";
  let description = [{
    Index arrays that share a name go together (pointwise), also with a dim that the source
    keeps; different names make an outer product. In the result the index arrays' dims stand
    where the first dim read was. Negative positions count from the end. Beyond that `raise`
    makes the call fail with an IndexError, whether or not the result is read; `clip` takes the
    nearest element, and of a dim of size 0 the number 0.

    Constraints: (gather_c1) as many index arrays as dims `along`, at least one, (gather_c2)
    the dims are the source's, none twice, (gather_c3) indices are integers, (gather_c4) equal
    names have equal sizes, (gather_c5) the mode is `raise` or `clip`, (gather_c6) with
    `raise` no dim read has size 0 unless the result is empty.

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
  let summary = "A copy of the target with updates combined in at given positions";
  let description = [{
    `updates` has dims from what a gather of the target at the same indices has; a missing one
    broadcasts. Updates at one position are combined one after another in index order: row-major
    over the index arrays' dims in the order of their names, so that stored order means nothing.
    `set` keeps the last. NaN wins `max` and `min`. `drop` leaves out what lies outside.

    Constraints: as gather's, and (scatter_c1) target and updates have one element type,
    (scatter_c2) the updates' dims are among those of the gathered view, (scatter_c3) `add` and
    `mul` are not for bools.

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
  let summary = "state <- factor * state + term, by the updates of each position in turn";
  let description = [{
    What `scatter mul` is the case of with terms 0, and closed under differentiation: linear in
    start and terms, and its own transpose with the order of updates reversed. `last` gives the
    states after all updates, `states` the one that each update found, with the dims of the
    gathered view, and 0 for an update that was dropped. Index order is as scatter's.

    Constraints: as scatter's for factors and terms, and (accumulate_c1) elements are floats.

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
