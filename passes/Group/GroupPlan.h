// Which dims the members of a group share, and over which of them the scf.forall of the group
// runs. Names do not exist here: dims are matched through the indexing maps of producers and
// consumers.

#ifndef XTENSOR_PASSES_GROUP_GROUPPLAN_H
#define XTENSOR_PASSES_GROUP_GROUPPLAN_H

#include "Estimates.h"
#include "Machine.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace xtensor {

/// One dim of an scf.forall. A block of 1 means: the dim is dropped inside.
struct ForallDim {
  unsigned shared; // index into the group's shared dims
  int64_t block;
};

struct Plan {
  llvm::SmallVector<ForallDim, 2> dims;
  Amount iterations = 1;       // of the forall
  Amount workPerIteration = 0; // loop iterations of the largest member
  bool columns = false;        // blocks of the contiguous dim
};

/// The dims that all members of a group run over in parallel. For each member,
/// `loops` has the loop of each shared dim.
struct SharedDims {
  llvm::SmallVector<int64_t, 4> sizes;
  /// Every operand indexes it as d, or as stride * d + offset: a block of it is a slice.
  llvm::SmallVector<bool, 4> plain;
  /// The same with strides below 0: if all blocks have one size.
  llvm::SmallVector<bool, 4> linear;
  llvm::SmallVector<std::pair<mlir::linalg::GenericOp, llvm::SmallVector<unsigned, 4>>, 2> loops;
  Caches caches;        // of the machine
  unsigned largest = 0; // index into `loops`
  Amount largestIterations = 0;
  bool hasInnerLoops = false; // some member has a loop that is not shared

  bool empty() const { return sizes.empty(); }
  Amount work() const;

  /// The dims of a single op: its parallel loops that every operand indexes on
  /// their own.
  static SharedDims of(mlir::linalg::GenericOp op);
  /// The two groups as one, with the dims `pairs` (ours, theirs).
  SharedDims merged(const SharedDims &other,
                    llvm::ArrayRef<std::pair<unsigned, unsigned>> pairs) const;
  /// The forall that suits these dims; none if nothing can run in parallel.
  std::optional<Plan> plan() const;
  /// Gives an iteration several rows if a single op reads what they share, or jumps from one row
  /// of each of several matrices to the next: see ReductionLoops.cpp.
  void takeRowsTogether(Plan &plan) const;
  /// Whether a block of columns has scans along so many rows that a workgroup cannot hold what they
  /// exchange.
  bool holdsLongScans(const Plan &plan) const;
  /// Whether a block of columns of all arrays stays in the second cache until it is read again.
  bool keepsColumns(const Plan &plan) const;

private:
  llvm::SmallVector<unsigned, 4> storageOrder() const;
  std::optional<Plan> planElements(llvm::ArrayRef<unsigned> order) const;
  std::optional<Plan> planRows(llvm::ArrayRef<unsigned> order) const;
  bool isContiguous(unsigned shared) const;
  bool isAcrossTiles(unsigned shared) const;
};

/// What an operand is indexed with: stride * dim + offset, for one dim of the loops.
struct LinearIndex {
  int64_t stride, offset;
};
std::optional<LinearIndex> linearIndex(mlir::AffineExpr expr);

/// A block of `size` of about `target` iterations: a divisor if there is a good
/// one, so that every block has the same static size.
int64_t chooseBlock(int64_t size, Amount target, int64_t multiple);

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_GROUPPLAN_H
