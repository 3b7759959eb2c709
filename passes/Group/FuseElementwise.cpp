// Fuses elementwise producers into their consumers. Upstream's pattern fuses one pair at a time,
// and never duplicates a producer. This pass first chooses all producers of a consumer, and then
// builds the fused op once. Each pair (value, map) is one input. So a chain of n ops costs n clones
// of a body, not n^2.

#include "Group/LinalgKinds.h"
#include "Group/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"

namespace xtensor {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "Group/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// Sizes are read from where a result was allocated, so that a tensor.dim does
/// not keep a value alive that is otherwise fused away.
void resolveDims(Block &block) {
  for (tensor::DimOp dim : llvm::make_early_inc_range(block.getOps<tensor::DimOp>())) {
    Value source = dim.getSource();
    while (auto op = source.getDefiningOp<linalg::LinalgOp>())
      source = op.getTiedOpOperand(cast<OpResult>(source))->get();
    std::optional<int64_t> index = dim.getConstantIndex();
    auto empty = source.getDefiningOp<tensor::EmptyOp>();
    bool isThere = empty && index && *index >= 0 && *index < empty.getType().getRank();
    if (isThere && empty.getType().isDynamicDim(*index)) {
      dim.replaceAllUsesWith(empty.getDynamicSize(*index));
      dim.erase();
    } else if (source != dim.getSource()) {
      dim.getSourceMutable().assign(source);
    }
  }
}

/// Whether `op` only gives the axes of its one input another order.
bool isTranspose(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isPermutation(); }) &&
         op.getBlock()->getTerminator()->getOperand(0) == op.getBlock()->getArgument(0);
}

/// A transpose of axes that were merged, where what was merged can be computed in the order of the
/// transpose: it is merged after the transpose, and no array lies in between. A transpose that
/// other loops read stays as it is, because they read through it.
void transposeBeforeMerges(Block &block) {
  auto isCopied = [](OpOperand *operand) {
    auto transpose = dyn_cast<linalg::GenericOp>(operand->getOwner());
    auto merge = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
    if (!transpose || !merge || !merge->hasOneUse() || !isTranspose(transpose))
      return false;
    auto producer = merge.getSrc().getDefiningOp<linalg::GenericOp>();
    return producer && producer->hasOneUse() && isElementwise(producer) &&
           llvm::none_of(transpose->getUsers(), llvm::IsaPred<linalg::LinalgOp>);
  };
  SmallVector<Operation *> ops;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (op.getNumDpsInputs() == 1 && isCopied(op.getDpsInputOperand(0)))
      ops.append({op.getDpsInputs()[0].getDefiningOp(), op}); // the merge is dead then
  if (ops.empty())
    return;
  RewritePatternSet patterns(block.getParentOp()->getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isCopied);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
}

/// Bodies beyond this spill registers and save nothing.
constexpr unsigned kMaxBodyCost = 96;
constexpr unsigned kMaxInputs = 12;
/// A producer up to this cost may be evaluated once per consumer.
constexpr unsigned kMaxDuplicatedCost = 6;
/// What a consumer may repeat at most of a producer that it reads at several places, such as those
/// of a window, instead of one more loop over memory.
constexpr unsigned kMaxRepeatedCost = 24;

/// In a diamond of ops on words, kWordsPerCost ops cost as much as one. A search for a diamond ends
/// after kMostWords ops.
constexpr unsigned kWordsPerCost = 16, kMostWords = 256;

/// The fused form of an elementwise op, as far as decisions need it.
struct Producer {
  unsigned cost = 0;
  bool expensive = false;
  llvm::SmallPtrSet<Value, 4> inputs;
  unsigned fullInputs = 0; // inputs of the size of the result: memory traffic
  bool absorbed = false;   // evaluated inside its consumers
};

class Fusion {
public:
  explicit Fusion(Block &block) : block(block) {}

