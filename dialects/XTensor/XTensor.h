// The xtensor dialect: arrays with named dimensions and the ops on them.
#ifndef XTENSOR_XTENSOR_H
#define XTENSOR_XTENSOR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "XTensor/XTensorDialect.h.inc"
#include "XTensor/XTensorEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "XTensor/XTensorTypes.h.inc"

namespace xtensor::trait {
/// Works element by element on operands aligned by name.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};

/// Whether a binary op has the same result type if its operands change places: the order of dims
/// follows that of the operands.
bool isTypeKeptBySwap(mlir::Operation *op);

/// Upstream's fold of commutative ops puts constants last, whatever the type of the result.
template <typename ConcreteType>
class CommutativeByName
    : public mlir::OpTrait::TraitBase<ConcreteType, mlir::OpTrait::IsCommutative> {
public:
  static mlir::LogicalResult foldTrait(mlir::Operation *op,
                                       llvm::ArrayRef<mlir::Attribute> constants,
                                       llvm::SmallVectorImpl<mlir::OpFoldResult> &results) {
    return mlir::success(
        isTypeKeptBySwap(op) &&
        mlir::succeeded(mlir::OpTrait::impl::foldCommutative(op, constants, results)));
  }
};
} // namespace xtensor::trait

/// The commutative ops of the dialect. They keep upstream's trait, because CSE knows it.
#define XTENSOR_COMMUTATIVE(Op)                                                                    \
  namespace xtensor {                                                                              \
  class Op;                                                                                        \
  }                                                                                                \
  template <>                                                                                      \
  class mlir::OpTrait::IsCommutative<xtensor::Op>                                                  \
      : public xtensor::trait::CommutativeByName<xtensor::Op> {};
XTENSOR_COMMUTATIVE(AddOp)
XTENSOR_COMMUTATIVE(AndOp)
XTENSOR_COMMUTATIVE(MaximumOp)
XTENSOR_COMMUTATIVE(MinimumOp)
XTENSOR_COMMUTATIVE(MulOp)
XTENSOR_COMMUTATIVE(OrOp)
XTENSOR_COMMUTATIVE(XorOp)
#undef XTENSOR_COMMUTATIVE

#define GET_OP_CLASSES
#include "XTensor/XTensorOps.h.inc"

namespace xtensor {
/// Whether `op` asks for a derivative or for a batch, which is expanded from the inside out and
/// must be gone in the end.
inline bool isRequest(mlir::Operation *op) {
  return llvm::isa<ApplyOp, LinearOp, PullbackOp, PushforwardOp, TransposedOp, VectorizeOp>(op);
}
} // namespace xtensor

#endif // XTENSOR_XTENSOR_H
