// Splits large reductions that offer no parallel dim of their own into two
// stages. The split depends on sizes only, never on the number of threads, so
// results are the same on every machine with the same vectors.

#include "Combiners.h"
#include "Group/CutLoops.h"
#include "Group/GroupEmit.h"
#include "Group/GroupPlan.h"
#include "Group/LinalgKinds.h"
#include "Group/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace xtensor {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "Group/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// More parts than CPUs have use for: each is a workgroup of a device.
constexpr int64_t kManyParts = 64;
/// A part this much smaller than the whole costs nothing to reduce again.
constexpr int64_t kMinShrink = 32;
/// Elements of a row that leaves most of a vector empty, and of the row that takes its place.
constexpr int64_t kNarrowRow = 32, kWideRow = 128;
/// Parts of rows that keep all threads busy, and the rows of each of them.
constexpr int64_t kPartsOfRows = 32, kFewRows = 8, kManyRows = 64;
/// Steps behind each sum that a chunk leaves: a product has more sums than factors.
constexpr int64_t kStepsPerSum = 4, kStepsPerProductSum = 16;

class Split {
public:
  Split(linalg::GenericOp op, Operation *combiner, TypedAttr start, int64_t parts)
      : op(op), combiner(combiner), start(start), wanted(parts), b(op), loc(op.getLoc()),
        ranges(op.getStaticLoopRanges()), isProduct(isGemm(op)) {}

  /// sum over i of rows of few elements = sum over groups of m neighbouring rows, then over m: rows
  /// that fill several vectors. Returns the first sum, if it did that.
  linalg::GenericOp widenRows();

