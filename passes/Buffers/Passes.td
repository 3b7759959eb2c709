// Passes from tensors to buffers. Each description says why, then shows IR
// before ==> after; test/passes/Buffers has the same examples.

#ifndef XTENSOR_PASSES_BUFFERS
#define XTENSOR_PASSES_BUFFERS

include "mlir/Pass/PassBase.td"

def Bufferize : Pass<"xtensor-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization with read-only arguments";
  let description = [{
    Every tensor becomes a row-major buffer at function boundaries. The caller's
    arrays are never written: an update of an argument works on a copy.
    Destinations that only feed an insertion are replaced by the place that they
    are inserted into, so that a concatenation writes each part once. Upstream's
    analysis takes time by the square of one value's uses: to it an argument that
    very many ops read is several values. Nor does it tell positions of a tensor
    from each other: where a loop reads one and inserts another, the read one is
    memory already. A view whose type leaves open which unit dim it drops (upstream
    looks at strides, of which two may be unknown) becomes a whole view and a
    `memref.collapse_shape`.

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
    A loop that yields a buffer made in its body would need a new one in every
    iteration. Here each carried buffer gets its place before the loop, and the
    end of the body copies into it; a buffer that the body updates in place is
    not copied at all. Afterwards no loop carries buffers.

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
    Results become trailing arguments. A result that is allocated here is
    computed in place; only a result that is an argument, or that is returned
    twice, is copied. The body never asks an out parameter for its sizes, so
    that the caller need not pass them.

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
  let summary = "Place temporaries in one block of memory, reusing dead ones' space";
  let description = [{
    One acquisition per call instead of one per temporary, and a small working
    set: temporaries that are never alive together share bytes. Sizes may be
    known only at run time. Inside an scf.forall small scratch goes to the stack
    (one alloca for all iterations), large scratch to an arena of the iteration.

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
    The contract of the `buffers` phase. Later passes write addresses, and begin
    with the same check: a tensor is an error at the user's line, which names the
    phase that is missing.

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
