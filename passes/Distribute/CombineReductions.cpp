#include "Distribute/CombineReductions.h"

#include "XTensor/XTensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xtensor;

/// Bytes of one message. Larger arrays take longer to send than a message to arrive: each is sent
/// as soon as it is there.
constexpr int64_t kCombinedBytes = 1 << 16;

static int64_t bytesOf(Value x) {
  ArrayType type = arrayType(x);
  int64_t bytes = (type.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t size : type.getShape())
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(bytes, size, bytes))
      return INT64_MAX;
  return bytes;
}

static int64_t bytesOf(AllReduceOp op) { return bytesOf(op.getXs().front()); }

static bool sends(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<AllGatherOp, AllReduceOp, AllToAllOp, HaloOp>(inner) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Reductions that become one op in the place of the last of them, and what lies between and reads
/// their results: it moves behind that op.
class ReductionGroup {
public:
  bool reads(Operation *op) const {
    return op
        ->walk([&](Operation *inner) {
          bool isRead =
              llvm::any_of(inner->getOperands(), [&](Value v) { return late.contains(v); });
          return isRead ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
  void defer(Operation *op) {
    readers.push_back(op);
    late.insert_range(op->getResults());
  }
  bool takes(AllReduceOp op) const { return bytesOf(op) <= kCombinedBytes - bytes; }
  void add(AllReduceOp op) {
    members.push_back(op);
    bytes += bytesOf(op);
    late.insert_range(op->getResults());
  }

  void close() {
    if (members.size() > 1)
      combine();
    *this = ReductionGroup();
  }

private:
  void combine() {
    AllReduceOp last = members.back();
    SmallVector<Value> xs, ys;
    SmallVector<Location> locations;
    for (AllReduceOp op : members) {
      llvm::append_range(xs, op.getXs());
      llvm::append_range(ys, op.getYs());
      locations.push_back(op.getLoc());
    }
    OpBuilder b(last);
    auto all = AllReduceOp::create(b, b.getFusedLoc(locations), last.getKind(), xs, last.getAxis(),
                                   last.getCommunicator());
    for (auto [old, y] : llvm::zip_equal(ys, all.getYs()))
      old.replaceAllUsesWith(y);
    Operation *after = all;
    for (Operation *reader : readers) {
      if (!reader->isBeforeInBlock(last))
        break;
      reader->moveAfter(after);
      after = reader;
    }
    for (AllReduceOp op : members)
      op.erase();
  }

  SmallVector<AllReduceOp> members;
  SmallVector<Operation *> readers;
  llvm::DenseSet<Value> late; ///< what the members give, and what is computed from it
  int64_t bytes = 0;
};
} // namespace

/// Those that differ only in the array.
using ReductionKey = std::tuple<ReduceKind, uint64_t, Type>;

static ReductionKey keyOf(AllReduceOp op) {
  return {op.getKind(), op.getCommunicator(), arrayType(op.getXs().front()).getElementType()};
}

static void combineReductions(Block &block, ReductionKey key) {
  ReductionGroup group;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto reduce = dyn_cast<AllReduceOp>(op);
    bool isMember = reduce && keyOf(reduce) == key && bytesOf(reduce) <= kCombinedBytes;
    if (group.reads(&op)) {
      if (isMemoryEffectFree(&op) && !sends(&op) && !op.hasTrait<OpTrait::IsTerminator>()) {
        group.defer(&op);
        continue;
      }
      group.close();
    }
    if (!isMember)
      continue;
    if (!group.takes(reduce))
      group.close();
    group.add(reduce);
  }
  group.close();
}

/// Moves what reads results of reductions, and is small, to where it is needed. So the messages
/// have the time until then.
static void delayReaders(Block &block) {
  llvm::DenseSet<Value> late;
  SmallVector<Operation *> readers;
  for (Operation &op : block) {
    bool isLate = llvm::any_of(op.getOperands(), [&](Value v) { return late.contains(v); });
    auto isSmall = [](Value v) { return bytesOf(v) <= kCombinedBytes; };
    bool moves = isLate && isPure(&op) && !op.getNumRegions() && !sends(&op) &&
                 llvm::all_of(op.getResults(), isSmall);
    if (moves)
      readers.push_back(&op);
    if (moves || isa<AllReduceOp>(op))
      late.insert_range(op.getResults());
  }
  for (Operation *op : llvm::reverse(readers)) {
    Operation *first = block.getTerminator();
    for (Operation *user : op->getUsers())
      if (Operation *at = block.findAncestorOpInBlock(*user); at && at->isBeforeInBlock(first))
        first = at;
    op->moveBefore(first);
  }
}

void xtensor::combineReductions(func::FuncOp func) {
  SmallVector<Block *> blocks;
  func.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks) {
    llvm::MapVector<ReductionKey, int64_t> counts;
    for (auto op : block->getOps<AllReduceOp>())
      ++counts[keyOf(op)];
    for (auto [key, count] : counts)
      if (count > 1)
        ::combineReductions(*block, key);
    if (!counts.empty())
      delayReaders(*block);
  }
}