  void run() {
    if (op.getNumParallelLoops() == 0 && splitLeadingLoops())
      return;
    std::optional<Plan> plan = SharedDims::of(op).plan();
    if (plan && wanted < kManyParts && plan->columns &&
        plan->workPerIteration > cut::kMostColumns && splitRows())
      return;
    if (!plan || !isBusy(*plan))
      splitIntoChunks();
  }

private:
  /// sum over (i, j) = sum over i of (sum over j): the inner one is a row
  /// reduction and can join a group over i. Of running combinations along i, over j of (over i),
  /// which can join the group that works them out.
  bool splitLeadingLoops();
  /// Columns longer than caches are: memory is read along rows instead, some rows for each part.
  bool splitRows();
  /// Whether there is work for all without cutting sums.
  bool isBusy(const Plan &plan) {
    if (wanted < kManyParts)
      return plan.iterations >= 8;
    // On a device a row is a workgroup's, a column a thread's.
    bool columns = isProduct ? !productReadsRows() : plan.columns;
    return outputs() >= (columns ? 128 * wanted : wanted / 2);
  }
  Amount outputs() {
    Amount total = 1;
    for (auto [range, kind] : llvm::zip_equal(ranges, op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel)
        total *= Amount::ofSize(range);
    return total;
  }
  /// Whether a factor lies along the sums; of two sizes the larger factor.
  bool productReadsRows();
  /// sum over i = sum over chunks of i, in a forall over the chunks.
  void splitIntoChunks();

  using Sizes = llvm::DenseMap<std::pair<Value, unsigned>, OpFoldResult>;
  void emitChunk(scf::ForallOp forall, unsigned loop, int64_t block, OpFoldResult range,
                 Value scalar, const Sizes &inputSizes);
  /// Elementwise operands that others read as well: on a device a workgroup computes its chunk
  /// of them just before it reads it, rather than a launch of its own.
  SmallVector<linalg::GenericOp> producersToJoin(unsigned loop);
  /// Where a chunk lies in an array.
  struct Place {
    SmallVector<OpFoldResult> offsets, sizes;
  };
  /// Of an operand that has the split loop among its dims.
  Place placeOf(OpOperand &operand, unsigned loop, Value iv, OpFoldResult length,
                const Sizes &inputSizes);
  Value slice(Value source, const Place &place) {
    SmallVector<OpFoldResult> strides(place.offsets.size(), b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(b, loc, source, place.offsets, place.sizes, strides);
  }
  void putBack(Value part, Value whole, const Place &place) {
    SmallVector<OpFoldResult> strides(place.offsets.size(), b.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(b, loc, part, whole, place.offsets, place.sizes, strides);
  }
  Value emitJoined(linalg::GenericOp from, unsigned dim, Value whole, Value iv, OpFoldResult length,
                   const Place &place, const Sizes &inputSizes);
  void moveIndices(linalg::GenericOp chunk, unsigned loop, Value iv);
  void finish(Value partial, unsigned leading);
  Value startTensor(OpBuilder &builder, Value empty) {
    Value scalar = arith::ConstantOp::create(builder, loc, start);
    return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
  }
  OpFoldResult rangeOf(unsigned loop) {
    for (OpOperand &operand : op->getOpOperands())
      for (auto [k, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto plain = dyn_cast<AffineDimExpr>(expr); plain && plain.getPosition() == loop)
          return sizeOf(b, loc, operand.get(), k);
    llvm_unreachable("every loop of a linalg op has an operand that tells its range");
  }

  linalg::GenericOp op;
  Operation *combiner;
  TypedAttr start; // of each part
  int64_t wanted;  // parts
  OpBuilder b;
  Location loc;
  SmallVector<int64_t> ranges;
  bool isProduct;
  SmallVector<linalg::GenericOp> joined;
};

linalg::GenericOp Split::widenRows() {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  if (wanted >= kManyParts || ranges.size() != 2 || op.getNumReductionLoops() != 1 ||
      ShapedType::isDynamicShape(ranges) || !op.getBody()->getOps<linalg::IndexOp>().empty())
    return {};
  unsigned loop = iterators[1] == utils::IteratorType::reduction;
  int64_t rows = ranges[loop], columns = ranges[1 - loop];
  if (columns < 1 || columns > kNarrowRow)
    return {};
  int64_t together = llvm::bit_floor<uint64_t>(kWideRow / columns), groups = rows / together;
  if (groups < kMinShrink)
    return {};
  MLIRContext *context = op.getContext();
  AffineMap rowsOf = AffineMap::get(
      2, 0, {getAffineDimExpr(loop, context), getAffineDimExpr(1 - loop, context)}, context);
  for (OpOperand *operand : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(operand) != rowsOf)
      return {};

  int64_t whole = groups * together;
  auto part = [&](Value x, int64_t from, int64_t count) {
    auto indices = [&](int64_t row, int64_t column) {
      return SmallVector<OpFoldResult>{b.getIndexAttr(row), b.getIndexAttr(column)};
    };
    return slice(x, {indices(from, 0), indices(count, columns)});
  };
  SmallVector<Value> wide, rest;
  for (Value input : op.getDpsInputs()) {
    Value head = whole == rows ? input : part(input, 0, whole);
    Value parts = expandedFor(op, head, {groups, together, columns}, {{0, 1}, {2}});
    SmallVector<ReassociationIndices> merged{{0}, {1, 2}};
    wide.push_back(tensor::CollapseShapeOp::create(b, loc, parts, merged));
    if (whole < rows)
      rest.push_back(part(input, whole, rows - whole));
  }
  auto sum = [&](ValueRange inputs, Value init, ArrayRef<AffineMap> maps,
                 ArrayRef<utils::IteratorType> kinds) {
    auto result =
        linalg::GenericOp::create(b, loc, init.getType(), inputs, ValueRange(init), maps, kinds);
    IRMapping mapping;
    op.getRegion().cloneInto(&result.getRegion(), mapping);
    return result;
  };
  if (!rest.empty()) {
    Value init = op.getDpsInits()[0];
    Value added = sum(rest, init, op.getIndexingMapsArray(), iterators)->getResult(0);
    op.getDpsInitsMutable()[0].set(added);
  }
  SmallVector<AffineMap> maps(wide.size(), AffineMap::getMultiDimIdentityMap(2, context));
  maps.push_back(AffineMap::get(2, 0, getAffineDimExpr(1, context)));
  Value init = startTensor(
      b, tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{together * columns}, start.getType()));
  auto first =
      sum(wide, init, maps, {utils::IteratorType::reduction, utils::IteratorType::parallel});
  auto type = RankedTensorType::get({together, columns}, start.getType());
  SmallVector<ReassociationIndices> groupsOfRows{{0, 1}};
  finish(tensor::ExpandShapeOp::create(b, loc, type, first->getResult(0), groupsOfRows), 1);
  return first;
}

bool Split::productReadsRows() {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  Amount largest = 0;
  bool rows = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Amount size = 1;
    bool row = false;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
      unsigned d = cast<AffineDimExpr>(expr).getPosition();
      size *= Amount::ofSize(ranges[d]);
      row = iterators[d] == utils::IteratorType::reduction;
    }
    if (size > largest)
      rows = false;
    if (size >= largest)
      rows |= row;
    largest = std::max(largest, size);
  }
  return rows;
}

/// Reduces `partial` over its `leading` first dims into the old result.
void Split::finish(Value partial, unsigned leading) {
  unsigned rank = cast<RankedTensorType>(partial.getType()).getRank();
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> out;
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  for (unsigned d = 0; d < rank; ++d) {
    if (d < leading)
      iterators[d] = utils::IteratorType::reduction;
    else
      out.push_back(getAffineDimExpr(d, context));
  }
  SmallVector<AffineMap> maps = {AffineMap::getMultiDimIdentityMap(rank, context),
                                 AffineMap::get(rank, 0, out, context)};
  auto last = linalg::GenericOp::create(
      b, loc, op->getResultTypes(), ValueRange(partial), op.getDpsInits(), maps, iterators,
      [&](OpBuilder &body, Location, ValueRange arguments) {
        Operation *combined = body.clone(*combiner);
        combined->setOperands({arguments[0], arguments[1]});
        linalg::YieldOp::create(body, loc, combined->getResults());
      });
  op->replaceAllUsesWith(last);
  op.erase();
}

/// The loop along which `op` reads what a running combination shows step by step; -1: none.
static int scannedLoop(linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto scan = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!scan || !scan->getAttrOfType<StringAttr>("xtensor.scan") ||
        operand->get() != scan->getResult(0))
      continue;
    AffineMap shown = scan.getMatchingIndexingMap(scan.getDpsInitOperand(0));
    for (auto [k, expr] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults()))
      if (shown.getResult(k).isFunctionOfDim(scan.getNumLoops() - 1))
        return cast<AffineDimExpr>(expr).getPosition();
  }
  return -1;
}

