// Ops without regions that read and write by dims. Most work on the parts of their operands as they
// are; along the dims that they name, on whole arrays.
#include "Distribute/Blocks.h"
#include "Distribute/Moves.h"

using namespace mlir;
using namespace xtensor;

/// Works on the parts: no dim means more than to be repeated along.
static LogicalResult byName(Distributor &t, Operation *op) { return t.onWhole(op, {}); }

//===- on whole arrays along the dims that an op names ---------------------===//

/// The dims along which an op keeps what is together: parts of a complex number, factors.
static SmallVector<Attribute> fixedDims(Operation *op) {
  SmallVector<Attribute> fixed;
  for (StringRef name : {"pair", "inner"})
    if (auto dim = dyn_cast_if_present<StringAttr>(op->getInherentAttr(name).value_or(Attribute())))
      fixed.push_back(dim);
  return fixed;
}

template <typename Op>
static LogicalResult movedDim(Distributor &t, Operation *op) {
  return onMoved(t, op, {cast<Op>(op).getDimAttr()});
}

template <typename Op>
static LogicalResult movedDims(Distributor &t, Operation *op) {
  return onMoved(t, op, cast<Op>(op).getDims().getValue(), fixedDims(op));
}

template <typename Op>
static LogicalResult alongDim(Distributor &t, Operation *op) {
  return t.onWhole(op, {cast<Op>(op).getDimAttr()});
}

template <typename Op>
static LogicalResult alongDims(Distributor &t, Operation *op) {
  return t.onWhole(op, cast<Op>(op).getDims().getValue());
}

/// A dim and the one that it is read into, or comes from.
static LogicalResult window(Distributor &t, Operation *o) {
  auto op = cast<WindowOp>(o);
  return t.onWhole(op, {op.getDimAttr(), op.getIntoAttr()});
}
static LogicalResult overlapAdd(Distributor &t, Operation *o) {
  auto op = cast<OverlapAddOp>(o);
  return t.onWhole(op, {op.getDimAttr(), op.getFromAttr()});
}

static LogicalResult triangularContract(Distributor &t, Operation *o) {
  auto op = cast<TriangularContractOp>(o);
  SmallVector<Attribute> touched(op.getOver().getValue());
  llvm::append_range(touched, op.getDims());
  return onMoved(t, op, touched);
}

/// Parts stay where they are between names that are split along one dim of the mesh. Else, if
/// another dim of the result is split along it, the split moves to this dim.
static LogicalResult rename(Distributor &t, Operation *o) {
  auto op = cast<RenameOp>(o);
  ArrayType from = t.wholeOf(op.getX()), to = t.wholeOf(op.getY());
  if (failed(t.partOf(to, op)))
    return failure();
  SmallVector<Attribute> touched;
  SmallVector<std::pair<StringAttr, StringAttr>> moves;
  llvm::SmallDenseMap<const MeshDim *, StringAttr> arriving; // what only the result's name splits
  auto renamed = [&](StringAttr dim) {
    auto *it = llvm::find(op.getFrom(), dim);
    return it == op.getFrom().end() ? dim : cast<StringAttr>(op.getTo()[it - op.getFrom().begin()]);
  };
  for (StringAttr dim : from.getDimNames())
    if (const MeshDim *along = t.splitOf(to, renamed(dim)); along && !t.splitOf(from, dim))
      arriving[along] = dim;
  for (StringAttr dim : from.getDimNames()) {
    const MeshDim *along = t.splitOf(from, dim);
    if (!along || t.splitOf(to, renamed(dim)) == along)
      continue;
    StringAttr into = arriving.lookup(along);
    if (into && !t.isTaken(op.getX(), dim))
      moves.push_back({dim, into});
    else
      touched.push_back(dim);
  }
  Value x = t.whole(op.getX(), touched);
  for (auto [dim, into] : moves)
    x = t.moved(x, dim, from.getSize(dim), into);
  op.getXMutable().assign(x);
  return t.onWhole(op, {});
}

