#include "GPU/Kernel.h"

#include "Strides.h"
#include "XTensor/XTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::gpu;

Kernel::Kernel(OpBuilder host, Location loc, int64_t threads, const KernelLimits &limits)
    : b(host.getContext()), loc(loc), limits(limits), threads(threads), host(host),
      region(std::make_unique<Region>()), body(&region->emplaceBlock()) {
  b.setInsertionPointToEnd(body);
}

OpBuilder Kernel::prologue() {
  // No op holds the body yet.
  OpBuilder at(b.getContext());
  at.setInsertionPointToStart(body);
  return at;
}

Value Kernel::threadId() {
  if (!thread) {
    OpBuilder at = prologue();
    thread = mlir::gpu::ThreadIdOp::create(at, loc, mlir::gpu::Dimension::x);
  }
  return thread;
}

Value Kernel::groupId() {
  if (!group) {
    OpBuilder at = prologue();
    group = mlir::gpu::BlockIdOp::create(at, loc, mlir::gpu::Dimension::x);
  }
  return group;
}

//===- values of the host ----------------------------------------------------===//

memref::LoadOp xtensor::gpu::spillOf(Value host) {
  if (auto cast = host.getDefiningOp<arith::IndexCastOp>())
    host = cast.getIn();
  auto load = host.getDefiningOp<memref::LoadOp>();
  return load && load->hasAttr(kSpillAttr) ? load : memref::LoadOp();
}

Value Kernel::value(Value v) {
  if (Value known = scalars.lookupOrNull(v))
    return known;
  OpBuilder at = prologue();
  Operation *op = v.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>()) {
    Value copy = at.clone(*op)->getResult(0);
    scalars.map(v, copy);
    return copy;
  }
  if (auto dim = v.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> axis = dim.getConstantIndex()) {
      // Not kept: it may be made inside of a loop.
      return index(view(dim.getSource()).sizes[*axis]);
    }
  Value here;
  if (memref::LoadOp spill = spillOf(v)) {
    // At the start: nothing writes it after the kernel that left it.
    FlatView memory = view(spill.getMemref());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(body);
    here = load(memory, place(memory, spill.getIndices()));
    if (v.getType().isIndex())
      here = arith::IndexCastOp::create(b, loc, v.getType(), here);
  } else {
    here = numberArgument(v);
  }
  scalars.map(v, here);
  return here;
}

OpFoldResult Kernel::value(OpFoldResult v) {
  if (auto host = dyn_cast<Value>(v)) {
    if (auto op = host.getDefiningOp<arith::ConstantOp>())
      return op.getValue();
    return value(host);
  }
  return v;
}

/// A number goes in words of 32 bits.
Value Kernel::numberArgument(Value v) {
  Type i32 = b.getI32Type(), type = v.getType();
  OpBuilder at = prologue();
  auto word = [&](Value operand) {
    kinds.push_back(Kind::number);
    operands.push_back(operand);
    return body->addArgument(i32, loc);
  };
  if (type.isIndex())
    return arith::IndexCastOp::create(at, loc, type,
                                      word(arith::IndexCastOp::create(host, loc, i32, v)));
  unsigned width = type.getIntOrFloatBitWidth();
  Type bits = b.getIntegerType(width);
  Value number = v;
  if (!type.isInteger())
    number = arith::BitcastOp::create(host, loc, bits, number);
  Value here;
  if (width == 64) {
    Value shift = arith::ConstantIntOp::create(host, loc, bits, 32);
    Value high = arith::ShRUIOp::create(host, loc, number, shift);
    Value lowWord = word(arith::TruncIOp::create(host, loc, i32, number));
    Value highWord = word(arith::TruncIOp::create(host, loc, i32, high));
    Value low = arith::ExtUIOp::create(at, loc, bits, lowWord);
    Value up = arith::ExtUIOp::create(at, loc, bits, highWord);
    Value places = arith::ConstantIntOp::create(at, loc, bits, 32);
    here = arith::OrIOp::create(at, loc, arith::ShLIOp::create(at, loc, up, places), low);
  } else if (width == 32) {
    here = word(number);
  } else {
    here = arith::TruncIOp::create(at, loc, bits,
                                   word(arith::ExtUIOp::create(host, loc, i32, number)));
  }
  if (!type.isInteger())
    here = arith::BitcastOp::create(at, loc, type, here);
  return here;
}

