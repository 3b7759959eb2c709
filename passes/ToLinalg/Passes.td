// Passes that take a program from named arrays to linalg on tensors. Each description says why,
// then shows IR before ==> after; test/passes/ToLinalg has the same examples.
#ifndef XTENSOR_TOLINALG_PASSES
#define XTENSOR_TOLINALG_PASSES

include "mlir/Pass/PassBase.td"

//===- on named arrays -----------------------------------------------------===//

def DecomposeContract : Pass<"xtensor-decompose-contract", "::mlir::func::FuncOp"> {
  let summary = "Contract arrays two at a time, the smallest intermediate first";
  let description = [{
    A product of three matrices takes n^4 steps in one loop nest, and 2 n^3 as two products of
    pairs. A library can compute only products of pairs.

    * If only one operand has a summed dim, the pass sums over the dim before it multiplies the
      operand with another.
    * An operand without dims multiplies the smallest array among the other operands and the result.
    * A pair without a summed dim becomes an elementwise product, which can fuse with its
      neighbours.

    After this pass, every contract has two operands, and both have all summed dims.

    ```mlir
    %y = xtensor.contract %a, %b, %v over [j, k]      // (i, j), (j, k), (k)
    ```
    ==>
    ```mlir
    %bv = xtensor.contract %b, %v over [k]            // (j)
    %y = xtensor.contract %a, %bv over [j]            // (i)
    ```
  }];
  let dependentDialects = ["::xtensor::XTensorDialect"];
}

def DecomposeFourier : Pass<"xtensor-decompose-fourier", "::mlir::func::FuncOp"> {
  let summary = "Write Fourier transforms as contractions with small matrices";
  let description = [{
    On the CPU of this machine, a Fourier transform is a routine of the runtime. Kernels of devices
    and libraries that are compiled ahead of time cannot call it. There this pass writes the
    transform by ops that they have:

    * If n is at most 32, or a prime of at most 64, the transform is a contraction with a matrix.
    * If n = a * m with such an a, t is split into t1 m + t2, and k is put together from k1 + a k2.
      The pass transforms along t1, multiplies by exp(-2 pi i k1 t2 / n), and transforms along t2. A
      large table of these factors is the product of two tables of about its square root.
    * If n has no factor of at most 64, the transform is a convolution with exp(pi i t^2 / n), as
      Bluestein found. Its transforms have a power of two as their size.

    Constants are computed in double precision. All sizes along transformed dims must be static.

    ```mlir
    %y = xtensor.fourier forward %x along [t] pair c         // (t: 1024, c: 2)
    ```
    ==>
    ```mlir
    %0 = xtensor.split %x t into [t1, t2] sizes [32, 32]
    %1 = xtensor.contract %0, %matrix over [t1, c]           // (t2, k1, c')
    %2 = xtensor.mul %1, %cosines
    %3 = xtensor.reverse %1 [c']
    %4 = xtensor.mul %3, %sines
    %5 = xtensor.add %2, %4
    %6 = xtensor.contract %5, %matrix over [t2, c']          // (k1, k2, c)
    %y = xtensor.merge %6 [k2, k1] into t
    ```
  }];
  let dependentDialects = ["::xtensor::XTensorDialect"];
}

def DecomposeWindows : Pass<"xtensor-decompose-windows", "::mlir::func::FuncOp"> {
  let summary = "Reduce long windows in parts that windows share";
  let description = [{
    A reduction over all windows of w elements takes n w operations, though neighbouring windows
    share most of their elements. This pass reduces the windows of a elements first. A window of a b
    elements consists of b such windows, a apart, so it takes a + b operations in place of a b. The
    pass repeats this: windows of 1,000 elements take 3 loops of 10 operations.

    * Each result combines the elements of its own window, and only these. So an infinity or NaN
      does not reach other windows, nothing cancels, and sums have smaller errors than in order.
    * Extrema may combine an element twice: the last parts overlap. In sums and products of other
      lengths, a short window of the last elements remains.
    * Windows along several dims are reduced along one dim after the other.
    * A loop over memory costs as much as 8 operations. The pass chooses the numbers with the least
      cost, or leaves the reduction as it is.
    * The parts of sums in half precision are f32.

    Programs of `deterministic=` (`xtensor.unfused`) stay as they are, because the choice depends on
    the length of the dim in one process.

    ```mlir
    %0 = xtensor.window %x t into w size 100 stride 1 dilation 1
    %y = xtensor.reduce sum %0 over [w]
    ```
    ==>
    ```mlir
    %0 = xtensor.window %x t into w size 10 stride 1 dilation 1
    %1 = xtensor.reduce sum %0 over [w]
    %2 = xtensor.window %1 t into w size 10 stride 1 dilation 10
    %y = xtensor.reduce sum %2 over [w]
    ```
  }];
  let dependentDialects = ["::xtensor::XTensorDialect"];
}