/// Along several dims one after another, those that are split last: then the split can move to one
/// that is done.
static LogicalResult fourier(Distributor &t, Operation *o) {
  auto op = cast<FourierOp>(o);
  ArrayType whole = t.wholeOf(op.getX()), result = t.wholeOf(op.getY());
  FourierKind kind = op.getKind();
  SmallVector<Attribute> dims(op.getDims().getValue());
  bool isSplit = llvm::any_of(dims, [&](Attribute dim) { return t.splitOf(whole, dim); });
  if (dims.size() == 1 || !isSplit || t.isDeterministic())
    return movedDims<FourierOp>(t, op);
  size_t free = dims.size() - (kind == FourierKind::real || kind == FourierKind::hermitian);
  SmallVector<Attribute> order;
  for (bool split : {false, true})
    for (Attribute dim : ArrayRef(dims).take_front(free))
      if ((t.splitOf(whole, dim) != nullptr) == split)
        order.push_back(dim);
  llvm::append_range(order, ArrayRef(dims).drop_front(free));
  dims = order;
  if (kind == FourierKind::real)
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
  FourierKind before = kind == FourierKind::hermitian ? FourierKind::backward : kind;
  for (Attribute dim : ArrayRef(dims).drop_back()) {
    ArrayType type = kind == FourierKind::real ? result : whole;
    auto step = FourierOp::create(t.b, t.loc(), type, before, op.getX(), t.b.getArrayAttr({dim}),
                                  op.getPair(), IntegerAttr(), APFloat(1.0));
    op.getXMutable().assign(step.getY());
    if (failed(t.visit(step)))
      return failure();
    t.b.setInsertionPoint(op);
    if (kind == FourierKind::real) {
      before = FourierKind::forward;
      op.setKind(before);
    }
  }
  op.setDimsAttr(t.b.getArrayAttr({dims.back()}));
  return movedDims<FourierOp>(t, op);
}

//===- arrays that are made ------------------------------------------------===//

static LogicalResult broadcast(Distributor &t, Operation *o) {
  auto op = cast<BroadcastOp>(o);
  auto wanted = t.partOf(op.getType(), op);
  if (failed(wanted))
    return failure();
  op.getY().setType(*wanted);
  return success();
}

static LogicalResult barrier(Distributor &, Operation *o) {
  auto op = cast<BarrierOp>(o);
  op.getY().setType(cast<ArrayType>(op.getX().getType()));
  return success();
}

static LogicalResult constant(Distributor &t, Operation *o) {
  auto op = cast<ConstantOp>(o);
  auto wanted = t.partOf(op.getType(), op);
  if (failed(wanted) || *wanted == op.getType())
    return wanted;
  if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue())) {
    auto type = RankedTensorType::get(wanted->getShape(), wanted->getElementType());
    op.setValueAttr(splat.resizeSplat(type));
    op.getY().setType(*wanted);
    return success();
  }
  t.takeParts(op, {*wanted});
  return success();
}

/// Numbers go on where those of the process before end.
static LogicalResult iota(Distributor &t, Operation *o) {
  auto op = cast<IotaOp>(o);
  auto wanted = t.partOf(op.getType(), op);
  if (failed(wanted) || *wanted == op.getType())
    return wanted;
  const MeshDim *along = t.meshDim(op.getType().getDimNames()[0]);
  int64_t each = along->each(op.getType().getShape()[0]);
  op.getY().setType(*wanted);
  t.b.setInsertionPointAfter(op);
  t.replaceUses(op.getY(), [&]() -> Value {
    Value first = t.firstOf(*along, each, wanted->getElementType());
    return AddOp::create(t.b, t.loc(), op.getY(), first);
  });
  return success();
}

/// Each process calls its own function: one that has effects on parts, one with results on the
/// whole.
static LogicalResult callback(Distributor &t, Operation *op) {
  auto wanted = t.wantedOf(op);
  if (failed(wanted))
    return failure();
  if (wanted->empty())
    return success();
  for (OpOperand &operand : op->getOpOperands())
    operand.set(t.whole(operand.get(), dimsOf(arrayType(operand.get()))));
  t.takeParts(op, *wanted);
  return success();
}

//===- sums ----------------------------------------------------------------===//

