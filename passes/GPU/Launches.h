// Launches of large operations, whose kernels use the whole device.
#ifndef XTENSOR_PASSES_GPU_LAUNCHES_H
#define XTENSOR_PASSES_GPU_LAUNCHES_H

#include "GPU/Body.h"
#include "GPU/Epilogue.h"

namespace xtensor::gpu {

/// Makes an array operation or a parallel loop a kernel of its own, or two, and launches there.
mlir::LogicalResult launchOperation(mlir::Operation &op, mlir::ModuleOp module,
                                    const KernelLimits &limits);
/// A sum of products, as Contraction matches it; with an epilogue, at its place.
mlir::LogicalResult launchContraction(mlir::linalg::GenericOp op, const Tile &tile,
                                      mlir::ModuleOp module, const KernelLimits &limits,
                                      const Epilogue *epilogue = nullptr);
/// What the kernel of `op` does with its sums, if `op` is launched as a matrix product.
std::optional<Epilogue> epilogueOf(mlir::Operation &op, const KernelLimits &limits);
/// A long scan, a workgroup for each or several; false if that does not suit it. `otherwise` is set
/// where only the call decides: the launch has no workgroups then, and threads are to do it.
mlir::FailureOr<bool> launchScan(mlir::Operation &op, mlir::ModuleOp module,
                                 const KernelLimits &limits, mlir::Value &otherwise);

/// On a loop of updates by position (passes/ToLinalg) whose steps may be taken in any order, if
/// each step changes a number atomically.
inline constexpr llvm::StringLiteral kUnorderedAttr = "xtensor.unordered";
/// Whether `op` is such a loop, and one that threads can do side by side.
bool isUnordered(mlir::Operation &op);
/// A thread for each number that one of them changes.
mlir::LogicalResult launchUpdates(mlir::scf::ForOp loop, mlir::ModuleOp module,
                                  const KernelLimits &limits);

/// On a loop that the host goes around, whatever its size.
inline constexpr llvm::StringLiteral kHostAttr = "xtensor.host";
/// Whether one workgroup can do all of `op`, regions included, in steps that are short.
bool fitsInWorkgroup(mlir::Operation &op);
/// Steps of loops that a thread of a workgroup takes for `op` at most; kDynamic if unknown.
int64_t stepsOf(mlir::Operation &op);
int64_t stepsOf(mlir::Block &block);

bool isArrayOp(mlir::Operation &op);
/// Points of an array operation; kDynamic if unknown.
int64_t pointsOf(mlir::Operation &op);
/// The independent results of an operation, counted by the host: the sizes of its last output,
/// which of a scan is the running value.
mlir::Value outputPoints(mlir::OpBuilder &host, mlir::Operation &op);
/// Steps behind each of them, counted by the host; null if no operand tells.
mlir::Value reductionSteps(mlir::OpBuilder &host, mlir::linalg::GenericOp op);
/// A launch that gets no workgroups unless `condition` holds; null: always.
void launchIf(Kernel &kernel, mlir::OpBuilder &host, mlir::ModuleOp module, mlir::Value groups,
              mlir::Value condition);
/// Of the array operations in `op`; at least `otherwise` where one is of unknown size.
int64_t mostPointsIn(mlir::Operation *op, int64_t otherwise);
/// Also of the fills that it started from instead.
void eraseWithFills(mlir::Operation &op);
/// A number of the host.
mlir::Value constant(mlir::OpBuilder &b, mlir::Location loc, int64_t v);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_LAUNCHES_H