def FuseProducts : Pass<"xtensor-fuse-products", "::mlir::func::FuncOp"> {
  let summary = "Mark sums that are computed together with a product, rounded once";
  let description = [{
    A processor computes x * y + z as one instruction (fma), which takes the time of either
    operation and rounds once. LLVM can fuse such pairs by itself, but only if the product has no
    other use in the same loop. If two loops compute the same value, they could then get different
    bits. The gradient of a maximum, for example, would not find the maximum again. So this pass
    decides before there are loops. It marks a sum if these conditions hold, which depend only on
    the operands of the sum:

    * One operand is a product in the same block, with the dims of the sum. The other operand is not
      a product, so that x * y - y * x is still 0.
    * The elements are f32 or f64.
    * No factor is the state of an update by position, because the loop of the updates stores the
      product.

    No sum is marked in a function with the attribute `xtensor.unfused`, which xtensor-distribute sets
    for programs of `deterministic=`.

    The mark is the index of the operand that is the product. `xtensor-to-linalg` turns a marked sum
    into a `math.fma` of the factors. Other users of the product still read the rounded product. The
    pass runs only for processors that have the instruction. In kernels of devices, these pairs are
    not fused.

    ```mlir
    %p = xtensor.mul %x, %x
    %y = xtensor.sub %p, %one
    ```
    ==>
    ```mlir
    %p = xtensor.mul %x, %x
    %y = xtensor.sub %p, %one {xtensor.fused = 0 : i64}
    ```
  }];
  let dependentDialects = ["::xtensor::XTensorDialect"];
}

//===- to tensors ----------------------------------------------------------===//

def ToLinalg : Pass<"xtensor-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Turn names of dims into axes of tensors";
  let description = [{
    Only this pass gives dims positions. The loops of an op are the dims of its result in order,
    then the reduced dims. The op reads each operand through an affine map. So renames, broadcasts,
    reversals and most slices become parts of maps, and copy no data. Numbers that are known at
    compile time become constants in the bodies.

    The attribute `xtensor.type` of arguments and results keeps their named types. Arguments are
    marked as not writable, because they belong to the caller.

    ```mlir
    %1 = xtensor.slice %b [i] offsets [1] sizes [4] strides [2] : !xtensor.array<i: 9, f32>
    %2 = xtensor.mul %a, %1 : !xtensor.array<j: 3, i: 4, f32>, !xtensor.array<i: 4, f32>
    ```
    ==>
    ```mlir
    %0 = tensor.empty() : tensor<3x4xf32>
    %1 = linalg.generic {
        indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1 * 2 + 1)>,
                         affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<3x4xf32>, tensor<9xf32>) outs(%0 : tensor<3x4xf32>) { mulf }
    ```
  }];
  let options = [Option<"updateBlocks", "update-blocks", "int64_t", "8",
                        "the largest number of parts of the target of an update by position: "
                        "threads, or workgroups of a device">,
                 Option<"atomicBits", "atomic-bits", "int64_t", "0",
                        "updates by position of up to so many bits may be done in any order, where "
                        "that gives the same; 0: none">,
                 Option<"inOrder", "in-order", "bool", "false",
                        "sums and products of floats are taken in the order of the indices">,
                 Option<"bfloat16Products", "bfloat16-products", "bool", "false",
                        "a routine of the runtime multiplies matrices of bfloat16">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def VerifyLinalg : Pass<"xtensor-verify-linalg", "::mlir::ModuleOp"> {
  let summary = "Check that no op or type of xtensor is left";
  let description = [{
    This is the contract of the `linalg` phase. Later phases cannot process named arrays, so a
    remaining op would fail there with an unclear error. This pass reports the error at the user's
    line, and names the pass that should have removed the op.
  }];
}

#endif // XTENSOR_TOLINALG_PASSES