bool Split::splitLeadingLoops() {
  MLIRContext *context = op.getContext();
  unsigned numLoops = op.getNumLoops();
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  Amount total = estimateIterations(op), parts = 1;
  // On a device a running combination is a kernel of its own.
  int scanned = wanted < kManyParts ? scannedLoop(op) : -1;
  SmallVector<unsigned> kept;
  for (int d = 0, e = numLoops; d < e && parts < wanted; ++d)
    if (d != scanned) {
      parts *= Amount::ofSize(ranges[d]);
      kept.push_back(d);
    }
  if (parts < wanted || total / parts < kMinShrink)
    return false;

  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> out;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned d : kept) {
    sizes.push_back(rangeOf(d));
    out.push_back(getAffineDimExpr(d, context));
    iterators[d] = utils::IteratorType::parallel;
  }
  Value empty = tensor::EmptyOp::create(b, loc, sizes, start.getType());
  Value init = startTensor(b, empty);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = AffineMap::get(numLoops, 0, out, context);
  auto first = linalg::GenericOp::create(b, loc, init.getType(), op.getDpsInputs(),
                                         ValueRange(init), maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&first.getRegion(), mapping);
  finish(first->getResult(0), kept.size());
  return true;
}

bool Split::splitRows() {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto isReduction = [](utils::IteratorType type) {
    return type == utils::IteratorType::reduction;
  };
  if (llvm::count_if(iterators, isReduction) != 1 || ShapedType::isDynamicShape(ranges))
    return false;
  unsigned loop = llvm::find_if(iterators, isReduction) - iterators.begin();
  Amount rowSize = estimateIterations(op) / ranges[loop];
  // A part leaves a row, which is written and read once more.
  int64_t least = std::clamp(ranges[loop] / kPartsOfRows, kFewRows, kManyRows);
  int64_t block = chooseBlock(ranges[loop], std::max<Amount>(least, cut::kRows / rowSize), 1);
  LoopCut inParts(op, loop, block);
  if (ranges[loop] % block || ranges[loop] < 4 * block || !inParts.isPossible())
    return false;

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    LoopCut::Operand part = inParts.cutInput(*operand);
    inputs.push_back(part.value);
    maps.push_back(part.map);
  }
  SmallVector<int64_t> shape{ranges[loop] / block};
  SmallVector<AffineExpr> out{inParts.newLoop(loop)};
  auto outType = cast<RankedTensorType>(op->getResult(0).getType());
  llvm::append_range(shape, outType.getShape());
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults())
    out.push_back(inParts.newLoop(cast<AffineDimExpr>(expr).getPosition()));
  maps.push_back(AffineMap::get(inParts.numLoops(), 0, out, op.getContext()));
  Value init = startTensor(b, tensor::EmptyOp::create(b, loc, shape, start.getType()));
  auto parts = linalg::GenericOp::create(b, loc, init.getType(), inputs, ValueRange(init), maps,
                                         inParts.iterators());
  IRMapping mapping;
  op.getRegion().cloneInto(&parts.getRegion(), mapping);
  finish(parts->getResult(0), 1);
  return true;
}

