// Matching of dims and choice of the forall (see GroupPlan.h).

#include "Group/GroupPlan.h"

#include "Group/LinalgKinds.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;

namespace xtensor {

/// Iterations that keep two to a few dozen threads busy with even shares.
static constexpr int64_t kEnoughIterations = 64;
/// Elements per iteration: long enough to hide the call.
static constexpr int64_t kMinElements = 1024;
/// A row shorter than this is worth taking several at a time: always where all
/// loops are shared, later where values of one element per row would be scalars.
static constexpr int64_t kShortRow = 512, kShortInnerRow = 128;
/// The least number of blocks of short rows, if there are enough rows.
static constexpr int64_t kWantedBlocks = 16;
/// What scans along columns show to others in a workgroup of a device, which has memory of its own
/// for that, in elements of every such value.
static constexpr int64_t kMaxShown = int64_t(1) << 22;
/// As caches count them.
static constexpr int64_t kElementBytes = 4;
/// Rows of an iteration that transposes: they fill cache lines of what is read.
static constexpr int64_t kTileRows = 64;
/// Columns per block: a multiple of a cache line, at least two vectors long.
static constexpr int64_t kMinColumns = 64, kMaxColumns = 512;

Amount SharedDims::work() const {
  Amount total = 0;
  for (const auto &member : loops)
    total += workOf(member.first);
  return total;
}

std::optional<LinearIndex> linearIndex(AffineExpr expr) {
  bool isLinear = true;
  SmallVector<AffineExpr> zeros, ones;
  MLIRContext *context = expr.getContext();
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part); dim && dim.getPosition() >= zeros.size()) {
      zeros.resize(dim.getPosition() + 1, getAffineConstantExpr(0, context));
      ones.resize(dim.getPosition() + 1, getAffineConstantExpr(1, context));
    }
    AffineExprKind kind = part.getKind();
    isLinear &= kind == AffineExprKind::Add || kind == AffineExprKind::Mul ||
                kind == AffineExprKind::DimId || kind == AffineExprKind::Constant;
  });
  if (!isLinear)
    return std::nullopt;
  int64_t offset = cast<AffineConstantExpr>(expr.replaceDims(zeros)).getValue();
  int64_t next = cast<AffineConstantExpr>(expr.replaceDims(ones)).getValue();
  return LinearIndex{next - offset, offset};
}

/// True if `loop` is indexed on its own by every operand; clears `plain` and `linear` if some input
/// does it through an expression of another kind.
static bool isShareable(linalg::GenericOp op, unsigned loop, bool &plain, bool &linear) {
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned seen = 0;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      if (isa<AffineDimExpr>(expr)) {
        linear &= ++seen == 1;
        plain &= linear;
        continue;
      }
      std::optional<LinearIndex> index = linearIndex(expr);
      linear &= index && ++seen == 1;
      plain &= linear && index->stride > 0;
      if (op.isDpsInit(&operand))
        return false;
      for (unsigned other = 0, e = op.getNumLoops(); other < e; ++other)
        if (other != loop && expr.isFunctionOfDim(other))
          return false;
    }
    if (op.isDpsInit(&operand) && seen != 1)
      return false;
  }
  return true;
}

