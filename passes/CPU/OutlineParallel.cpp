// xtensor-outline-parallel: scf.forall becomes a call of the thread pool, or a loop.
#include "Buffers/Passes.h"
#include "CPU/MemRefPointers.h"
#include "CPU/Passes.h"
#include "Estimates.h"
#include "Schedule/Grain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace xtensor {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

namespace {

struct OutlineParallelPass : xtensor::impl::OutlineParallelBase<OutlineParallelPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkBuffers(module)))
      return signalPassFailure();
    LowerToLLVMOptions options(&getContext());
    LLVMTypeConverter converter(&getContext(), options);
    types = &converter;
    bodies.clear();
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      // Inner loops run inside the bodies of outer ones.
      SmallVector<scf::ForallOp> loops;
      func.walk([&](scf::ForallOp forall) { loops.push_back(forall); });
      for (scf::ForallOp forall : loops)
        if (forall->getParentOfType<scf::ForallOp>() || isSmall(forall)) {
          if (failed(makeSequential(forall)))
            return signalPassFailure();
        } else {
          outline(forall);
        }
    }
    for (auto func : module.getOps<func::FuncOp>())
      hoistStack(func);
  }

  static int64_t grainOf(scf::ForallOp forall) {
    auto grain = forall->getAttrOfType<IntegerAttr>(kGrainAttribute);
    return grain ? grain.getInt() : 1;
  }

  /// All of it is one chunk.
  static bool isSmall(scf::ForallOp forall) {
    int64_t trips = 1;
    for (auto [from, to, step] : llvm::zip(forall.getMixedLowerBound(), forall.getMixedUpperBound(),
                                           forall.getMixedStep())) {
      auto count = constantTripCount(from, to, step, /*isSigned=*/true,
                                     [](Value, Value, bool) { return std::nullopt; });
      if (!count)
        return false;
      trips *= count->getSExtValue();
    }
    return trips <= grainOf(forall);
  }

  static LogicalResult makeSequential(scf::ForallOp forall) {
    IRRewriter rewriter(forall);
    SmallVector<Operation *> loops;
    if (failed(scf::forallToForLoop(rewriter, forall, &loops)))
      return failure();
    for (Operation *loop : llvm::reverse(loops))
      hoistArena(cast<scf::ForOp>(loop));
    return success();
  }

  /// An arena that every iteration acquires with the same size is acquired once.
  static void hoistArena(scf::ForOp loop) {
    for (auto alloc : llvm::to_vector(loop.getBody()->getOps<memref::AllocOp>())) {
      if (!alloc->hasAttr("xtensor.arena"))
        continue;
      SmallVector<Operation *> slice;
      if (!canLeave(alloc.getDynamicSizes(), loop, slice))
        continue;
      for (Operation *op : llvm::reverse(slice))
        if (op->getBlock() == loop.getBody())
          op->moveBefore(loop);
      alloc->moveBefore(loop);
      for (Operation *user : llvm::to_vector(alloc->getUsers()))
        if (auto dealloc = dyn_cast<memref::DeallocOp>(user))
          dealloc->moveAfter(loop);
    }
  }

  /// True if `values` do not depend on the iteration; `slice`: what computes them, users first.
  static bool canLeave(ValueRange values, scf::ForOp loop, SmallVectorImpl<Operation *> &slice) {
    for (Value v : values) {
      if (loop.isDefinedOutsideOfLoop(v))
        continue;
      Operation *op = v.getDefiningOp();
      if (!op || op->getBlock() != loop.getBody() || !isMemoryEffectFree(op) || op->getNumRegions())
        return false;
      slice.push_back(op);
      if (!canLeave(op->getOperands(), loop, slice))
        return false;
    }
    return true;
  }

  /// Stack memory is taken once per call, never per iteration.
  static void hoistStack(func::FuncOp func) {
    if (func.isDeclaration())
      return;
    Block &entry = func.getBody().front();
    func.walk([&](memref::AllocaOp alloca) {
      if (alloca.getDynamicSizes().empty())
        alloca->moveBefore(&entry, entry.begin());
    });
  }

  /// What all iterations of a chunk need as one: the number after the last. None if each is done
  /// alone.
  static arith::AddIOp endOfChunk(scf::ForallOp forall) {
    for (auto add : forall.getBody()->getOps<arith::AddIOp>())
      if (add->hasAttr(kEndOfChunkAttribute) && forall.getRank() == 1 && forall.isNormalized())
        return add;
    return {};
  }

  void outline(scf::ForallOp forall) {
    Location loc = forall.getLoc();
    OpBuilder b(forall);
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = b.getI64Type();
    auto asI64 = [&](OpBuilder &b, Value v) -> Value {
      return arith::IndexCastOp::create(b, loc, i64, v);
    };

    // Trip counts, and all of them multiplied.
    SmallVector<Value> from, step, trips;
    Value total;
    for (auto [lower, upper, by] : llvm::zip(forall.getMixedLowerBound(),
                                             forall.getMixedUpperBound(), forall.getMixedStep())) {
      from.push_back(getValueOrCreateConstantIndexOp(b, loc, lower));
      step.push_back(getValueOrCreateConstantIndexOp(b, loc, by));
      Value length = b.createOrFold<arith::SubIOp>(
          loc, getValueOrCreateConstantIndexOp(b, loc, upper), from.back());
      trips.push_back(b.createOrFold<arith::CeilDivSIOp>(loc, length, step.back()));
      total = total ? b.createOrFold<arith::MulIOp>(loc, total, trips.back()) : trips.back();
    }

    // What the body needs: constants again, the rest through memory.
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(forall.getRegion(), captured);
    for (ValueRange values : {ValueRange(from), ValueRange(step), ValueRange(trips)})
      captured.insert(values.begin(), values.end());
    Capture capture(b, loc, *types, captured.getArrayRef());
    ArrayRef<Value> parts = capture.parts();
    auto contextType = LLVM::LLVMStructType::getLiteral(
        &getContext(), llvm::map_to_vector(parts, [&](Value v) { return v.getType(); }));

    // The body.
    OpBuilder m = OpBuilder::atBlockEnd(getOperation().getBody());
    auto body = func::FuncOp::create(m, loc, ("parallel" + Twine(bodies.size())).str(),
                                     m.getFunctionType({pointer, i64, i64}, {}));
    body.setPrivate();
    Block *entry = body.addEntryBlock();
    m.setInsertionPointToStart(entry);
    IRMapping map;
    SmallVector<Value> loaded;
    for (auto [k, part] : llvm::enumerate(parts))
      loaded.push_back(LLVM::LoadOp::create(
          m, loc, part.getType(),
          LLVM::GEPOp::create(m, loc, pointer, contextType, entry->getArgument(0),
                              ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(k)})));
    capture.restore(m, loaded, map);
    Value begin = arith::IndexCastOp::create(m, loc, m.getIndexType(), entry->getArgument(1));
    Value end = arith::IndexCastOp::create(m, loc, m.getIndexType(), entry->getArgument(2));
    arith::AddIOp merged = endOfChunk(forall);
    Value next = merged ? arith::SubIOp::create(m, loc, end, begin).getResult()
                        : arith::ConstantIndexOp::create(m, loc, 1).getResult();
    auto loop = scf::ForOp::create(m, loc, begin, end, next);
    m.setInsertionPointToStart(loop.getBody());
    Value rest = loop.getInductionVar();
    for (unsigned d = trips.size(); d-- > 0;) {
      Value index = rest;
      if (d) {
        Value size = map.lookup(trips[d]);
        index = arith::RemUIOp::create(m, loc, rest, size);
        rest = arith::DivUIOp::create(m, loc, rest, size);
      }
      if (getConstantIntValue(step[d]) != 1)
        index = arith::MulIOp::create(m, loc, index, map.lookup(step[d]));
      if (getConstantIntValue(from[d]) != 0)
        index = arith::AddIOp::create(m, loc, index, map.lookup(from[d]));
      map.map(forall.getInductionVar(d), index);
    }
    for (Operation &op : forall.getBody()->without_terminator())
      if (merged && &op == merged)
        map.map(merged.getResult(), end);
      else
        m.clone(op, map);
    m.setInsertionPointToEnd(entry);
    func::ReturnOp::create(m, loc);
    hoistArena(loop);
    body = shared(body);

    // The call.
    Value context;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&forall->getParentOfType<func::FuncOp>().getBody().front());
      Value count = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(1));
      context = LLVM::AllocaOp::create(b, loc, pointer, contextType, count);
    }
    for (auto [k, part] : llvm::enumerate(parts))
      LLVM::StoreOp::create(
          b, loc, part,
          LLVM::GEPOp::create(b, loc, pointer, contextType, context,
                              ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(k)}));
    Value address = func::ConstantOp::create(b, loc, body.getFunctionType(),
                                             SymbolRefAttr::get(body.getSymNameAttr()));
    address = UnrealizedConversionCastOp::create(b, loc, pointer, address).getResult(0);
    Value grain = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(grainOf(forall)));
    func::CallOp::create(b, loc, runtimeLoop(),
                         ValueRange{address, context, asI64(b, total), grain});
    forall.erase();
  }

  /// An earlier body that does the same, or `body` itself.
  func::FuncOp shared(func::FuncOp body) {
    for (func::FuncOp earlier : bodies)
      if (OperationEquivalence::isRegionEquivalentTo(&earlier.getBody(), &body.getBody(),
                                                     OperationEquivalence::IgnoreLocations)) {
        body.erase();
        return earlier;
      }
    bodies.push_back(body);
    return body;
  }

  func::FuncOp runtimeLoop() {
    ModuleOp module = getOperation();
    if (auto found = module.lookupSymbol<func::FuncOp>("xt_parallel_for"))
      return found;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = b.getI64Type();
    auto callee = func::FuncOp::create(b, module.getLoc(), "xt_parallel_for",
                                       b.getFunctionType({pointer, pointer, i64, i64}, {}));
    callee.setPrivate();
    return callee;
  }

  const LLVMTypeConverter *types = nullptr;
  SmallVector<func::FuncOp> bodies;
};

} // namespace
