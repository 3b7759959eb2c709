// Passes that decide what runs together. Each description says why, then shows
// IR before ==> after; test/passes/Group has the same examples.

#ifndef XTENSOR_PASSES_GROUP
#define XTENSOR_PASSES_GROUP

include "mlir/Pass/PassBase.td"

def FoldConversions : Pass<"xtensor-fold-conversions", "::mlir::func::FuncOp"> {
  let summary = "Let matrix products widen the narrow numbers that they read";
  let description = [{
    A library needs its operands in the type that it computes in. A kernel reads half precision and
    widens what it has loaded. If a value is computed in half precision and widened only for
    products, it is stored as half precision. The pass is for devices, and runs after groups are
    made.

    ```mlir
    %wide = linalg.generic ins(%a : tensor<64x32xf16>) { arith.extf }
    %c = linalg.generic ins(%wide, %b) outs(%zero) { mulf, addf }
    ```
    ==>
    ```mlir
    %c = linalg.generic ins(%a, %b) outs(%zero) { arith.extf, mulf, addf }
    ```
  }];
}

def FuseElementwise : Pass<"xtensor-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Evaluate elementwise ops where their results are read";
  let description = [{
    A value that is written once and read once costs two passes over memory. Elementwise producers,
    renames, broadcasts, fills and splat constants move into the body of their consumer, also into
    reductions.

    A producer with several consumers is evaluated in each of them under two conditions. Reading its
    inputs again costs no more memory traffic than storing it. It calls no math function, division
    or gather. GEMM-shaped contractions keep their operands, because a library computes them.

    ```mlir
    %s = linalg.generic ins(%x, %m) { subf }        // (d0, d1), (d0)
    %e = linalg.generic ins(%s) { math.exp }
    ```
    ==>
    ```mlir
    %e = linalg.generic ins(%x, %m) { subf, math.exp }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseScans : Pass<"xtensor-fuse-scans", "::mlir::func::FuncOp"> {
  let summary = "Move readers of a running value into the loop that makes it";
  let description = [{
    The gradient of a product multiplies the elements before each element with those after it. These
    are two scans, whose values would be stored only to be multiplied. If one op reads the values of
    a scan and may go through them in any order, it moves into the body of the scan.

    A reduction of the elements that a scan combines is the last value of the scan. The pass uses
    it, unless the outputs of the scan would have to be stored until all such values are there.

    ```mlir
    %y:2 = linalg.generic ins(%x) outs(%e, %one) { mulf } {xtensor.scan = "reverse"}
    %z = linalg.generic ins(%y#0, %w) { mulf }
    ```
    ==>
    ```mlir
    %z:2 = linalg.generic ins(%x, %w) outs(%e, %one) { mulf, mulf } {xtensor.scan = "reverse"}
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def Group : Pass<"xtensor-group", "::mlir::func::FuncOp"> {
  let summary = "Wrap linalg ops that share outer parallel dims in one scf.forall";
  let description = [{
    The steps of a softmax or a layer normalisation all run over the same rows. If they are done one
    row at a time, every intermediate is one row in the first-level cache, and one parallel loop
    does all steps.

    * Dims are matched through the indexing maps of producers and consumers.
    * A group never has a path that leaves it and comes back.
    * Values that are used outside become results of the forall.
    * An elementwise op on its own gets a forall over blocks. A column reduction gets one over
      blocks of columns.
    * Contractions and small ops stay outside.
    * `max-values` limits the number of tensors that a group of several ops reads and makes, because
      a kernel can name only that many buffers.
    * A device needs no forall for an op on its own (`alone`), because each of its points has a
      thread.

    ```mlir
    %m = linalg.generic ins(%x) outs(%init) { maximumf }   // [64, 1024] -> [64]
    %e = linalg.generic ins(%x, %m) outs(%empty) { subf, math.exp }
    ```
    ==>
    ```mlir
    %e = scf.forall (%i) in (64) shared_outs(%o = %empty) {
      %row = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1]
      %m = linalg.generic ins(%row) { maximumf }           // [1024] -> []
      %out = tensor.extract_slice %o[%i, 0] [1, 1024] [1, 1]
      %e = linalg.generic ins(%row, %m) outs(%out) { subf, math.exp }
      scf.forall.in_parallel { tensor.parallel_insert_slice %e into %o[%i, 0] [1, 1024] [1, 1] }
    }
    ```
  }];
  let options = [Option<"maxValues", "max-values", "unsigned", "0",
                        "tensors that a group reads and makes; 0: any number">,
                 Option<"alone", "alone", "bool", "true",
                        "ops on their own get a forall, too">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def ReuseOperands : Pass<"xtensor-reuse-operands", "::mlir::func::FuncOp"> {
  let summary = "Put the result of a group in the place of an operand that dies in it";
  let description = [{
    If a group reads a part of a temporary and writes the same part of its result, it needs no
    second temporary. This halves the memory, and the lines that a cache must hold. It saves most if
    the producer is a matrix product, which cannot move into the group. Bufferization writes in
    place only if the destination says so. Only temporaries are reused. Arguments and constants stay
    as they are.

    ```mlir
    %c = linalg.generic ins(%a, %b) outs(%zero) { mulf, addf }
    %y = scf.forall (%i) in (64) shared_outs(%out = %empty) -> (tensor<64x1024xf32>) {
      %row = tensor.extract_slice %c[%i, 0] [1, 1024] [1, 1]
      %place = tensor.extract_slice %out[%i, 0] [1, 1024] [1, 1]
      %e = linalg.generic ins(%row) outs(%place) { math.exp }
    ```
    ==>
    ```mlir
    %y = scf.forall (%i) in (64) shared_outs(%out = %c) -> (tensor<64x1024xf32>) {
      %row = tensor.extract_slice %out[%i, 0] [1, 1024] [1, 1]
      %place = tensor.extract_slice %out[%i, 0] [1, 1024] [1, 1]
      %e = linalg.generic ins(%row) outs(%place) { math.exp }
    ```
  }];
}

def SplitReductions : Pass<"xtensor-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split large reductions into two stages";
  let description = [{
    A full sum has no parallel dim and cannot join a group over rows. A sum of row sums can: the row
    sums belong to the rows. If no outer dims are left, the pass cuts the longest reduced dim into
    chunks. The chunks depend only on sizes, so the result does not depend on the number of threads.

    * Columns that do not fit in a cache become parts of whole rows. Memory is then read in order,
      and the parts can join a group.
    * If a reduction sums the outputs of a running combination, its first stage goes along the
      combination. These sums join the group that makes the outputs, so the group need not store the
      outputs for them.
    * A device needs more `parts`, and columns are cut as well. A product with a long sum is also
      cut if its result does not fill half a `tile`.

    ```mlir
    %s = linalg.generic ins(%x) outs(%zero) { addf }       // [64, 1024] -> []
    ```
    ==>
    ```mlir
    %rows = linalg.generic ins(%x) outs(%zeros) { addf }   // [64, 1024] -> [64]
    %s = linalg.generic ins(%rows) outs(%zero) { addf }    // [64] -> []
    ```
  }];
  let options = [Option<"parts", "parts", "int64_t", "16",
                        "parts that keep the machine busy: at most 32 cores' worth, or a device's">,
                 Option<"tile", "tile", "int64_t", "0",
                        "side of a device's tiles, half of which a product fills that is left to them; 0: all are left">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // XTENSOR_PASSES_GROUP