/// Combines partial results across the dims that a reduction of parts is taken over. A dim of
/// `over` is made whole if the result, or another dim of `over`, is split alike: the parts of two
/// processes would then not be of one element, or would lack the pairs of different processes.
static LogicalResult reduced(Distributor &t, Operation *op, ReduceKind kind,
                             ArrayRef<Attribute> over) {
  auto wanted = t.wantedOf(op);
  if (failed(wanted))
    return failure();
  ArrayType result = t.wholeOf(op->getResult(0));
  llvm::SmallPtrSet<const MeshDim *, 4> taken = t.splitsOf(result);
  SmallVector<Attribute> whole, summed;
  SmallVector<const MeshDim *> across;
  for (Attribute dim : over) {
    const MeshDim *along = t.splitOf(op->getOperands(), dim);
    if (along && taken.insert(along).second) {
      across.push_back(along);
      summed.push_back(dim);
    } else if (along)
      whole.push_back(dim);
  }
  Type element = result.getElementType();
  for (OpOperand &operand : op->getOpOperands()) {
    Value v = t.whole(operand.get(), whole);
    operand.set(across.empty() ? v : t.widened(v));
  }
  if (failed(t.infer(op)))
    return failure();
  t.b.setInsertionPointAfter(op);
  if (across.empty())
    return useBlocks(t, op, over);
  Value y = op->getResult(0);
  if (!t.isDeterministic() || !roundsBySize(op)) {
    t.replaceUses(y, [&] { return t.combined(kind, y, across, element); });
    return success();
  }
  auto made = reducedBlocks(t, op, kind, over, summed);
  if (failed(made))
    return failure();
  t.replaceUses(y, [&] { return t.as(*made, element); });
  return success();
}

/// Each process finds the first extremum of its part. The processes pass these elements with their
/// positions, one pair each. The first extremum of them is that of the whole: among equal ones that
/// of the first process, which has the lowest positions.
static LogicalResult position(Distributor &t, ReduceOp op) {
  auto dim = cast<StringAttr>(op.getDims().getValue()[0]);
  const MeshDim *along = t.splitOf(op->getOperands(), dim);
  int64_t size = along ? along->each(t.wholeOf(op.getX()).getSize(dim)) : 0;
  if (size == 0)
    return t.onWhole(op, op.getDims().getValue());
  if (failed(t.infer(op)))
    return failure();
  t.b.setInsertionPointAfter(op);
  t.replaceUses(op.getY(), [&]() -> Value {
    Value at = op.getY();
    ArrayType type = arrayType(at);
    Value x = GatherOp::create(t.b, t.loc(), IndexMode::clip, op.getX(), at, op.getDims());
    auto ofAll = [&](Value one) -> Value {
      ArrayType each = withLeading(arrayType(one), dim, 1);
      one = BroadcastOp::create(t.b, t.loc(), each, one, ValueRange());
      return AllGatherOp::create(t.b, t.loc(), one, dim.getValue(), along->name.getValue(),
                                 along->communicator, along->processes);
    };
    Value xs = ofAll(x);
    Value places =
        ofAll(AddOp::create(t.b, t.loc(), at, t.firstOf(*along, size, t.b.getI64Type())));
    Value owner = ReduceOp::create(t.b, t.loc(), op.getKind(), xs, op.getDims());
    Value y = GatherOp::create(t.b, t.loc(), IndexMode::clip, places, owner, op.getDims());
    return conform(t.b, t.loc(), y, type, {});
  });
  return success();
}

static LogicalResult reduce(Distributor &t, Operation *o) {
  auto op = cast<ReduceOp>(o);
  if (llvm::is_contained({ReduceKind::argmax, ReduceKind::argmin}, op.getKind()))
    return position(t, op);
  return reduced(t, op, op.getKind(), op.getDims().getValue());
}

static LogicalResult contract(Distributor &t, Operation *o) {
  return reduced(t, o, ReduceKind::sum, cast<ContractOp>(o).getOver().getValue());
}

//===- running combinations ------------------------------------------------===//

