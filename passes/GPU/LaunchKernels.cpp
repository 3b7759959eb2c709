// xtensor-launch-kernels: launches become calls of the runtime (runtime/Device.h), and kernels
// become constants.
#include "Buffers/Passes.h"
#include "CPU/MemRefPointers.h"
#include "GPU/KernelCode.h"
#include "GPU/Passes.h"

#include "XTensor/XTensor.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {
#define GEN_PASS_DEF_LAUNCHKERNELS
#include "GPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

class HostEmitter {
public:
  explicit HostEmitter(ModuleOp module)
      : module(module), b(module.getLoc(), module.getContext()), options(module.getContext()),
        types(module.getContext(), options),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

  void launch(mlir::gpu::LaunchFuncOp op);
  void read(memref::LoadOp op);
  void callLibrary(LibraryOp op);
  void report(func::CallOp call);
  void constants(memref::GetGlobalOp op);
  void eraseKernels();

private:
  Value call(StringRef name, TypeRange results, ValueRange arguments);
  Value number(Type type, int64_t v) {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, v));
  }
  Value asI64(Value index) { return arith::IndexCastOp::create(b, i64, index); }
  Value stack(Type type, int64_t count, Operation *at);
  Value addressOf(Value memref) { return cpu::addressOf(b, b.getLoc(), memref); }
  Value slot(Value base, Type type, int64_t i) {
    return LLVM::GEPOp::create(b, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  }
  struct Frame {
    Value buffers, lengths, words;
  };
  Frame &frameOf(mlir::gpu::LaunchFuncOp op);
  LLVM::GlobalOp kernelOf(mlir::gpu::LaunchFuncOp op);
  LLVM::GlobalOp bytes(StringRef name, StringRef data);
  std::pair<Value, Value> spanOf(Value memref);

  ModuleOp module;
  ImplicitLocOpBuilder b;
  LowerToLLVMOptions options;
  LLVMTypeConverter types;
  Type pointer, i32, i64;
  llvm::StringMap<LLVM::GlobalOp> kernels;
  llvm::DenseMap<Operation *, Frame> frames;
};

} // namespace

Value HostEmitter::call(StringRef name, TypeRange results, ValueRange arguments) {
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    callee = func::FuncOp::create(top, module.getLoc(), name,
                                  top.getFunctionType(arguments.getTypes(), results));
    callee.setPrivate();
  }
  auto op = func::CallOp::create(b, callee, arguments);
  return results.empty() ? Value() : op.getResult(0);
}

/// Once per function, not per iteration of a loop around the call.
Value HostEmitter::stack(Type type, int64_t count, Operation *at) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&at->getParentOfType<func::FuncOp>().getBody().front());
  return LLVM::AllocaOp::create(b, pointer, type, number(i64, std::max<int64_t>(count, 1)));
}

//===- kernels ---------------------------------------------------------------===//

LLVM::GlobalOp HostEmitter::bytes(StringRef name, StringRef data) {
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), data.size());
  return LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                b.getStringAttr(data), /*alignment=*/8);
}

/// The xt_kernel of a launch.
LLVM::GlobalOp HostEmitter::kernelOf(mlir::gpu::LaunchFuncOp op) {
  StringRef name = op.getKernelModuleName().getValue();
  LLVM::GlobalOp &global = kernels[name];
  if (global)
    return global;
  auto holder = module.lookupSymbol<mlir::gpu::GPUModuleOp>(name);
  auto func = cast<mlir::gpu::GPUFuncOp>(holder.lookupSymbol(op.getKernelName()));
  auto code = holder->getAttrOfType<StringAttr>(xtensor::gpu::kCodeAttr);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  LLVM::GlobalOp binary = bytes((name + "_code").str(), code ? code.getValue() : "");
  LLVM::GlobalOp label = bytes((name + "_name").str(), (func.getName() + Twine('\0')).str());
  int64_t buffers = llvm::count_if(func.getArgumentTypes(), llvm::IsaPred<MemRefType>);
  auto dims = LLVM::LLVMArrayType::get(i32, 3);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {pointer, i64, pointer, i32, i32, dims, i32, i64, pointer});
  global = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                  name.str() + "_kernel", Attribute(), /*alignment=*/8);
  b.createBlock(&global.getInitializerRegion());
  Value s = LLVM::UndefOp::create(b, type);
  auto put = [&](Value v, ArrayRef<int64_t> at) { s = LLVM::InsertValueOp::create(b, s, v, at); };
  put(LLVM::AddressOfOp::create(b, binary), {0});
  put(number(i64, code ? code.getValue().size() : 0), {1});
  put(LLVM::AddressOfOp::create(b, label), {2});
  put(number(i32, buffers), {3});
  put(number(i32, func.getNumArguments() - buffers), {4});
  auto size = func.getKnownBlockSize();
  for (int64_t i = 0; i < 3; ++i)
    put(number(i32, size ? (*size)[i] : 1), {5, i});
  put(number(i32, 0), {6});
  int64_t writes = 0;
  for (auto [i, argument] : llvm::enumerate(func.getArguments()))
    for (Operation *user : argument.getUsers())
      if (!isa<memref::LoadOp>(user) && i < 64)
        writes |= int64_t(1) << i;
  put(number(i64, writes), {7});
  put(LLVM::ZeroOp::create(b, pointer), {8});
  LLVM::ReturnOp::create(b, s);
  return global;
}

