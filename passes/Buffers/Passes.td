// Passes from tensors to buffers. Each description says why, then shows IR
// before ==> after; test/passes/Buffers has the same examples.

#ifndef XTENSOR_PASSES_BUFFERS
#define XTENSOR_PASSES_BUFFERS

include "mlir/Pass/PassBase.td"

def Bufferize : Pass<"xtensor-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization with read-only arguments";
  let description = [{
    At function boundaries, every tensor becomes a row-major buffer. The caller's arrays are never
    written: an update of an argument works on a copy. If a destination only feeds an insertion, the
    pass replaces it by the place of the insertion. So a concatenation writes each part once.

    The pass prepares the module for upstream's analysis, which has three limits:

    * Its time grows with the square of the uses of one value. If very many ops read an argument,
      the pass presents it as several values.
    * It does not tell positions of a tensor apart. If a loop reads one position and inserts
      another, the pass makes the loop read from memory.
    * It finds the unit dim that a view drops from strides. If two unit dims have unknown strides,
      it may take the wrong one. So if the type of a view leaves the dim open, the pass writes a
      whole view and a `memref.collapse_shape`.

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %e = tensor.empty() : tensor<8xf32>
      %y = linalg.generic ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {..}
      return %y : tensor<8xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main(%x: memref<8xf32>) -> memref<8xf32> {
      %y = memref.alloc() : memref<8xf32>
      linalg.generic ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {..}
      return %y : memref<8xf32>
    }
    ```
  }];
  let options = [Option<"readers", "readers", "int64_t", "64",
                        "uses of one argument that are analysed together">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def LoopBuffers : Pass<"xtensor-loop-buffers", "::mlir::func::FuncOp"> {
  let summary = "Give each buffer that a loop carries one fixed place";
  let description = [{
    A loop that yields a buffer made in its body would need a new buffer in every iteration. The
    pass gives each carried buffer a place before the loop. The end of the body copies into that
    place. A buffer that the body updates in place is not copied. After the pass, no loop carries
    buffers.

    ```mlir
    %r = scf.for .. iter_args(%a = %init) -> memref<8xf32> {
      %n = memref.alloc() : memref<8xf32>
      linalg.generic ins(%a) outs(%n) {..}
      scf.yield %n
    }
    ```
    ==>
    ```mlir
    %p = memref.alloc() : memref<8xf32>
    memref.copy %init, %p
    scf.for .. {
      %n = memref.alloc() : memref<8xf32>
      linalg.generic ins(%p) outs(%n) {..}
      memref.copy %n, %p
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def OutParams : Pass<"xtensor-out-params", "::mlir::func::FuncOp"> {
  let summary = "Write results into buffers that the caller provides";
  let description = [{
    Results become trailing arguments. A result that the function allocates is computed in place. A
    result is copied only if it is an argument, or if it is returned twice. The body never reads the
    sizes of an out parameter, so the caller need not pass them.

    ```mlir
    func.func @main(%x: memref<8xf32>) -> memref<8xf32> {
      %y = memref.alloc() : memref<8xf32>
      linalg.generic ins(%x) outs(%y) {..}
      return %y : memref<8xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {xtensor.inputs = 1 : i64} {
      linalg.generic ins(%x) outs(%y) {..}
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def Arena : Pass<"xtensor-arena", "::mlir::func::FuncOp"> {
  let summary = "Place temporaries in one block of memory, and reuse the space of dead ones";
  let description = [{
    A call makes one acquisition instead of one per temporary. The working set is small, because
    temporaries that are never alive together share bytes. Sizes may be known only at run time.
    Inside an scf.forall, small scratch goes to the stack, with one alloca for all iterations. Large
    scratch goes to an arena of the iteration.

    ```mlir
    %a = memref.alloc() : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    ```
    ==>
    ```mlir
    %arena = memref.alloc(%c128) {alignment = 64 : i64, xtensor.arena} : memref<?xi8>
    %a = memref.view %arena[%c0][] : memref<?xi8> to memref<16xf32>
    %b = memref.view %arena[%c64][] : memref<?xi8> to memref<16xf32>
    ..
    memref.dealloc %arena
    ```
  }];
  let options = [Option<"maxStackBytes", "max-stack-bytes", "int64_t", "65536",
                        "scratch of one forall body that may live on the stack">,
                 Option<"alignment", "alignment", "int64_t", "64",
                        "bytes that every temporary is aligned to">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def VerifyBuffers : Pass<"xtensor-verify-buffers", "::mlir::ModuleOp"> {
  let summary = "Check that only memory is left, with an offset and strides";
  let description = [{
    This is the contract of the `buffers` phase. Later passes write addresses and begin with the
    same check. A tensor is an error at the user's line, and the message names the missing phase.

    ```mlir
    %y = linalg.generic ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {..}
    ```
    ==>
    ```
    error: 'linalg.generic' has 'tensor<8xf32>', a tensor where only memory may be left: ..
    ```
  }];
}

#endif // XTENSOR_PASSES_BUFFERS