static Value combine(OpBuilder &b, Location loc, CumulativeKind kind, Value x, Value y) {
  switch (kind) {
  case CumulativeKind::sum:
    return AddOp::create(b, loc, x, y);
  case CumulativeKind::prod:
    return MulOp::create(b, loc, x, y);
  case CumulativeKind::max:
    return MaximumOp::create(b, loc, x, y);
  case CumulativeKind::min:
    return MinimumOp::create(b, loc, x, y);
  }
  llvm_unreachable("a kind without an op of two arrays");
}

/// A scan whose operand is a part along its dim.
static Value scanned(Distributor &t, CumulativeOp op, const MeshDim &along) {
  StringAttr dim = op.getDimAttr();
  int64_t size = arrayType(op.getX()).getSize(dim) / along.mine();
  CumulativeKind kind = op.getKind();
  SmallVector<Value> scans, totals;
  for (int64_t block = 0; block < along.mine(); ++block) {
    Value x = op.getX(), y = op.getY();
    if (along.blocks) {
      x = ownRows(t, x, dim, along, block * size, size);
      y = CumulativeOp::create(t.b, t.loc(), kind, x, dim, op.getReverse(), op.getExclusive());
      y = ownRows(t, y, dim, along, 0, size);
    }
    scans.push_back(y);
    int64_t last = op.getReverse() ? 0 : size - 1;
    Value total = sliced(t, y, dim, last, 1);
    totals.push_back(
        op.getExclusive() ? combine(t.b, t.loc(), kind, total, sliced(t, x, dim, last, 1)) : total);
  }
  Value all = AllGatherOp::create(t.b, t.loc(), joined(t, totals, dim), dim.getValue(),
                                  along.name.getValue(), along.communicator, along.processes);
  Value before =
      CumulativeOp::create(t.b, t.loc(), kind, all, dim, op.getReverse(), /*exclusive=*/true);
  Value here = t.firstOf(along, along.mine(), t.b.getI64Type());
  for (auto [block, y] : llvm::enumerate(scans)) {
    Value at = here;
    if (block)
      at = AddOp::create(t.b, t.loc(), at,
                         scalar(t.b, t.loc(), t.b.getI64Type(), static_cast<double>(block)));
    at = GatherOp::create(t.b, t.loc(), IndexMode::clip, before, at, t.b.getArrayAttr({dim}));
    y = combine(t.b, t.loc(), kind, y, at); // in the order of the first operand's dims
  }
  return joined(t, scans, dim);
}

/// Each process scans its part, or each of its blocks. Then it adds what those before combine to,
/// for which the processes pass one element of each. For the first of all, this is the identity.
static LogicalResult cumulative(Distributor &t, Operation *o) {
  auto op = cast<CumulativeOp>(o);
  StringAttr dim = op.getDimAttr();
  const MeshDim *along = t.splitOf(op->getOperands(), dim);
  if (!along || t.wholeOf(op.getX()).getSize(dim) == 0)
    return alongDim<CumulativeOp>(t, op);
  Type element = arrayType(op.getX()).getElementType();
  op.getXMutable().assign(t.widened(op.getX()));
  if (failed(t.infer(op)))
    return failure();
  t.b.setInsertionPointAfter(op);
  t.replaceUses(op.getY(), [&]() -> Value { return t.as(scanned(t, op, *along), element); });
  return success();
}

/// A decay of 0 has an end: what came before has no effect, even if it is infinite.
static Value decayed(Distributor &t, Value decay, Value before) {
  Value zero = scalar(t.b, t.loc(), arrayType(decay).getElementType(), 0);
  Value isEnd = CompareOp::create(t.b, t.loc(), ComparePredicate::eq, decay, zero);
  return SelectOp::create(t.b, t.loc(), isEnd, zero,
                          MulOp::create(t.b, t.loc(), decay, before).getResult());
}

