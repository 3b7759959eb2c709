// The walk over the body of a vectorize. Each value of one instance gets a counterpart for all
// instances. Its dims are the batch names that it depends on, in the order of the vectorize, then
// the dims of the instance in their order.
#ifndef XTENSOR_BATCH_BATCHER_H
#define XTENSOR_BATCH_BATCHER_H

#include "Batch/BatchRules.h"
#include "mlir/IR/IRMapping.h"

namespace xtensor {

/// A set of batch names: bit i is name i of the vectorize.
using BatchNames = uint64_t;

class Batcher {
public:
  explicit Batcher(VectorizeOp op);

  /// Makes the ops of `block` but its terminator, for all instances.
  llvm::LogicalResult run(mlir::Block &block);

  /// What stands for `v`: itself where it comes from above.
  mlir::Value value(mlir::Value v) const { return values.lookupOrDefault(v); }
  llvm::SmallVector<mlir::Value> valuesOf(mlir::ValueRange vs) const;
  /// From now on `batched` stands for `v`; dims are put in order.
  void set(mlir::Value v, mlir::Value batched);

  /// The batch names that a counterpart has.
  BatchNames names(mlir::Value batched) const { return names(arrayType(batched)); }
  BatchNames names(ArrayType type) const;
  BatchNames names(mlir::ValueRange batched) const;
  /// Those of all that `op` and its regions use.
  BatchNames namesUsed(mlir::Operation *op) const;
  BatchNames allNames() const { return (BatchNames(1) << order.size()) - 1; }
  /// The names of a set, in order.
  llvm::SmallVector<mlir::Attribute> list(BatchNames names) const;

  /// The type of an instance's value with `names` first.
  ArrayType typeOf(mlir::Type instance, BatchNames names) const;
  /// The counterpart `batched` with at least `names`.
  mlir::Value spread(mlir::Value batched, BatchNames names);
  /// A value for a dim of dynamic size, or null where none is at hand.
  mlir::Value sizeOf(mlir::StringAttr dim);

  /// A copy of `op` on counterparts, with the result types that it has.
  mlir::Operation *clone(mlir::Operation *op);
  /// A copy of `op` on counterparts, with the result types that follow from them.
  llvm::LogicalResult copy(mlir::Operation *op);
  /// Infers the result types of a copy again.
  llvm::LogicalResult infer(mlir::Operation *copy);

  /// Makes `from` here, with `arguments` for its own; the counterparts of what it yields.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> inlined(mlir::Block &from,
                                                          mlir::ValueRange arguments);
  /// Makes `from` in a new block of `to` with arguments of `types`, at whose end the builder
  /// is then; the counterparts of what it yields.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> fill(mlir::Region &to, mlir::Block &from,
                                                       mlir::TypeRange types);
  /// While it lives, what is made is for the instances for which `mask` holds.
  class Masked {
  public:
    Masked(Batcher &t, mlir::Value mask) : t(t) { t.masks.push_back(mask); }
    ~Masked() { t.masks.pop_back(); }
    Masked(const Masked &) = delete;

  private:
    Batcher &t;
  };
  /// For which instances an op with effects is meant; null: for all.
  mlir::Value mask();
  /// `yes` where the mask holds, else `no`.
  mlir::Value choose(mlir::Value mask, mlir::Value yes, mlir::Value no);

  mlir::ImplicitLocOpBuilder b;
  mlir::IRMapping values;

private:
  VectorizeOp vectorize;
  llvm::SmallVector<mlir::StringAttr> order;
  llvm::SmallVector<int64_t> extents;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizes;
  llvm::SmallVector<mlir::Value> masks;
};

} // namespace xtensor

#endif // XTENSOR_BATCH_BATCHER_H