  void run() {
    for (Operation &op : block)
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        findDiamond(generic);
    for (Operation &op : block)
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        decide(generic);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        if (!isAbsorbed(generic))
          rebuild(generic);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp>(op) && isOpTriviallyDead(&op))
        op.erase();
  }

private:
  using Access = std::pair<Value, AffineMap>;

  bool isAbsorbed(Operation *op) const {
    auto it = producers.find(op);
    return it != producers.end() && it->second.absorbed;
  }

  linalg::GenericOp absorbedProducer(Value value) const {
    auto op = value.getDefiningOp<linalg::GenericOp>();
    return op && isAbsorbed(op) ? op : linalg::GenericOp();
  }

  /// Whether a use reads the element of the place that is written.
  static bool readsInPlace(OpOperand &use) {
    auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
    return user && user.isDpsInput(&use) && user.getMatchingIndexingMap(&use).isIdentity();
  }

  /// Whether an op may be a part of a diamond: into memory of its own, in the order of its loops.
  bool isPart(linalg::GenericOp op) const {
    if (!op || op->getBlock() != &block || !isElementwise(op) || isGemm(op))
      return false;
    OpOperand *init = op.getDpsInitOperand(0);
    return init->get().getDefiningOp<tensor::EmptyOp>() &&
           op.getMatchingIndexingMap(init).isIdentity();
  }

  /// A diamond of words: an integer op, and all that its value leads to, up to where that meets
  /// again in one op. There, each of them is computed once, and few values are alive at a time: the
  /// rounds of a cipher are such.
  void findDiamond(linalg::GenericOp op) {
    if (inDiamond.contains(op) || op->use_empty() || op->hasOneUse() || !isPart(op))
      return;
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (!element.isInteger(32) && !element.isInteger(64))
      return;
    SmallVector<linalg::GenericOp> found = {op};
    llvm::SmallSetVector<Operation *, 8> open;
    unsigned words = 0, others = 0;
    while (found.size() <= kMostWords) {
      (hasExpensiveBody(found.back()) ? others : words) += bodyCost(found.back());
      for (OpOperand &use : found.back()->getUses()) {
        if (!readsInPlace(use))
          return;
        open.insert(use.getOwner());
      }
      Operation *next = *llvm::min_element(
          open, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      open.remove(next);
      auto part = cast<linalg::GenericOp>(next);
      if (!isPart(part))
        return;
      if (open.empty()) {
        inDiamond.insert_range(found);
        atEnd[part] += words / kWordsPerCost + others;
        return;
      }
      found.push_back(part);
    }
  }

  void decide(linalg::GenericOp op) {
    if (!isElementwise(op))
      return;
    Producer info;
    info.cost = inDiamond.contains(op) ? 0 : bodyCost(op) + atEnd.lookup(op);
    info.expensive = hasExpensiveBody(op);
    for (Value input : op.getDpsInputs()) {
      if (auto producer = absorbedProducer(input)) {
        const Producer &inner = producers.find(producer)->second;
        if (!inDiamond.contains(op)) // else it would count once for each way through
          info.cost += inner.cost;
        info.expensive |= inner.expensive;
        info.inputs.insert(inner.inputs.begin(), inner.inputs.end());
      } else if (!splatOf(input)) {
        info.inputs.insert(input);
      }
    }
    Amount size = estimateIterations(op);
    for (Value input : info.inputs)
      info.fullInputs += sizeOf(input) >= size;
    info.absorbed = shouldAbsorb(op, info, size);
    producers.insert({op, std::move(info)});
  }

  static Amount sizeOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? Amount::ofSizes(type.getShape()) : 1;
  }

  bool shouldAbsorb(linalg::GenericOp op, const Producer &info, Amount size) const {
    unsigned uses = 0;
    bool broadcast = false;
    Operation *last = nullptr;
    for (OpOperand &use : op->getUses()) {
      auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!consumer || consumer->getBlock() != &block || !consumer.isDpsInput(&use) ||
          !consumer.hasPureTensorSemantics() || isGemm(consumer))
        return false;
      if (readsAcross(op, info, consumer, use))
        return false;
      broadcast |= estimateIterations(consumer) > size;
      uses += last != consumer;
      last = consumer;
    }
    if (inDiamond.contains(op))
      return true;
    if (!uses || info.cost > kMaxBodyCost / 2 || info.inputs.size() > kMaxInputs)
      return false;
    if (info.cost == 0 && info.inputs.size() <= 1)
      return true; // a view, or a constant
    if (broadcast)
      return info.inputs.empty() && !info.expensive;
    if (uses == 1)
      return !repeatsMuch(op, info);
    // Stored once and read by all, or its inputs read by all?
    unsigned stored = info.fullInputs + 1 + uses, recomputed = info.fullInputs * uses;
    return !info.expensive && info.cost <= kMaxDuplicatedCost && recomputed <= stored;
  }

  /// Whether its one consumer would evaluate `op` at too many places for each of its own elements.
  static bool repeatsMuch(linalg::GenericOp op, const Producer &info) {
    llvm::SmallDenseSet<AffineMap, 4> places;
    for (OpOperand &use : op->getUses())
      places.insert(cast<linalg::GenericOp>(use.getOwner()).getMatchingIndexingMap(&use));
    return places.size() > 2 &&
           (info.expensive || info.cost * (places.size() - 1) > kMaxRepeatedCost);
  }

  /// The map from the consumer's loops to the producer's operand.
  static AffineMap throughProducer(linalg::GenericOp producer, OpOperand *operand,
                                   AffineMap access) {
    AffineMap out = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    return producer.getMatchingIndexingMap(operand)
        .compose(inversePermutation(out))
        .compose(access);
  }

  /// What the consumer overwrites must be read where it is written, or the whole of it would
  /// have to be kept.
  bool readsAcross(linalg::GenericOp op, const Producer &info, linalg::GenericOp consumer,
                   OpOperand &use) const {
    OpOperand *init = consumer.getDpsInitOperand(0);
    Value place = init->get();
    if (!info.inputs.contains(place) || place.getDefiningOp<tensor::EmptyOp>())
      return false;
    AffineMap access = consumer.getMatchingIndexingMap(&use);
    AffineMap out = consumer.getMatchingIndexingMap(init);
    Inputs inputs;
    for (OpOperand *operand : op.getDpsInputOperands())
      collect(operand->get(), throughProducer(op, operand, access), inputs);
    return llvm::any_of(llvm::make_first_range(inputs), [&](const Access &read) {
      return read.first == place && read.second != out;
    });
  }

  /// The inputs of the fused op, each (value, map) once, and whether it may read only the start of
  /// an axis: (i, j) -> i + j at j = 0 is i.
  using Inputs = llvm::SmallMapVector<Access, bool, 8>;

  void collect(Value value, AffineMap access, Inputs &inputs) const {
    llvm::DenseSet<Access> seen;
    collect(value, access, false, inputs, seen);
  }

  void collect(Value value, AffineMap access, bool isPart, Inputs &inputs,
               llvm::DenseSet<Access> &seen) const {
    if (splatOf(value))
      return;
    auto producer = absorbedProducer(value);
    if (!producer) {
      inputs[{value, access}] |= isPart;
      return;
    }
    if (!seen.insert({value, access}).second)
      return;
    for (OpOperand *operand : producer.getDpsInputOperands()) {
      if (producer.getMatchingBlockArgument(operand).use_empty())
        continue;
      AffineMap map = throughProducer(producer, operand, access);
      bool becomesPlain = llvm::any_of(
          llvm::zip_equal(producer.getMatchingIndexingMap(operand).getResults(), map.getResults()),
          [](auto pair) {
            return !isa<AffineDimExpr>(std::get<0>(pair)) && isa<AffineDimExpr>(std::get<1>(pair));
          });
      collect(operand->get(), map, isPart || becomesPlain, inputs, seen);
    }
  }

  void rebuild(linalg::GenericOp op);

  Block &block;
  llvm::DenseMap<Operation *, Producer> producers;
  llvm::SmallPtrSet<Operation *, 8> inDiamond; // but for the ends
  llvm::DenseMap<Operation *, unsigned> atEnd; // what a diamond costs, by its end
};

