// The graph of groups. At the start, every op of a block is a group. A merge contracts two groups.
// The graph keeps a topological order of the groups up to date (Pearce and Kelly, "A Dynamic
// Topological Sort Algorithm", 2006). To find out whether a merge would close a cycle, it searches
// only the groups between the two.

#ifndef XTENSOR_PASSES_GROUP_GROUPGRAPH_H
#define XTENSOR_PASSES_GROUP_GROUPGRAPH_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

namespace xtensor {

class GroupGraph {
public:
  explicit GroupGraph(mlir::Block &block);

  unsigned groupOf(mlir::Operation *op) const { return groupOfOp.lookup(op); }
  /// The members, in program order.
  llvm::ArrayRef<mlir::Operation *> members(unsigned group) const { return groups[group].ops; }
  /// Groups in topological order, the terminator's last.
  std::vector<unsigned> order() const;
  bool isBefore(unsigned a, unsigned b) const { return groups[a].position < groups[b].position; }

  /// Makes `from` part of `into` unless a path between them leads over a third
  /// group.
  bool merge(unsigned into, unsigned from);

private:
  struct Group {
    llvm::SmallVector<mlir::Operation *, 2> ops;
    llvm::SmallVector<unsigned, 4> users; // may repeat; stale ids are resolved
    unsigned position = 0;
    unsigned visited = 0;
  };

  unsigned resolve(unsigned group);
  void place(unsigned group, unsigned position);
  bool reachableBetween(unsigned first, unsigned last, llvm::SmallVectorImpl<unsigned> &found);

  std::vector<Group> groups;
  std::vector<unsigned> parent; // union-find over merged ids
  std::vector<int> atPosition;  // group at a position, or -1
  llvm::DenseMap<mlir::Operation *, unsigned> groupOfOp, rank;
  unsigned visit = 0;
};

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_GROUPGRAPH_H