Value Kernel::bufferArgument(Value memref) {
  Value &argument = buffers[memref];
  if (argument)
    return argument;
  auto type = cast<MemRefType>(memref.getType());
  auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  auto formal = MemRefType::get({ShapedType::kDynamic}, stored(type.getElementType()));
  OpFoldResult elements = fixed(1);
  // The length is the host's to know: kernels are given addresses only.
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    OpFoldResult extent = host.getIndexAttr(size);
    if (ShapedType::isDynamic(size))
      extent = memref::DimOp::create(host, loc, memref, axis).getResult();
    auto x = getConstantIntValue(elements), y = getConstantIntValue(extent);
    if (x && y) {
      elements = host.getIndexAttr(*x * *y);
      continue;
    }
    auto asValue = [&](OpFoldResult v) {
      auto constant = getConstantIntValue(v);
      return constant ? arith::ConstantIndexOp::create(host, loc, *constant).getResult()
                      : cast<Value>(v);
    };
    elements = arith::MulIOp::create(host, loc, asValue(elements), asValue(extent)).getResult();
  }
  Value whole = memref::ReinterpretCastOp::create(
      host, loc, flat, memref, OpFoldResult(host.getIndexAttr(0)), ArrayRef<OpFoldResult>{elements},
      ArrayRef<OpFoldResult>{host.getIndexAttr(1)});
  kinds.push_back(Kind::buffer);
  operands.push_back(whole);
  return argument = body->addArgument(formal, loc);
}

void Kernel::refuse(Operation &op) {
  op.emitError("has no place in a kernel");
  broken = true;
  for (Value result : op.getResults())
    scalars.map(result, ub::PoisonOp::create(b, loc, result.getType()));
}

Value Kernel::report() {
  if (reportWords)
    return reportWords;
  // What the runtime gives is a buffer like any other.
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI32Type());
  auto module = host.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto words = module.lookupSymbol<func::FuncOp>("xtensor_report_words");
  if (!words) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    words = func::FuncOp::create(top, module.getLoc(), "xtensor_report_words",
                                 top.getFunctionType({}, {type}));
    words.setPrivate();
  }
  kinds.push_back(Kind::buffer);
  operands.push_back(func::CallOp::create(host, loc, words, ValueRange()).getResult(0));
  return reportWords = body->addArgument(type, loc);
}

int64_t Kernel::bytesOf(int64_t elements, Type type, bool packed) {
  int64_t width = type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
  int64_t each = (width + 7) / 8;
  return elements * (packed ? each : (each + 3) / 4 * 4);
}

FlatView Kernel::workgroupMemory(int64_t elements, Type type, bool packed) {
  int64_t bytes = bytesOf(elements, type, packed);
  if (elements == 0 || workgroupBytes + bytes > limits.workgroupBytes)
    return {};
  workgroupBytes += bytes;
  auto space = mlir::gpu::AddressSpaceAttr::get(b.getContext(), mlir::gpu::AddressSpace::Workgroup);
  kinds.push_back(Kind::workgroup);
  operands.push_back({});
  auto memory = MemRefType::get({elements}, stored(type), MemRefLayoutAttrInterface(), space);
  return {body->addArgument(memory, loc), type, fixed(0), {fixed(elements)}, {fixed(1)}};
}

FlatView Kernel::exchange(unsigned i, Type type) {
  return met(exchanges[{i, type}], threads, type);
}

FlatView Kernel::cell(unsigned i, Type type) { return met(cells[{i, type}], 1, type); }

/// Threads cannot do without: where a device has too little, the kernel is refused.
FlatView Kernel::met(FlatView &memory, int64_t elements, Type type) {
  if (!memory.flat)
    memory = workgroupMemory(elements, type);
  if (memory.flat)
    return memory;
  if (!broken)
    emitError(loc) << "a kernel of " << threads << " threads needs more than the device's "
                   << limits.workgroupBytes << " bytes of workgroup memory";
  broken = true;
  workgroupBytes = std::numeric_limits<int64_t>::min() / 2; // whatever is asked for from now on
  return memory = workgroupMemory(elements, type);
}

int64_t Kernel::workgroupBytesLeft() const {
  return limits.workgroupBytes - workgroupBytes - KernelLimits::bytesToMeet(threads);
}

//===- views -----------------------------------------------------------------===//

/// The name of a dynamic dim of an input: inside of a program that is its size.
static StringAttr nameOf(Value memref, int64_t axis) {
  auto argument = dyn_cast<BlockArgument>(memref);
  auto func = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
                       : FunctionOpInterface();
  auto inputs = func ? func->getAttrOfType<IntegerAttr>("xtensor.inputs") : IntegerAttr();
  if (!inputs || argument.getArgNumber() >= inputs.getInt())
    return {};
  auto type = func.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), "xtensor.type");
  return type ? cast<xtensor::ArrayType>(type.getValue()).getDimNames()[axis] : StringAttr();
}

/// Equal sizes are one number: devices take few.
OpFoldResult Kernel::sizeOf(Value memref, int64_t axis) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(axis))
    return fixed(type.getDimSize(axis));
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return value(alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)]);
  StringAttr name = nameOf(memref, axis);
  Value own;
  Value &known = name ? sizes[name] : own;
  if (!known)
    known = numberArgument(memref::DimOp::create(host, loc, memref, axis));
  return known;
}