SharedDims SharedDims::of(linalg::GenericOp op) {
  SharedDims dims;
  dims.caches = cachesFor(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<unsigned, 4> loops;
  for (unsigned loop = 0, e = ranges.size(); loop < e; ++loop) {
    bool plain = true, linear = true;
    if (iterators[loop] != utils::IteratorType::parallel || !isShareable(op, loop, plain, linear)) {
      dims.hasInnerLoops |= ranges[loop] != 1;
      continue;
    }
    loops.push_back(loop);
    dims.sizes.push_back(ranges[loop]);
    dims.plain.push_back(plain);
    dims.linear.push_back(linear);
  }
  dims.loops.push_back({op, std::move(loops)});
  dims.largestIterations = estimateIterations(op);
  return dims;
}

SharedDims SharedDims::merged(const SharedDims &other,
                              ArrayRef<std::pair<unsigned, unsigned>> pairs) const {
  SharedDims result;
  result.caches = caches;
  for (auto [ours, theirs] : pairs) {
    int64_t size = sizes[ours];
    result.sizes.push_back(ShapedType::isDynamic(size) ? other.sizes[theirs] : size);
    result.plain.push_back(plain[ours] && other.plain[theirs]);
    result.linear.push_back(linear[ours] && other.linear[theirs]);
  }
  bool dropsOurs = false, dropsTheirs = false;
  for (unsigned d = 0, e = sizes.size(); d < e; ++d)
    dropsOurs |= sizes[d] != 1 && llvm::none_of(pairs, [&](auto p) { return p.first == d; });
  for (unsigned d = 0, e = other.sizes.size(); d < e; ++d)
    dropsTheirs |=
        other.sizes[d] != 1 && llvm::none_of(pairs, [&](auto p) { return p.second == d; });
  result.hasInnerLoops = hasInnerLoops || other.hasInnerLoops || dropsOurs || dropsTheirs;

  auto take = [&](const SharedDims &from, bool first) {
    for (const auto &[op, old] : from.loops) {
      SmallVector<unsigned, 4> kept;
      for (auto pair : pairs)
        kept.push_back(old[first ? pair.first : pair.second]);
      result.loops.push_back({op, std::move(kept)});
    }
  };
  take(*this, true);
  take(other, false);
  bool oursIsLarger = largestIterations >= other.largestIterations;
  result.largest = oursIsLarger ? largest : loops.size() + other.largest;
  result.largestIterations = std::max(largestIterations, other.largestIterations);
  return result;
}

/// The map of an operand of the highest rank, without dims of one element: the order in which
/// memory is walked. Of several, an output, else one of the widest elements: a mask follows what it
/// masks.
static AffineMap storageMap(linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineMap best;
  std::pair<unsigned, unsigned> most;
  for (OpOperand &operand : llvm::reverse(op->getOpOperands())) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Type element = getElementTypeOrSelf(operand.get());
    bool isOutput = op.isDpsInit(&operand) || !element.isIntOrFloat();
    auto isLong = [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return !dim || ranges[dim.getPosition()] != 1;
    };
    std::pair<unsigned, unsigned> weight(llvm::count_if(map.getResults(), isLong),
                                         isOutput ? UINT_MAX : element.getIntOrFloatBitWidth());
    if (!best || weight > most) {
      best = map;
      most = weight;
    }
  }
  return best;
}

SmallVector<unsigned, 4> SharedDims::storageOrder() const {
  auto &[op, opLoops] = loops[largest];
  SmallVector<unsigned, 4> order;
  for (AffineExpr expr : storageMap(op).getResults())
    for (unsigned d = 0, e = opLoops.size(); d < e; ++d)
      if (expr.isFunctionOfDim(opLoops[d]) && !llvm::is_contained(order, d))
        order.push_back(d);
  return order;
}

bool SharedDims::isContiguous(unsigned shared) const {
  auto [op, opLoops] = loops[largest];
  AffineMap map = storageMap(op);
  return map.getNumResults() && map.getResults().back().isFunctionOfDim(opLoops[shared]);
}

/// Whether an input of a single op is contiguous along `shared`, where the output is not. Several
/// rows are transposed in registers then, if an iteration has them.
bool SharedDims::isAcrossTiles(unsigned shared) const {
  if (loops.size() != 1 || !plain[shared] || isContiguous(shared))
    return false;
  linalg::GenericOp op = loops[largest].first;
  AffineExpr loop = getAffineDimExpr(loops[largest].second[shared], op.getContext());
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    return map.getNumResults() > 1 && map.getResults().back() == loop;
  });
}