void Split::splitIntoChunks() {
  // The outermost reduction loop that is long enough, else the longest.
  Amount total = estimateIterations(op);
  auto stepsOf = [&](unsigned d) { return Amount::ofSize(ranges[d]); };
  int loop = -1;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned d = 0, e = ranges.size(); d < e; ++d) {
    if (iterators[d] != utils::IteratorType::reduction)
      continue;
    bool plain = llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
      return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
        return isa<AffineDimExpr>(expr) || !expr.isFunctionOfDim(d);
      });
    });
    if (!plain)
      continue;
    if (loop < 0 || (stepsOf(loop) < 4 * wanted && stepsOf(d) > stepsOf(loop)))
      loop = d;
  }
  if (loop < 0 || stepsOf(loop) < 2 * wanted)
    return;
  Amount perIndex = std::max<Amount>(1, total / stepsOf(loop));
  auto outType = cast<RankedTensorType>(op->getResult(0).getType());
  Amount outSize = outputs(), least = isProduct ? kStepsPerProductSum : kStepsPerSum;
  Amount share = std::max<Amount>(total / (2 * wanted), cut::kLeastChunk);
  if (wanted >= kManyParts && outSize > 1)
    share = std::max<Amount>(share, cut::kLeastColumns);
  if (wanted < kManyParts)
    share = std::min<Amount>(share, cut::kMostChunk);
  Amount target = share / perIndex;
  if (wanted >= kManyParts) // of longer sums rather fewer parts than none
    target = std::max(target, divideUp(outSize * stepsOf(loop) * least, total));
  int64_t block = chooseBlock(ranges[loop], target, perIndex == 1 ? 16 : 1);
  Amount chunks = divideUp(stepsOf(loop), block);
  if (chunks < 2 || outSize * chunks * least > total)
    return;

  OpFoldResult range = rangeOf(loop);
  std::optional<int64_t> fixed = getConstantIntValue(range);
  OpFoldResult numChunks;
  if (fixed) {
    numChunks = b.getIndexAttr((*fixed + block - 1) / block);
  } else {
    Value size = getValueOrCreateConstantIndexOp(b, loc, range);
    Value step = arith::ConstantIndexOp::create(b, loc, block);
    numChunks = arith::CeilDivUIOp::create(b, loc, size, step).getResult();
  }
  SmallVector<OpFoldResult> sizes = {numChunks};
  for (unsigned k = 0, e = outType.getRank(); k < e; ++k)
    sizes.push_back(sizeOf(b, loc, op.getDpsInits()[0], k));
  joined = producersToJoin(loop);
  Sizes inputSizes;
  auto noteSizes = [&](ValueRange inputs) {
    for (Value input : inputs)
      if (auto type = dyn_cast<RankedTensorType>(input.getType()))
        for (unsigned k = 0, e = type.getRank(); k < e; ++k)
          inputSizes[{input, k}] = sizeOf(b, loc, input, k);
  };
  noteSizes(op.getDpsInputs());
  SmallVector<Value> outs = {tensor::EmptyOp::create(b, loc, sizes, start.getType())};
  for (linalg::GenericOp producer : joined) {
    noteSizes(producer.getDpsInputs());
    // Its own: places that ops share cannot be written here.
    outs.push_back(b.clone(*producer.getDpsInits()[0].getDefiningOp())->getResult(0));
  }
  Value scalar = arith::ConstantOp::create(b, loc, start);
  auto forall = scf::ForallOp::create(b, loc, {b.getIndexAttr(0)}, {range}, {b.getIndexAttr(block)},
                                      outs, std::nullopt);
  emitChunk(forall, loop, block, range, scalar, inputSizes);
  b.setInsertionPointAfter(forall);
  finish(forall.getResult(0), 1);
  for (auto [i, producer] : llvm::enumerate(joined)) {
    producer->getResult(0).replaceAllUsesWith(forall.getResult(1 + i));
    producer.erase();
  }
}