namespace {
/// Sizes and strides as values of a kernel.
struct ViewNumbers {
  Kernel &kernel;
  FlatView of(Value memref) { return kernel.view(memref); }
  OpFoldResult number(OpFoldResult host) { return kernel.value(host); }
  OpFoldResult times(OpFoldResult x, OpFoldResult y) { return kernel.mul(x, y); }
  bool isOne(OpFoldResult x) { return getConstantIntValue(x) == 1; }
  void advance(FlatView &view, OpFoldResult by, OpFoldResult stride) {
    view.offset = kernel.add(view.offset, kernel.mul(kernel.value(by), stride));
  }
  void restart(FlatView &view, OpFoldResult at) { view.offset = kernel.value(at); }
};
} // namespace

FlatView Kernel::view(Value memref) {
  if (auto it = views.find(memref); it != views.end())
    return it->second;
  if (Operation *op = memref.getDefiningOp()) {
    ViewNumbers numbers{*this};
    if (auto seen = ViewRules<FlatView, ViewNumbers>(numbers).through(op))
      return *seen;
  }
  return views[memref] = root(memref);
}

FlatView Kernel::root(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  assert(type.getLayout().isIdentity() && "what the host allocates is row-major");
  FlatView result;
  // Sizes first: the same numbers serve every view of this memory.
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    result.sizes.push_back(sizeOf(memref, axis));
  result.strides.resize(type.getRank());
  OpBuilder::InsertionGuard guard(b);
  // What sizes are products of must dominate all uses.
  Operation *last = nullptr;
  for (OpFoldResult size : result.sizes)
    if (auto v = dyn_cast<Value>(size))
      if (Operation *op = v.getDefiningOp())
        if (!last || last->isBeforeInBlock(op))
          last = op;
  if (last)
    b.setInsertionPointAfter(last);
  OpFoldResult stride = fixed(1);
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    result.strides[axis] = stride;
    if (axis)
      stride = mul(stride, result.sizes[axis]);
  }
  result.offset = fixed(0);
  result.flat = bufferArgument(memref);
  result.element = type.getElementType();
  return result;
}

//===- arithmetic on sizes ---------------------------------------------------===//

Value Kernel::index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }

Value Kernel::index(OpFoldResult v) {
  if (auto known = getConstantIntValue(v))
    return index(*known);
  return cast<Value>(v);
}

OpFoldResult Kernel::add(OpFoldResult x, OpFoldResult y) {
  auto p = getConstantIntValue(x), q = getConstantIntValue(y);
  if (p && q)
    return fixed(*p + *q);
  if (p == 0)
    return y;
  if (q == 0)
    return x;
  return arith::AddIOp::create(b, loc, index(x), index(y)).getResult();
}

OpFoldResult Kernel::mul(OpFoldResult x, OpFoldResult y) {
  auto p = getConstantIntValue(x), q = getConstantIntValue(y);
  if (p && q)
    return fixed(*p * *q);
  if (p == 0 || q == 0)
    return fixed(0);
  if (p == 1)
    return y;
  if (q == 1)
    return x;
  return arith::MulIOp::create(b, loc, index(x), index(y)).getResult();
}

//===- memory ----------------------------------------------------------------===//

Type Kernel::stored(Type type) {
  return type.isBF16() ? IntegerType::get(type.getContext(), 16) : type;
}

Value Kernel::place(const FlatView &view, ValueRange indices) {
  OpFoldResult at = view.offset;
  for (auto [i, stride] : llvm::zip_equal(indices, view.strides))
    at = add(at, mul(value(OpFoldResult(i)), stride));
  return index(at);
}

Value Kernel::load(const FlatView &view, Value at) {
  Value v = memref::LoadOp::create(b, loc, view.flat, at);
  return v.getType() == view.element ? v : arith::BitcastOp::create(b, loc, view.element, v);
}

void Kernel::store(Value v, const FlatView &view, Value at) {
  if (Type type = stored(view.element); type != v.getType())
    v = arith::BitcastOp::create(b, loc, type, v);
  memref::StoreOp::create(b, loc, v, view.flat, at);
}

/// Memory of a workgroup is read and written an element at a time: compilers see what lies side by
/// side there, and its variables have one type.
static bool isOfWorkgroup(const FlatView &view) {
  return bool(cast<MemRefType>(view.flat.getType()).getMemorySpace());
}

SmallVector<Value> Kernel::loadRun(const FlatView &view, Value at, int64_t width) {
  if (isOfWorkgroup(view)) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < width; ++i)
      values.push_back(load(view, index(add(at, fixed(i)))));
    return values;
  }
  auto type = VectorType::get({width}, stored(view.element));
  Value run = vector::LoadOp::create(b, loc, type, view.flat, at);
  SmallVector<Value> values;
  for (int64_t i = 0; i < width; ++i) {
    Value v = vector::ExtractOp::create(b, loc, run, i);
    values.push_back(v.getType() == view.element
                         ? v
                         : arith::BitcastOp::create(b, loc, view.element, v).getResult());
  }
  return values;
}