int64_t chooseBlock(int64_t size, Amount wanted, int64_t multiple) {
  int64_t target = std::max<int64_t>(wanted.count(), 1);
  if (!ShapedType::isDynamic(size)) {
    if (target >= size)
      return size;
    for (int64_t block = target; block * 2 > target; --block)
      if (size % block == 0 && block % multiple == 0)
        return block;
  }
  return std::max<int64_t>(multiple, target / multiple * multiple);
}

static Amount blocksOf(int64_t size, int64_t block) {
  return divideUp(Amount::ofSize(size), block);
}

/// Every loop is shared: any part of the elements will do.
std::optional<Plan> SharedDims::planElements(ArrayRef<unsigned> order) const {
  Amount target =
      std::clamp<Amount>(largestIterations / 32, kMinElements, caches.iterationElements());
  Amount inner = largestIterations, rows = 1;
  Plan plan;
  for (unsigned d : order) {
    inner /= Amount::ofSize(sizes[d]);
    int64_t block = 1;
    if (isAcrossTiles(d)) {
      block = chooseBlock(sizes[d], kTileRows, 16);
      inner *= block;
      rows *= block;
      if (block != sizes[d]) {
        plan.dims.push_back({d, block});
        plan.iterations *= blocksOf(sizes[d], block);
      }
      continue;
    }
    bool last = inner <= target;
    if (last && linear[d] && (inner < kShortRow || d == order.back())) {
      block = chooseBlock(sizes[d], target / inner, inner == rows ? 16 : 1);
      if (!plain[d] && (ShapedType::isDynamic(sizes[d]) || sizes[d] % block))
        break; // one element at a time would be slower
    }
    plan.dims.push_back({d, block});
    plan.iterations *= blocksOf(sizes[d], block);
    if (last)
      break;
  }
  if (plan.iterations < 2)
    return std::nullopt;
  plan.workPerIteration = largestIterations / plan.iterations;
  return plan;
}

/// Some member needs whole rows: the dims around them, one row at a time; or,
/// where only the contiguous dim is left, blocks of columns.
std::optional<Plan> SharedDims::planRows(ArrayRef<unsigned> order) const {
  Plan plan;
  Amount inner = largestIterations;
  for (unsigned d : order) {
    if (isContiguous(d))
      continue;
    if (plan.iterations >= kEnoughIterations && inner <= caches.iterationElements())
      break;
    plan.dims.push_back({d, 1});
    plan.iterations *= Amount::ofSize(sizes[d]);
    inner /= Amount::ofSize(sizes[d]);
  }
  if (!plan.dims.empty() && inner < kShortInnerRow && plain[plan.dims.back().shared]) {
    // A math function of one element per row: vectors of rows, not scalars.
    ForallDim &dim = plan.dims.back();
    Amount size = Amount::ofSize(sizes[dim.shared]);
    plan.iterations /= size;
    Amount target =
        std::min(Amount(kMinElements * 2) / inner, size * plan.iterations / kWantedBlocks);
    dim.block = chooseBlock(sizes[dim.shared], std::max<Amount>(16, target), 16);
    plan.iterations *= blocksOf(sizes[dim.shared], dim.block);
  }
  // What a scan shows is read again by the one that goes back.
  bool scans =
      llvm::any_of(loops, [](const auto &member) { return member.first->hasAttr("xtensor.scan"); });
  if (scans && plan.iterations >= 8 && inner > caches.scannedElements())
    for (unsigned d : order) {
      Amount size = Amount::ofSize(sizes[d]), rows = inner / size;
      int64_t block =
          chooseBlock(sizes[d], std::max<Amount>(kMinColumns, caches.scannedElements() / rows), 16);
      if (!isContiguous(d) || !plain[d] || block >= size)
        continue;
      plan.dims.push_back({d, block});
      plan.iterations *= blocksOf(sizes[d], block);
    }
  if (plan.iterations < 8)
    for (unsigned d : order) {
      if (!isContiguous(d) || !plain[d] || Amount::ofSize(sizes[d]) < 2 * kMinColumns)
        continue;
      Amount target = std::clamp<Amount>(Amount::ofSize(sizes[d]) / 8, kMinColumns, kMaxColumns);
      int64_t block = chooseBlock(sizes[d], target, 16);
      plan.dims.push_back({d, block});
      plan.iterations *= blocksOf(sizes[d], block);
      plan.columns = true;
    }
  if (plan.iterations < 2)
    return std::nullopt;
  plan.workPerIteration = largestIterations / plan.iterations;
  return plan;
}

