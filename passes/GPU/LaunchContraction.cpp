// Host code of matrix products: the tile, the number of workgroups, and a second launch if the
// summed dim is cut.
#include "GPU/Contraction.h"
#include "GPU/Launches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor::gpu;

/// Into how many parts the depth of a product is cut: as many as leave no part of the device idle,
/// each of some length.
static int64_t partsOf(const Contraction::Shape &shape, const Tile &tile, linalg::GenericOp op,
                       const KernelLimits &limits) {
  auto type = cast<MemRefType>(op.getDpsInits()[0].getType());
  if (!type.hasStaticShape())
    return 1;
  int64_t tiles =
      shape.batches * llvm::divideCeil(shape.m, tile.m) * llvm::divideCeil(shape.n, tile.n);
  constexpr int64_t kLeastSteps = 16, kMost = 64;
  int64_t fill = static_cast<int64_t>(limits.groups / tile.share()) / tiles;
  int64_t deep = ShapedType::isDynamic(shape.k) ? kMost : shape.k / (tile.k * kLeastSteps);
  return std::max<int64_t>(1, std::min({fill, deep, kMost}));
}

/// The workgroups of a launch: tiles times parts, or as many as there may be.
static Value tilesOf(linalg::GenericOp op, const Contraction::Shape &shape, const Tile &tile,
                     int64_t parts, OpBuilder &host, int64_t most) {
  Location loc = op.getLoc();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto extent = [&](ArrayRef<unsigned> loops, int64_t by) -> OpFoldResult {
    int64_t known = 1;
    Value total;
    for (unsigned loop : loops) {
      if (!ShapedType::isDynamic(sizes[loop])) {
        known *= sizes[loop];
        continue;
      }
      Value size;
      for (OpOperand &operand : op->getOpOperands())
        for (auto [axis, e] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          if (auto dim = dyn_cast<AffineDimExpr>(e); dim && dim.getPosition() == loop && !size)
            size = memref::DimOp::create(host, loc, operand.get(), axis);
      total = total ? arith::MulIOp::create(host, loc, total, size).getResult() : size;
    }
    if (!total)
      return host.getIndexAttr(llvm::divideCeil(known, by));
    total = arith::MulIOp::create(host, loc, total, constant(host, loc, known));
    Value up = arith::AddIOp::create(host, loc, total, constant(host, loc, by - 1));
    return arith::DivUIOp::create(host, loc, up, constant(host, loc, by)).getResult();
  };
  int64_t known = parts;
  Value total;
  for (OpFoldResult n :
       {extent(shape.batchLoops, 1), extent(shape.rows, tile.m), extent(shape.columns, tile.n)}) {
    if (auto constant = getConstantIntValue(n))
      known *= *constant;
    else
      total = total ? arith::MulIOp::create(host, loc, total, cast<Value>(n)).getResult()
                    : cast<Value>(n);
  }
  if (!total)
    return constant(host, loc, std::min(known, most));
  total = arith::MulIOp::create(host, loc, total, constant(host, loc, known));
  return arith::MinUIOp::create(host, loc, total, constant(host, loc, most));
}

std::optional<Epilogue> xtensor::gpu::epilogueOf(Operation &op, const KernelLimits &limits) {
  linalg::GenericOp product = Contraction::match(op);
  if (!product)
    return std::nullopt;
  Contraction::Shape shape = Contraction::shapeOf(product);
  const Tile *tile = Contraction::tileFor(shape, limits);
  // Parts of sums are added by another kernel.
  if (!tile || partsOf(shape, *tile, product, limits) > 1)
    return std::nullopt;
  return Epilogue::of(product);
}

/// A workgroup per tile of a matrix product. Where tiles are few and sums long, several share a
/// tile, and a second launch adds what they found.
LogicalResult xtensor::gpu::launchContraction(linalg::GenericOp op, const Tile &tile,
                                              ModuleOp module, const KernelLimits &limits,
                                              const Epilogue *epilogue) {
  OpBuilder host(op);
  if (epilogue)
    host.setInsertionPoint(epilogue->op);
  Location loc = op.getLoc();
  Contraction::Shape shape = Contraction::shapeOf(op);
  int64_t parts = epilogue ? 1 : partsOf(shape, tile, op, limits);
  Value out = op.getDpsInits()[0];
  linalg::GenericOp sum;
  OpFoldResult partStep;
  SmallVector<Value> init(1);
  if (parts > 1) {
    auto type = cast<MemRefType>(out.getType());
    SmallVector<int64_t> shapeOfParts = {parts};
    llvm::append_range(shapeOfParts, type.getShape());
    Value all =
        memref::AllocOp::create(host, loc, MemRefType::get(shapeOfParts, type.getElementType()));
    SmallVector<OpFoldResult> offsets(shapeOfParts.size(), host.getIndexAttr(0)),
        ones(shapeOfParts.size(), host.getIndexAttr(1)), sizes;
    for (int64_t size : shapeOfParts)
      sizes.push_back(host.getIndexAttr(size));
    sizes[0] = host.getIndexAttr(1);
    auto slice = memref::SubViewOp::inferRankReducedResultType(
        type.getShape(), cast<MemRefType>(all.getType()), offsets, sizes, ones);
    Value firstPart = memref::SubViewOp::create(host, loc, slice, all, offsets, sizes, ones);
    partStep = host.getIndexAttr(type.getNumElements());
    // Adding the parts starts from what the whole sum started from.
    Operation *body = &op.getRegion().front().getOperations().back();
    Operation *add = body->getOperand(0).getDefiningOp();
    int64_t rank = type.getRank();
    AffineMap inner = host.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    kinds.push_back(utils::IteratorType::reduction);
    SmallVector<AffineExpr> outer = {host.getAffineDimExpr(rank)};
    llvm::append_range(outer, inner.getResults());
    SmallVector<AffineMap> maps = {
        AffineMap::get(rank + 1, 0, outer, host.getContext()),
        AffineMap::get(rank + 1, 0, inner.getResults(), host.getContext())};
    OpBuilder after(op->getBlock(), std::next(op->getIterator()));
    sum = linalg::GenericOp::create(
        after, loc, all, out, maps, kinds, [&](OpBuilder &b, Location loc, ValueRange args) {
          Operation *again = b.create(loc, add->getName().getIdentifier(), {args[1], args[0]},
                                      add->getResultTypes());
          linalg::YieldOp::create(b, loc, again->getResults());
        });
    op.getDpsInitsMutable()[0].set(firstPart);
  }
  Kernel kernel(host, loc, tile.threads(), limits);
  if (parts == 1)
    if (linalg::FillOp fill = fillsOf(*op)[0])
      init[0] = kernel.value(fill.getInputs()[0]);
  Contraction product(kernel, op, tile, init, epilogue);
  Value groups = tilesOf(op, shape, tile, parts, host, limits.maxGroups);
  product.emit(kernel.groupId(), kernel.value(groups), parts, partStep);
  if (kernel.isBroken())
    return failure();
  kernel.launch(module, groups);
  if (sum) {
    op.erase();
    return launchOperation(*sum, module, limits);
  }
  eraseWithFills(*op);
  if (epilogue)
    eraseWithFills(*epilogue->op);
  return success();
}
