// Merging groups without closing a cycle (see GroupGraph.h).

#include "Group/GroupGraph.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace xtensor {

/// A search that looks at more groups gives up, as if there were a path: long
/// searches are between the forward and the backward pass of a deep model.
static constexpr unsigned kSearchLimit = 512;

GroupGraph::GroupGraph(Block &block) {
  unsigned last = 0;
  bool hasEffect = false;
  llvm::DenseMap<Value, SmallVector<unsigned>> readers; // of what the block is given
  for (Operation &op : block) {
    unsigned id = groups.size();
    groupOfOp[&op] = id;
    rank[&op] = id;
    parent.push_back(id);
    atPosition.push_back(id);
    groups.emplace_back();
    groups.back().ops.push_back(&op);
    groups.back().position = id;
    // What a loop carries is written after everything has read it, so that one place will do.
    if (auto writer = dyn_cast<DestinationStyleOpInterface>(op))
      for (Value init : writer.getDpsInits())
        for (unsigned reader : readers.lookup(init))
          groups[reader].users.push_back(id);
    auto dependOn = [&](Value value) {
      if (value.getParentBlock() == &block && isa<BlockArgument>(value) &&
          isa<TensorType>(value.getType()))
        readers[value].push_back(id);
      Operation *def = value.getDefiningOp();
      if (def && def != &op && def->getBlock() == &block)
        groups[groupOfOp.lookup(def)].users.push_back(id);
    };
    llvm::for_each(op.getOperands(), dependOn);
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), dependOn); });
    // Ops with effects keep their order.
    if (!isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>()) {
      if (hasEffect)
        groups[last].users.push_back(id);
      hasEffect = true;
      last = id;
    }
  }
}

std::vector<unsigned> GroupGraph::order() const {
  std::vector<unsigned> result;
  for (int group : atPosition)
    if (group >= 0)
      result.push_back(group);
  return result;
}

unsigned GroupGraph::resolve(unsigned group) {
  while (parent[group] != group)
    group = parent[group] = parent[parent[group]];
  return group;
}

/// Collects the groups that `first` reaches at positions before `last`; false
/// if one of them reaches `last`.
bool GroupGraph::reachableBetween(unsigned first, unsigned last, SmallVectorImpl<unsigned> &found) {
  ++visit;
  SmallVector<unsigned> work = {first};
  while (!work.empty()) {
    unsigned group = work.pop_back_val();
    for (unsigned &user : groups[group].users) {
      user = resolve(user);
      if (user == last && group != first)
        return false;
      if (user == first || user == last || groups[user].visited == visit ||
          groups[user].position > groups[last].position)
        continue;
      groups[user].visited = visit;
      found.push_back(user);
      work.push_back(user);
      if (found.size() > kSearchLimit)
        return false;
    }
  }
  return true;
}

bool GroupGraph::merge(unsigned into, unsigned from) {
  unsigned first = into, last = from;
  if (groups[first].position > groups[last].position)
    std::swap(first, last);
  SmallVector<unsigned> between;
  if (!reachableBetween(first, last, between))
    return false;

  // Between the two positions: first what `first` does not reach, then the
  // merged group, then what it reaches, which `last` does not need.
  unsigned begin = groups[first].position, end = groups[last].position;
  atPosition[begin] = -1;
  if (between.empty()) {
    place(into, end);
  } else {
    SmallVector<unsigned> moved;
    unsigned next = begin;
    for (unsigned position = begin + 1; position < end; ++position) {
      int group = atPosition[position];
      if (group < 0)
        continue;
      if (groups[group].visited == visit)
        moved.push_back(group);
      else
        place(group, next++);
    }
    place(into, next++);
    for (unsigned group : moved)
      place(group, next++);
    std::fill(atPosition.begin() + next, atPosition.begin() + end + 1, -1);
  }

  parent[from] = into;
  SmallVector<Operation *, 2> ops;
  std::merge(groups[into].ops.begin(), groups[into].ops.end(), groups[from].ops.begin(),
             groups[from].ops.end(), std::back_inserter(ops),
             [&](Operation *a, Operation *b) { return rank.lookup(a) < rank.lookup(b); });
  for (Operation *op : groups[from].ops)
    groupOfOp[op] = into;
  groups[into].ops = std::move(ops);
  groups[into].users.append(groups[from].users);
  groups[from] = Group();
  return true;
}

void GroupGraph::place(unsigned group, unsigned position) {
  groups[group].position = position;
  atPosition[position] = group;
}

} // namespace xtensor