/// What a part multiplies the value before it with. Only a decay of 0 makes it 0: a product that
/// is too small for its type must not hide a NaN.
static Value decayOf(Distributor &t, Value decays, StringAttr dim) {
  OpBuilder &b = t.b;
  auto type = cast<FloatType>(arrayType(decays).getElementType());
  auto number = [&](double value) { return scalar(b, t.loc(), type, value); };
  auto compare = [&](ComparePredicate predicate, Value x, Value y) -> Value {
    return CompareOp::create(b, t.loc(), predicate, x, y);
  };
  ArrayAttr dims = b.getArrayAttr({dim});
  double least = APFloat::getSmallestNormalized(type.getFloatSemantics()).convertToDouble();
  Value ends = compare(ComparePredicate::eq, decays, number(0));
  ends = ReduceOp::create(b, t.loc(), ReduceKind::any, ends, dims);
  Value all = ReduceOp::create(b, t.loc(), ReduceKind::prod, decays, dims);
  Value sign = DivOp::create(b, t.loc(), number(1), all);
  Value small = SelectOp::create(b, t.loc(), compare(ComparePredicate::lt, sign, number(0)),
                                 number(-least), number(least));
  Value isSmall = compare(ComparePredicate::eq, all, number(0));
  all = SelectOp::create(b, t.loc(), isSmall, small, all);
  return SelectOp::create(b, t.loc(), ends, number(0), all);
}

/// A recurrence whose operands, with the dim, are parts along it. Each process runs it from 0. From
/// the last values and the products of the decays of all parts follows the value that comes into
/// this one, with which it runs again. The result has the dims in `order`.
static Value recurred(Distributor &t, RecurrenceOp op, const MeshDim &along,
                      ArrayRef<Attribute> order) {
  OpBuilder &b = t.b;
  Location loc = t.loc();
  StringAttr dim = op.getDimAttr();
  Value decay = op.getDecay(), input = op.getInput();
  int64_t size = arrayType(op.getY()).getSize(dim);
  int64_t first = op.getReverse() ? size - 1 : 0, last = size - 1 - first;
  auto at = [&](Value x, int64_t place) { return sliced(t, x, dim, place, 1); };
  Value total = at(op.getY(), last);
  if (op.getExclusive() || op.getLate())
    total = decayed(t, at(decay, last), total);
  if (op.getExclusive())
    total = AddOp::create(b, loc, total, at(input, last));
  Value product = decayOf(t, decay, dim);
  product =
      BroadcastOp::create(b, loc, withLeading(arrayType(product), dim, 1), product, ValueRange());
  auto ofAll = [&](Value one) -> Value {
    return AllGatherOp::create(b, loc, one, dim.getValue(), along.name.getValue(),
                               along.communicator, along.processes);
  };
  Value before = RecurrenceOp::create(b, loc, ofAll(product), ofAll(total), dim, op.getReverse(),
                                      /*exclusive=*/true, /*late=*/false);
  Type i64 = b.getI64Type();
  Value here = t.firstOf(along, 1, i64);
  before = GatherOp::create(b, loc, IndexMode::clip, before, here, b.getArrayAttr({dim}));
  auto number = [&](int64_t n) { return scalar(b, loc, i64, static_cast<double>(n)); };
  auto compare = [&](ComparePredicate predicate, Value x, int64_t n) -> Value {
    return CompareOp::create(b, loc, predicate, x, number(n));
  };
  Value places = IotaOp::create(b, loc, ArrayType::get(b.getContext(), {dim}, {size}, i64), {});
  Value isFirst = compare(ComparePredicate::eq, places, first);
  Value comes = op.getLate() ? before : decayed(t, decay, before);
  Value follows = compare(ComparePredicate::ne, here, op.getReverse() ? along.processes - 1 : 0);
  Value isChanged = AndOp::create(b, loc, isFirst, follows);
  input =
      SelectOp::create(b, loc, isChanged, AddOp::create(b, loc, input, comes).getResult(), input);
  Value y = RecurrenceOp::create(b, loc, decay, input, dim, op.getReverse(), op.getExclusive(),
                                 op.getLate());
  if (op.getExclusive())
    y = SelectOp::create(b, loc, isFirst, before, y);
  return conform(b, loc, y, reordered(arrayType(op.getY()), order), {});
}