/// Writes the body of a fused op.
class BodyBuilder {
public:
  BodyBuilder(OpBuilder &b, llvm::function_ref<linalg::GenericOp(Value)> producerOf)
      : b(b), producerOf(producerOf) {}

  llvm::DenseMap<std::pair<Value, AffineMap>, Value> elements; // block arguments, then all else

  Value element(Value value, AffineMap access) {
    auto it = elements.find({value, access});
    if (it != elements.end())
      return it->second;
    Value result;
    if (OpFoldResult splat = splatOf(value)) {
      Attribute constant = dyn_cast<Attribute>(splat);
      if (constant || matchPattern(cast<Value>(splat), m_Constant(&constant)))
        result = arith::ConstantOp::create(b, value.getLoc(), cast<TypedAttr>(constant));
      else
        result = cast<Value>(splat);
    } else {
      result = inlineProducer(producerOf(value), access);
    }
    elements[{value, access}] = result;
    return result;
  }

  /// Clones `body` and returns what its terminator yields.
  SmallVector<Value> clone(Block *body, IRMapping &mapping, AffineMap loops) {
    for (Operation &inner : body->without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(inner);
      if (!index || !loops) {
        fold(b.clone(inner, mapping), inner, mapping);
        continue;
      }
      mapping.map(index.getResult(), loopIndex(index.getLoc(), loops, index.getDim()));
    }
    return llvm::map_to_vector(body->getTerminator()->getOperands(),
                               [&](Value v) { return mapping.lookupOrDefault(v); });
  }

private:
  /// Folds a comparison: most undo the storing of a bool as a byte. A fold in place (operands
  /// swapped) succeeds as well, but has no values: the op stays.
  void fold(Operation *made, Operation &old, IRMapping &mapping) {
    SmallVector<Value> folded;
    if (!isa<arith::CmpIOp>(made) || failed(b.tryFold(made, folded)) || folded.empty())
      return;
    mapping.map(old.getResults(), folded);
    made->erase();
  }

