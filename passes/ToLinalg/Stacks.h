// What a scan carries, and the memory for what it stacks.
#ifndef XTENSOR_TOLINALG_STACKS_H
#define XTENSOR_TOLINALG_STACKS_H

#include "ToLinalg/Lowering.h"

namespace xtensor {

/// Values that cross a region's border: a number without dims as a number, an array as a tensor.
inline bool isNumber(mlir::Value array) { return arrayType(array).getRank() == 0; }
mlir::Value carried(mlir::Value array, Lowering &to);
void setCarried(mlir::Value array, mlir::Value value, Lowering &to);
/// `array` written into `place`, a tensor of its type; numbers as they are.
mlir::Value writtenTo(mlir::Value place, mlir::Value array, Lowering &to);

/// The memory of a scan. A carry of which a state is stacked at each step lies in its stack, which
/// has room for the first state as well: a step reads one state there and makes the next one beside
/// it. Those before each step and those after it are two views of that.
class Stacks {
public:
  /// Of `steps` steps at most.
  Stacks(ScanOp op, mlir::Value steps);

  /// What the loop carries at first, if `taken` steps are taken.
  llvm::SmallVector<mlir::Value> starts(mlir::Value taken, Lowering &to);
  /// The body's carries at position `at`.
  void enter(mlir::Block &body, mlir::ValueRange values, mlir::Value at, Lowering &to);
  /// What the loop carries after position `at`.
  llvm::SmallVector<mlir::Value> next(YieldOp yield, mlir::ValueRange values, mlir::Value at,
                                      Lowering &to);
  /// The op's results, after `taken` steps.
  void leave(mlir::ValueRange values, mlir::Value taken, Lowering &to);

private:
  /// States before and after the steps, one more than there are steps.
  struct States {
    unsigned carry;
    llvm::SmallVector<unsigned> before, after; ///< results that are views of them
  };
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

  /// Where the state before or after position `at` is.
  mlir::Value place(bool before, mlir::Value at, Lowering &to);

  ScanOp op;
  mlir::Value steps;
  llvm::SmallVector<States> states;
  llvm::SmallVector<unsigned> carries; ///< those that the loop carries
  llvm::SmallVector<unsigned> plain;   ///< results with a stack of their own
  llvm::SmallVector<Sizes> sizes;      ///< of the states, then of the others
};

} // namespace xtensor

#endif // XTENSOR_TOLINALG_STACKS_H
