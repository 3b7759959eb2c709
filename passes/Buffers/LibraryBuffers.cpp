// Calls of the runtime's routines become calls on memory. The outs lie where the results are
// needed. An operand that must be contiguous is copied only if it is not.
#include "Buffers/Passes.h"

#include "XTensor/XTensor.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace xtensor;

/// Whether the last axis is walked one element at a time.
static bool isInnermostContiguous(MemRefType type) {
  if (type.getRank() == 0 || type.getLayout().isIdentity())
    return true;
  return type.getStridesAndOffset().first.back() == 1;
}

static Value copyOf(OpBuilder &b, Location loc, Value buffer) {
  Value copy = allocateRowMajor(b, loc, buffer);
  memref::CopyOp::create(b, loc, buffer, copy);
  return copy;
}

namespace {
struct LibraryBuffers : DstBufferizableOpInterfaceExternalModel<LibraryBuffers, LibraryOp> {
  LogicalResult bufferize(Operation *operation, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto op = cast<LibraryOp>(operation);
    if (op.hasPureBufferSemantics())
      return success();
    Location loc = op.getLoc();
    SmallVector<Value> buffers, seen;
    for (Value operand : op.getOperands()) {
      auto buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      bool fits = !op.getContiguous() || isInnermostContiguous(cast<MemRefType>(buffer->getType()));
      buffers.push_back(*buffer);
      seen.push_back(fits ? *buffer : copyOf(rewriter, loc, *buffer));
    }
    unsigned inputs = op.getInputs().size();
    LibraryOp::create(rewriter, loc, op.getRoutine(), ArrayRef(seen).take_front(inputs),
                      ArrayRef(seen).drop_front(inputs), op.getAxesAttr(), op.getOptions(),
                      op.getContiguous(), op.getOrdered());
    for (unsigned i = inputs; i < buffers.size(); ++i)
      if (seen[i] != buffers[i])
        memref::CopyOp::create(rewriter, loc, seen[i], buffers[i]);
    replaceOpWithBufferizedValues(rewriter, op, ArrayRef(buffers).drop_front(inputs));
    return success();
  }
};
} // namespace

void xtensor::registerLibraryBuffers(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, XTensorDialect *) {
    LibraryOp::attachInterface<LibraryBuffers>(*context);
    // What the copies need.
    context->loadDialect<memref::MemRefDialect>();
  });
}
