// xtensor-call-vector-library: math functions that have no polynomial, all lanes at once.
#include "CPU/Passes.h"
#include "CPU/Processor.h"
#include "CPU/VectorLibrary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Sequence.h"

namespace xtensor {
#define GEN_PASS_DEF_CALLVECTORLIBRARY
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// Calls that one op becomes at most. The vectors of `xtensor-emit-vectors` take a few; every part
/// of a longer one moves what was done before it.
constexpr int64_t kMostCalls = 64;

struct CallVectorLibraryPass : xtensor::impl::CallVectorLibraryBase<CallVectorLibraryPass> {
  using CallVectorLibraryBase::CallVectorLibraryBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!hasVectorLibrary(module))
      return;
    int64_t bits = vectorBits ? static_cast<int64_t>(vectorBits) : vectorBitsFor(module);
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
    for (auto &[op, function] : calls) {
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (type && type.getNumElements() > kMostCalls * function.lanes) {
        op->emitOpError("of ") << type.getNumElements() << " lanes takes more than " << kMostCalls
                               << " calls of a function of " << function.lanes << " lanes"
                               << "; cut it into shorter vectors";
        return signalPassFailure();
      }
      replace(op, function);
    }
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

  /// A vector of another width, register by register; the last one is filled up with its last lane.
  /// By shuffles: nothing lowers slices of vectors after this pass.
  static Value inParts(ImplicitLocOpBuilder &b, Operation *op, VectorType type, VectorType whole,
                       function_ref<Value(ValueRange)> call) {
    int64_t lanes = whole.getNumElements(), count = type.getNumElements();
    Value y;
    for (int64_t first = 0; first < count; first += lanes) {
      SmallVector<int64_t> part;
      for (int64_t lane = first; lane < first + lanes; ++lane)
        part.push_back(std::min(lane, count - 1));
      SmallVector<Value> parts;
      for (Value v : op->getOperands())
        parts.push_back(vector::ShuffleOp::create(b, v, v, part));
      Value value = call(parts);
      if (!y) {
        y = value;
        continue;
      }
      // Both of a shuffle's operands are as long as what is there by now.
      SmallVector<int64_t> stretched, both = llvm::to_vector(llvm::seq<int64_t>(0, first));
      for (int64_t lane = 0; lane < first; ++lane)
        stretched.push_back(std::min(lane, lanes - 1));
      if (first != lanes)
        value = vector::ShuffleOp::create(b, value, value, stretched);
      llvm::append_range(both, llvm::seq<int64_t>(first, first + lanes));
      y = vector::ShuffleOp::create(b, y, value, both);
    }
    if (cast<VectorType>(y.getType()) == type)
      return y;
    return vector::ShuffleOp::create(b, y, y, llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
};

} // namespace
