// Finds groups of linalg ops that can run as one parallel loop and wraps each
// in an scf.forall. Groups grow along producer-consumer edges, first over rows,
// then over blocks of columns, then over siblings that read the same input.

#include "Group/GroupEmit.h"
#include "Group/GroupGraph.h"
#include "Group/GroupPlan.h"
#include "Group/LinalgKinds.h"
#include "Group/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xtensor {
#define GEN_PASS_DEF_GROUP
#include "Group/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

constexpr int64_t kWantedIterations = 16;

enum class Round { Rows, Columns, Siblings };

class Grouping {
public:
  Grouping(Block &block, unsigned maxValues, bool alone)
      : block(block), maxValues(maxValues), alone(alone), graph(block) {}
  void run();

private:
  using Pairs = SmallVector<std::pair<unsigned, unsigned>, 4>;

  bool isMember(Operation *op) const { return dims.contains(graph.groupOf(op)); }
  void growAlongEdges(Round round);
  void growOverSiblings();
  bool tryMerge(unsigned first, unsigned second, Round round,
                std::optional<std::pair<OpOperand *, OpOperand *>> sibling = std::nullopt);
  bool restrictByEdges(unsigned first, unsigned second, std::optional<Pairs> &pairs);
  bool restrictByPlaces(unsigned first, linalg::GenericOp writer, std::optional<Pairs> &pairs);
  bool isWorthIt(const SharedDims &a, const SharedDims &b, const SharedDims &both, Round round);
  std::optional<unsigned> sharedDim(Operation *op, AffineMap map, unsigned result);
  Pairs matches(Operation *a, AffineMap mapA, Operation *b, AffineMap mapB);

  bool hasTooManyValues(unsigned first, unsigned second);

  Block &block;
  const unsigned maxValues;
  const bool alone;
  GroupGraph graph;
  llvm::DenseMap<unsigned, SharedDims> dims;         // of the groups that may grow
  llvm::DenseMap<Operation *, unsigned> memberIndex; // into dims[group].loops
};

/// The shared dim that `op` indexes on its own at `result` of `map`.
std::optional<unsigned> Grouping::sharedDim(Operation *op, AffineMap map, unsigned result) {
  const SharedDims &shared = dims.find(graph.groupOf(op))->second;
  const auto &loops = shared.loops[memberIndex.lookup(op)].second;
  AffineExpr expr = map.getResult(result);
  for (auto [d, loop] : llvm::enumerate(loops))
    if (expr.isFunctionOfDim(loop))
      return d;
  return std::nullopt;
}

/// Pairs of shared dims that meet in one value.
Grouping::Pairs Grouping::matches(Operation *a, AffineMap mapA, Operation *b, AffineMap mapB) {
  Pairs pairs;
  for (unsigned k = 0, e = mapA.getNumResults(); k < e; ++k) {
    std::optional<unsigned> ours = sharedDim(a, mapA, k), theirs = sharedDim(b, mapB, k);
    if (ours && theirs && isa<AffineDimExpr>(mapA.getResult(k)) &&
        isa<AffineDimExpr>(mapB.getResult(k)))
      pairs.push_back({*ours, *theirs});
  }
  return pairs;
}

/// Keeps the pairs along which `first` reads what `writer` overwrites just where it is written:
/// an iteration must not write what another one still reads.
bool Grouping::restrictByPlaces(unsigned first, linalg::GenericOp writer,
                                std::optional<Pairs> &pairs) {
  for (OpOperand &init : writer.getDpsInitsMutable()) {
    if (!initOf(init.get()).contents)
      continue;
    AffineMap out = writer.getMatchingIndexingMap(&init);
    for (Operation *op : graph.members(first)) {
      auto reader = cast<linalg::GenericOp>(op);
      for (OpOperand *operand : reader.getDpsInputOperands()) {
        if (operand->get() != init.get())
          continue;
        Pairs here = matches(op, reader.getMatchingIndexingMap(operand), writer, out);
        if (!pairs)
          return false;
        llvm::erase_if(*pairs, [&](auto pair) { return !llvm::is_contained(here, pair); });
      }
    }
  }
  return true;
}

