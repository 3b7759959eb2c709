// xtensor-outline-nests: loop nests that occur twice become functions, and long blocks become
// several functions.
#include "CPU/MemRefPointers.h"
#include "CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace xtensor {
#define GEN_PASS_DEF_OUTLINENESTS
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

namespace {

/// Ops of one block, in order.
using Run = SmallVector<Operation *, 4>;

bool isNest(Operation &op) { return isa<scf::ForallOp>(op) || op.hasAttr(kNestAttr); }

/// What computes its results from its operands alone, and may stay outside.
bool floats(Operation &op) {
  return !op.getNumRegions() && isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>();
}

/// The nest that starts with `loop`: whatever uses its results, and what stands between.
Run nestAt(Operation &loop) {
  Run nest = {&loop};
  llvm::SmallDenseSet<Operation *, 8> inside = {&loop};
  for (Operation *op = loop.getNextNode(); op && !op->getNumRegions(); op = op->getNextNode()) {
    if (op->hasTrait<OpTrait::IsTerminator>() || isa<func::CallOp, memref::DeallocOp>(op) ||
        !(floats(*op) || isa<memref::StoreOp, memref::LoadOp>(op)) || loop.use_empty())
      break;
    bool uses = llvm::any_of(op->getOperands(),
                             [&](Value v) { return inside.contains(v.getDefiningOp()); });
    if (floats(*op) && !uses)
      continue;
    if (!uses)
      break;
    inside.insert(op);
    nest.push_back(op);
  }
  return nest;
}

/// True if nothing else uses what `nest` defines.
bool isClosed(const Run &nest) {
  return llvm::all_of(nest, [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return llvm::is_contained(nest, op->getBlock()->findAncestorOpInBlock(*user));
    });
  });
}

/// Equal for nests that do the same to other values. Constants count, wherever they are defined.
llvm::hash_code hashOf(const Run &nest) {
  llvm::hash_code hash(0);
  llvm::DenseMap<Value, size_t> numbers; // in the order in which values are met
  auto hashValue = [&](Value v) {
    Attribute constant;
    if (matchPattern(v, m_Constant(&constant)))
      return mlir::hash_value(constant);
    return llvm::hash_combine(v.getType(), numbers.try_emplace(v, numbers.size()).first->second);
  };
  for (Operation *top : nest)
    top->walk([&](Operation *op) {
      hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                          op, hashValue, OperationEquivalence::ignoreHashValue,
                                          OperationEquivalence::IgnoreLocations));
    });
  return hash;
}

