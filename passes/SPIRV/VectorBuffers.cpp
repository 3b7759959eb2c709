#include "SPIRV/VectorBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

/// Elements of the vectors that all accesses of this buffer could be of; 1 if no accesses exist.
static int64_t widthOf(Value buffer) {
  int64_t width = 1;
  for (Operation *user : buffer.getUsers()) {
    int64_t here = 1;
    if (auto load = dyn_cast<vector::LoadOp>(user))
      here = load.getVectorType().getNumElements();
    else if (auto store = dyn_cast<vector::StoreOp>(user))
      here = store.getVectorType().getNumElements();
    else if (isa<memref::LoadOp>(user))
      continue;
    else // a store of one element would have to write its neighbours
      return 1;
    if (width > 1 && here != width)
      return 1;
    width = here;
  }
  return width;
}

static bool canStore(Type type, const xtensor::Profile &device) {
  unsigned bits = type.getIntOrFloatBitWidth();
  // Without elements of so few bits, upstream packs them into words.
  if (bits == 8)
    return device.has("s8") && device.has("i8");
  return bits != 16 || (device.has("s16") && (device.has("i16") || type.isF16()));
}

static Value index(OpBuilder &b, Location loc, int64_t v) {
  return arith::ConstantIndexOp::create(b, loc, v);
}

static void retype(Value buffer, int64_t width) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  auto vector = VectorType::get({width}, element);
  SmallVector<Operation *> users(buffer.getUsers());
  buffer.setType(MemRefType::get({ShapedType::kDynamic}, vector));
  for (Operation *user : users) {
    OpBuilder b(user);
    Location loc = user->getLoc();
    auto place = [&](Value at) {
      return arith::DivUIOp::create(b, loc, at, index(b, loc, width)).getResult();
    };
    if (auto store = dyn_cast<vector::StoreOp>(user)) {
      memref::StoreOp::create(b, loc, store.getValueToStore(), buffer,
                              place(store.getIndices().front()));
    } else if (auto load = dyn_cast<vector::LoadOp>(user)) {
      load.replaceAllUsesWith(
          memref::LoadOp::create(b, loc, buffer, place(load.getIndices().front())).getResult());
    } else {
      auto one = cast<memref::LoadOp>(user);
      Value at = one.getIndices().front();
      Value all = memref::LoadOp::create(b, loc, buffer, place(at));
      Value lane = arith::RemUIOp::create(b, loc, at, index(b, loc, width));
      one.replaceAllUsesWith(
          vector::ExtractOp::create(b, loc, all, OpFoldResult(lane)).getResult());
    }
    user->erase();
  }
}

void xtensor::spirv::accessByElement(Value buffer) {
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
    OpBuilder b(user);
    Location loc = user->getLoc();
    auto place = [&](Value at, int64_t i) {
      return arith::AddIOp::create(b, loc, at, index(b, loc, i)).getResult();
    };
    if (auto load = dyn_cast<vector::LoadOp>(user)) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < load.getVectorType().getNumElements(); ++i)
        elements.push_back(
            memref::LoadOp::create(b, loc, buffer, place(load.getIndices().front(), i)));
      for (Operation *of : llvm::make_early_inc_range(load->getUsers()))
        if (auto element = dyn_cast<vector::ExtractOp>(of);
            element && !element.hasDynamicPosition()) {
          element.replaceAllUsesWith(elements[element.getStaticPosition().front()]);
          element.erase();
        }
      if (!load->use_empty())
        load.replaceAllUsesWith(
            vector::FromElementsOp::create(b, loc, load.getVectorType(), elements).getResult());
      load.erase();
    } else if (auto store = dyn_cast<vector::StoreOp>(user)) {
      Value run = store.getValueToStore();
      for (int64_t i = 0; i < store.getVectorType().getNumElements(); ++i)
        memref::StoreOp::create(b, loc, b.createOrFold<vector::ExtractOp>(loc, run, i), buffer,
                                place(store.getIndices().front(), i));
      store.erase();
      if (Operation *from = run.getDefiningOp(); from && isOpTriviallyDead(from))
        from->erase();
    }
  }
}

void xtensor::spirv::convertVectorBuffers(mlir::gpu::GPUModuleOp kernel, const Profile &device) {
  for (auto func : kernel.getOps<mlir::gpu::GPUFuncOp>()) {
    for (BlockArgument argument : func.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type)
        continue;
      int64_t width = widthOf(argument);
      if (width > 1 && canStore(type.getElementType(), device))
        retype(argument, width);
      else
        accessByElement(argument);
    }
    SmallVector<Type> types =
        llvm::map_to_vector(func.getArguments(), [](BlockArgument a) { return a.getType(); });
    types.resize(func.getNumArguments());
    func.setFunctionType(FunctionType::get(func.getContext(), types, {}));
  }
}
