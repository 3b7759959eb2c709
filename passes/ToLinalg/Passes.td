// Passes that take a program from named arrays to linalg on tensors. Each description says why,
// then shows IR before ==> after; test/passes/ToLinalg has the same examples.
#ifndef XTENSOR_TOLINALG_PASSES
#define XTENSOR_TOLINALG_PASSES

include "mlir/Pass/PassBase.td"

//===- on named arrays -----------------------------------------------------===//

def DecomposeContract : Pass<"xtensor-decompose-contract", "::mlir::func::FuncOp"> {
  let summary = "Contract arrays two at a time, the smallest intermediate first";
  let description = [{
    A product of three matrices costs n^4 in one loop nest and 2 n^3 two at a time. Only pairs can
    be given to a library.

    * If only one operand has a summed dim, the pass sums over it before that operand meets another.
    * A number without dims multiplies whichever of the result and the operands is smallest.
    * A pair with nothing to contract is a plain product, which fuses with its neighbours.

    After this pass, every contract has two operands and contracts dims that both have.

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

def FuseProducts : Pass<"xtensor-fuse-products", "::mlir::func::FuncOp"> {
  let summary = "Mark the sums that take a product without rounding it";
  let description = [{
    A processor computes x * y + z in the time of either operation, and rounds once. LLVM can find
    such pairs by itself, but only where the product has no other use in the same loop. A value that
    two loops compute would then differ, and a maximum would not find itself. So the decision is
    made here, on the program before loops. It depends on the operands of a sum alone:

    * One operand is a product with the dims of the sum, made in the same block. A sum of two
      products stays as it is, because x * y - y * x is 0.
    * The elements are f32 or f64.
    * No factor is the state of an update by position: the loop of the updates stores the product.

    The mark is the number of that operand. `xtensor-to-linalg` makes one `math.fma` of the sum,
    which reads the factors. Other users of the product read it rounded. The pass runs for
    processors that have the instruction. Kernels of devices fuse nothing.

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
  let summary = "Turn names into axes";
  let description = [{
    This is the only place where dims get positions. The loops of an op are the dims of its result
    in order, then the dims that it reduces. The op reads each operand through an affine map. So a
    rename, a broadcast, a slice or a reversal is never an op, and never a copy. Known numbers are
    constants in the bodies.

    Functions keep the named types of arguments and results as `xtensor.type`. Their arguments are
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
                        "into how many parts an update by position cuts its target at most: "
                        "threads, or workgroups of a device">,
                 Option<"atomicBits", "atomic-bits", "int64_t", "0",
                        "updates by position of up to so many bits may be done in any order, where "
                        "that gives the same; 0: none">,
                 Option<"inOrder", "in-order", "bool", "false",
                        "sums and products of floats are taken in the order of the indices">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def VerifyLinalg : Pass<"xtensor-verify-linalg", "::mlir::ModuleOp"> {
  let summary = "Check that no op or type of xtensor is left";
  let description = [{
    This is the contract of the `linalg` phase. Later phases do not know names, so an op that is
    left would fail there without a hint. The pass reports the error at the user's line and names
    the pass that should have removed the op.
  }];
}

#endif // XTENSOR_TOLINALG_PASSES
