// The passes that distribute a program over processes. Each example is part of
// test/passes/Distribute/distribute.mlir.
#ifndef XTENSOR_DISTRIBUTE_PASSES_TD
#define XTENSOR_DISTRIBUTE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Distribute : Pass<"xtensor-distribute", "::mlir::ModuleOp"> {
  let summary = "Make the program of one process out of the program for all";
  let description = [{
    Why: the dims of an array say how it is split over processes. `xtensor.split` maps names to dims
    of a mesh, for the whole program. So the layout of every value follows from its type, and no
    analysis has to choose one. The pass divides the sizes of these dims, and adds collectives where
    an op needs elements of other processes. Upstream's `shard` dialect annotates each value of a
    program on tensors instead, which have no names.

    ```mlir
    func.func @main(%x: !xtensor.array<b: 8, i: 3, f32>, %w: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>
        attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
      %y = xtensor.contract %x, %w over [i] : !xtensor.array<b: 8, i: 3, f32>, !xtensor.array<i: 3, f32>
      %g = xtensor.contract %x, %y over [b] : !xtensor.array<b: 8, i: 3, f32>, !xtensor.array<b: 8, f32>
      return %g : !xtensor.array<i: 3, f32>
    }
    ==>
    func.func @main(%x: !xtensor.array<b: 4, i: 3, f32>, %w: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
      %y = xtensor.contract %x, %w over [i] : !xtensor.array<b: 4, i: 3, f32>, !xtensor.array<i: 3, f32>
      %p = xtensor.contract %x, %y over [b] : !xtensor.array<b: 4, i: 3, f32>, !xtensor.array<b: 4, f32>
      %g = xtensor.all_reduce sum %p across data communicator 0 : !xtensor.array<i: 3, f32>
      return %g : !xtensor.array<i: 3, f32>
    }
    ```
  }];
}

def PrintDistributeRules : Pass<"xtensor-print-distribute-rules"> {
  let summary = "Print the table of how ops are distributed";
  let description = [{
    Why: the table shows which ops have a rule of their own. The pass fails if an op of the dialect
    is not in the table.
  }];
}

#endif // XTENSOR_DISTRIBUTE_PASSES_TD