SmallVector<linalg::GenericOp> Split::producersToJoin(unsigned loop) {
  SmallVector<linalg::GenericOp> found;
  if (wanted < kManyParts)
    return found;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto from = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!from || from->getBlock() != op->getBlock() || from->getNumResults() != 1 ||
        from.getNumParallelLoops() != from.getNumLoops() ||
        !from.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
        !from.getIndexingMapsArray().back().isIdentity())
      continue;
    // Each element in one chunk, whole rows of all that is read.
    auto splits = [&](AffineExpr expr) { return expr == b.getAffineDimExpr(loop); };
    ArrayRef<AffineExpr> places = op.getMatchingIndexingMap(operand).getResults();
    const auto *place = llvm::find_if(places, splits);
    if (llvm::count_if(places, splits) != 1)
      continue;
    unsigned dim = place - places.begin();
    bool plain = llvm::all_of(from.getIndexingMapsArray(), [&](AffineMap map) {
      return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
        return isa<AffineDimExpr>(expr) || !expr.isFunctionOfDim(dim);
      });
    });
    bool readLater = llvm::all_of(from->getUsers(), [&](Operation *user) {
      Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
      return at && (at == op || op->isBeforeInBlock(at));
    });
    bool readOnce = llvm::count(op->getOperands(), operand->get()) == 1;
    if (plain && readLater && readOnce)
      found.push_back(from);
  }
  return found;
}

Split::Place Split::placeOf(OpOperand &operand, unsigned loop, Value iv, OpFoldResult length,
                            const Sizes &inputSizes) {
  auto linalgOp = cast<linalg::LinalgOp>(operand.getOwner());
  Place place;
  for (auto [k, expr] : llvm::enumerate(linalgOp.getMatchingIndexingMap(&operand).getResults())) {
    bool split = expr.isFunctionOfDim(loop);
    place.offsets.push_back(split ? OpFoldResult(iv) : b.getIndexAttr(0));
    place.sizes.push_back(split ? length : inputSizes.lookup({operand.get(), k}));
  }
  return place;
}

/// The chunk of an operand, left in its place in `whole`.
Value Split::emitJoined(linalg::GenericOp from, unsigned dim, Value whole, Value iv,
                        OpFoldResult length, const Place &place, const Sizes &inputSizes) {
  SmallVector<Value> inputs;
  for (OpOperand *operand : from.getDpsInputOperands()) {
    bool split = from.getMatchingIndexingMap(operand).isFunctionOfDim(dim);
    inputs.push_back(split ? slice(operand->get(), placeOf(*operand, dim, iv, length, inputSizes))
                           : operand->get());
  }
  Value out = slice(whole, place);
  auto chunk = linalg::GenericOp::create(b, from.getLoc(), out.getType(), inputs, out,
                                         from.getIndexingMapsArray(), from.getIteratorTypesArray());
  IRMapping mapping;
  from.getRegion().cloneInto(&chunk.getRegion(), mapping);
  moveIndices(chunk, dim, iv);
  b.setInsertionPointAfter(chunk);
  return chunk->getResult(0);
}

