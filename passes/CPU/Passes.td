// Passes from linalg on buffers to the LLVM dialect. Each description says why,
// then shows IR before ==> after; test/passes/CPU has the same examples.

#ifndef XTENSOR_PASSES_CPU
#define XTENSOR_PASSES_CPU

include "mlir/Pass/PassBase.td"

def CallLibrary : Pass<"xtensor-call-library", "::mlir::ModuleOp"> {
  let summary = "Turn `xtensor.library` into calls of routines, with operand descriptions on the stack";
  let description = [{
    A routine accepts any sizes and strides, and several element types. So it gets one `xt_array`
    per operand (runtime.h), with its axes in the order that the op gives, and the integers in
    `options`. The pass runs after outlining, because outlining could not recognise equal bodies
    after it.

    A collective finds its place in the user's program before its options. If a branch or loop has a
    collective, `main` begins with `xt_begin_together`, by which all processes compare the call.

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
    One conversion for all dialects visits each op once. One pass per dialect would take several
    times as long. The pass builds its patterns once per pass object. Allocations of arenas become
    calls of the runtime.

    ```mlir
    %a = memref.alloc(%n) {xtensor.arena} : memref<?xi8>
    ```
    ==>
    ```mlir
    %p = llvm.call @xt_arena_acquire(%n) : (i64) -> !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def EmitVectors : Pass<"xtensor-emit-vectors", "::mlir::ModuleOp"> {
  let summary = "Write linalg ops on buffers as vector loops or library calls";
  let description = [{
    Upstream tiles and vectorizes in several generic steps. This compiles slower, and gives slower
    code, than a direct emission of loops. The pass describes every operand by a base, an offset and
    one stride per loop. Views, and permuted, strided or reversed maps, have this form, too.

    * The pass merges neighbouring loops if a single stride per operand can describe both.
    * Ops with the same loops share one nest, in which values stay in registers.
    * The loop along which most operands are contiguous is vectorized. The elements that do not fill
      a vector use a mask if masks are cheap.
    * Reductions use several independent accumulators.
    * Matrix products become calls of xt_gemm_*. Loops over batch dims surround the call.

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
                           "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def EstimateWork : Pass<"xtensor-estimate-work", "::mlir::ModuleOp"> {
  let summary = "Mark programs that may take long, and loops that must be able to stop";
  let description = [{
    Python holds the interpreter's lock during a short call, and releases it during a long one. A
    loop counts as long if its number of steps is known only at run time. Such a loop, and a loop of
    several milliseconds, must stop if the user interrupts the call. The pass marks these loops with
    the number of steps that take about 60 microseconds. `xtensor-poll-loops` then makes them ask
    the runtime each time they have done this number of steps. The pass runs before
    `xtensor-emit-vectors`, so it sees only loops of the user's program.

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
  let summary = "Replace math functions of f32 vectors by polynomials";
  let description = [{
    A call per lane costs ten times as much as a polynomial. The README lists the accuracy of each
    function. Functions without an accurate polynomial stay calls. tanh of f64, for which upstream
    has no polynomial, becomes the arithmetic of passes/Functions. So does exp of f32, which takes
    two thirds of the operations of upstream's polynomial.

    ```mlir
    %y = math.log2 %x : vector<16xf32>
    ```
    ==>
    ```mlir
    %e = arith.shrui ..
    %p = math.fma ..
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CallVectorLibrary : Pass<"xtensor-call-vector-library", "::mlir::ModuleOp"> {
  let summary = "Call glibc's vector math for functions without a polynomial";
  let description = [{
    The conversion to LLVM turns a math function on a vector into one call of libm per lane. libmvec
    has these functions for whole registers, in f32 and f64. libmvec is part of glibc on x86-64. On
    a machine without it, the calls per lane stay. In upstream's pipelines, LLVM's loop vectorizer
    selects such functions. Here, the loops are already vectorized, so a pass does it.

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
    The compile time of a function grows faster than its size. A network of equal layers contains
    the same nests many times.

    * If two nests do the same work on different buffers, they become one function, which is called
      in both places.
    * If a block still has very many nests, the pass cuts it into functions of a fixed number of
      nests. Each function recomputes the addresses that it uses.
    * If there are only a few different nests, they stay in place, because a function costs as much
      to compile as a small nest.

    Upstream has a utility that outlines one given loop. It also has a pass that merges equal
    functions, but passes memrefs as whole descriptors.

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
    The body of a loop over independent iterations becomes a function over a range of them. The
    values that it uses from outside are stored in one block of memory on the caller's stack. A loop
    with too little work stays in place. Equal bodies become one function, so repeated layers are
    compiled once. If the body marks `%i + 1` as `xtensor.end_of_chunk`, the function runs it once,
    for the whole range: then that sum is `%end`.

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
  let summary = "Make long loops ask the runtime whether the call was interrupted";
  let description = [{
    A marked `scf.for` becomes a loop over blocks of steps, which asks the runtime before each
    block and ends if the call was interrupted. So the cost of a single step does not change. A
    marked `scf.while` counts its steps and asks in the same intervals. The results of an
    interrupted call are not valid, and the call raises an error.

    ```mlir
    scf.for %i = %c0 to %n step %c1 { .. } {xtensor.poll = 4096 : i64}
    ```
    ==>
    ```mlir
    scf.while (%block = %c0) {
      scf.condition(%block < %n and not call @xt_poll()) %block
    } do {
      %end = %block + min(%n - %block, %c4096)
      scf.for %i = %block to %end step %c1 { .. }
      scf.yield %end
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

def PassCall : Pass<"xtensor-pass-call", "::mlir::ModuleOp"> {
  let summary = "Pass the current call to each function";
  let description = [{
    Code compiled ahead of time runs in unknown programs. It has no state of its own, so the caller
    passes the functions of the runtime with each call. The `status` argument of the entry point is
    the beginning of an `xt_call` (aot/call.h). Its services replace the runtime. The pass adds the
    pointer to the `xt_call` to every function, as the last argument. Under jit, the runtime finds
    the current call in the thread, so functions need one argument less. A loop that asks whether
    the call was interrupted always gets the answer no.

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
  let summary = "Check that only ops and types of the LLVM dialect are left";
  let description = [{
    This is the contract of the `llvm` phase: only ops of the LLVM dialect are left, and all values
    and memory have types that LLVM can translate. On other ops or types, the translation to LLVM IR
    ends the process. So this pass reports an error at the user's line first. For example,
    upstream's conversion leaves an unrealized cast if no inverse cast cancels it.

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
