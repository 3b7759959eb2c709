// xtensor-call-vector-library: math functions that have no polynomial, all lanes at once.
#include "CPU/Passes.h"
#include "CPU/VectorLibrary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {
#define GEN_PASS_DEF_CALLVECTORLIBRARY
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

struct CallVectorLibraryPass : xtensor::impl::CallVectorLibraryBase<CallVectorLibraryPass> {
  using CallVectorLibraryBase::CallVectorLibraryBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t bits = vectorBits ? static_cast<int64_t>(vectorBits) : hostVectorBits();
    SmallVector<std::pair<Operation *, VectorFunction>> calls;
    module.walk([&](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || op->getNumResults() != 1)
        return;
      Type element = getElementTypeOrSelf(op->getResult(0).getType());
      VectorFunction function = vectorFunctionFor(op, element, bits);
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (!function.symbol.empty() && (!type || (type.getRank() == 1 && !type.isScalable())))
        calls.push_back({op, function});
    });
    for (auto &[op, function] : calls)
      replace(op, function);
  }

private:
  func::FuncOp declaration(Operation *op, const VectorFunction &function, VectorType type) {
    ModuleOp module = getOperation();
    if (auto known = module.lookupSymbol<func::FuncOp>(function.symbol))
      return known;
    OpBuilder b(module.getBodyRegion());
    SmallVector<Type> operands(op->getNumOperands(), type);
    auto made =
        func::FuncOp::create(b, op->getLoc(), function.symbol, b.getFunctionType(operands, {type}));
    made.setPrivate();
    return made;
  }

  /// A lone element goes through the same function as a vector's: what an element becomes must not
  /// depend on where it stands.
  void replace(Operation *op, const VectorFunction &function) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Type result = op->getResult(0).getType();
    auto whole = VectorType::get({function.lanes}, getElementTypeOrSelf(result));
    func::FuncOp callee = declaration(op, function, whole);
    auto call = [&](ValueRange operands) {
      return func::CallOp::create(b, callee, operands).getResult(0);
    };
    auto type = dyn_cast<VectorType>(result);
    Value y;
    if (!type) {
      SmallVector<Value> wide;
      for (Value v : op->getOperands())
        wide.push_back(vector::BroadcastOp::create(b, whole, v));
      y = vector::ExtractOp::create(b, call(wide), int64_t(0));
    } else if (type == whole) {
      y = call(op->getOperands());
    } else {
      y = inParts(b, op, type, whole, call);
    }
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
  }

  /// A vector of another width, register by register; the last one is filled up with ones.
  Value inParts(ImplicitLocOpBuilder &b, Operation *op, VectorType type, VectorType whole,
                function_ref<Value(ValueRange)> call) {
    Value y = arith::ConstantOp::create(b, b.getZeroAttr(type));
    int64_t lanes = whole.getNumElements();
    for (int64_t first = 0; first < type.getNumElements(); first += lanes) {
      int64_t count = std::min(lanes, type.getNumElements() - first);
      SmallVector<Value> parts;
      for (Value v : op->getOperands()) {
        Value part = vector::ExtractStridedSliceOp::create(
            b, v, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
        if (count != lanes) {
          auto ones = DenseElementsAttr::get(whole, b.getFloatAttr(whole.getElementType(), 1.0));
          Value rest = arith::ConstantOp::create(b, cast<TypedAttr>(Attribute(ones)));
          part = vector::InsertStridedSliceOp::create(b, part, rest, ArrayRef<int64_t>{0},
                                                      ArrayRef<int64_t>{1});
        }
        parts.push_back(part);
      }
      Value value = call(parts);
      if (count != lanes)
        value = vector::ExtractStridedSliceOp::create(
            b, value, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
      y = vector::InsertStridedSliceOp::create(b, value, y, ArrayRef<int64_t>{first},
                                               ArrayRef<int64_t>{1});
    }
    return y;
  }
};

} // namespace