  Value inlineProducer(linalg::GenericOp producer, AffineMap access) {
    AffineMap out = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    AffineMap loops = inversePermutation(out).compose(access);
    IRMapping mapping;
    for (OpOperand *operand : producer.getDpsInputOperands()) {
      BlockArgument argument = producer.getMatchingBlockArgument(operand);
      if (!argument.use_empty())
        mapping.map(argument, element(operand->get(),
                                      producer.getMatchingIndexingMap(operand).compose(loops)));
    }
    return clone(producer.getBlock(), mapping, loops).front();
  }

  /// The value of the producer's loop `dim` at the consumer's current place.
  Value loopIndex(Location loc, AffineMap loops, unsigned dim) {
    AffineExpr expr = loops.getResult(dim);
    if (auto plain = dyn_cast<AffineDimExpr>(expr))
      return linalg::IndexOp::create(b, loc, plain.getPosition());
    SmallVector<Value> indices;
    for (unsigned d = 0, e = loops.getNumDims(); d < e; ++d)
      indices.push_back(expr.isFunctionOfDim(d) ? linalg::IndexOp::create(b, loc, d).getResult()
                                                : Value());
    return affine::expandAffineExpr(b, loc, expr, indices, {});
  }

  OpBuilder &b;
  llvm::function_ref<linalg::GenericOp(Value)> producerOf;
};

