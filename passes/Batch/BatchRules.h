// How each op is extended from one instance to all: by name, which changes only types, or by a
// rule.
#ifndef XTENSOR_BATCH_BATCHRULES_H
#define XTENSOR_BATCH_BATCHRULES_H

#include "XTensor/Dims.h"
#include "llvm/ADT/DenseMap.h"

namespace xtensor {

class Batcher;

/// Makes the op on all instances; its results are known to the batcher afterwards.
using BatchFn = llvm::LogicalResult (*)(Batcher &, mlir::Operation *);

struct BatchRule {
  BatchFn visit;
  llvm::StringRef text; ///< empty: by name
};

class BatchRules {
public:
  static const BatchRules &get();
  /// The rule of `op`, or null.
  const BatchRule *lookup(mlir::Operation *op) const;
  /// One line per op, sorted.
  void print(llvm::raw_ostream &os) const;
  /// Names of the ops of `context`'s dialect that are not in the table.
  llvm::SmallVector<llvm::StringRef> missing(mlir::MLIRContext *context) const;

  template <typename Op>
  void add(BatchFn visit, llvm::StringRef text = {}) {
    add(mlir::TypeID::get<Op>(), Op::getOperationName(), {visit, text});
  }

private:
  BatchRules();
  void add(mlir::TypeID op, llvm::StringRef name, BatchRule rule);
  llvm::DenseMap<mlir::TypeID, BatchRule> rules;
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> rows; ///< name and text
};

void addLoopBatchRules(BatchRules &);
void addNameBatchRules(BatchRules &);
void addRegionBatchRules(BatchRules &);

} // namespace xtensor

#endif // XTENSOR_BATCH_BATCHRULES_H
