// Passes from linalg on buffers to kernels and the host code that launches them. Each description
// says why, then shows IR before ==> after; test/passes/GPU has the same examples.

#ifndef XTENSOR_PASSES_GPU
#define XTENSOR_PASSES_GPU

include "mlir/Pass/PassBase.td"

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
    gpu.module @kernels {
      gpu.func @kernel0(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
        %i = ..  // 256 * block + thread
        %v = memref.load %x[%i]
        %e = math.exp %v
        memref.store %e, %y[%i]
    ..
    gpu.launch_func @kernels::@kernel0 blocks in (%c256, %c1, %c1) threads in (%c256, %c1, %c1) args(..)
    ```
  }];
  let options = [Option<"threads", "threads", "int64_t", "256", "threads of a workgroup, at most">,
                 Option<"workgroupBytes", "workgroup-bytes", "int64_t", "32768",
                        "memory of a workgroup">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
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
    gpu.launch_func @kernels::@kernel0 blocks in (%g, %c1, %c1) threads in (..) args(%x : memref<?xf32>, %n : i32)
    ```
    ==>
    ```mlir
    llvm.call @xt_call_launch(%kernel0, %g, %c1, %c1, %buffers, %numbers)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif // XTENSOR_PASSES_GPU
