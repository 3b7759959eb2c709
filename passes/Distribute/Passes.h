// The pass that makes the program of one process out of a program for all. README.md shows IR.
#ifndef XTENSOR_DISTRIBUTE_PASSES_H
#define XTENSOR_DISTRIBUTE_PASSES_H

#include "XTensor/XTensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace xtensor {
#define GEN_PASS_DECL
#include "Distribute/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Distribute/Passes.h.inc"

/// On a function: the dims of the mesh, each with the number of processes and the number of the
/// communicator. Where parts may differ in size, also the position of this process.
constexpr llvm::StringLiteral kMeshAttr = "xtensor.mesh";
/// On a function: the dims of arrays that are split, each with a dim of the mesh.
constexpr llvm::StringLiteral kSplitAttr = "xtensor.split";
/// On a function: the number of blocks that each split dim is cut in, so that results have the same
/// bits for any number of processes.
constexpr llvm::StringLiteral kBlocksAttr = "xtensor.blocks";
/// On a function: the arguments that every process has as a whole.
constexpr llvm::StringLiteral kWholeAttr = "xtensor.whole";

/// From a differentiated program to that of one process; a program without a mesh stays as it is.
void buildDistributePipeline(mlir::OpPassManager &pm);
} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_PASSES_H