void Kernel::storeRun(ArrayRef<Value> run, const FlatView &view, Value at) {
  if (isOfWorkgroup(view)) {
    for (auto [i, v] : llvm::enumerate(run))
      store(v, view, index(add(at, fixed(i))));
    return;
  }
  Type type = stored(view.element);
  SmallVector<Value> values(run);
  for (Value &v : values)
    if (v.getType() != type)
      v = arith::BitcastOp::create(b, loc, type, v);
  auto vector = VectorType::get({static_cast<int64_t>(run.size())}, type);
  Value all = vector::FromElementsOp::create(b, loc, vector, values);
  vector::StoreOp::create(b, loc, all, view.flat, at);
}

void Kernel::access(ArrayRef<Value> reads, ArrayRef<Value> writes) {
  bool clash =
      llvm::any_of(reads, [&](Value v) { return written.contains(v); }) ||
      llvm::any_of(writes, [&](Value v) { return written.contains(v) || read.contains(v); });
  if (clash)
    meet();
  read.insert(reads.begin(), reads.end());
  written.insert(writes.begin(), writes.end());
}

void Kernel::meet() {
  // Reads do not conflict until something is written.
  if (read.empty() && written.empty())
    return;
  mlir::gpu::BarrierOp::create(b, loc);
  read.clear();
  written.clear();
}

//===- the end ---------------------------------------------------------------===//

bool Kernel::mayTakeTooManySteps() {
  if (!limits.steps)
    return false;
  int64_t steps = stepsOfLoops(*body);
  return ShapedType::isDynamic(steps) || steps >= limits.steps;
}

void Kernel::launch(ModuleOp module, Value groups) {
  mlir::gpu::ReturnOp::create(b, loc);
  // Its words are read only by what is written below.
  const Value told = mayTakeTooManySteps() ? report() : Value();
  // Sizes that were asked for on the way to something else need not be handed over.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  deriveNumbers();
  spillNumbers(module);
  SmallVector<Type> types, attributions;
  SmallVector<Value> arguments;
  // Buffers, then numbers: the order of xt_call_launch.
  SmallVector<BlockArgument> order, shared;
  for (Kind kind : {Kind::buffer, Kind::number})
    for (auto [i, k] : llvm::enumerate(kinds))
      if (k == kind && (body->getArgument(i) == told || !body->getArgument(i).use_empty())) {
        order.push_back(body->getArgument(i));
        types.push_back(order.back().getType());
        // Some floats are words to the kernel: bfloat16, and what it compares and exchanges.
        bool isSame = operands[i].getType() == types.back();
        arguments.push_back(
            isSame ? operands[i] : BitsOp::create(host, loc, types.back(), operands[i]).getBits());
      }
  for (auto [i, k] : llvm::enumerate(kinds))
    if (k == Kind::workgroup) {
      shared.push_back(body->getArgument(i));
      attributions.push_back(shared.back().getType());
    }
  int64_t number = llvm::range_size(module.getOps<mlir::gpu::GPUModuleOp>());
  std::string name = "kernel" + std::to_string(number);
  OpBuilder at = OpBuilder::atBlockEnd(module.getBody());
  auto holder = mlir::gpu::GPUModuleOp::create(at, loc, name);
  at.setInsertionPointToStart(holder.getBody());
  auto func =
      mlir::gpu::GPUFuncOp::create(at, loc, name, at.getFunctionType(types, {}), attributions);
  func->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(), at.getUnitAttr());
  func.setKnownBlockSizeAttr(at.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  Block &entry = func.getBody().front();
  for (auto [argument, formal] : llvm::zip_equal(order, func.getArguments()))
    argument.replaceAllUsesWith(formal);
  for (auto [argument, formal] : llvm::zip_equal(shared, func.getWorkgroupAttributions()))
    argument.replaceAllUsesWith(formal);
  entry.getOperations().splice(entry.end(), body->getOperations());
  if (told) {
    auto words = llvm::find(order, told);
    reportLeftLoops(func, func.getArgument(std::distance(order.begin(), words)), limits.steps);
    module->setAttr(kLimitedAttr, at.getUnitAttr());
  }

  auto constant = [&](int64_t v) {
    return arith::ConstantIndexOp::create(host, loc, v).getResult();
  };
  Value one = constant(1);
  mlir::gpu::LaunchFuncOp::create(host, loc, func, mlir::gpu::KernelDim3{groups, one, one},
                                  mlir::gpu::KernelDim3{constant(threads), one, one}, Value(),
                                  arguments);
}