/// Room for the arguments of every launch of a function: one is made at a time.
HostEmitter::Frame &HostEmitter::frameOf(mlir::gpu::LaunchFuncOp op) {
  auto func = op->getParentOfType<func::FuncOp>();
  Frame &frame = frames[func];
  if (frame.buffers)
    return frame;
  int64_t buffers = 0, words = 0;
  func.walk([&](mlir::gpu::LaunchFuncOp launch) {
    int64_t all = launch.getNumKernelOperands();
    int64_t memory = llvm::count_if(launch.getKernelOperands(),
                                    [](Value v) { return isa<MemRefType>(v.getType()); });
    buffers = std::max(buffers, memory);
    words = std::max(words, all - memory);
  });
  return frame = {stack(pointer, buffers, op), stack(i64, buffers, op), stack(i32, words, op)};
}

void HostEmitter::launch(mlir::gpu::LaunchFuncOp op) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  LLVM::GlobalOp kernel = kernelOf(op);
  SmallVector<Value> addresses, extents, numbers;
  for (Value operand : op.getKernelOperands()) {
    if (!isa<MemRefType>(operand.getType())) {
      numbers.push_back(operand);
      continue;
    }
    if (auto bits = operand.getDefiningOp<BitsOp>())
      operand = bits.getSource();
    auto [address, bytes] = spanOf(operand);
    addresses.push_back(address);
    extents.push_back(bytes);
  }
  auto [buffers, lengths, words] = frameOf(op);
  for (auto [i, v] : llvm::enumerate(addresses))
    LLVM::StoreOp::create(b, v, slot(buffers, pointer, i));
  for (auto [i, v] : llvm::enumerate(extents))
    LLVM::StoreOp::create(b, v, slot(lengths, i64, i));
  for (auto [i, v] : llvm::enumerate(numbers))
    LLVM::StoreOp::create(b, v, slot(words, i32, i));
  mlir::gpu::KernelDim3 grid = op.getGridSizeOperandValues();
  Value address = LLVM::AddressOfOp::create(b, kernel);
  call("xt_call_extents", {}, {lengths});
  call("xt_call_launch", {},
       {address, asI64(grid.x), asI64(grid.y), asI64(grid.z), buffers, words});
  op.erase();
}

void HostEmitter::eraseKernels() {
  for (auto holder : llvm::make_early_inc_range(module.getOps<mlir::gpu::GPUModuleOp>()))
    holder.erase();
}

//===- what the host reads ---------------------------------------------------===//

void HostEmitter::read(memref::LoadOp op) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  // One element: the host asks for numbers that kernels left.
  Value memref = op.getMemref();
  Type type = types.convertType(op.getType());
  SmallVector<OpFoldResult> offsets, ones(op.getIndices().size(), b.getIndexAttr(1));
  for (Value i : op.getIndices())
    offsets.push_back(i);
  if (!offsets.empty()) {
    auto element = memref::SubViewOp::inferRankReducedResultType(
        {}, cast<MemRefType>(memref.getType()), offsets, ones, ones);
    memref = memref::SubViewOp::create(b, cast<MemRefType>(element), memref, offsets, ones, ones);
  }
  Value address = addressOf(memref), bytes = number(i64, cpu::bytesOf(op.getType()));
  Value mode = number(i32, 1);
  Value place = call("xt_call_map", pointer, {address, bytes, mode});
  // Without an answer (a device that is lost) the number is 0; the call has failed anyway.
  Value copy = stack(type, 1, op);
  LLVM::StoreOp::create(b, LLVM::ZeroOp::create(b, type), copy);
  Value lost =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, place, LLVM::ZeroOp::create(b, pointer));
  Value from = LLVM::SelectOp::create(b, lost, copy, place);
  Value v = LLVM::LoadOp::create(b, type, from);
  call("xt_call_unmap", {}, {address, bytes, mode, place});
  if (type != op.getType())
    v = UnrealizedConversionCastOp::create(b, op.getType(), v).getResult(0);
  op.replaceAllUsesWith(v);
  op.erase();
}

/// The first byte of a view, and how many up to the last.
std::pair<Value, Value> HostEmitter::spanOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value last = number(i64, 0), some;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    Value size = asI64(metadata.getSizes()[axis]);
    Value steps = arith::SubIOp::create(b, size, number(i64, 1));
    last = arith::AddIOp::create(
        b, last, arith::MulIOp::create(b, steps, asI64(metadata.getStrides()[axis])));
    Value here = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, size, number(i64, 0));
    some = some ? LLVM::AndOp::create(b, some, here).getResult() : here;
  }
  Value elements = arith::AddIOp::create(b, last, number(i64, 1));
  if (some)
    elements = LLVM::SelectOp::create(b, some, elements, number(i64, 0));
  Value bytes =
      arith::MulIOp::create(b, elements, number(i64, cpu::bytesOf(type.getElementType())));
  return {addressOf(memref), bytes};
}