void Split::moveIndices(linalg::GenericOp chunk, unsigned loop, Value iv) {
  OpBuilder::InsertionGuard guard(b);
  for (linalg::IndexOp index :
       llvm::make_early_inc_range(chunk.getRegion().getOps<linalg::IndexOp>())) {
    if (index.getDim() != loop)
      continue;
    b.setInsertionPointAfter(index);
    Value sum = arith::AddIOp::create(b, loc, index.getResult(), iv);
    index.getResult().replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
}

void Split::emitChunk(scf::ForallOp forall, unsigned loop, int64_t block, OpFoldResult range,
                      Value scalar, const Sizes &inputSizes) {
  b.setInsertionPoint(forall.getTerminator());
  Value iv = forall.getInductionVar(0);
  Value step = arith::ConstantIndexOp::create(b, loc, block);
  OpFoldResult length = b.getIndexAttr(block);
  std::optional<int64_t> fixed = getConstantIntValue(range);
  if (!fixed || *fixed % block) {
    Value end = getValueOrCreateConstantIndexOp(b, loc, range);
    Value rest = arith::SubIOp::create(b, loc, end, iv);
    length = arith::MinSIOp::create(b, loc, rest, step).getResult();
  }
  Value chunk = arith::DivUIOp::create(b, loc, iv, step);

  struct Part {
    Value value, whole;
    Place place;
  };
  SmallVector<Part> left; // of joined operands
  SmallVector<Value> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(operand).isFunctionOfDim(loop)) {
      inputs.push_back(operand->get());
      continue;
    }
    Place place = placeOf(*operand, loop, iv, length, inputSizes);
    auto *from = llvm::find(joined, operand->get().getDefiningOp());
    if (from == joined.end()) {
      inputs.push_back(slice(operand->get(), place));
      continue;
    }
    unsigned dim = llvm::find(place.offsets, OpFoldResult(iv)) - place.offsets.begin();
    Value whole = forall.getRegionIterArgs()[1 + (from - joined.begin())];
    inputs.push_back(emitJoined(*from, dim, whole, iv, length, place, inputSizes));
    left.push_back({inputs.back(), whole, place});
  }
  auto outType = cast<RankedTensorType>(op->getResult(0).getType());
  Value whole = forall.getRegionIterArgs()[0];
  SmallVector<OpFoldResult> offsets = {chunk}, sizes = {b.getIndexAttr(1)};
  for (unsigned k = 0, e = outType.getRank(); k < e; ++k) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(sizeOf(b, loc, op.getDpsInits()[0], k));
  }
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  Value part = tensor::ExtractSliceOp::create(b, loc, outType, whole, offsets, sizes, strides);
  part = linalg::FillOp::create(b, loc, scalar, part).getResult(0);
  auto reduced = linalg::GenericOp::create(b, loc, part.getType(), inputs, ValueRange(part),
                                           op.getIndexingMapsArray(), op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&reduced.getRegion(), mapping);
  moveIndices(reduced, loop, iv);
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, reduced->getResult(0), whole, offsets, sizes,
                                        strides);
  for (const Part &part : left)
    putBack(part.value, part.whole, part.place);
}

struct SplitReductions : xtensor::impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  /// Whether a library, or tiles of a device, do this product as it is.
  bool isLeft(linalg::GenericOp op) {
    if (!isGemm(op))
      return false;
    if (tile == 0)
      return true;
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    Amount sides[2] = {1, 1};
    for (auto [d, range] : llvm::enumerate(op.getStaticLoopRanges()))
      if (bool first = maps[0].isFunctionOfDim(d); first != maps[1].isFunctionOfDim(d))
        sides[first] *= Amount::ofSize(range);
    return type.getIntOrFloatBitWidth() >= 32 && 2 * std::min(sides[0], sides[1]) >= Amount(tile) &&
           2 * (sides[0] * sides[1]) >= Amount(tile) * Amount(tile);
  }
  /// A device takes a sum whose length only the call knows for a long one.
  bool isLong(linalg::GenericOp op) {
    Amount points = estimateIterations(op);
    if (workOf(op) >= kLeastWork)
      return true;
    return parts >= kManyParts && points > 0 &&
           llvm::any_of(llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()),
                        [](auto loop) {
                          auto [range, kind] = loop;
                          return ShapedType::isDynamic(range) &&
                                 kind == utils::IteratorType::reduction;
                        });
  }

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    forEachBlock(getOperation(),
                 [&](Block &block) { llvm::append_range(ops, block.getOps<linalg::GenericOp>()); });
    for (linalg::GenericOp op : ops) {
      if (op.getNumReductionLoops() == 0 || isLeft(op) || !isLong(op))
        continue;
      Operation *combiner = reductionCombiner(op);
      TypedAttr start = combiner ? startOf(combiner) : TypedAttr();
      if (!start)
        continue;
      if (linalg::GenericOp wide = Split(op, combiner, start, parts).widenRows()) {
        op = wide;
        combiner = reductionCombiner(op);
      }
      Split(op, combiner, start, parts).run();
    }
  }
};

} // namespace
