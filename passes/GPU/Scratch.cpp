// Temporary memory of a kernel: workgroup memory, or parts of buffers that the host allocates.
#include "GPU/Body.h"
#include "GPU/Launches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace xtensor::gpu;

/// Each part of a buffer begins at a multiple of this many elements, because threads load several
/// at once.
static constexpr int64_t kPartElements = 16;

/// A size that the host knows and `size` does not exceed, if there is one.
OpFoldResult Body::roomFor(Value size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return kernel.fixed(*constant);
  Region *outside = host.getInsertionBlock()->getParent();
  Region *region = size.getParentRegion();
  if (region == outside || region->isProperAncestor(outside))
    return size;
  auto least = size.getDefiningOp<arith::MinSIOp>();
  if (!least)
    return {};
  OpFoldResult left = roomFor(least.getLhs()), right = roomFor(least.getRhs());
  return !left || (right && getConstantIntValue(right)) ? right : left;
}

/// The most elements that `op` has, which the host knows.
OpFoldResult Body::roomFor(memref::AllocOp op) {
  int64_t known = 1;
  Value count;
  auto dynamic = op.getDynamicSizes().begin();
  for (int64_t size : op.getType().getShape()) {
    OpFoldResult room = ShapedType::isDynamic(size) ? roomFor(*dynamic++) : kernel.fixed(size);
    Value v = dyn_cast<Value>(room);
    if (!v)
      known *= *getConstantIntValue(room);
    else
      count = count ? arith::MulIOp::create(host, op.getLoc(), count, v).getResult() : v;
  }
  if (!count)
    return kernel.fixed(llvm::alignTo(known, kPartElements));
  return arith::MulIOp::create(host, op.getLoc(), count, constant(host, op.getLoc(), known))
      .getResult();
}

void Body::planScratch(Operation &op) {
  llvm::SmallDenseSet<Value> outside;
  llvm::MapVector<Type, SmallVector<memref::AllocOp>> inside;
  size_t count = 0;
  op.walk([&](Operation *inner) {
    if (auto alloc = dyn_cast<memref::AllocOp>(inner);
        alloc && llvm::all_of(alloc.getDynamicSizes(), [&](Value n) { return bool(roomFor(n)); })) {
      inside[alloc.getType().getElementType()].push_back(alloc);
      ++count;
    }
    for (Value v : inner->getOperands()) {
      if (!isa<MemRefType>(v.getType()))
        continue;
      while (auto view = v.getDefiningOp<ViewLikeOpInterface>())
        v = view.getViewSource();
      if (!op.getRegion(0).isAncestor(v.getParentRegion()))
        outside.insert(v);
    }
  });
  if (outside.size() + count <= KernelLimits::kBuffers)
    return;
  for (auto &[type, allocs] : inside) {
    OpFoldResult each = kernel.fixed(0);
    for (auto [i, alloc] : llvm::enumerate(allocs)) {
      OpFoldResult room = roomFor(alloc);
      auto known = getConstantIntValue(room), before = getConstantIntValue(each);
      if (known && before)
        each = kernel.fixed(std::max(*before, *known));
      else
        each = arith::MaxUIOp::create(host, alloc.getLoc(),
                                      getValueOrCreateConstantIndexOp(host, alloc.getLoc(), each),
                                      getValueOrCreateConstantIndexOp(host, alloc.getLoc(), room))
                   .getResult();
      scratch[alloc] = {pools.size(), static_cast<int64_t>(i)};
    }
    pools.push_back({type, each, static_cast<int64_t>(allocs.size()), Value()});
  }
}

/// The buffer that the part is in, made when the first one needs it.
Value Body::poolOf(const Part &part, Location loc) {
  Pool &pool = pools[part.pool];
  if (pool.memory)
    return pool.memory;
  Value count = arith::MulIOp::create(host, loc, constant(host, loc, pool.count),
                                      getValueOrCreateConstantIndexOp(host, loc, pool.each));
  if (copies)
    count = arith::MulIOp::create(host, loc, count, copies);
  auto flat = MemRefType::get({ShapedType::kDynamic}, pool.element);
  return pool.memory = memref::AllocOp::create(host, loc, flat, count);
}

/// Scratch lies in the memory of the workgroup if that has room, else every workgroup has a part
/// of a buffer. Of a size that is worked out inside (a block of a loop, whose last one is shorter)
/// the bound counts.
LogicalResult Body::emitAlloc(memref::AllocOp op) {
  MemRefType type = op.getType();
  FlatView view;
  view.offset = kernel.fixed(0);
  view.element = type.getElementType();
  OpFoldResult elements = kernel.fixed(1);
  SmallVector<OpFoldResult> room; // what the host makes room for
  auto dynamic = op.getDynamicSizes().begin();
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      view.sizes.push_back(kernel.fixed(size));
      room.push_back(kernel.fixed(size));
      continue;
    }
    view.sizes.push_back(kernel.value(OpFoldResult(*dynamic)));
    room.push_back(roomFor(*dynamic++));
    if (!room.back())
      return op.emitError("a temporary of a kernel whose size the host does not know");
  }
  view.strides.resize(type.getRank());
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    view.strides[axis] = elements;
    elements = kernel.mul(elements, view.sizes[axis]);
  }
  OpFoldResult part = kernel.fixed(1);
  for (OpFoldResult size : room)
    part = kernel.mul(part, kernel.value(size));
  std::optional<int64_t> known = getConstantIntValue(part);
  if (known && Kernel::bytesOf(*known, type.getElementType()) <= kernel.workgroupBytesLeft())
    view.flat = kernel.workgroupMemory(*known, type.getElementType()).flat;
  if (auto it = scratch.find(op); !view.flat && it != scratch.end()) {
    const Part &mine = it->second;
    view.flat = kernel.view(poolOf(mine, op.getLoc())).flat;
    OpFoldResult each = kernel.value(pools[mine.pool].each);
    OpFoldResult number = kernel.fixed(mine.number);
    if (copy)
      number = kernel.add(kernel.mul(copy, kernel.fixed(pools[mine.pool].count)), number);
    view.offset = kernel.mul(each, number);
  }
  if (!view.flat) {
    Location loc = op.getLoc();
    Value count = arith::ConstantIndexOp::create(host, loc, 1);
    for (OpFoldResult size : room)
      count =
          arith::MulIOp::create(host, loc, count, getValueOrCreateConstantIndexOp(host, loc, size));
    if (copies)
      count = arith::MulIOp::create(host, loc, count, copies);
    auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
    Value memory = memref::AllocOp::create(host, loc, flat, count);
    view.flat = kernel.view(memory).flat;
    if (copy)
      view.offset = kernel.mul(part, copy);
  }
  kernel.setView(op, view);
  return success();
}
