// The code of one workgroup, op after op: array operations, scalar code and control flow.
#ifndef XTENSOR_PASSES_GPU_BODY_H
#define XTENSOR_PASSES_GPU_BODY_H

#include "GPU/ArrayOp.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace xtensor::gpu {

/// Emits ops of the host into a kernel whose workgroups do them together. All threads run the same
/// control flow: what it depends on is read from memory by every one of them.
class Body {
public:
  /// `copies`: workgroups that have scratch memory of their own; `copy`: which of them this is.
  Body(Kernel &kernel, mlir::OpBuilder host, mlir::Value copies = {}, mlir::Value copy = {});

  mlir::LogicalResult emit(mlir::Operation &op);
  mlir::LogicalResult emit(mlir::Block &block);
  /// The body of a parallel loop, for the iteration with this number.
  mlir::LogicalResult emitIteration(mlir::scf::ForallOp loop, mlir::Value number);
  /// Before `op` is emitted: where it names more buffers than a kernel is planned with, what it
  /// makes for itself shares one buffer for each type.
  void planScratch(mlir::Operation &op);
  /// Thread 0 stores a number.
  void leave(mlir::Value number, mlir::Value memref, mlir::ValueRange at);

  const Team &team() const { return threads; }

private:
  mlir::LogicalResult emitStructured(mlir::Operation &op);
  /// The values of the case that is taken, tests from the `number`-th on.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitSwitch(mlir::scf::IndexSwitchOp op,
                                                             unsigned number);
  /// False if the loop does not search for its work.
  bool emitSifted(mlir::scf::ForOp loop);
  bool findSiftedMemory();
  void emitSiftedWork(mlir::scf::IfOp work);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitForall(mlir::scf::ForallOp loop);
  mlir::LogicalResult emitAlloc(mlir::memref::AllocOp op);
  mlir::OpFoldResult roomFor(mlir::Value size);
  mlir::OpFoldResult roomFor(mlir::memref::AllocOp op);
  /// A buffer of `count` parts of `each` elements; of every workgroup that has its own.
  struct Pool {
    mlir::Type element;
    mlir::OpFoldResult each;
    int64_t count;
    mlir::Value memory; // null until it is needed
  };
  struct Part {
    size_t pool;
    int64_t number;
  };
  mlir::Value poolOf(const Part &part, mlir::Location loc);
  void emitReport(mlir::Operation &call);
  void emitStore(mlir::memref::StoreOp op);
  template <typename Emit>
  void byFirstThread(Emit emit);

  Kernel &kernel;
  mlir::OpBuilder &b;
  mlir::OpBuilder host;
  mlir::Value copies, copy;
  Team threads;
  llvm::SmallVector<Pool> pools;
  llvm::DenseMap<mlir::Operation *, Part> scratch;
  FlatView sifted[3]; // memory of emitSifted: steps, and how many there are
};

/// Steps from one number below another; kDynamic where a step does not lead there.
int64_t stepsBetween(int64_t from, int64_t to, int64_t step);
/// Iterations of a parallel loop; kDynamic if unknown.
int64_t iterationsOf(mlir::scf::ForallOp loop);
/// The same as a value of the host.
mlir::Value iterationsOf(mlir::scf::ForallOp loop, mlir::OpBuilder &host);
/// A call that reports an index out of range.
bool isReport(mlir::Operation &op);
/// A copy of memory to itself, as in-place results leave it.
bool isCopyToItself(mlir::memref::CopyOp op);
/// Marks fills that the op after them starts from instead of reading: they need not be done.
/// Decided before anything is moved.
void markAbsorbedFills(mlir::Operation *root);
bool isAbsorbed(mlir::Operation &op);
/// Per output of `op`, the absorbed fill that it starts from, or null.
llvm::SmallVector<mlir::linalg::FillOp> fillsOf(mlir::Operation &op);
/// The number of that fill in the kernel, or null.
llvm::SmallVector<mlir::Value> startsOf(Kernel &kernel, mlir::Operation &op);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_BODY_H
