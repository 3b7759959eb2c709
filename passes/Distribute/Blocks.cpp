// The same bits for any number of processes. A dim that is split is cut into blocks, whose number
// does not depend on the processes. Each op that adds or multiplies runs on each block: then its
// sizes, and with them its vectors and library calls, are the same everywhere.
#include "Distribute/Blocks.h"

using namespace mlir;
using namespace xtensor;

bool xtensor::roundsBySize(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return arrayType(reduce.getX()).isFloat() &&
           llvm::is_contained({ReduceKind::sum, ReduceKind::prod}, reduce.getKind());
  return isa<CholeskyOp, CholeskyTangentOp, ComplexFactorOp, ContractOp, CumulativeOp, EighOp,
             FourierOp, LuOp, LuTangentOp, OverlapAddOp, PinvOp, QrOp, RecurrenceOp, SolveOp, SvdOp,
             TriangularContractOp, TriangularSolveOp>(op) &&
         llvm::any_of(op->getResults(), isFloat);
}

namespace {

/// A dim of the operands that is cut into this process's blocks.
struct BlockCut {
  mlir::StringAttr dim;
  const MeshDim *along;
  /// Of the results of the blocks, if they are summed: else null, and they follow each other.
  mlir::StringAttr into;
};

} // namespace

Value xtensor::sliced(Distributor &t, Value x, StringAttr dim, int64_t offset, int64_t size) {
  if (offset == 0 && arrayType(x).getSize(dim) == size)
    return x;
  return SliceOp::create(t.b, t.loc(), x, t.b.getArrayAttr({dim}), offset, size, int64_t(1));
}

Value xtensor::ownRows(Distributor &t, Value x, StringAttr dim, const MeshDim &along,
                       int64_t offset, int64_t size) {
  return HaloOp::create(t.b, t.loc(), x, dim.getValue(), offset, arrayType(x).getSize(dim), size,
                        along.name.getValue(), along.communicator, along.processes);
}

/// All of an array, in memory of its own. An array whose dims are all dynamic stays where it is.
static Value stored(Distributor &t, Value x, const MeshDim &along) {
  ArrayType type = arrayType(x);
  for (auto [dim, size] : llvm::zip_equal(type.getDimNames(), type.getShape()))
    if (!ShapedType::isDynamic(size))
      return ownRows(t, x, dim, along, 0, size);
  return x;
}

Value xtensor::joined(Distributor &t, ArrayRef<Value> parts, StringAttr dim) {
  return parts.size() == 1 ? parts[0]
                           : ConcatOp::create(t.b, t.loc(), parts, dim.getValue()).getResult();
}

/// A scatter's target has the positions that updates name: they are not cut.
static bool isCut(Operation *op, unsigned operand, StringAttr dim) {
  return arrayType(op->getOperand(operand)).hasDim(dim) && !(isa<ScatterOp>(op) && operand == 0);
}

static FailureOr<SmallVector<Value>> onBlocks(Distributor &t, Operation *op,
                                              ArrayRef<Value> operands, ArrayRef<BlockCut> cuts) {
  if (cuts.empty()) {
    Operation *copy = t.b.clone(*op);
    copy->setOperands(operands);
    if (failed(t.infer(copy)))
      return failure();
    return SmallVector<Value>(copy->getResults());
  }
  BlockCut cut = cuts.front();
  int64_t count = cut.along->blocks / cut.along->processes;
  SmallVector<SmallVector<Value>> parts(op->getNumResults());
  for (int64_t k = 0; k < count; ++k) {
    SmallVector<Value> some(operands);
    for (auto [i, operand] : llvm::enumerate(some))
      if (isCut(op, i, cut.dim)) {
        int64_t size = arrayType(operand).getSize(cut.dim) / count;
        operand = ownRows(t, operand, cut.dim, *cut.along, k * size, size);
      }
    auto results = onBlocks(t, op, some, cuts.drop_front());
    if (failed(results))
      return failure();
    for (auto [part, result] : llvm::zip_equal(parts, *results)) {
      if (cut.into) {
        ArrayType type = withLeading(arrayType(result), cut.into, 1);
        result = BroadcastOp::create(t.b, t.loc(), type, result, ValueRange());
      }
      part.push_back(cuts.size() == 1 ? stored(t, result, *cut.along) : result);
    }
  }
  SmallVector<Value> whole;
  for (ArrayRef<Value> part : parts)
    whole.push_back(joined(t, part, cut.into ? cut.into : cut.dim));
  return whole;
}