std::optional<Plan> SharedDims::plan() const {
  if (empty() || largestIterations == 0)
    return std::nullopt;
  SmallVector<unsigned, 4> order = storageOrder();
  return hasInnerLoops ? planRows(order) : planElements(order);
}

void SharedDims::takeRowsTogether(Plan &plan) const {
  if (loops.size() != 1 || !hasInnerLoops || plan.columns || plan.dims.empty())
    return;
  ForallDim &rows = plan.dims.back();
  linalg::GenericOp op = loops[0].first;
  unsigned loop = loops[0].second[rows.shared];
  auto isReduced = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && op.getIteratorTypesArray()[dim.getPosition()] == utils::IteratorType::reduction;
  };
  bool shares = false, hasNeighbours = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    ArrayRef<AffineExpr> dims = op.getMatchingIndexingMap(operand).getResults();
    AffineExpr row = getAffineDimExpr(loop, op.getContext());
    shares |= !dims.empty() && !llvm::is_contained(dims, row);
    hasNeighbours |= dims.size() > 2 && dims[dims.size() - 2] == row && isReduced(dims.back()) &&
                     llvm::any_of(dims.drop_back(2), isReduced);
  }
  int64_t size = sizes[rows.shared], together = hasNeighbours ? kNeighbours : kSharingRows;
  if (!(shares || hasNeighbours) || rows.block != 1 || !plain[rows.shared] ||
      ShapedType::isDynamic(size) || plan.iterations < kEnoughIterations * together)
    return;
  rows.block = chooseBlock(size, together, 1);
  plan.iterations = plan.iterations / Amount::ofSize(size) * blocksOf(size, rows.block);
  plan.workPerIteration = largestIterations / plan.iterations;
}

/// Below reshapes, the array itself.
static Value wholeOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool SharedDims::keepsColumns(const Plan &plan) const {
  Amount room = caches.level2 / 2;
  if (largestIterations * kElementBytes <= room)
    return true; // every column does
  llvm::SmallDenseSet<Value, 8> arrays;
  auto note = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && Amount::ofSizes(type.getShape()) >= largestIterations)
      arrays.insert(wholeOf(value));
  };
  for (auto [op, opLoops] : loops) {
    llvm::for_each(op->getResults(), note);
    for (OpOperand *input : op.getDpsInputOperands())
      note(input->get());
  }
  Amount columns = caches.workingSet();
  // Rows that lie ways apart put one block into few places of the cache.
  const ForallDim &last = plan.dims.back();
  if (int64_t size = sizes[last.shared]; !ShapedType::isDynamic(size)) {
    int64_t starts = kWayBytes / std::gcd(size * kElementBytes, kWayBytes);
    Amount used = std::min<int64_t>(starts * last.block * kElementBytes, kWayBytes);
    columns = columns * used / kWayBytes;
  }
  return plan.workPerIteration * arrays.size() <= columns;
}

bool SharedDims::holdsLongScans(const Plan &plan) const {
  Amount columns = 1;
  for (const ForallDim &dim : plan.dims)
    columns *= dim.block;
  return llvm::any_of(loops, [&](const auto &member) {
    auto [op, opLoops] = member;
    if (!op->hasAttr("xtensor.scan"))
      return false;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    Amount rows = 1;
    for (auto [range, kind] : llvm::zip_equal(ranges, op.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction)
        continue;
      if (ShapedType::isDynamic(range))
        return true;
      rows *= range;
    }
    return rows * columns > kMaxShown;
  });
}

} // namespace xtensor