/// Loop ranges come from the operands: without the absorbed one a loop may have no operand left
/// that gives its size, for instance the places of a window. Such a loop gets an operand that is
/// not read. False if its size is open.
bool tellRanges(OpBuilder &b, linalg::GenericOp op, SmallVectorImpl<Value> &values,
                SmallVectorImpl<AffineMap> &maps, ArrayRef<AffineMap> outs) {
  llvm::SmallBitVector told(op.getNumLoops());
  for (AffineMap map : llvm::concat<const AffineMap>(maps, outs))
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        told.set(dim.getPosition());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  told.flip();
  if (llvm::any_of(told.set_bits(), [&](unsigned i) { return ShapedType::isDynamic(ranges[i]); }))
    return false;
  for (unsigned loop : told.set_bits()) {
    values.push_back(tensor::EmptyOp::create(b, op.getLoc(), {ranges[loop]}, element));
    maps.push_back(AffineMap::get(op.getNumLoops(), 0, b.getAffineDimExpr(loop)));
  }
  return true;
}

/// An axis that is read at a plain loop gives this loop its range, so it must not be longer.
Value cutToRanges(OpBuilder &b, linalg::GenericOp op, Value value, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<Range> loops = cast<linalg::LinalgOp>(*op).createLoopRanges(b, op.getLoc());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), value);
  bool shorter = false;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || (!ShapedType::isDynamic(shape[axis]) && shape[axis] == ranges[loop.getPosition()]))
      continue;
    shape[axis] = ranges[loop.getPosition()];
    sizes[axis] = loops[loop.getPosition()].size;
    shorter = true;
  }
  if (!shorter)
    return value;
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, op.getLoc(), value, offsets, sizes, strides);
}

void Fusion::rebuild(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || isGemm(op))
    return;
  bool changes = llvm::any_of(
      op.getDpsInputs(), [&](Value input) { return absorbedProducer(input) || splatOf(input); });
  if (!changes)
    return;

  Inputs inputs;
  for (OpOperand *operand : op.getDpsInputOperands())
    collect(operand->get(), op.getMatchingIndexingMap(operand), inputs);
  OpBuilder b(op);
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (auto &[input, isPart] : inputs) {
    auto [value, map] = input;
    values.push_back(isPart ? cutToRanges(b, op, value, map) : value);
    maps.push_back(map);
  }
  SmallVector<AffineMap> outs;
  for (OpOperand &init : op.getDpsInitsMutable())
    outs.push_back(op.getMatchingIndexingMap(&init));
  if (!tellRanges(b, op, values, maps, outs))
    return;
  size_t numRanges = values.size() - inputs.size();
  maps.append(outs);

  auto fused = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(), values,
                                         op.getDpsInits(), b.getAffineMapArrayAttr(maps),
                                         op.getIteratorTypes(), StringAttr(), StringAttr());
  fused->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block *body = b.createBlock(&fused.getRegion());
  auto producerOf = [&](Value value) { return absorbedProducer(value); };
  BodyBuilder builder(b, producerOf);
  for (const Access &input : llvm::make_first_range(inputs))
    builder.elements[input] =
        body->addArgument(getElementTypeOrSelf(input.first.getType()), op.getLoc());
  for (Value range : ArrayRef(values).take_back(numRanges))
    body->addArgument(getElementTypeOrSelf(range.getType()), op.getLoc());
  IRMapping mapping;
  for (BlockArgument old : op.getRegionOutputArgs())
    mapping.map(old, body->addArgument(old.getType(), op.getLoc()));
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    if (!argument.use_empty())
      mapping.map(argument, builder.element(operand->get(), op.getMatchingIndexingMap(operand)));
  }
  SmallVector<Value> results = builder.clone(op.getBlock(), mapping, AffineMap());
  linalg::YieldOp::create(b, op.getLoc(), results);
  op->replaceAllUsesWith(fused);
  op.erase();
}

struct FuseElementwise : xtensor::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    forEachBlock(getOperation(), [](Block &block) {
      resolveDims(block);
      transposeBeforeMerges(block);
      Fusion(block).run();
    });
  }
};

} // namespace
