// xtensor-call-library: xtensor.library on memory becomes a call of the routine in the runtime.
// Descriptors on the stack describe the operands.
#include "Buffers/Passes.h"
#include "CPU/MemRefPointers.h"
#include "CPU/Passes.h"

#include "XTensor/Place.h"
#include "XTensor/XTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

namespace xtensor {
#define GEN_PASS_DEF_CALLLIBRARY
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

int32_t codeOf(Type element) {
  if (element.isF16())
    return XT_F16;
  if (element.isBF16())
    return XT_BF16;
  if (element.isF32())
    return XT_F32;
  if (element.isF64())
    return XT_F64;
  switch (element.isIndex() ? 64 : element.getIntOrFloatBitWidth()) {
  case 8:
    return XT_I8;
  case 16:
    return XT_I16;
  case 32:
    return XT_I32;
  default:
    return XT_I64;
  }
}

bool isCollective(LibraryOp op) {
  StringRef name = op.getRoutine();
  name.consume_front("xt_");
  name.consume_front("start_");
  return llvm::is_contained({"all_reduce", "all_gather", "all_to_all", "halo", "wait"}, name);
}

/// What the runtime wants before the options of a collective (runtime/Collectives.h, Site): a
/// number of the place in the user's program, and the end of its text. Empty for other routines.
SmallVector<int64_t> siteOf(LibraryOp op) {
  if (!isCollective(op))
    return {};
  // Without the path: each process may have a copy of the program.
  std::string line;
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    line = std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
  SmallVector<int64_t> words{static_cast<int64_t>(llvm::xxh3_64bits(line))};
  std::string text = placeOf(op.getLoc());
  constexpr size_t kBytes = 120;
  if (text.size() >= kBytes)
    text = ".." + text.substr(text.size() - kBytes + 3);
  text.resize(kBytes);
  for (size_t at = 0; at < kBytes; at += sizeof(int64_t))
    words.push_back(llvm::support::endian::read64le(text.data() + at));
  return words;
}

/// Writes the arguments of one call and makes it.
class CallEmitter {
public:
  explicit CallEmitter(LibraryOp op)
      : op(op), b(op), loc(op.getLoc()), pointer(LLVM::LLVMPointerType::get(op.getContext())),
        i64(b.getI64Type()) {}

  void emit() {
    // xt_array
    Type i32 = b.getI32Type();
    auto array =
        LLVM::LLVMStructType::getLiteral(op.getContext(), {pointer, i32, i32, pointer, pointer});
    SmallVector<SmallVector<int64_t>> orders;
    int64_t count = op.getOptions().size();
    for (unsigned i = 0; i < op.getNumOperands(); ++i) {
      orders.push_back(orderOf(i));
      count += 2 * orders.back().size();
    }
    SmallVector<int64_t> site = siteOf(op);
    count += site.size();
    Value arrays = stack(array, std::max<int64_t>(op.getNumOperands(), 1));
    numbers = stack(i64, std::max<int64_t>(count, 1));
    for (int64_t word : site)
      push(constant(i64, word));
    Value options = place(numbers, i64, next);
    for (int64_t option : op.getOptions())
      push(constant(i64, option));
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      auto type = cast<MemRefType>(operand.getType());
      Value metadata[2] = {place(numbers, i64, next), {}};
      auto [sizes, strides] = describe(operand);
      pushInOrder(sizes, orders[i], 1);
      metadata[1] = place(numbers, i64, next);
      pushInOrder(strides, orders[i], 0);
      Value fields[] = {cpu::addressOf(b, loc, operand),
                        constant(i32, codeOf(type.getElementType())),
                        constant(i32, orders[i].size()), metadata[0], metadata[1]};
      for (auto [f, value] : llvm::enumerate(fields))
        LLVM::StoreOp::create(b, loc, value,
                              LLVM::GEPOp::create(b, loc, pointer, array, arrays,
                                                  ArrayRef<LLVM::GEPArg>{int32_t(i), int32_t(f)}));
    }
    func::CallOp::create(b, loc, callee(), ValueRange{arrays, options});
    op.erase();
  }

private:
  SmallVector<int64_t> orderOf(unsigned i) {
    if (op.getAxes())
      return SmallVector<int64_t>(cast<DenseI64ArrayAttr>((*op.getAxes())[i]).asArrayRef());
    return llvm::to_vector(
        llvm::seq<int64_t>(cast<MemRefType>(op.getOperand(i).getType()).getRank()));
  }

