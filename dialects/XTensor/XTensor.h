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

#include "XTensor/XTensorDialect.h.inc"
#include "XTensor/XTensorEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "XTensor/XTensorTypes.h.inc"

namespace xtensor::trait {
/// Works element by element on operands aligned by name.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};
} // namespace xtensor::trait

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