static LogicalResult recurrence(Distributor &t, Operation *o) {
  auto op = cast<RecurrenceOp>(o);
  StringAttr dim = op.getDimAttr();
  const MeshDim *along = t.splitOf(op->getOperands(), dim);
  if (!along || t.isDeterministic() || t.wholeOf(op.getY()).getSize(dim) == 0)
    return movedDim<RecurrenceOp>(t, op);
  Type element = arrayType(op.getY()).getElementType();
  // An operand that gets the dim may change the order of those of the result.
  SmallVector<Attribute> order = dimsOf(arrayType(op.getY()));
  for (OpOperand &operand : op->getOpOperands()) {
    Value x = t.widened(operand.get());
    ArrayType type = arrayType(x);
    if (!type.hasDim(dim)) {
      int64_t size = along->own(t.wholeOf(op.getY()).getSize(dim));
      x = BroadcastOp::create(t.b, t.loc(), withLeading(type, dim, size), x, ValueRange());
    }
    operand.set(x);
  }
  if (failed(t.infer(op)))
    return failure();
  t.b.setInsertionPointAfter(op);
  t.replaceUses(op.getY(),
                [&]() -> Value { return t.as(recurred(t, op, *along, order), element); });
  return success();
}

//===- the table -----------------------------------------------------------===//

template <typename... Ops>
static void matrices(DistributeRules &rules) {
  (rules.add<Ops>(movedDims<Ops>, "matrices whole"), ...);
}

void xtensor::addNameDistributeRules(DistributeRules &rules) {
#define XTENSOR_ELEMENTWISE_OP(Op) rules.add<Op>(byName);
#include "XTensor/XTensorElementwise.inc"
  rules.add<SizeOp>(byName); // dims that are split have static sizes
  rules.add<SqueezeOp>(alongDims<SqueezeOp>);
  matrices<CholeskyOp, CholeskyTangentOp, ComplexFactorOp, EighOp, LuOp, LuTangentOp, PinvOp, QrOp,
           SolveOp, SvdOp, TriangularSolveOp>(rules);
  rules.add<TriangularContractOp>(triangularContract, "matrices whole");
  rules.add<ArgsortOp>(movedDim<ArgsortOp>, "whole along its dim");
  rules.add<BarrierOp>(barrier, "its operand's type");
  rules.add<BroadcastOp>(broadcast, "result type of a part");
  rules.add<CallbackOp>(callback, "parts, or whole arrays for results");
  rules.add<ConcatOp>(alongDim<ConcatOp>, "its part asks neighbours");
  rules.add<ConstantOp>(constant, "its part");
  rules.add<ContractOp>(contract, "sums of parts, combined");
  rules.add<CumulativeOp>(cumulative, "scans of parts, combined");
  rules.add<FourierOp>(fourier, "whole along its dims");
  rules.add<IotaOp>(iota, "goes on from process to process");
  rules.add<MergeOp>(movedDims<MergeOp>, "whole along its dims");
  rules.add<OverlapAddOp>(overlapAdd, "its part asks neighbours");
  rules.add<PadOp>(alongDims<PadOp>, "its part asks neighbours");
  rules.add<RecurrenceOp>(recurrence, "of parts twice, with what comes in");
  rules.add<ReduceOp>(reduce, "results of parts, combined");
  rules.add<RenameOp>(rename, "by name between names that are split alike");
  rules.add<ReverseOp>(alongDims<ReverseOp>, "its part asks neighbours");
  rules.add<SliceOp>(alongDims<SliceOp>, "its part asks neighbours");
  rules.add<SplitOp>(movedDim<SplitOp>, "whole along its dim");
  rules.add<WindowOp>(window, "its part asks neighbours");
  // Gone before, or not an op by itself.
  rules.addAll<ApplyOp, LinearOp, PullbackOp, PushforwardOp, TransposedOp, VectorizeOp>(
      nullptr, "a request, expanded before");
  rules.addAll<CheckpointOp, CustomDerivativeOp, SizedOp>(nullptr, "for derivatives, gone before");
  rules.addAll<BitsOp, ElementaryOp, LibraryOp>(nullptr, "made when names are gone");
  rules.addAll<AllGatherOp, AllReduceOp, AllToAllOp, HaloOp, ProcessIndexOp>(nullptr, "made here");
  rules.add<YieldOp>(nullptr, "by the op that has the region");
}