struct OutlineNestsPass : xtensor::impl::OutlineNestsBase<OutlineNestsPass> {
  using OutlineNestsBase::OutlineNestsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    LowerToLLVMOptions options(&getContext());
    LLVMTypeConverter converter(&getContext(), options);
    types = &converter;
    bodies.clear();
    nests = parts = 0;
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      shareNests(func);
      // Blocks around nests; what runs per element stays together.
      SmallVector<Block *> blocks;
      func.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isNest(*op))
          return WalkResult::skip();
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
        return WalkResult::advance();
      });
      for (Block *block : llvm::reverse(blocks)) // the inner ones first
        cut(*block);
    }
    module.walk([](Operation *op) { op->removeAttr(kNestAttr); });
  }

  //===- nests -------------------------------------------------------------===//

  void shareNests(func::FuncOp func) {
    SmallVector<std::pair<Run, size_t>> found;
    llvm::DenseMap<size_t, unsigned> times;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isNest(*op))
        return WalkResult::advance();
      Run nest = nestAt(*op);
      if (isClosed(nest)) {
        size_t hash = hashOf(nest);
        ++times[hash];
        found.emplace_back(std::move(nest), hash);
      }
      return WalkResult::skip();
    });
    for (auto &[nest, hash] : found)
      if (times[hash] > 1)
        outline(nest, hash);
  }

  void outline(const Run &nest, size_t hash) {
    OpBuilder b(nest.back());
    Capture capture(b, nest.front()->getLoc(), *types, usedBy(nest).getArrayRef());
    func::FuncOp body = makeFunction("nest" + Twine(nests), nest, capture);
    func::CallOp::create(b, body.getLoc(), shared(body, hash), capture.parts());
    for (Operation *op : llvm::reverse(nest))
      op->erase();
  }

  /// What `ops` use and do not define.
  static llvm::SetVector<Value> usedBy(ArrayRef<Operation *> ops) {
    llvm::SmallDenseSet<Operation *, 32> inside(ops.begin(), ops.end());
    llvm::SetVector<Value> used;
    for (Operation *op : ops) {
      used.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
    }
    used.remove_if([&](Value v) { return inside.contains(v.getDefiningOp()); });
    return used;
  }

  /// A function that does `ops`.
  func::FuncOp makeFunction(const Twine &name, ArrayRef<Operation *> ops, const Capture &capture) {
    OpBuilder m = OpBuilder::atBlockEnd(getOperation().getBody());
    Location loc = ops.front()->getLoc();
    SmallVector<Type> parameters =
        llvm::map_to_vector(capture.parts(), [](Value v) { return v.getType(); });
    auto body = func::FuncOp::create(m, loc, name.str(), m.getFunctionType(parameters, {}));
    body.setPrivate();
    m.setInsertionPointToStart(body.addEntryBlock());
    IRMapping map;
    capture.restore(m, body.getArguments(), map);
    for (Operation *op : ops)
      m.clone(*op, map);
    func::ReturnOp::create(m, loc);
    return body;
  }

  /// An earlier body that does the same, or `body` itself.
  func::FuncOp shared(func::FuncOp body, size_t hash) {
    auto &same = bodies[hash];
    for (func::FuncOp earlier : same)
      if (earlier.getFunctionType() == body.getFunctionType() &&
          OperationEquivalence::isRegionEquivalentTo(&earlier.getBody(), &body.getBody(),
                                                     OperationEquivalence::IgnoreLocations)) {
        body.erase();
        return earlier;
      }
    same.push_back(body);
    ++nests;
    return body;
  }

  //===- parts -------------------------------------------------------------===//

  /// Cuts a block of many nests and calls into functions of this many each.
  void cut(Block &block) {
    auto counts = [](Operation &op) {
      return !floats(op) && !isa<memref::LoadOp, memref::StoreOp>(op);
    };
    if (llvm::count_if(block, counts) <= maxNests)
      return;
    eraseDead(block);
    // What floats is made again in every part, so that it is used where its users are.
    llvm::DenseMap<Operation *, int64_t> position, lastUse;
    int64_t next = 0;
    for (Operation &op : block)
      position[&op] = next++;
    for (Operation &op : llvm::reverse(block)) {
      int64_t last = -1;
      for (Operation *user : op.getUsers()) {
        Operation *at = block.findAncestorOpInBlock(*user);
        last = std::max(last, floats(*at) ? lastUse[at] : position[at]);
      }
      lastUse[&op] = last;
    }
    Run part;
    int64_t weight = 0, open = -1;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (floats(op))
        continue;
      if (op.hasTrait<OpTrait::IsTerminator>() || isa<memref::AllocOp, memref::DeallocOp>(op)) {
        part.clear();
        weight = 0;
        open = -1;
        continue;
      }
      part.push_back(&op);
      weight += counts(op);
      open = std::max(open, lastUse[&op]);
      if (weight >= maxNests && open <= position[&op]) {
        outlinePart(part);
        part.clear();
        weight = 0;
        open = -1;
      }
    }
    eraseDead(block);
  }

  static void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// `ops` become a function, which makes the addresses and sizes again that they use.
  void outlinePart(ArrayRef<Operation *> ops) {
    OpBuilder b(ops.back());
    Block *block = b.getInsertionBlock();
    llvm::SetVector<Operation *> all(ops.begin(), ops.end());
    SmallVector<Value> work = usedBy(ops).takeVector();
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (op && op->getBlock() == block && floats(*op) && all.insert(op))
        llvm::append_range(work, op->getOperands());
    }
    SmallVector<Operation *> ordered = all.takeVector();
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    Capture capture(b, ops.front()->getLoc(), *types, usedBy(ordered).getArrayRef());
    func::FuncOp body = makeFunction("part" + Twine(parts++), ordered, capture);
    func::CallOp::create(b, body.getLoc(), body, capture.parts());
    for (Operation *op : llvm::reverse(ordered))
      if (!floats(*op) || op->use_empty())
        op->erase();
  }

  const LLVMTypeConverter *types = nullptr;
  llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> bodies;
  unsigned nests = 0, parts = 0;
};

} // namespace