/// Keeps the pairs that every edge between the groups agrees with. False if
/// an edge forbids the merge.
bool Grouping::restrictByEdges(unsigned first, unsigned second, std::optional<Pairs> &pairs) {
  for (Operation *op : graph.members(second)) {
    auto consumer = cast<linalg::GenericOp>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (!def || def->getBlock() != &block || graph.groupOf(def) != first)
        continue;
      auto producer = cast<linalg::GenericOp>(def);
      AffineMap out = producer.getIndexingMapMatchingResult(cast<OpResult>(operand.get()));
      AffineMap in = consumer.getMatchingIndexingMap(&operand);
      Pairs here = matches(def, out, op, in);
      if (!pairs) {
        pairs = here;
        continue;
      }
      llvm::erase_if(*pairs, [&](auto pair) { return !llvm::is_contained(here, pair); });
    }
    if (!restrictByPlaces(first, consumer, pairs))
      return false;
    bool captures = false;
    op->getRegion(0).walk([&](Operation *inner) {
      for (Value value : inner->getOperands())
        if (Operation *def = value.getDefiningOp())
          captures |= def->getBlock() == &block && graph.groupOf(def) == first;
    });
    if (captures)
      return false;
  }
  return true;
}

static bool isLarge(const SharedDims &dims) { return dims.largestIterations >= kSmallArray; }

bool Grouping::isWorthIt(const SharedDims &a, const SharedDims &b, const SharedDims &both,
                         Round round) {
  std::optional<Plan> plan = both.plan();
  if (!plan || (round == Round::Rows && plan->columns))
    return false;
  if (!alone && plan->columns && both.holdsLongScans(*plan))
    return false;
  Amount iterations = kWantedIterations, workingSet = both.caches.workingSet();
  bool leavesRows = false;
  for (const SharedDims *part : {&a, &b}) {
    if (!isLarge(*part))
      continue;
    if (std::optional<Plan> alone = part->plan()) {
      iterations = std::min(iterations, alone->iterations);
      workingSet = std::max(workingSet, alone->workPerIteration);
      leavesRows |= plan->columns && !alone->columns;
    }
  }
  // Memory is read along rows best: columns pay where they are still in cache when read again.
  if (leavesRows && !both.keepsColumns(*plan))
    return false;
  return plan->iterations >= iterations && plan->workPerIteration <= workingSet;
}

/// Whether the two groups together would read and make more tensors than is allowed.
bool Grouping::hasTooManyValues(unsigned first, unsigned second) {
  if (!maxValues)
    return false;
  auto isInside = [&](Operation *op) {
    return op && op->getBlock() == &block &&
           (graph.groupOf(op) == first || graph.groupOf(op) == second);
  };
  llvm::SmallDenseSet<Value, 32> values;
  for (unsigned group : {first, second})
    for (Operation *op : graph.members(group)) {
      for (Value input : cast<linalg::GenericOp>(op).getDpsInputs())
        if (!isInside(input.getDefiningOp()))
          values.insert(input);
      for (Value result : op->getResults())
        if (!llvm::all_of(result.getUsers(), isInside))
          values.insert(result);
    }
  return values.size() > maxValues;
}

bool Grouping::tryMerge(unsigned first, unsigned second, Round round,
                        std::optional<std::pair<OpOperand *, OpOperand *>> sibling) {
  if (graph.isBefore(second, first)) {
    std::swap(first, second);
    if (sibling)
      std::swap(sibling->first, sibling->second);
  }
  std::optional<Pairs> pairs;
  if (sibling) {
    auto [a, b] = *sibling;
    auto opA = cast<linalg::GenericOp>(a->getOwner()), opB = cast<linalg::GenericOp>(b->getOwner());
    pairs = matches(opA, opA.getMatchingIndexingMap(a), opB, opB.getMatchingIndexingMap(b));
  }
  if (!restrictByEdges(first, second, pairs) || !pairs || pairs->empty())
    return false;
  // A dim paired twice (a transposed use beside a plain one) is ambiguous.
  for (auto [i, pair] : llvm::enumerate(*pairs))
    for (auto other : llvm::drop_begin(*pairs, i + 1))
      if (pair.first == other.first || pair.second == other.second)
        return false;
  SharedDims both = dims.find(first)->second.merged(dims.find(second)->second, *pairs);
  if (!isWorthIt(dims.find(first)->second, dims.find(second)->second, both, round) ||
      hasTooManyValues(first, second) || !graph.merge(first, second))
    return false;
  for (auto [i, member] : llvm::enumerate(both.loops))
    memberIndex[member.first] = i;
  dims[first] = std::move(both);
  dims.erase(second);
  return true;
}

