// Passes that decide what runs together. Each description says why, then shows
// IR before ==> after; test/passes/Group has the same examples.

#ifndef XTENSOR_PASSES_GROUP
#define XTENSOR_PASSES_GROUP

include "mlir/Pass/PassBase.td"

def FoldConversions : Pass<"xtensor-fold-conversions", "::mlir::func::FuncOp"> {
  let summary = "Move the widening of half-precision operands into matrix products";
  let description = [{
    On the CPU, a library routine needs its operands in the type in which it computes. A kernel of a
    device can load half precision and widen each element. So if a value is widened only for matrix
    products, the pass moves the widening into them, and the value is stored in half precision. The
    pass is for devices, and runs before xtensor-split-reductions.

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
    To store a value and read it once costs two passes over memory. So the pass moves elementwise
    producers, renames, broadcasts, fills and splat constants into the bodies of their consumers. A
    consumer may be a reduction.

    A producer with several consumers is evaluated in each of them if two conditions hold. Reading
    its inputs again moves no more memory than storing its result. Its body contains no math
    function, division or gather. Matrix products keep their operands, because a library computes
    them.

    If the result of a transpose of merged axes is stored, the pass first moves the transpose before
    the merge. So `repeat` along an outer dim is one loop, and not a loop and a transpose.

    An integer whose uses all meet again in one op is evaluated there, with all that lies between.
    Each op is then there once. The rounds of a cipher, which makes random numbers, are such a chain
    of diamonds.

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
  let summary = "Move ops that read a running value into the loop that computes it";
  let description = [{
    The gradient of a product multiplies the elements before each element with those after it. These
    are two scans. Without this pass, the values of both would be stored, only to be multiplied. The
    pass moves an op into the body of a scan under two conditions: no other op reads the values of
    the scan, and the op may read them in any order.

    If a reduction combines the same elements as a scan, its result is the last value of the scan.
    The pass then replaces the reduction. It does not do so if another op needs all these last
    values before it reads the outputs: the outputs would have to be stored.

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
    The steps of a softmax or a layer normalisation all run over the same rows. If one parallel loop
    does all steps row by row, every intermediate is one row, which stays in the first-level cache.

    * The pass matches dims through the indexing maps of producers and consumers.
    * No path of uses may leave a group and come back to it.
    * Values that are used outside of the group become results of the forall.
    * An elementwise op that joins no group gets its own forall over blocks. A column reduction gets
      a forall over blocks of columns.
    * Contractions and small ops stay outside.
    * `max-values` limits the number of tensors that a group of several ops reads and computes,
      because a kernel can use only that many buffers.
    * On a device, each point of such a single op has a thread, so it needs no forall. `alone` is
      then false.

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
                        "number of tensors that a group may read and compute; 0: any number">,
                 Option<"alone", "alone", "bool", "true",
                        "ops on their own get a forall, too">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def ReuseOperands : Pass<"xtensor-reuse-operands", "::mlir::func::FuncOp"> {
  let summary = "Write the result of a group over an operand whose last use is in the group";
  let description = [{
    If each iteration reads a part of a temporary and writes the same part of the result, the result
    can overwrite the temporary. This halves the memory, and the number of cache lines that are in
    use. It saves most if a matrix product makes the temporary, because a product cannot move into
    the group. Bufferization works in place only if the destination operand is that temporary. So
    the pass makes it the destination. It reuses only temporaries, not arguments or constants.

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
    A sum over all elements has no parallel dim, so it cannot join a group over rows. The pass
    replaces it by row sums, which can join the group, and a sum of the row sums. If no outer dim is
    left, it cuts the longest reduced dim into chunks. The chunks depend only on sizes, so the
    result does not depend on the number of threads.

    * If a block of columns does not fit in a cache, the reduction is cut into groups of whole rows.
      Then memory is read in order, and the first stage can join a group. If an elementwise op makes
      the rows, its loop is cut as well. So the op and the first stage can form one group. The op
      stays as it is if another op could otherwise share a loop with it.
    * If a reduction sums the outputs of a running combination, its first stage runs along the
      combination. It then joins the group that computes the outputs, and the group need not store
      them for it.
    * A device needs more `parts`, and columns are cut as well. A matrix product with a long sum is
      also cut if its result does not fill half a `tile`.

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
                        "number of parts that keeps the machine busy: at most 32 cores, or a device">,
                 Option<"tile", "tile", "int64_t", "0",
                        "side of a device's tiles: products that fill less than half a tile are cut; 0: "
                        "no product is cut">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // XTENSOR_PASSES_GROUP
