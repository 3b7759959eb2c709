// What processes do together: xtensor-distribute makes these ops for a program that several
// processes run, each on its part of the arrays.
#ifndef XTENSOR_COLLECTIVE_OPS_TD
#define XTENSOR_COLLECTIVE_OPS_TD

include "XTensor/Base.td"
include "XTensor/ReduceOps.td"

/// An op of all processes along one dim of a mesh. `communicator` is the number by which the runtime
/// knows these processes.
class XTensor_CollectiveOp<string mnemonic> : XTensor_InferredOp<mnemonic> {
  // Constraints of all ops:
  // * (collective_c1) All processes of the communicator run the op, in the same order.
}

def XTensor_AllReduceOp : XTensor_CollectiveOp<"all_reduce"> {
  let summary = "Combination of the arrays of all processes along a dim of the mesh";
  let description = [{
    Each element of a result combines the elements of all processes at this position, for example
    by a sum. Every process gets the results. In `max` and `min`, NaN wins. Several arrays are sent
    in one message.

    Constraints:
    * (all_reduce_c1) `any` and `all` take bools, the other kinds numbers. The op does not have the
      kinds `argmax` and `argmin`.
    * (all_reduce_c2) There is at least one array, and all have one element type.

    Example: `xtensor.all_reduce sum %x across data communicator 0 : !xtensor.array<k: 3, f32>`
  }];
  let arguments = (ins XTensor_ReduceKind:$kind, Variadic<XTensor_ArrayType>:$xs, StrAttr:$axis,
                       I64Attr:$communicator);
  let results = (outs Variadic<XTensor_ArrayType>:$ys);
  let assemblyFormat = [{
    $kind $xs `across` custom<Name>($axis) `communicator` $communicator attr-dict `:` type($xs)
  }];
  let hasVerifier = 1;
}

def XTensor_AllGatherOp : XTensor_CollectiveOp<"all_gather"> {
  let summary = "The parts of all processes, joined along a dim of the array";
  let description = [{
    Every process has a part of the array along `dim`. The parts have one size and follow each other
    in the order of the processes. Every process gets the whole.

    Constraints:
    * (all_gather_c1) `dim` is a dim of the array, and its size is static.
    * (all_gather_c2) `processes` is at least 1.

    Example: `xtensor.all_gather %x along t across data communicator 0 of 2 : !xtensor.array<t: 4,
    f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim, StrAttr:$axis, I64Attr:$communicator,
                       I64Attr:$processes);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x `along` custom<Name>($dim) `across` custom<Name>($axis) `communicator` $communicator
    `of` $processes attr-dict `:` type($x)
  }];
}

def XTensor_HaloOp : XTensor_CollectiveOp<"halo"> {
  let summary = "Some elements of the whole array, which other processes may have";
  let description = [{
    Every process has a part of the array along `dim`, as in `all_gather`. Process i gets the `size`
    elements of the whole array from position `start` + i * `step`. At positions outside of the
    whole array, it gets zeros. A process sends only the elements that another process needs.

    For example, if parts have 4 elements, `start` -1, `step` 4 and `size` 6 give each process its
    part and one element of each neighbour.

    Constraints:
    * (halo_c1) `dim` is a dim of the array, and its size is static.
    * (halo_c2) `processes` is at least 1, and `size` is not negative.
    * (halo_c3) All positions fit into 64 bits.

    Example: `xtensor.halo %x along t start -1 step 4 size 6 across data communicator 0 of 2 :
    !xtensor.array<t: 4, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$dim, I64Attr:$start, I64Attr:$step,
                       I64Attr:$size, StrAttr:$axis, I64Attr:$communicator, I64Attr:$processes);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $x `along` custom<Name>($dim) `start` $start `step` $step `size` $size `across`
    custom<Name>($axis) `communicator` $communicator `of` $processes attr-dict `:` type($x)
  }];
}

def XTensor_AllToAllOp : XTensor_CollectiveOp<"all_to_all"> {
  let summary = "Parts along one dim of the array become parts along another";
  let description = [{
    Every process has a part of the array along `from`, as in `all_gather`, and all elements along
    `to`. Every process gets all elements along `from`, and its part along `to`. A process sends to
    each other process only the elements that it needs.

    Constraints:
    * (all_to_all_c1) `from` and `to` are two dims of the array, and their sizes are static.
    * (all_to_all_c2) `processes` is at least 1, and divides the size of `to`.

    Folds: an op that undoes another gives the operand of the other.

    Example: `xtensor.all_to_all %x from t to k across data communicator 0 of 2 : !xtensor.array<t:
    4, k: 6, f32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, StrAttr:$from, StrAttr:$to, StrAttr:$axis,
                       I64Attr:$communicator, I64Attr:$processes);
  let results = (outs XTensor_ArrayType:$y);
  let hasFolder = 1;
  let assemblyFormat = [{
    $x `from` custom<Name>($from) `to` custom<Name>($to) `across` custom<Name>($axis)
    `communicator` $communicator `of` $processes attr-dict `:` type($x)
  }];
}

def XTensor_ProcessIndexOp : XTensor_CollectiveOp<"process_index"> {
  let summary = "The position of this process along a dim of the mesh";
  let description = [{
    Example: `xtensor.process_index across data communicator 0`
  }];
  let arguments = (ins StrAttr:$axis, I64Attr:$communicator);
  let results = (outs XTensor_SizeArray:$y);
  let assemblyFormat = "`across` custom<Name>($axis) `communicator` $communicator attr-dict";
}

#endif // XTENSOR_COLLECTIVE_OPS_TD