/// A routine of the CPU works on what is mapped for it.
void HostEmitter::callLibrary(LibraryOp op) {
  b.setLoc(op.getLoc());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    b.setInsertionPoint(op);
    bool isIn = llvm::is_contained(op.getInputs(), operand.get());
    auto [address, bytes] = spanOf(operand.get());
    // Between the elements of a strided result lies what must stay.
    Value mode = number(i32, isIn ? 1 : 3);
    Value place = call("xt_call_map", pointer, {address, bytes, mode});
    auto [strides, offset] = type.getStridesAndOffset();
    auto at = MemRefType::get(type.getShape(), type.getElementType(),
                              StridedLayoutAttr::get(b.getContext(), 0, strides));
    auto metadata = memref::ExtractStridedMetadataOp::create(b, operand.get());
    auto descriptor = MemRefDescriptor::poison(b, b.getLoc(), types.convertType(at));
    descriptor.setAllocatedPtr(b, b.getLoc(), place);
    descriptor.setAlignedPtr(b, b.getLoc(), place);
    descriptor.setConstantOffset(b, b.getLoc(), 0);
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      descriptor.setSize(b, b.getLoc(), axis, asI64(metadata.getSizes()[axis]));
      descriptor.setStride(b, b.getLoc(), axis, asI64(metadata.getStrides()[axis]));
    }
    operand.set(
        UnrealizedConversionCastOp::create(b, TypeRange{at}, ValueRange{descriptor}).getResult(0));
    b.setInsertionPointAfter(op);
    call("xt_call_unmap", {}, {address, bytes, mode, place});
  }
}

//===- memory that the runtime gives -----------------------------------------===//

void HostEmitter::report(func::CallOp op) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  Value words = call("xt_call_report", pointer, {});
  auto type = cast<MemRefType>(op.getResult(0).getType());
  Value memref = cpu::memrefFrom(b, op.getLoc(), types, type, {words, number(i64, 8)});
  op.getResult(0).replaceAllUsesWith(memref);
  op.erase();
}

/// A constant of the object is copied to the device once.
void HostEmitter::constants(memref::GetGlobalOp op) {
  b.setInsertionPointAfter(op);
  b.setLoc(op.getLoc());
  MemRefType type = op.getType();
  Value bytes = number(i64, type.getNumElements() * cpu::bytesOf(type.getElementType()));
  Value there = call("xt_call_constant", pointer, {addressOf(op), bytes});
  Value memref = cpu::memrefFrom(b, op.getLoc(), types, type, {there});
  op.getResult().replaceUsesWithIf(memref, [&](OpOperand &use) {
    return !isa<memref::ExtractAlignedPointerAsIndexOp>(use.getOwner());
  });
}

namespace {
struct LaunchKernelsPass : xtensor::impl::LaunchKernelsBase<LaunchKernelsPass> {
  /// What is launched is a kernel of this phase: memory and words of 32 bits go to it.
  static LogicalResult checkLaunch(mlir::gpu::LaunchFuncOp op, ModuleOp module) {
    auto holder = module.lookupSymbol<mlir::gpu::GPUModuleOp>(op.getKernelModuleName());
    if (!holder || !holder.lookupSymbol<mlir::gpu::GPUFuncOp>(op.getKernelName()))
      return op.emitError("'gpu.launch_func' launches no gpu.func of this module");
    for (Type type : op.getKernelOperands().getTypes())
      if (!isa<MemRefType>(type) && !type.isIntOrFloat())
        return op.emitError("'gpu.launch_func' passes ") << type << ", which no kernel takes";
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (failed(checkBuffers(func)))
        return signalPassFailure();
      func.walk([&](Operation *op) { ops.push_back(op); });
    }
    for (Operation *op : ops)
      if (auto launch = dyn_cast<mlir::gpu::LaunchFuncOp>(op);
          launch && failed(checkLaunch(launch, module)))
        return signalPassFailure();
    HostEmitter host(module);
    for (Operation *op : ops) {
      if (auto launch = dyn_cast<mlir::gpu::LaunchFuncOp>(op))
        host.launch(launch);
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        host.read(load);
      else if (auto library = dyn_cast<LibraryOp>(op))
        host.callLibrary(library);
      else if (auto global = dyn_cast<memref::GetGlobalOp>(op))
        host.constants(global);
      else if (auto call = dyn_cast<func::CallOp>(op);
               call && call.getCallee() == "xtensor_report_words" && call.getNumResults() == 1 &&
               isa<MemRefType>(call.getResult(0).getType()))
        host.report(call);
    }
    module.walk([](BitsOp op) { op.erase(); });
    if (auto words = module.lookupSymbol<func::FuncOp>("xtensor_report_words"))
      words.erase();
    host.eraseKernels();
    module->removeAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
