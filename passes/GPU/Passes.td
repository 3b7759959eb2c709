// Passes from linalg on buffers to kernels and the host code that launches them. Each description
// says why, then shows IR before ==> after; test/passes/GPU has the same examples.

#ifndef XTENSOR_PASSES_GPU
#define XTENSOR_PASSES_GPU

include "mlir/Pass/PassBase.td"

def BranchBuffers : Pass<"xtensor-branch-buffers", "::mlir::func::FuncOp"> {
  let summary = "Memory that a branch chooses gets one place, which each side fills";
  let description = [{
    On the CPU a branch may hand on one of two addresses. Kernels are given
    addresses before they run, and the side that is taken may be known inside of
    them only.

    ```mlir
    %r = scf.if %c -> (memref<4xf32>) { scf.yield %a } else { scf.yield %b }
    memref.copy %r, %out
    ```
    ==>
    ```mlir
    scf.if %c { memref.copy %a, %out } else { memref.copy %b, %out }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CutLoops : Pass<"xtensor-cut-loops", "::mlir::ModuleOp"> {
  let summary = "Loops of more steps than a device takes become several launches";
  let description = [{
    Some devices leave loops after a number of steps and say nothing
    (library/devices.def). A loop that a workgroup would go through by itself is
    cut: the host goes around it, each time for as many steps as fit. A loop
    whose test is worked out tells the host whether it is done. Nothing happens
    for devices without such a number.

    ```mlir
    scf.for %i = %c0 to %c200000 step %c1 iter_args(%s = %x) { .. }
    ```
    ==>
    ```mlir
    scf.for %j = %c0 to %c200000 step %c32000 iter_args(%t = %x) {
      %end = arith.minsi %j + %c32000, %c200000
      scf.for %i = %j to %end step %c1 iter_args(%s = %t) { .. }
    } {xtensor.host}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def OutlineKernels : Pass<"xtensor-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Array operations become kernels, the rest of @main their host";
  let description = [{
    A large operation is one launch, a thread for each of its points; a group
    over rows (scf.forall) gives each iteration to a workgroup; small operations
    and the scalar code and control flow between them are one kernel of one
    workgroup, so that a launch is not paid for each. Numbers that a kernel read
    or computed and others need stay in device memory; the host reads them only
    to decide what to launch next. Indices are written out on flat memory:
    upstream's path from parallel loops wants static strides and one dynamic
    size on its way to SPIR-V.

    ```mlir
    linalg.generic {..["parallel"]} ins(%x : memref<65536xf32>) outs(%y : memref<65536xf32>) { exp }
    ```
    ==>
    ```mlir
    gpu.module @kernel0 {
      gpu.func @kernel0(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
        %i = ..  // 256 * block + thread
        %v = memref.load %x[%i]
        %e = math.exp %v
        memref.store %e, %y[%i]
    ..
    gpu.launch_func @kernel0::@kernel0 blocks in (%c256, %c1, %c1) threads in (%c256, %c1, %c1) args(..)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::math::MathDialect",
                           "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"];
}

def LaunchKernels : Pass<"xtensor-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Launches become calls of the runtime; kernels become constants of the object";
  let description = [{
    The binary of each kernel lies in the object with what the runtime must know
    of it; a launch passes addresses and 32-bit numbers (runtime/Device.h). What
    the host itself reads or a library routine works on is mapped. Upstream's
    lowering of launches wants one of its own runtimes, which has no streams of
    recorded commands.

    ```mlir
    gpu.launch_func @kernel0::@kernel0 blocks in (%g, %c1, %c1) threads in (..) args(%x : memref<?xf32>, %n : i32)
    ```
    ==>
    ```mlir
    llvm.call @xt_call_launch(%kernel0, %g, %c1, %c1, %buffers, %numbers)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def ExpandScalarMath : Pass<"xtensor-expand-scalar-math"> {
  let summary = "Write elementary functions of scalars as arithmetic";
  let description = [{
    Kernels have no libm. SPIR-V's instructions know no float64 exponential or
    sine, promise little of float32 ones, and have no erf or cbrt; PTX has fewer.
    This writes every function in additions, products, quotients, roots, and
    operations on 32-bit words, to the accuracy that the README states. Upstream's
    polynomials are float32 only and wrong for large arguments. Long functions
    become one function per type in the nearest symbol table (a gpu.module).
    Where a device rounds quotients badly, these become functions as well.

    ```mlir
    %y = math.exp %x : f64
    ```
    ==>
    ```mlir
    %y = func.call @xt_exp_f64(%x) : (f64) -> f64
    ```
  }];
  let options = [Option<"calls", "calls", "bool", "true",
                        "long functions are called; false: all are written in line">,
                 ListOption<"inexact", "inexact", "std::string",
                        "types, f32 or f64, whose quotients and square roots the device rounds "
                        "badly: they are corrected">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // XTENSOR_PASSES_GPU
