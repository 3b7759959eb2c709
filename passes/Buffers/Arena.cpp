// Temporaries share one block of memory per call; scratch of parallel bodies goes to the stack.
#include "Buffers/Passes.h"
#include "CallSizes.h"
#include "KernelCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace xtensor {
#define GEN_PASS_DEF_ARENA
#include "Buffers/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// More bytes than an allocation ever gives: asking for them is an error, not a wrapped number.
constexpr int64_t kTooMany = int64_t(1) << 57;

int64_t bytesPerElement(MemRefType type) {
  if (type.getElementType().isIndex())
    return 8;
  return (type.getElementTypeBitWidth() + 7) / 8;
}

int64_t staticBytes(MemRefType type, int64_t alignment) {
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  int64_t bytes = bytesPerElement(type);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes) || bytes >= kTooMany)
      return kTooMany;
  return llvm::alignTo(bytes, alignment);
}

/// Where the ops of a block stand, one after another; an op that holds temporaries spans what
/// is inside of it, so that those of a loop's body are told apart.
class Positions {
public:
  Positions(Block &home, ArrayRef<memref::AllocOp> allocs) {
    for (memref::AllocOp alloc : allocs)
      for (Operation *op = alloc->getParentOp(); op != home.getParentOp(); op = op->getParentOp())
        if (!holders.insert(op).second)
          break;
    number(home);
  }

  /// What does something, in order, with its position.
  ArrayAttr steps(Builder b) const {
    SmallVector<Attribute> list;
    for (auto [op, at] : acting)
      list.push_back(b.getDictionaryAttr({b.getNamedAttr("at", b.getI64IntegerAttr(at)),
                                          b.getNamedAttr("loc", LocationAttr(op->getLoc()))}));
    return b.getArrayAttr(list);
  }