/// Operands that are not cut are stored, too: a loop that also computes them may round otherwise.
static SmallVector<Value> operandsFor(Distributor &t, Operation *op, ArrayRef<BlockCut> cuts) {
  SmallVector<Value> operands(op->getOperands());
  for (auto [i, operand] : llvm::enumerate(operands))
    if (llvm::none_of(cuts, [&, i = i](const BlockCut &cut) { return isCut(op, i, cut.dim); }))
      operand = stored(t, operand, *cuts.front().along);
  return operands;
}

/// The dims of all results along which each block of the operands gives one of the results.
static SmallVector<Attribute> keptDims(Distributor &t, Operation *op, ArrayRef<Attribute> touched) {
  SmallVector<Attribute> kept;
  for (StringAttr dim : arrayType(op->getResult(0)).getDimNames()) {
    bool isSplit = llvm::all_of(op->getResults(),
                                [&](Value v) { return t.splitOf(t.wholeOf(v), dim) != nullptr; });
    if (isSplit && !llvm::is_contained(touched, dim))
      kept.push_back(dim);
  }
  return kept;
}

FailureOr<SmallVector<Value>> xtensor::useBlocks(Distributor &t, Operation *op,
                                                 ArrayRef<Attribute> touched) {
  SmallVector<Value> results(op->getResults());
  if (!t.isDeterministic() || !roundsBySize(op))
    return results;
  SmallVector<BlockCut> cuts;
  for (Attribute dim : keptDims(t, op, touched))
    cuts.push_back({cast<StringAttr>(dim), t.meshDim(dim), {}});
  if (cuts.empty())
    return results;
  auto made = onBlocks(t, op, operandsFor(t, op, cuts), cuts);
  if (failed(made))
    return failure();
  for (auto [value, result] : llvm::zip_equal(*made, results)) {
    value = conform(t.b, t.loc(), value, arrayType(result), {});
    t.replaceUses(result, [value = value] { return value; });
  }
  return made;
}

/// All blocks along the dims that cuts made, combined by a tree: halves, and halves of these.
static Value combinedBlocks(Distributor &t, ReduceKind kind, Value blocks,
                            ArrayRef<BlockCut> summed) {
  SmallVector<Attribute> gone;
  for (const BlockCut &cut : summed) {
    const MeshDim &along = *cut.along;
    blocks = AllGatherOp::create(t.b, t.loc(), blocks, cut.into.getValue(), along.name.getValue(),
                                 along.communicator, along.processes);
    for (int64_t n = along.blocks; n > 1; n = arrayType(blocks).getSize(cut.into)) {
      Value x = sliced(t, blocks, cut.into, 0, n / 2),
            y = sliced(t, blocks, cut.into, n / 2, n / 2);
      Value both = kind == ReduceKind::sum ? AddOp::create(t.b, t.loc(), x, y).getResult()
                                           : MulOp::create(t.b, t.loc(), x, y).getResult();
      blocks = n % 2 ? joined(t, {both, sliced(t, blocks, cut.into, n - 1, 1)}, cut.into) : both;
    }
    gone.push_back(cut.into);
  }
  return SqueezeOp::create(t.b, t.loc(), blocks, t.b.getArrayAttr(gone));
}

FailureOr<Value> xtensor::reducedBlocks(Distributor &t, Operation *op, ReduceKind kind,
                                        ArrayRef<Attribute> touched, ArrayRef<Attribute> summed) {
  SmallVector<BlockCut> kept, cuts;
  for (Attribute dim : keptDims(t, op, touched))
    kept.push_back({cast<StringAttr>(dim), t.meshDim(dim), {}});
  SmallVector<ArrayType> types;
  for (Value operand : op->getOperands())
    types.push_back(arrayType(operand));
  for (Attribute dim : summed) {
    auto name = cast<StringAttr>(dim);
    cuts.push_back({name, t.meshDim(dim), freshName(name, types)});
  }
  SmallVector<BlockCut> all(kept);
  llvm::append_range(all, cuts);
  auto made = onBlocks(t, op, operandsFor(t, op, all), all);
  if (failed(made))
    return failure();
  Value y = combinedBlocks(t, kind, made->front(), cuts);
  return conform(t.b, t.loc(), y, arrayType(op->getResult(0)), {});
}
