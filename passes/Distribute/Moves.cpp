// An op needs all elements along a dim that is split, but treats all positions along another dim
// alike. An all_to_all sends each process only the elements that it then works on.
#include "Distribute/Moves.h"

#include "Distribute/Halos.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// What one op moves along one dim of the mesh.
class Move {
public:
  Move(Distributor &t, Operation *op, ArrayRef<Attribute> touched, const MeshDim &along)
      : t(t), op(op), touched(touched), along(along) {}

  /// Whether there is a dim for which that sends at most `factor` times as much as to gather.
  bool find(ArrayRef<Attribute> fixed, int64_t factor) {
    int64_t gathered = bytesGathered();
    if (gathered == 0)
      return false;
    for (StringAttr dim : arrayType(op->getResult(0)).getDimNames()) {
      if (llvm::is_contained(fixed, dim) || !isCandidate(dim))
        continue;
      int64_t bytes = bytesMoved(dim);
      if (!to || bytes < least)
        to = dim, least = bytes;
    }
    return to && least <= gathered * factor;
  }

  /// Of an operand: all elements along the dims that the op touches, and a part along `to`.
  Value operand(OpOperand &operand) const {
    Value v = operand.get();
    StringAttr from = splitDim(v);
    bool has = arrayType(v).hasDim(to);
    SmallVector<Attribute> gathered;
    if (isTouched(operand))
      llvm::copy_if(touched, std::back_inserter(gathered), [&](Attribute d) { return d != from; });
    if (from && !has)
      gathered.push_back(from);
    v = t.whole(v, gathered);
    if (!has)
      return v;
    if (from)
      return t.moved(v, from, t.wholeOf(operand.get()).getSize(from), to);
    int64_t each = arrayType(v).getSize(to) / along.processes;
    return localRows(t.b, t.loc(), v, Rows{&along, to, 0, each, each});
  }

  /// Of a result: the layout that its names say.
  Value back(Value v, ArrayType whole, ArrayType wanted) const {
    StringAttr from = splitDim(whole);
    if (!from)
      v = AllGatherOp::create(t.b, t.loc(), v, to.getValue(), along.name.getValue(),
                              along.communicator, along.processes);
    else
      v = t.movedBack(v, to, from);
    return t.part(v, wanted);
  }

private:
  /// The names of what is read are not those of indices.
  bool isTouched(OpOperand &operand) const {
    return !isa<GatherOp>(op) || operand.getOperandNumber() == 0;
  }

  StringAttr splitDim(ArrayType whole) const {
    for (StringAttr dim : whole.getDimNames())
      if (t.splitOf(whole, dim) == &along)
        return dim;
    return {};
  }
  StringAttr splitDim(Value v) const { return splitDim(t.wholeOf(v)); }

  /// Whether every result has the dim whole, and the operands that have it, too.
  bool isCandidate(StringAttr dim) const {
    auto isWhole = [&](Value v) {
      ArrayType type = t.wholeOf(v);
      return !type.isDynamic(dim) && !t.splitOf(type, dim) && type.getSize(dim) > 0 &&
             type.getSize(dim) % along.processes == 0;
    };
    auto has = [&](Value v) { return arrayType(v).hasDim(dim); };
    return !llvm::is_contained(touched, dim) && llvm::any_of(op->getOperands(), has) &&
           llvm::all_of(op->getResults(), [&](Value v) { return has(v) && isWhole(v); }) &&
           llvm::all_of(op->getOperands(), [&](Value v) { return !has(v) || isWhole(v); });
  }

  /// Of a part: the same number in all processes, whatever their own parts are. An open size counts
  /// as one position.
  int64_t bytesOf(ArrayType whole) const {
    int64_t bytes = std::max(1U, whole.getElementType().getIntOrFloatBitWidth() / 8);
    for (auto [dim, size] : llvm::zip_equal(whole.getDimNames(), whole.getShape()))
      if (const MeshDim *split = t.splitOf(whole, dim))
        bytes *= split->each(size);
      else if (!ShapedType::isDynamic(size))
        bytes *= size;
    return bytes;
  }
  /// One process makes the program that two make.
  int64_t count() const { return std::max<int64_t>(along.processes, 2); }
  int64_t toAll(int64_t bytes) const { return bytes * (count() - 1); }
  int64_t toEach(int64_t bytes) const { return toAll(bytes) / count(); }

  int64_t bytesGathered() const {
    int64_t bytes = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      Value v = operand.get();
      StringAttr dim = splitDim(v);
      if (dim && isTouched(operand) && llvm::is_contained(touched, dim) && !t.isTaken(v, dim))
        bytes += toAll(bytesOf(t.wholeOf(v)));
    }
    return bytes;
  }

  int64_t bytesMoved(StringAttr dim) const {
    int64_t bytes = 0;
    for (Value v : op->getOperands()) {
      StringAttr from = splitDim(v);
      if (!from)
        continue;
      int64_t own = bytesOf(t.wholeOf(v));
      if (!arrayType(v).hasDim(dim))
        bytes += t.isTaken(v, from) ? 0 : toAll(own);
      else if (!t.isMoved(v, from, dim))
        bytes += toEach(own);
    }
    for (Value result : op->getResults()) {
      int64_t own = bytesOf(arrayType(result));
      bytes += splitDim(arrayType(result)) ? toEach(own) : toAll(own / count());
    }
    return bytes;
  }

  Distributor &t;
  Operation *op;
  ArrayRef<Attribute> touched;
  const MeshDim &along;
  StringAttr to; ///< the dim that is split while the op runs
  int64_t least = 0;
};

} // namespace

FailureOr<bool> xtensor::moveSplit(Distributor &t, Operation *op, ArrayRef<Attribute> touched,
                                   ArrayRef<Attribute> fixed, bool isCheap) {
  // Whether it moves depends on the number of processes, and the order of later sums on that.
  if (t.isDeterministic())
    return false;
  auto wanted = t.wantedOf(op);
  if (failed(wanted))
    return failure();
  for (const MeshDim &along : t.meshDims()) {
    Move move(t, op, touched, along);
    if (!move.find(fixed, isCheap ? 1 : 2))
      continue;
    for (OpOperand &operand : op->getOpOperands())
      operand.set(move.operand(operand));
    if (failed(t.infer(op)))
      return failure();
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointAfter(op);
    for (auto [result, type] : llvm::zip_equal(op->getResults(), *wanted))
      t.replaceUses(result, [&, result = result, type = type] {
        return move.back(result, t.wholeOf(result), type);
      });
    return true;
  }
  return false;
}

LogicalResult xtensor::onMoved(Distributor &t, Operation *op, ArrayRef<Attribute> touched,
                               ArrayRef<Attribute> fixed) {
  auto isMoved = moveSplit(t, op, touched, fixed, /*isCheap=*/false);
  if (failed(isMoved) || *isMoved)
    return isMoved;
  return t.onWhole(op, touched);
}
