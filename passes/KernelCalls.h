// Calls around each kernel of a program that is profiled: they tell the runtime when it runs.
#ifndef XTENSOR_PASSES_KERNELCALLS_H
#define XTENSOR_PASSES_KERNELCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace xtensor {

/// On a module: the number of a program that is profiled. Without it nothing is called.
inline constexpr llvm::StringLiteral kProfileAttr = "xtensor.profile";
/// On such a module: a dictionary for each kernel, with `kind` ("program", "loops", "product",
/// "launch" or the name of a routine), `flops`, `bytes`, `loc`, and the numbers of the memory that
/// it `reads` and `writes`. The first one is the program. The arguments of @main have the numbers
/// -1, -2, ..
inline constexpr llvm::StringLiteral kKernelsAttr = "xtensor.kernels";
/// On a module: the pass `xtensor-arena` keeps its plan. On a function: the plan, a dictionary of
/// `bytes`, `temporaries` and `steps` (compiler/Cost.h).
inline constexpr llvm::StringLiteral kPlannedAttr = "xtensor.planned";
/// A kernel's number in the runtime is that of its program times this, and its own.
inline constexpr int64_t kKernelsOfProgram = int64_t(1) << 20;

class KernelCalls {
public:
  explicit KernelCalls(mlir::ModuleOp module);
  bool areOn() const { return bool(program); }

  /// What follows `before`, up to `end`, does the work of `ops`, which are still what they were.
  void begin(mlir::Operation *before, llvm::StringRef kind, llvm::ArrayRef<mlir::Operation *> ops);
  /// Ends the latest that began, before `before`.
  void end(mlir::Operation *before);
  /// Both, around an op.
  void around(mlir::Operation *op, llvm::StringRef kind);
  /// Whether `op` is inside of an op that has calls around it.
  bool cover(mlir::Operation *op) const;
  /// Keeps on the module what was told; around the body of @main, the program, whose flops are
  /// those of no kernel. tellSizes: each call tells its open sizes, those of one argument after
  /// another.
  void finish(bool tellSizes);

private:
  void call(mlir::Operation *before, llvm::StringRef name, int64_t kernel,
            mlir::Value size = nullptr);
  void tellSizesOf(mlir::func::FuncOp main, mlir::Operation *before);
  llvm::SmallVector<int64_t> numbersOf(llvm::ArrayRef<mlir::Value> memory);

  mlir::ModuleOp module;
  mlir::IntegerAttr program;
  llvm::SmallVector<mlir::Attribute> kernels;
  llvm::SmallPtrSet<mlir::Operation *, 16> covered;
  int64_t memories = 0;         // numbered so far
  double flops = 0, inside = 0; // of the module, and of the kernels in it
};

} // namespace xtensor

#endif // XTENSOR_PASSES_KERNELCALLS_H
