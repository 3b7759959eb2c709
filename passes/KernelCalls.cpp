#include "KernelCalls.h"

#include "Work.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xtensor;

KernelCalls::KernelCalls(ModuleOp module)
    : module(module), program(module->getAttrOfType<IntegerAttr>(kProfileAttr)) {
  if (!program)
    return;
  kernels.push_back(Attribute()); // the program
  for (Operation &op : module.getOps())
    flops += flopsOf(&op);
}

/// How often the block of `op` runs in a call, as `f.cost` counts it.
static double timesOf(Operation *op) {
  double times = 1;
  while ((op = op->getParentOp()))
    times *= stepsOf(*op);
  return times;
}

/// On an op that allocates memory: its number. An attribute, because ops come and go while kernels
/// are made.
static constexpr llvm::StringLiteral kMemoryAttr = "xtensor.memory";

static DictionaryAttr described(OpBuilder &b, StringRef kind, double flops, double bytes,
                                LocationAttr loc, ArrayRef<int64_t> reads = {},
                                ArrayRef<int64_t> writes = {}) {
  return b.getDictionaryAttr({b.getNamedAttr("kind", b.getStringAttr(kind)),
                              b.getNamedAttr("flops", b.getF64FloatAttr(flops)),
                              b.getNamedAttr("bytes", b.getF64FloatAttr(bytes)),
                              b.getNamedAttr("loc", loc),
                              b.getNamedAttr("reads", b.getDenseI64ArrayAttr(reads)),
                              b.getNamedAttr("writes", b.getDenseI64ArrayAttr(writes))});
}

SmallVector<int64_t> KernelCalls::numbersOf(ArrayRef<Value> memory) {
  SmallVector<int64_t> numbers;
  for (Value root : memory) {
    if (Operation *maker = root.getDefiningOp()) {
      if (!maker->hasAttr(kMemoryAttr))
        maker->setAttr(kMemoryAttr, Builder(maker).getI64IntegerAttr(memories++));
      if (auto number = maker->getAttrOfType<IntegerAttr>(kMemoryAttr))
        numbers.push_back(number.getInt());
    } else if (auto argument = cast<BlockArgument>(root);
               isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
               argument.getOwner()->getParentOp() == module.lookupSymbol("main")) {
      numbers.push_back(-1 - int64_t(argument.getArgNumber()));
    }
  }
  return numbers;
}

void KernelCalls::begin(Operation *before, StringRef kind, ArrayRef<Operation *> ops) {
  if (!areOn())
    return;
  OpBuilder b(before);
  llvm::SetVector<Location> locations;
  double mine = 0;
  for (Operation *op : ops) {
    mine += flopsOf(op);
    op->walk([&](Operation *inner) {
      if (!inner->hasTrait<OpTrait::ConstantLike>())
        locations.insert(inner->getLoc());
    });
  }
  inside += mine * timesOf(before);
  call(before, "xt_profile_begin", kernels.size());
  Traffic traffic = trafficOf(ops);
  kernels.push_back(described(b, kind, mine, traffic.bytes,
                              FusedLoc::get(b.getContext(), locations.getArrayRef()),
                              numbersOf(traffic.reads), numbersOf(traffic.writes)));
}

void KernelCalls::end(Operation *before) {
  if (areOn())
    call(before, "xt_profile_end", kernels.size() - 1);
}

void KernelCalls::around(Operation *op, StringRef kind) {
  if (!areOn())
    return;
  begin(op, kind, op);
  end(op->getNextNode());
  covered.insert(op);
}

bool KernelCalls::cover(Operation *op) const {
  for (; op; op = op->getParentOp())
    if (covered.contains(op))
      return true;
  return false;
}

void KernelCalls::tellSizesOf(func::FuncOp main, Operation *before) {
  auto known = main->getAttrOfType<IntegerAttr>("xtensor.inputs");
  int64_t inputs = known ? known.getInt() : main.getNumArguments();
  OpBuilder b(before);
  for (BlockArgument argument : main.getArguments().take_front(inputs))
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        if (type.isDynamicDim(axis))
          call(before, "xt_profile_size", 0,
               arith::IndexCastOp::create(
                   b, before->getLoc(), b.getI64Type(),
                   memref::DimOp::create(b, before->getLoc(), argument, axis)));
}

void KernelCalls::finish(bool tellSizes) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!areOn() || !main || main.isDeclaration())
    return;
  Operation *first = &main.getBody().front().front();
  call(first, "xt_profile_begin", 0);
  if (tellSizes)
    tellSizesOf(main, first);
  call(main.getBody().back().getTerminator(), "xt_profile_end", 0);
  OpBuilder b(module.getContext());
  double rest = flops - inside;
  if (rest < 1e-9 * flops) // of rounding
    rest = 0;
  kernels.front() = described(b, "program", rest, 0, main.getLoc());
  module->setAttr(kKernelsAttr, b.getArrayAttr(kernels));
}

void KernelCalls::call(Operation *before, StringRef name, int64_t kernel, Value size) {
  OpBuilder b(before);
  Location loc = before->getLoc();
  Type i64 = b.getI64Type();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<Type> types(size ? 2 : 1, i64);
    callee = func::FuncOp::create(top, module.getLoc(), name, top.getFunctionType(types, {}));
    callee.setPrivate();
  }
  Value number = arith::ConstantOp::create(
      b, loc, b.getI64IntegerAttr(program.getInt() * kKernelsOfProgram + kernel));
  func::CallOp::create(b, loc, callee, size ? ValueRange{number, size} : ValueRange{number});
}