/// Whether `op` reads elements of an array at positions that `operand` gives.
static bool givesPositions(OpOperand &operand) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  Value given = op.getMatchingBlockArgument(&operand);
  return llvm::any_of(op.getBody()->getOps<tensor::ExtractOp>(), [&](tensor::ExtractOp read) {
    return llvm::any_of(read.getIndices(), [&](Value position) {
      auto cast = position.getDefiningOp<arith::IndexCastOp>();
      return cast && cast.getIn() == given;
    });
  });
}

void Grouping::growAlongEdges(Round round) {
  for (Operation &op : block) {
    if (!isMember(&op))
      continue;
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (!def || def->getBlock() != &block || !isMember(def))
        continue;
      // A row that is read anywhere stays in the caches only if it is read to its end.
      if (alone && round == Round::Columns && givesPositions(operand))
        continue;
      unsigned producer = graph.groupOf(def), consumer = graph.groupOf(&op);
      if (producer != consumer)
        tryMerge(producer, consumer, round);
    }
  }
}

/// Ops that read the same large value, each on its own: one pass over it.
void Grouping::growOverSiblings() {
  llvm::MapVector<Value, SmallVector<OpOperand *, 4>> readers;
  for (Operation &op : block) {
    if (!isMember(&op))
      continue;
    for (OpOperand *operand : cast<linalg::GenericOp>(op).getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (type && (!type.hasStaticShape() || Amount::ofSizes(type.getShape()) >= kSmallArray))
        readers[operand->get()].push_back(operand);
    }
  }
  for (auto &[value, uses] : readers)
    for (auto [a, b] : llvm::zip(uses, llvm::drop_begin(uses))) {
      unsigned first = graph.groupOf(a->getOwner()), second = graph.groupOf(b->getOwner());
      if (first != second)
        tryMerge(first, second, Round::Siblings, std::make_pair(a, b));
    }
}

void Grouping::run() {
  for (Operation &op : block) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !generic.hasPureTensorSemantics() || isGemm(generic) || generic->use_empty())
      continue;
    memberIndex[&op] = 0;
    dims.try_emplace(graph.groupOf(&op), SharedDims::of(generic));
  }
  if (dims.empty())
    return;
  growAlongEdges(Round::Rows);
  growAlongEdges(Round::Columns);
  growOverSiblings();

  llvm::DenseMap<unsigned, Plan> plans;
  for (auto &[group, shared] : dims)
    if (shared.work() >= kLeastWork && (alone || shared.loops.size() > 1))
      if (std::optional<Plan> plan = shared.plan()) {
        if (alone) // on a device, a row is a workgroup's
          shared.takeRowsTogether(*plan);
        plans.insert({group, *plan});
      }
  if (plans.empty())
    return;

  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  for (unsigned group : graph.order()) {
    auto plan = plans.find(group);
    if (plan != plans.end()) {
      emitGroup(builder, dims.find(group)->second, plan->second, graph.members(group));
      continue;
    }
    for (Operation *op : graph.members(group))
      if (op != terminator)
        op->moveBefore(terminator);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<linalg::FillOp, tensor::EmptyOp>(op) && op.use_empty())
      op.erase();
}

struct Group : xtensor::impl::GroupBase<Group> {
  using GroupBase::GroupBase;

  void runOnOperation() override {
    forEachBlock(getOperation(), [&](Block &block) { Grouping(block, maxValues, alone).run(); });
  }
};

} // namespace