  /// Sizes and strides as i64, constants where the type has them.
  std::pair<SmallVector<Value>, SmallVector<Value>> describe(Value memref) {
    auto type = cast<MemRefType>(memref.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    memref::ExtractStridedMetadataOp metadata;
    auto known = [&](int64_t value, bool isStride, int64_t axis) -> Value {
      if (!ShapedType::isDynamic(value))
        return constant(i64, value);
      if (!metadata)
        metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
      return asI64(isStride ? metadata.getStrides()[axis] : metadata.getSizes()[axis]);
    };
    std::pair<SmallVector<Value>, SmallVector<Value>> result;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      result.first.push_back(known(type.getDimSize(axis), false, axis));
      result.second.push_back(known(strides[axis], true, axis));
    }
    return result;
  }

  void push(Value number) { LLVM::StoreOp::create(b, loc, number, place(numbers, i64, next++)); }
  void pushInOrder(ArrayRef<Value> values, ArrayRef<int64_t> order, int64_t missing) {
    for (int64_t axis : order)
      push(axis < 0 ? constant(i64, missing) : values[axis]);
  }

  Value place(Value base, Type type, int64_t i) {
    return LLVM::GEPOp::create(b, loc, pointer, type, base, ArrayRef<LLVM::GEPArg>{int32_t(i)});
  }
  /// Once per function, not per iteration of a loop around the call.
  Value stack(Type type, int64_t count) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
    return LLVM::AllocaOp::create(b, loc, pointer, type, constant(i64, count));
  }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value asI64(Value index) { return arith::IndexCastOp::create(b, loc, i64, index); }

  func::FuncOp callee() {
    auto module = op->getParentOfType<ModuleOp>();
    if (auto found = module.lookupSymbol<func::FuncOp>(op.getRoutine()))
      return found;
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto callee = func::FuncOp::create(top, module.getLoc(), op.getRoutine(),
                                       top.getFunctionType({pointer, pointer}, {}));
    callee.setPrivate();
    return callee;
  }

  LibraryOp op;
  OpBuilder b;
  Location loc;
  Type pointer, i64;
  Value numbers;
  int64_t next = 0;
};

/// A call that fails leaves zeros, with which a loop may go on for ever: it asks whether to end.
void pollAround(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent) && !parent->hasAttr(kPollAttr))
      parent->setAttr(kPollAttr, Builder(op->getContext()).getI64IntegerAttr(1));
}

struct CallLibraryPass : xtensor::impl::CallLibraryBase<CallLibraryPass> {
  void runOnOperation() override {
    SmallVector<LibraryOp> ops;
    getOperation()->walk([&](LibraryOp op) { ops.push_back(op); });
    beginTogether(ops);
    for (LibraryOp op : ops) {
      if (failed(checkBuffers(op)))
        return signalPassFailure();
      if (op.getRoutine() == "xt_callback")
        pollAround(op);
      CallEmitter(op).emit();
    }
  }

  /// A process may skip the collectives of a branch or loop. All compare the call before.
  void beginTogether(SmallVector<LibraryOp> &ops) {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    bool mayBeSkipped = main && llvm::any_of(ops, [&](LibraryOp op) {
                          return isCollective(op) && op->getParentOp() != main;
                        });
    if (!mayBeSkipped)
      return;
    OpBuilder b = OpBuilder::atBlockBegin(&main.getBody().front());
    ops.push_back(LibraryOp::create(b, main.getLoc(), "xt_begin_together", ValueRange(),
                                    ValueRange(), ArrayAttr(), ArrayRef<int64_t>()));
  }
};

} // namespace
