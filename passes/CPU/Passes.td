// Passes from linalg on buffers to the LLVM dialect. Each description says why,
// then shows IR before ==> after; test/passes/CPU has the same examples.

#ifndef XTENSOR_PASSES_CPU
#define XTENSOR_PASSES_CPU

include "mlir/Pass/PassBase.td"

def CallLibrary : Pass<"xtensor-call-library", "::mlir::ModuleOp"> {
  let summary = "Call routines of the runtime, with operand descriptions on the stack";
  let description = [{
    A routine works on any sizes and strides, and on several element types. It gets one xt_array per
    operand (runtime.h), in the order of axes that the op states, and its integers. The pass runs
    after outlining, so that outlining still recognises equal bodies.

    ```mlir
    xtensor.library "xt_name" ins(%x : memref<4x?xf32>) outs(%y : memref<4xf32>)
        {options = array<i64: 1>}
    ```
    ==>
    ```mlir
    %arrays = llvm.alloca %c2 x !llvm.struct<(ptr, i32, i32, ptr, ptr)>
    %numbers = llvm.alloca %c7 x i64       // options, then sizes and strides
    llvm.store ..
    call @xt_name(%arrays, %numbers) : (!llvm.ptr, !llvm.ptr) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def ConvertToLLVM : Pass<"xtensor-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert the remaining ops to the LLVM dialect, in one conversion";
  let description = [{
    One conversion over all dialects visits each op once. A pass per dialect costs several times as
    much. Patterns are built once per pass object. Arenas become calls of the runtime.

    ```mlir
    %a = memref.alloc(%n) {xtensor.arena} : memref<?xi8>
    ```
    ==>
    ```mlir
    %p = llvm.call @xt_arena_acquire(%n) : (i64) -> !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def EmitVectors : Pass<"xtensor-emit-vectors", "::mlir::func::FuncOp"> {
  let summary = "Write linalg ops on buffers as vector loops or library calls";
  let description = [{
    Several generic steps of tiling and vectorizing compile slower and run slower than loops that
    are written at once. Every operand is a base, an offset and one stride per loop. Views, and
    permuted, strided or reversed maps, have this form, too.

    * Neighbouring loops that all operands walk as one are merged.
    * Ops over the same loops share one nest and pass values in registers.
    * The loop along which most operands are contiguous is vectorized. Its remainder uses a mask if
      that is cheap.
    * Reductions keep several vectors in flight.
    * Matrix products become calls of xt_gemm_*. The loops of a batch surround the call.

    ```mlir
    linalg.fill ins(%zero) outs(%s : memref<f32>)
    linalg.generic {..["reduction"]} ins(%x : memref<1024xf32>) outs(%s : memref<f32>) { addf }
    ```
    ==>
    ```mlir
    %acc = scf.for %i = %c0 to %c1024 step %c16 iter_args(%a = %neutral) -> vector<16xf32> {
      %v = vector.load %x[%i]
      %n = arith.addf %v, %a
      scf.yield %n
    }
    %sum = vector.reduction <add>, %acc
    memref.store %sum, %s[]
    ```
  }];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "0",
                        "width of vectors; 0: this machine's">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def EstimateWork : Pass<"xtensor-estimate-work", "::mlir::ModuleOp"> {
  let summary = "Say whether a call may take long, and which loops ask whether it is to end";
  let description = [{
    Who calls from Python keeps the interpreter's lock for a short call, and
    gives it to other threads for a long one. A loop whose steps are known when
    it runs counts as long. Such a loop, and one of several milliseconds, asks
    now and then whether the user wants the call to end (`xtensor-poll-loops`):
    after as many steps as take some 60 microseconds. Before loops are written
    for linalg ops, which take no steps of the user's.

    ```mlir
    module { func.func @main(..) { scf.while .. } }
    ```
    ==>
    ```mlir
    module attributes {xtensor.long} {
      func.func @main(..) { scf.while .. attributes {xtensor.poll = 16384 : i64} }
    }
    ```
  }];
}

def ExpandMath : Pass<"xtensor-expand-math", "::mlir::func::FuncOp"> {
  let summary = "Evaluate math functions of f32 vectors in vector instructions";
  let description = [{
    A call per lane costs ten times as much as a polynomial. The README lists the accuracy of each
    function. Functions without a good polynomial stay calls.

    ```mlir
    %y = math.exp %x : vector<16xf32>
    ```
    ==>
    ```mlir
    %k = math.floor ..
    %p = math.fma ..
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def CallVectorLibrary : Pass<"xtensor-call-vector-library", "::mlir::ModuleOp"> {
  let summary = "Call glibc's vector math for functions without a polynomial";
  let description = [{
    The conversion to LLVM turns a math function on a vector into one call of libm per lane. libmvec
    has these functions for whole registers, in f32 and f64. On a machine without libmvec (it is
    part of x86-64's glibc), the calls per lane stay. Upstream lets LLVM's loop vectorizer choose
    such functions. Here the loops are vectors already.

    ```mlir
    %y = math.sin %x : vector<16xf32>
    ```
    ==>
    ```mlir
    %y = func.call @_ZGVeN16v_sinf(%x) : (vector<16xf32>) -> vector<16xf32>
    ```
  }];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "0",
                        "width of vectors; 0: this machine's">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::vector::VectorDialect"];
}

def OutlineNests : Pass<"xtensor-outline-nests", "::mlir::ModuleOp"> {
  let summary = "Outline repeated loop nests, and cut long blocks into functions";
  let description = [{
    Twice the code in one function takes more than twice the time to compile. A network of equal
    layers has the same nests many times.

    * If two nests do the same to different buffers, they become one function that both places call.
    * If a block still has very many nests, the pass cuts it into functions of a fixed number of
      nests. Each function recomputes the addresses that it uses.
    * A few nests that differ stay in place, because a function costs as much to compile as a small
      nest.

    Upstream outlines one loop that its caller names. It also merges functions that already exist,
    whose memrefs are passed as whole descriptors.

    ```mlir
    scf.for %i = %c0 to %c64 step %c16 { vector.store %v, %x[%i] } {xtensor.nest}
    scf.for %i = %c0 to %c64 step %c16 { vector.store %v, %y[%i] } {xtensor.nest}
    ```
    ==>
    ```mlir
    call @nest0(%x_pointer)
    call @nest0(%y_pointer)
    ..
    func.func private @nest0(%pointer: !llvm.ptr) { scf.for .. }
    ```
  }];
  let options = [Option<"maxNests", "max-nests", "int64_t", "32",
                        "nests and calls that one block may hold">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineParallel : Pass<"xtensor-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Pass the bodies of parallel loops to the thread pool";
  let description = [{
    The body of a loop over independent iterations becomes a function over a range of them. Values
    that it uses from outside are passed in one block of memory on the caller's stack. Loops with
    too little work stay in place. Equal bodies become one function, so repeated layers are compiled
    once.

    ```mlir
    scf.forall (%i) in (64) { .. }
    ```
    ==>
    ```mlir
    func.func private @parallel0(%context: !llvm.ptr, %begin: i64, %end: i64) { scf.for .. }
    ..
    call @xt_parallel_for(%body, %context, %c64, %grain)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PollLoops : Pass<"xtensor-poll-loops", "::mlir::ModuleOp"> {
  let summary = "Let long loops ask the runtime whether the call is to end";
  let description = [{
    A loop over steps becomes a loop over blocks of them, each of which is empty
    once the call is to end; the steps themselves cost what they did. A while
    loop counts its steps, and ends. The results mean nothing then: the call
    fails.

    ```mlir
    scf.for %i = %c0 to %n step %c1 { .. } {xtensor.poll = 4096 : i64}
    ```
    ==>
    ```mlir
    scf.for %block = %c0 to %n step %c4096 {
      %stop = call @xt_poll() : () -> i32
      %length = arith.select %stop, %c0, min(%n - %block, %c4096)
      scf.for %i = %block to %block + %length step %c1 { .. }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

def PassCall : Pass<"xtensor-pass-call", "::mlir::ModuleOp"> {
  let summary = "Pass the current call to each function";
  let description = [{
    Code compiled ahead of time runs in unknown programs. It has no state of its own, and the caller
    decides what the runtime does for it. A loop that asks whether the call is to end is told that it
    is not. The status of the entry is the head of an xt_call
    (aot/call.h), whose services replace the runtime. The pass adds the call to every function as
    the last argument. Under jit, the runtime finds the call in the thread, and functions have one
    argument fewer.

    ```mlir
    llvm.func @entry(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %status: !llvm.ptr) {
      llvm.call @xt_begin_call(%status) : (!llvm.ptr) -> ()
      %p = llvm.call @xt_arena_acquire(%n) : (i64) -> !llvm.ptr
    ```
    ==>
    ```mlir
    llvm.func @entry(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %call: !llvm.ptr) {
      %p = llvm.call @xta_arena_acquire(%n, %call) : (i64, !llvm.ptr) -> !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def VerifyLLVM : Pass<"xtensor-verify-llvm", "::mlir::ModuleOp"> {
  let summary = "Check that only ops and types that LLVM has are left";
  let description = [{
    This is the contract of the `llvm` phase: ops of the LLVM dialect, and values and memory of
    types that LLVM has. Translation to LLVM ends the process on anything else. The pass reports an
    error at the user's line instead. Upstream's conversion leaves an unrealized cast if no inverse
    cast cancels it.

    ```mlir
    %i = builtin.unrealized_conversion_cast %v : vector<8xi64> to vector<8xindex>
    ```
    ==>
    ```
    error: 'builtin.unrealized_conversion_cast' is left in the llvm phase: ..
    ```
  }];
}

#endif // XTENSOR_PASSES_CPU
