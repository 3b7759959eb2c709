// Passes from tensors to buffers. Each description says why, then shows IR
// before ==> after; test/passes/Buffers has the same examples.

#ifndef XTENSOR_PASSES_BUFFERS
#define XTENSOR_PASSES_BUFFERS

include "mlir/Pass/PassBase.td"

def Bufferize : Pass<"xtensor-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization with read-only arguments";
  let description = [{
    At function boundaries, every tensor becomes a row-major buffer. The function never writes to
    arrays of the caller: an update of an argument works on a copy. If a destination tensor is only
    inserted into a larger tensor, the pass replaces it by a slice of the larger tensor. So a
    concatenation writes each part once.

    The pass prepares the module for upstream's analysis, which has three limits:

    * Its time grows with the square of the number of uses of one value. If very many ops read an
      argument, the pass splits the argument into several values.
    * It cannot distinguish different elements of one tensor. If a loop reads one element and
      inserts another, the pass makes the loop read from memory, not from the tensor.
    * If a view drops a unit dim, upstream finds the dim by its stride. If two unit dims have
      unknown strides, it may find the wrong one. So if the type of a view does not determine the
      dim, the pass makes a view with all dims, followed by a `memref.collapse_shape`.

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
  let summary = "Give each buffer that a loop carries one fixed address";
  let description = [{
    If a loop yields a buffer that its body allocates, it would need a new buffer in every
    iteration. The pass allocates one buffer before the loop for each carried buffer. At the end of
    the body, it copies the next value there. If the body updates the carried buffer in place,
    nothing is copied. After the pass, no loop carries buffers.

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

def ReuseArguments : Pass<"xtensor-reuse-arguments", "::mlir::func::FuncOp"> {
  let summary = "Let results take the memory of arguments that the caller gives away";
  let description = [{
    The attribute `xtensor.donated` marks an argument whose values the caller does not need after
    the call. A result of the same type can lie in its memory. The function must then read each
    element of the argument before it writes the result there. The pass compares each read with each
    write. One of these must hold:

    * Both are in different ops of the function's body, and the read comes first, or they never
      touch the same element.
    * Both are in one elementwise op, and access the same element.
    * Both are in a parallel loop, and access a part that no other iteration accesses.

    The result gets the attribute `xtensor.reused`, which names the argument. The caller passes one
    address for both. The pass then removes ops that copy an array to itself. So an update at one
    position writes only this position.

    Upstream's analysis can write to a `bufferization.writable` argument in place. That is not
    enough here: an update is a concatenation of three parts, and `p - rate * g` has a destination
    of its own.

    ```mlir
    func.func @main(%p: memref<8xf32> {xtensor.donated}, %g: memref<8xf32>) -> memref<8xf32> {
      %n = memref.alloc() : memref<8xf32>
      linalg.generic ins(%p, %g) outs(%n) { subf }
      return %n
    ```
    ==>
    ```mlir
    func.func @main(%p: memref<8xf32> {xtensor.donated}, %g: memref<8xf32>)
        -> (memref<8xf32> {xtensor.reused = 0}) {
      linalg.generic ins(%p, %g) outs(%p) { subf }
      return %p
    ```
  }];
}

def OutParams : Pass<"xtensor-out-params", "::mlir::func::FuncOp"> {
  let summary = "Write results into buffers that the caller provides";
  let description = [{
    Results become arguments after the inputs. If the function allocates a result, it writes
    directly to the caller's buffer instead. A result is copied only if it is an argument, or if the
    function returns it twice. A result that reuses the memory of an argument is not copied. The
    body never reads the sizes of an out parameter, so the caller need not pass them.

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
    A call acquires one block of memory for all its temporaries. Temporaries that are never alive at
    the same time share bytes, so the working set is small. Sizes may be known only at run time. In
    an scf.forall, small temporaries lie on the stack, in one alloca for all iterations. Large
    temporaries lie in an arena of the iteration.

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
                        "bytes of temporaries of one forall body that may lie on the stack">,
                 Option<"alignment", "alignment", "int64_t", "64",
                        "the alignment of every temporary, in bytes">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def VerifyBuffers : Pass<"xtensor-verify-buffers", "::mlir::ModuleOp"> {
  let summary = "Check that only memrefs are left, each with an offset and strides";
  let description = [{
    This is the contract of the `buffers` phase. Later passes compute addresses, and begin with the
    same check. If a tensor is left, the error names the user's line and the phase that is missing.

    ```mlir
    %y = linalg.generic ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {..}
    ```
    ==>
    ```
    error: 'linalg.generic' has 'tensor<8xf32>', a tensor where only memory may be left: ..
    ```
  }];
}

def OverlapCollectives : Pass<"xtensor-overlap-collectives", "::mlir::func::FuncOp"> {
  let summary = "Let collectives run while the program computes what does not need them";
  let description = [{
    Why: a process that waits for the messages of others could compute meanwhile. The pass replaces
    a collective by a routine that starts it, and by `xt_wait`. It puts `xt_wait` before the first
    op that reads or writes the result, or writes the operand. If that is the next op which does
    something, the collective stays as it is. Collectives start in the order of the program, which
    is the same in all processes. Upstream's dialect `mpi` has `isend`, `irecv` and `wait`, but no
    collective that is not waited for, and no pass that places a wait.

    ```mlir
    xtensor.library "xt_all_reduce" ins(%p : memref<3xf32>) outs(%g : memref<3xf32>) {options = ..}
    linalg.exp ins(%x) outs(%y)
    linalg.exp ins(%g) outs(%z)
    ==>
    %n = memref.alloc() : memref<i64>
    xtensor.library "xt_start_all_reduce" ins(%p : memref<3xf32>)
        outs(%g, %n : memref<3xf32>, memref<i64>) {options = ..}
    linalg.exp ins(%x) outs(%y)
    xtensor.library "xt_wait" ins(%n, %p : memref<i64>, memref<3xf32>) outs(%g : memref<3xf32>)
    linalg.exp ins(%g) outs(%z)
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // XTENSOR_PASSES_BUFFERS
