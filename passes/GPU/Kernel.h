// A kernel under construction: its arguments from the host, views as flat memory, its threads, and
// the barriers between them.
#ifndef XTENSOR_PASSES_GPU_KERNEL_H
#define XTENSOR_PASSES_GPU_KERNEL_H

#include "GPU/Tuning.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace xtensor::gpu {

/// A memref as numbers: element [i, j] is flat[offset + i * strides[0] + j * strides[1]].
struct FlatView {
  mlir::Value flat;   // memref<?xT>
  mlir::Type element; // T, or bf16 where T is i16: no shader knows that type
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
};

class Kernel {
public:
  /// `host` is where the launch will be; what the host must compute for it goes there.
  Kernel(mlir::OpBuilder host, mlir::Location loc, int64_t threads, const KernelLimits &limits);

  mlir::OpBuilder b;
  mlir::Location loc;
  const KernelLimits &limits;
  const int64_t threads;

  //===- threads -----------------------------------------------------------===//
  mlir::Value threadId();
  mlir::Value groupId();

  //===- values of the host --------------------------------------------------===//
  /// The kernel's copy of a scalar: made in it, a constant, a number it is given, or read from
  /// where an earlier kernel left it.
  mlir::Value value(mlir::Value host);
  mlir::OpFoldResult value(mlir::OpFoldResult host);
  void set(mlir::Value host, mlir::Value here) { scalars.map(host, here); }
  /// The kernel's view of a memref that the host or this kernel made.
  FlatView view(mlir::Value memref);
  void setView(mlir::Value memref, FlatView view) { views[memref] = std::move(view); }
  /// Says that `op` has no place in a kernel; what it computes is unknown from then on.
  void refuse(mlir::Operation &op);
  bool isBroken() const { return broken; }
  /// The words that index errors go to.
  mlir::Value report();
  /// Memory of the workgroup; `flat` is null if there is not enough left. Elements are counted as
  /// words at least, as devices without narrower ones keep them, unless it is `packed`.
  FlatView workgroupMemory(int64_t elements, mlir::Type type, bool packed = false);
  /// How many bytes of the workgroup these elements take.
  static int64_t bytesOf(int64_t elements, mlir::Type type, bool packed = false);
  /// One element per thread for the `i`-th value that a reduction combines; used again by the next.
  FlatView exchange(unsigned i, mlir::Type type);
  /// One element for all threads, the same for the same `i`.
  FlatView cell(unsigned i, mlir::Type type);
  /// Bytes of workgroup memory that are left beside what reductions need.
  int64_t workgroupBytesLeft() const;

  //===- arithmetic on sizes ------------------------------------------------===//
  mlir::Value index(int64_t v);
  mlir::Value index(mlir::OpFoldResult v);
  mlir::OpFoldResult add(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult mul(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult fixed(int64_t v) { return b.getIndexAttr(v); }

  //===- memory --------------------------------------------------------------===//
  /// Where the element at these indices of the host lies in `flat`.
  mlir::Value place(const FlatView &view, mlir::ValueRange indices);
  mlir::Value load(const FlatView &view, mlir::Value at);
  void store(mlir::Value v, const FlatView &view, mlir::Value at);
  /// `width` elements of a buffer that lie side by side, from a multiple of that number on.
  llvm::SmallVector<mlir::Value> loadRun(const FlatView &view, mlir::Value at, int64_t width);
  void storeRun(llvm::ArrayRef<mlir::Value> run, const FlatView &view, mlir::Value at);
  /// What elements of `type` are in memory.
  static mlir::Type stored(mlir::Type type);
  /// Waits for the other threads if an access since the last wait may meet these.
  void access(llvm::ArrayRef<mlir::Value> reads, llvm::ArrayRef<mlir::Value> writes);
  /// What has been written since the last wait, whatever that was for.
  void wrote(llvm::ArrayRef<mlir::Value> writes) { written.insert(writes.begin(), writes.end()); }
  /// Waits if anything was accessed since the last wait.
  void meet();

  //===- the end -------------------------------------------------------------===//
  /// Writes the function into a gpu.module of its own in `module`, and launches it on `groups`
  /// workgroups.
  void launch(mlir::ModuleOp module, mlir::Value groups);

private:
  FlatView met(FlatView &memory, int64_t elements, mlir::Type type);
  bool mayTakeTooManySteps();
  mlir::Value bufferArgument(mlir::Value memref);
  mlir::Value numberArgument(mlir::Value host);
  void deriveNumbers();
  void spillNumbers(mlir::ModuleOp module);
  FlatView root(mlir::Value memref);
  mlir::OpFoldResult sizeOf(mlir::Value memref, int64_t axis);
  mlir::OpBuilder prologue();

  mlir::OpBuilder host;
  std::unique_ptr<mlir::Region> region;
  mlir::Block *body;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, FlatView> views;
  /// What the arguments of `body` will be.
  enum class Kind { buffer, number, workgroup };
  llvm::SmallVector<Kind> kinds;
  llvm::SmallVector<mlir::Value> operands; // one per buffer and word, null for workgroup memory
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizes; // by the names of dims
  llvm::DenseSet<mlir::Value> written, read;
  mlir::Value thread, group, reportWords;
  llvm::DenseMap<std::pair<unsigned, mlir::Type>, FlatView> exchanges, cells;
  int64_t workgroupBytes = 0;
  bool broken = false;
};

/// Makes every loop of `kernel` tell if it was left early: the limit of the device, in the words
/// that reports go to.
void reportLeftLoops(mlir::gpu::GPUFuncOp kernel, mlir::Value words, int64_t steps);
/// Of loops of kernels that a thread takes for `block` at most; kDynamic if unknown.
int64_t stepsOfLoops(mlir::Block &block);
/// On a module whose kernels may report that.
inline constexpr llvm::StringLiteral kLimitedAttr = "xtensor.limited";
/// Marks the host's read of a number that a kernel left in memory for the code that needs it.
inline constexpr llvm::StringLiteral kSpillAttr = "xtensor.spill";
/// The read that a spilled number comes from, or null.
mlir::memref::LoadOp spillOf(mlir::Value host);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_KERNEL_H
