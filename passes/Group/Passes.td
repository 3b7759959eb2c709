// Passes that decide what runs together. Each description says why, then shows
// IR before ==> after; test/passes/Group has the same examples.

#ifndef XTENSOR_PASSES_GROUP
#define XTENSOR_PASSES_GROUP

include "mlir/Pass/PassBase.td"

def FoldConversions : Pass<"xtensor-fold-conversions", "::mlir::func::FuncOp"> {
  let summary = "Matrix products widen the narrow numbers that they read";
  let description = [{
    A library wants its operands in the type it computes in; a kernel reads half
    precision and widens what it has loaded. What is computed in half precision, and
    widened for products alone, is stored as half precision first. For devices, after
    groups are made.

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
    A value that is written once and read once costs two passes over memory.
    Elementwise producers, renames, broadcasts, fills and splat constants move
    into the body of their consumer, also into reductions. A producer with
    several consumers is evaluated in each of them if reading its inputs again
    costs no more memory traffic than storing it, and if it calls no math
    function, division or gather. GEMM-shaped contractions keep their operands:
    a library does them.

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
  let summary = "Evaluate what reads a running value in the loop that makes it";
  let description = [{
    The gradient of a product is what comes before each element times what comes
    after it: two scans, whose values would be stored to be multiplied. The reader
    of a scan's values that goes through them in any order moves into the scan's
    body. A reduction of the elements that a scan combines is the scan's last value,
    unless what the scan shows would have to be stored until all such values are there.

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
    The steps of a softmax or a layer normalisation all run over the same rows.
    Done one row at a time, every intermediate is one row in the first-level
    cache, and one parallel loop does all of it. Dims are matched through the
    indexing maps of producers and consumers; a group never has a path that
    leaves it and comes back. Values used outside become results of the forall.
    Elementwise ops on their own get a forall over blocks, column reductions
    one over blocks of columns. Contractions and everything small stay outside.
    `max-values` bounds how many tensors a group of several ops reads and makes:
    a kernel of a device can name so many buffers. A device needs no forall for
    an op on its own (`alone`): each of its points has a thread.

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
  let summary = "The result of a group lies where an operand was that dies in it";
  let description = [{
    A group that reads a part of a temporary and writes the same part of its result
    needs no second temporary: half of the memory, and of the lines that a cache
    must hold. It pays most where the producer is a matrix product, which cannot
    move into the group. Bufferization writes in place only where the destination
    says so. Temporaries alone: arguments and constants stay as they are.

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
  let summary = "Split large reductions without parallel dims, or over long columns, into two stages";
  let description = [{
    A sum over everything has no parallel dim, and it cannot join a group over
    rows. As a sum of row sums it can: the row sums belong to the rows. Where
    no outer dims are left the longest reduced dim is cut into chunks. The
    chunks depend on sizes only, so the result does not depend on the number of
    threads. Columns that no cache holds become parts of whole rows: memory is
    read in order, and the parts can join a group. What a running combination
    shows is added up along it first, so that these sums join the group that
    makes it, which need not store it for them. A device wants more `parts`,
    and columns cut as well; so are products of long sums whose result does not
    fill half a `tile`.

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
