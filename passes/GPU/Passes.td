// Passes from linalg on buffers to kernels and the host code that launches them. Each description
// says why, then shows IR before ==> after; test/passes/GPU has the same examples.

#ifndef XTENSOR_PASSES_GPU
#define XTENSOR_PASSES_GPU

include "mlir/Pass/PassBase.td"

def BranchBuffers : Pass<"xtensor-branch-buffers", "::mlir::func::FuncOp"> {
  let summary = "Give a buffer that a branch selects one fixed place, which each side fills";
  let description = [{
    On the CPU, a branch may return one of two addresses. A kernel gets its addresses before it
    runs. If the kernel itself computes the condition, the host cannot pass the right address. So
    the pass gives the result of the branch one fixed buffer, here `%out`, and each side copies its
    value there.

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
  let summary = "Cut loops of more steps than a device takes into several launches";
  let description = [{
    Some devices end loops after a number of steps, without an error (library/devices.def). If one
    workgroup would run a loop with more steps, the pass cuts the loop into two. The host runs the
    outer loop. Each launch runs the inner loop, with at most the allowed number of steps. If the
    condition of a loop is computed in the kernel, the kernel tells the host whether the loop is
    done. For devices without such a limit, the pass does nothing.

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
  let summary = "Turn array operations into kernels; the rest of @main becomes the host code";
  let description = [{
    The pass distributes operations as follows:

    * A large operation becomes one launch, with a thread for each of its points.
    * A group over rows (scf.forall) becomes a launch with a workgroup for each iteration.
    * Neighbouring small operations, with the scalar code and control flow between them, become one
      kernel of one workgroup. So the program does not pay for a launch per operation.
    * If a kernel reads or computes a number that other kernels need, the number stays in device
      memory. The host reads it only if it decides what to launch next.
    * Kernels compute linear indices into flat memory. Upstream's path from parallel loops to SPIR-V
      needs static strides and at most one dynamic size.

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
                           "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect",
                           "::xtensor::XTensorDialect"];
}

def LaunchKernels : Pass<"xtensor-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn launches into calls of the runtime, and kernels into constants of the object";
  let description = [{
    The object file contains the code of each kernel, with the description that the runtime needs. A
    launch passes addresses and 32-bit numbers (runtime/Device.h). If the host or a library routine
    reads or writes device memory, the pass inserts a call that maps it. Upstream's lowering of
    launches needs one of upstream's runtimes, which cannot record commands and send them again.

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
    Kernels do not have libm. SPIR-V's instructions have no float64 exponential or sine, promise
    little of the float32 functions, and have no erf or cbrt. PTX has fewer. The pass writes every
    function in additions, products, quotients, roots and operations on 32-bit words. The README
    states their accuracy.

    Upstream's polynomials are float32 only and wrong for large arguments. A long function becomes
    one function per type in the nearest symbol table (a gpu.module). If a device rounds quotients
    badly, quotients become functions as well.

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
