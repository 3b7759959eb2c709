// Stand-ins for instances that do not take a branch or a step that runs for all instances. Their
// own values could break the code: an index out of range, an endless loop, or a NaN that a
// cotangent of 0 does not remove. So they use the values of an instance that does take it.
#ifndef XTENSOR_BATCH_STANDINS_H
#define XTENSOR_BATCH_STANDINS_H

#include "Batch/Batcher.h"

namespace xtensor {

class StandIns {
public:
  /// While it lives, values from outside of `region` have stand-ins where `mask` does not
  /// hold. It must hold for an instance.
  StandIns(Batcher &t, mlir::Value mask, mlir::Region &region);
  ~StandIns();
  StandIns(const StandIns &) = delete;

  /// `batched` with stand-ins.
  mlir::Value of(mlir::Value batched);

  /// Whether the ops of `region` are safe on any values: they cannot fail or run on, and a
  /// select after them drops what was not meant to be, also from gradients.
  static bool isTotal(mlir::Region &region);
  /// Whether there can be an instance at all.
  static bool exist(Batcher &t, mlir::Value mask);

private:
  Batcher &t;
  mlir::Value mask;
  llvm::SmallVector<std::pair<mlir::Attribute, mlir::Value>> positions; ///< of one that takes it
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> replaced;
};

} // namespace xtensor

#endif // XTENSOR_BATCH_STANDINS_H