  /// The first and last position where `alloc` is in use by `users`. What a body allocates and
  /// nothing outside of it reads is another one at every step.
  std::pair<int64_t, int64_t> lifetime(memref::AllocOp alloc, ArrayRef<Operation *> users,
                                       Block &home) const {
    Block *block = alloc->getBlock();
    while (block != &home && !llvm::all_of(users, [&](Operation *user) {
             return block->findAncestorOpInBlock(*user);
           }))
      block = block->getParentOp()->getBlock();
    std::pair<int64_t, int64_t> life = {INT64_MAX, -1};
    for (Operation *user : users) {
      Operation *at = block->findAncestorOpInBlock(*user);
      auto [begin, end] = at ? spans.lookup(at) : std::make_pair(int64_t(0), int64_t(0));
      life = {std::min(life.first, begin), std::max(life.second, end)};
    }
    return life;
  }

private:
  void number(Block &block) {
    for (Operation &op : block) {
      int64_t begin = next++;
      if (!isMemoryEffectFree(&op) && !isa<memref::AllocOp, memref::DeallocOp>(op))
        acting.push_back({&op, begin});
      if (holders.contains(&op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            number(inner);
      spans[&op] = {begin, next - 1};
    }
  }

  llvm::DenseSet<Operation *> holders;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
  SmallVector<std::pair<Operation *, int64_t>> acting;
  int64_t next = 0;
};

/// A temporary and the positions between which it is alive.
struct Temporary {
  memref::AllocOp alloc;
  int64_t begin, end;
  int64_t bytes;      // -1: known at run time
  int64_t offset = 0; // in the static part
  Value dynamicOffset, dynamicBytes;
};

struct ArenaPass : xtensor::impl::ArenaBase<ArenaPass> {
  using ArenaBase::ArenaBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    llvm::MapVector<Block *, SmallVector<memref::AllocOp>> homes;
    SmallVector<memref::AllocOp> unused;
    func.walk([&](memref::AllocOp alloc) {
      if (alloc->hasAttr("xtensor.arena"))
        return;
      if (alloc.use_empty())
        return unused.push_back(alloc);
      homes[homeOf(alloc, func)].push_back(alloc);
    });
    for (memref::AllocOp alloc : unused)
      alloc.erase();
    if (homes.empty())
      return;
    BufferViewFlowAnalysis aliases(func);
    for (auto &[home, allocs] : homes)
      if (!place(*home, allocs, aliases, home != &func.getBody().front()))
        return signalPassFailure();
  }

  /// The body of the outermost forall around `alloc`, or the function's.
  static Block *homeOf(memref::AllocOp alloc, func::FuncOp func) {
    Block *home = &func.getBody().front();
    for (Operation *op = alloc->getParentOp(); op != func; op = op->getParentOp())
      if (auto forall = dyn_cast<scf::ForallOp>(op))
        home = forall.getBody();
    return home;
  }

  /// Whether every temporary has found its place.
  bool place(Block &home, ArrayRef<memref::AllocOp> allocs, BufferViewFlowAnalysis &aliases,
             bool inForall) {
    Positions positions(home, allocs);
    SmallVector<Temporary> temporaries;
    SmallVector<memref::AllocOp> alone;
    for (memref::AllocOp alloc : allocs) {
      MemRefType type = alloc.getType();
      Temporary t{alloc, INT64_MAX, -1, -1, 0, {}, {}};
      SmallVector<Operation *> users = usersOf(alloc, aliases);
      if (type.hasStaticShape())
        t.bytes = staticBytes(type, alignment);
      else if (!hoistSizes(alloc, home)) {
        if (escapes(alloc, users)) {
          alloc.emitError(
              "cannot be placed: it leaves its block, and its size is known only there");
          return false;
        }
        alone.push_back(alloc);
        continue;
      }
      std::tie(t.begin, t.end) = positions.lifetime(alloc, users, home);
      temporaries.push_back(t);
    }
    int64_t bytes = packStatic(temporaries);
    bool dynamic = llvm::any_of(temporaries, [](auto &t) { return t.bytes < 0; });
    // Even of no bytes one may have to be somewhere.
    bool used = llvm::any_of(temporaries, [](auto &t) { return !t.alloc->use_empty(); });
    Value total; // null if it is `bytes`
    if (bytes || dynamic || used)
      total = replaceAll(home, temporaries, bytes, inForall && !dynamic && bytes <= maxStackBytes);
    if (!inForall && getOperation()->getParentOp()->hasAttr(kPlannedAttr))
      keepPlan(temporaries, total ? valueInCall(total).value_or(bytes) : bytes, positions);
    for (memref::AllocOp alloc : alone)
      replaceAlone(alloc);
    for (Temporary &t : temporaries)
      t.alloc.erase();
    return true;
  }

  /// The memory in one call, whose sizes the module may tell (CallSizes.h).
  static MemRefType typeInCall(memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    SmallVector<int64_t> shape(type.getShape());
    for (auto [axis, size] : llvm::enumerate(shape))
      size = sizeInCall(alloc, axis).value_or(size);
    return MemRefType::get(shape, type.getElementType());
  }

  void keepPlan(ArrayRef<Temporary> temporaries, int64_t bytes, const Positions &positions) {
    Builder b(&getContext());
    auto number = [&](StringRef name, int64_t n) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(n));
    };
    SmallVector<Attribute> list;
    for (Temporary t : temporaries) {
      if (t.dynamicBytes) {
        t.bytes = valueInCall(t.dynamicBytes).value_or(-1);
        t.offset = valueInCall(t.dynamicOffset).value_or(0);
      }
      if (t.bytes > 0 && t.end >= t.begin)
        list.push_back(b.getDictionaryAttr(
            {number("offset", t.offset), number("bytes", t.bytes), number("begin", t.begin),
             number("end", t.end), b.getNamedAttr("memory", TypeAttr::get(typeInCall(t.alloc))),
             b.getNamedAttr("loc", LocationAttr(t.alloc.getLoc()))}));
    }
    getOperation()->setAttr(
        kPlannedAttr, b.getDictionaryAttr({number("bytes", bytes),
                                           b.getNamedAttr("temporaries", b.getArrayAttr(list)),
                                           b.getNamedAttr("steps", positions.steps(b))}));
  }

  /// All that may touch the memory. An address that was taken is a number: what is called with it,
  /// or with what is worked out from it, comes after the op that took it.
  static SmallVector<Operation *> usersOf(memref::AllocOp alloc, BufferViewFlowAnalysis &aliases) {
    SmallVector<Operation *> users, addresses;
    for (Value alias : aliases.resolve(alloc))
      for (Operation *user : alias.getUsers()) {
        users.push_back(user);
        if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
          addresses.push_back(user);
      }
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!addresses.empty())
      for (Operation *user : addresses.pop_back_val()->getUsers())
        if (seen.insert(user).second) {
          users.push_back(user);
          if (isPure(user) && !user->hasTrait<OpTrait::IsTerminator>())
            addresses.push_back(user);
        }
    return users;
  }

  static bool isArgument(Value v) {
    auto arg = dyn_cast<BlockArgument>(v);
    return arg && isa<func::FuncOp>(arg.getOwner()->getParentOp());
  }

  /// What makes dim `dim` of `memref`, without the memory being there: looks through allocations,
  /// views and what a loop or branch hands on, where a dim has one size, up to an argument of the
  /// function. Null where none is known.
  static OpFoldResult sizeOf(Value memref, int64_t dim, Block &home) {
    auto type = cast<MemRefType>(memref.getType());
    if (!type.isDynamicDim(dim))
      return Builder(type.getContext()).getIndexAttr(type.getDimSize(dim));
    if (auto arg = dyn_cast<BlockArgument>(memref)) {
      auto loop = dyn_cast<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
      if (init)
        return sizeOf(init->get(), dim, home);
      if (!isArgument(arg))
        return {};
      OpBuilder b(&home, home.begin());
      return memref::DimOp::create(b, memref.getLoc(), memref, dim).getResult();
    }
    Operation *op = memref.getDefiningOp();
    unsigned number = cast<OpResult>(memref).getResultNumber();
    unsigned dynamic = type.getDynamicDimIndex(dim);
    return llvm::TypeSwitch<Operation *, OpFoldResult>(op)
        .Case<memref::AllocOp, memref::AllocaOp>(
            [&](auto alloc) { return alloc.getDynamicSizes()[dynamic]; })
        .Case([&](memref::ViewOp view) { return view.getSizes()[dynamic]; })
        .Case([&](memref::ReinterpretCastOp view) { return view.getMixedSizes()[dim]; })
        .Case([&](memref::CastOp cast) { return sizeOf(cast.getSource(), dim, home); })
        .Case([&](memref::SubViewOp view) {
          llvm::SmallBitVector dropped = view.getDroppedDims();
          int64_t kept = -1;
          for (auto [i, size] : llvm::enumerate(view.getMixedSizes()))
            if (!dropped.test(i) && ++kept == dim)
              return size;
          return OpFoldResult();
        })
        .Case([&](memref::ExpandShapeOp view) { return view.getMixedOutputShape()[dim]; })
        .Case([&](scf::IfOp branch) {
          return sizeOf(branch.thenYield().getOperand(number), dim, home);
        })
        .Case([&](LoopLikeOpInterface loop) {
          return number < loop.getInits().size() ? sizeOf(loop.getInits()[number], dim, home)
                                                 : OpFoldResult();
        })
        .Default([](Operation *) { return OpFoldResult(); });
  }

  /// Whether anything outside of the block of `alloc` may read its memory.
  static bool escapes(memref::AllocOp alloc, ArrayRef<Operation *> users) {
    return llvm::any_of(users, [&](Operation *user) {
      return !alloc->getBlock()->findAncestorOpInBlock(*user) ||
             (user->hasTrait<OpTrait::IsTerminator>() && user->getBlock() == alloc->getBlock());
    });
  }

  /// Moves the computation of the sizes to the start of `home` if it can be done there.
  static bool hoistSizes(memref::AllocOp alloc, Block &home) {
    SmallVector<Operation *> slice; // users before definitions
    SmallVector<std::pair<memref::DimOp, OpFoldResult>> known;
    SmallVector<Value> pending(alloc.getDynamicSizes());
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !home.findAncestorOpInBlock(*op)) {
        Block *block = value.getParentBlock();
        if (block == &home || !home.getParentOp()->isAncestor(block->getParentOp()))
          continue; // an argument of the home block, or defined further out
        return false;
      }
      if (!isPure(op) || op->getNumRegions())
        return false;
      auto dim = dyn_cast<memref::DimOp>(op);
      if (dim && !isArgument(dim.getSource())) {
        std::optional<int64_t> index = dim.getConstantIndex();
        auto memory = dyn_cast<MemRefType>(dim.getSource().getType());
        bool isThere = index && memory && *index >= 0 && *index < memory.getRank();
        OpFoldResult size = isThere ? sizeOf(dim.getSource(), *index, home) : OpFoldResult();
        if (!size)
          return false;
        known.push_back({dim, size});
        if (auto value = dyn_cast<Value>(size))
          pending.push_back(value);
        continue;
      }
      slice.push_back(op);
      llvm::append_range(pending, op->getOperands());
    }
    for (auto [dim, size] : known) {
      if (dim->use_empty())
        continue; // visited twice
      OpBuilder b(&home, home.begin());
      dim.getResult().replaceAllUsesWith(getValueOrCreateConstantIndexOp(b, dim.getLoc(), size));
    }
    // The last one visited may be needed by any before it.
    SmallPtrSet<Operation *, 8> moved;
    for (Operation *op : llvm::reverse(slice)) {
      if (!moved.insert(op).second)
        continue;
      op->moveBefore(&home, home.begin());
      for (bool again = true; again;) {
        again = false;
        for (Value operand : op->getOperands())
          if (Operation *def = operand.getDefiningOp();
              def && def->getBlock() == &home && op->isBeforeInBlock(def)) {
            op->moveAfter(def);
            again = true;
          }
      }
    }
    return true;
  }

  /// First fit in order of size; temporaries that are alive together do not overlap.
  static int64_t packStatic(SmallVectorImpl<Temporary> &temporaries) {
    SmallVector<Temporary *> order;
    for (Temporary &t : temporaries)
      if (t.bytes >= 0)
        order.push_back(&t);
    llvm::stable_sort(order, [](auto *a, auto *b) { return a->bytes > b->bytes; });
    struct Placed {
      int64_t offset, offsetEnd, begin, end;
    };
    std::vector<Placed> placed; // sorted by offset, and close together: all are looked at each time
    int64_t total = 0;
    for (Temporary *t : order) {
      for (const Placed &p : placed)
        if (p.begin <= t->end && t->begin <= p.end && t->offset + t->bytes > p.offset &&
            t->offset < p.offsetEnd)
          t->offset = p.offsetEnd;
      int64_t offsetEnd = std::min(t->offset + t->bytes, kTooMany);
      total = std::max(total, offsetEnd);
      auto at = llvm::upper_bound(
          placed, t->offset, [](int64_t offset, const Placed &p) { return offset < p.offset; });
      placed.insert(at, {t->offset, offsetEnd, t->begin, t->end});
    }
    return total;
  }

  /// Returns the bytes of the arena; null for the stack.
  Value replaceAll(Block &home, SmallVectorImpl<Temporary> &temporaries, int64_t bytes,
                   bool onStack) {
    // After the sizes that were hoisted: before the first op that is not pure.
    Operation *first = &home.front();
    while (isPure(first) && !first->getNumRegions() && !first->hasTrait<OpTrait::IsTerminator>())
      first = first->getNextNode();
    OpBuilder b(first);
    Location loc = temporaries.front().alloc.getLoc();
    if (onStack) {
      Value stack = memref::AllocaOp::create(b, loc, MemRefType::get({bytes}, b.getI8Type()),
                                             b.getI64IntegerAttr(alignment));
      viewAll(b, loc, temporaries, stack);
      return {};
    }
    auto constant = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
    Value total = constant(bytes);
    SmallVector<Temporary *> places; // of dynamic size
    for (Temporary &t : temporaries) {
      if (t.bytes >= 0)
        continue;
      // The place of a dead temporary with the very same size serves again.
      auto same = llvm::find_if(places, [&](Temporary *p) {
        return p->alloc.getType() == t.alloc.getType() && p->end < t.begin &&
               llvm::equal(p->alloc.getDynamicSizes(), t.alloc.getDynamicSizes());
      });
      if (same != places.end()) {
        t.dynamicOffset = (*same)->dynamicOffset;
        t.dynamicBytes = (*same)->dynamicBytes;
        *same = &t;
        continue;
      }
      t.dynamicOffset = total;
      t.dynamicBytes = dynamicBytes(b, t.alloc);
      total = arith::AddIOp::create(b, loc, total, t.dynamicBytes);
      total = arith::MinUIOp::create(b, loc, total, constant(kTooMany));
      places.push_back(&t);
    }
    Value arena = acquire(b, loc, total);
    viewAll(b, loc, temporaries, arena);
    b.setInsertionPoint(home.getTerminator());
    memref::DeallocOp::create(b, loc, arena);
    return total;
  }

  Value dynamicBytes(OpBuilder &b, memref::AllocOp alloc) {
    Location loc = alloc.getLoc();
    int64_t fixed = bytesPerElement(alloc.getType());
    for (int64_t size : alloc.getType().getShape())
      if (!ShapedType::isDynamic(size))
        fixed *= size;
    Value bytes = arith::ConstantIndexOp::create(b, loc, fixed);
    // Each size may fit although their product does not. Then the arena needs more bytes than any
    // machine has.
    Type f64 = b.getF64Type();
    auto real = [&](double v) -> Value {
      return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(v));
    };
    Value about = real(static_cast<double>(fixed));
    for (Value size : alloc.getDynamicSizes()) {
      bytes = arith::MulIOp::create(b, loc, bytes, size);
      Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
      number = arith::UIToFPOp::create(b, loc, f64, number);
      about = arith::MulFOp::create(b, loc, about, number);
    }
    Value fits = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, about,
                                       real(static_cast<double>(kTooMany)));
    Value tooMany = arith::ConstantIndexOp::create(b, loc, kTooMany);
    bytes = arith::SelectOp::create(b, loc, fits, bytes, tooMany);
    Value add = arith::ConstantIndexOp::create(b, loc, alignment - 1);
    Value mask = arith::ConstantIndexOp::create(b, loc, -alignment);
    return arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, bytes, add), mask);
  }

  Value acquire(OpBuilder &b, Location loc, Value bytes) {
    auto arena =
        memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI8Type()),
                                ValueRange(bytes), b.getI64IntegerAttr(alignment));
    arena->setAttr("xtensor.arena", b.getUnitAttr());
    return arena;
  }

  static void viewAll(OpBuilder &b, Location loc, ArrayRef<Temporary> temporaries, Value memory) {
    for (Temporary t : temporaries) {
      Value offset = t.dynamicOffset;
      if (!offset)
        offset = arith::ConstantIndexOp::create(b, loc, t.offset);
      Value view = memref::ViewOp::create(b, t.alloc.getLoc(), t.alloc.getType(), memory, offset,
                                          t.alloc.getDynamicSizes());
      t.alloc.replaceAllUsesWith(view);
    }
  }

  void replaceAlone(memref::AllocOp alloc) {
    OpBuilder b(alloc);
    Location loc = alloc.getLoc();
    Value arena = acquire(b, loc, dynamicBytes(b, alloc));
    Value view =
        memref::ViewOp::create(b, loc, alloc.getType(), arena,
                               arith::ConstantIndexOp::create(b, loc, 0), alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    b.setInsertionPoint(alloc->getBlock()->getTerminator());
    memref::DeallocOp::create(b, loc, arena);
    alloc.erase();
  }
};

} // namespace
