// Ops with regions become scf ops on tensors. Numbers without dims are carried as numbers, so a
// scalar recurrence never touches memory; arrays are carried as tensors that the end of the body
// writes in place. What is scanned over is read by slices of where it is stored, and what is
// stacked is written into slices of one tensor.
#include "ToLinalg/Ending.h"
#include "ToLinalg/Stacks.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;

//===- regions -------------------------------------------------------------===//

/// Moves the ops of an xtensor region's block into an empty block of scf.
static void moveOps(Block &from, Block &into) {
  while (!into.empty())
    into.front().erase();
  into.getOperations().splice(into.end(), from.getOperations());
}

//===- sizes ---------------------------------------------------------------===//

/// The size of `dim` where it is known before the ops of a region.
static Value sizeBefore(StringAttr dim, ArrayType type, Lowering &to) {
  return type.isDynamic(dim) && !to.knownSize(dim) ? Value() : to.sizeValue(dim, type);
}

/// Notes the size of `dim`, which an op makes of `dims` of its operand: their product, or the
/// least.
template <typename Combine>
static void noteCombined(StringAttr dim, ArrayAttr dims, ArrayType type, Lowering &to) {
  if (to.knownSize(dim))
    return;
  Value combined;
  for (Attribute attribute : dims) {
    Value size = sizeBefore(cast<StringAttr>(attribute), type, to);
    if (!size)
      return;
    combined = combined ? to.b.createOrFold<Combine>(to.loc(), combined, size) : size;
  }
  to.noteSize(dim, combined);
}

/// Sizes that ops of a region give names which only its results have outside.
static void noteSizesInside(Operation *op, Lowering &to) {
  auto note = [&](StringAttr name, Value size) {
    if (to.knownSize(name))
      return;
    if (auto of = size.getDefiningOp<SizeOp>()) {
      ArrayType type = arrayType(of.getX());
      if (!type.isDynamic(of.getDimAttr()) || to.knownSize(of.getDimAttr()))
        to.noteSize(name, to.sizeValue(of.getDimAttr(), type));
    } else if (!op->isAncestor(size.getParentBlock()->getParentOp())) {
      to.noteSize(name, to.indexOf(size));
    }
  };
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (auto iota = dyn_cast<IotaOp>(inner); iota && iota.getSize()) {
      note(arrayType(iota.getY()).getDimNames()[0], iota.getSize());
    } else if (auto rename = dyn_cast<RenameOp>(inner)) {
      ArrayType from = arrayType(rename.getX());
      for (auto [before, after] :
           llvm::zip_equal(from.getDimNames(), arrayType(rename.getY()).getDimNames()))
        if (from.isDynamic(before) && to.knownSize(before) && !to.knownSize(after))
          to.noteSize(after, to.knownSize(before));
    } else if (auto broadcast = dyn_cast<BroadcastOp>(inner)) {
      ArrayType from = arrayType(broadcast.getX());
      auto size = broadcast.getSizes().begin();
      for (StringAttr name : dynamicDims(broadcast.getType()))
        if (!from.hasDim(name))
          note(name, *size++);
    } else if (auto scan = dyn_cast<ScanOp>(inner); scan && scan.getSize()) {
      note(scan.getDimAttr(), scan.getSize());
    } else if (auto merge = dyn_cast<MergeOp>(inner)) {
      noteCombined<arith::MulIOp>(merge.getIntoAttr(), merge.getDims(), arrayType(merge.getX()),
                                  to);
    } else {
      llvm::TypeSwitch<Operation *>(inner).Case<QrOp, SvdOp, ComplexFactorOp>([&](auto factor) {
        noteCombined<arith::MinSIOp>(factor.getInnerAttr(), factor.getDims(),
                                     arrayType(factor.getA()), to);
      });
    }
  });
}

/// Every dynamic dim of `op`'s results has a size before the op.
static LogicalResult knowSizes(Operation *op, Lowering &to) {
  auto unknown = [&]() -> StringAttr {
    for (Value result : op->getResults())
      for (StringAttr name : dynamicDims(arrayType(result)))
        if (!to.knownSize(name))
          return name;
    return {};
  };
  if (!unknown())
    return success();
  noteSizesInside(op, to);
  if (StringAttr name = unknown())
    return op->emitError()
           << "'" << op->getName() << "': the size of dim " << name
           << " of a result is known only inside of the branches or the body. Use the dim up "
              "there, or leave the dims that its size follows from out of dynamic_dims=";
  return success();
}

//===- scan ----------------------------------------------------------------===//

namespace {

/// An array that is read position by position along a dim.
class Scanned {
public:
  Scanned(Value array, StringAttr dim, Lowering &to)
      : type(arrayType(array)), position(type.find(dim)), view(to.view(array)) {
    if (!find()) {
      to.tensor(array);
      view = {View::Tensor, to.tensor(array), to.b.getMultiDimIdentityMap(type.getRank()),
              type.getElementType()};
      find();
    }
    if (isScattered()) {
      // Reading one element per cache line, again at every step, costs more than a copy.
      Names order{dim};
      for (StringAttr name : type.getDimNames())
        if (name != dim)
          order.push_back(name);
      view = {View::Tensor, to.packed(array, order), to.mapTo(type.getDimNames(), order),
              type.getElementType()};
      find();
    }
    if (view.kind == View::Tensor)
      sizes = tensor::getMixedSizes(to.b, to.loc(), view.source);
  }

  /// What `element` (the body's argument) is at index `at`.
  void set(Value element, Value at, Lowering &to) const {
    OpBuilder &b = to.b;
    SmallVector<Value> indices(type.getRank());
    indices[position] = at;
    if (isNumber(element))
      return to.setScalar(element, Lowering::elementAt(b, to.loc(), view, indices));
    View part = view;
    part.map = withoutDim(view.map, axis);
    if (axis >= 0) {
      SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), lengths(sizes);
      SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
      offsets[axis] = affine::expandAffineExpr(b, to.loc(), view.map.getResult(axis), indices, {});
      lengths[axis] = b.getIndexAttr(1);
      auto whole = cast<RankedTensorType>(view.source.getType());
      SmallVector<int64_t> shape(whole.getShape());
      shape.erase(shape.begin() + axis);
      part.source = tensor::ExtractSliceOp::create(b, to.loc(), whole.clone(shape), view.source,
                                                   offsets, lengths, ones);
    }
    if (part.kind == View::Tensor && part.map.isIdentity())
      return to.setTensor(element, part.source);
    to.set(element, part);
  }

private:
  /// The axis that the dim goes along, and nothing else does; -1: none does. False if the view
  /// has no such axis.
  bool find() {
    axis = -1;
    if (view.kind == View::Scalar)
      return true;
    for (auto [i, expr] : llvm::enumerate(view.map.getResults())) {
      if (!expr.isFunctionOfDim(position))
        continue;
      bool alone = true;
      for (unsigned d = 0; d < view.map.getNumDims(); ++d)
        alone &= d == position || !expr.isFunctionOfDim(d);
      if (axis >= 0 || !alone || view.kind == View::Iota)
        return view.kind == View::Iota && alone && type.getRank() == 1;
      axis = i;
    }
    return true;
  }

  bool isScattered() const {
    return view.kind == View::Tensor && axis >= 0 && type.getRank() > 1 &&
           axis + 1 == static_cast<int>(view.map.getNumResults());
  }

  AffineMap withoutDim(AffineMap map, int axis) const {
    MLIRContext *context = map.getContext();
    SmallVector<AffineExpr> dims, results;
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      dims.push_back(d == position ? getAffineConstantExpr(0, context)
                                   : getAffineDimExpr(d - (d > position), context));
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (static_cast<int>(i) != axis)
        results.push_back(expr.replaceDims(dims));
    return AffineMap::get(map.getNumDims() - 1, 0, results, context);
  }

  ArrayType type;
  unsigned position;
  View view;
  int axis = -1;
  SmallVector<OpFoldResult> sizes;
};

} // namespace

//===- loops that end early ------------------------------------------------===//

/// As a while loop that counts its steps.
static LogicalResult lowerEnding(ScanOp op, const Ending &ending, Lowering &to, LowerBlock body) {
  OpBuilder &b = to.b;
  if (failed(knowSizes(op, to)))
    return failure();
  Location loc = to.loc();
  Value limit = op.getSize() ? to.indexOf(op.getSize()) : to.index(op.getSteps());
  Stacks stacks(op, limit);
  SmallVector<Value> inits = stacks.starts(limit, to);
  inits.push_back(to.index(0));
  Value one = to.index(1);
  TypeRange types = ValueRange(inits).getTypes();
  SmallVector<Location> locs(inits.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Block &old = *op.getBody();
  auto enter = [&](Block &block) {
    to.enter(loop, &old, /*isLoop=*/true);
    b.setInsertionPointToStart(&block);
    ValueRange arguments = block.getArguments();
    stacks.enter(old, arguments.drop_back(), arguments.back(), to);
  };

  // Whether there is another step: copies of the body's own ops.
  b.setInsertionPointToStart(before);
  IRMapping copies;
  for (Operation *made : ending.ops)
    b.clone(*made, copies);
  YieldOp::create(b, loc, copies.lookupOrDefault(ending.selector));
  enter(*before);
  if (failed(body(*before)))
    return failure();
  YieldOp more = yieldOf(*before);
  to.at(more);
  Value selector = to.numberOf(more.getValues().front());
  Value takes = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, selector,
                                      to.constant(b.getI64IntegerAttr(0)));
  Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                      before->getArguments().back(), limit);
  Value flag = arith::AndIOp::create(b, loc, takes, below);
  scf::ConditionOp::create(b, loc, flag, before->getArguments());
  to.leave();

  takeSteps(op, ending);
  moveOps(old, *after);
  enter(*after);
  if (failed(body(*after)))
    return failure();
  YieldOp yield = yieldOf(*after);
  to.at(yield);
  Value at = after->getArguments().back();
  ValueRange values = after->getArguments();
  SmallVector<Value> next = stacks.next(yield, values.drop_back(), at, to);
  next.push_back(arith::AddIOp::create(b, loc, at, one));
  scf::YieldOp::create(b, loc, next);
  to.leave();
  b.setInsertionPointAfter(loop);
  ValueRange results = loop.getResults();
  stacks.leave(results.drop_back(), results.back(), to);
  for (ScanOp reader : ending.readers)
    to.stepsTaken[reader] = loop.getResults().back();
  return success();
}

static LogicalResult lowerScan(ScanOp op, Lowering &to, LowerBlock body) {
  OpBuilder &b = to.b;
  if (!to.isForDevice())
    if (std::optional<Ending> ending = endingOf(op))
      return lowerEnding(op, *ending, to, body);
  StringAttr dim = op.getDimAttr();
  int64_t known = op.getSteps();
  Value steps;
  if (op.getSize()) {
    steps = to.indexOf(op.getSize());
    to.noteSize(dim, steps);
  } else {
    steps = known == ArrayType::kDynamic ? to.knownSize(dim) : to.index(known);
  }
  if (failed(knowSizes(op, to)))
    return failure();

  SmallVector<Scanned> over;
  for (Value array : op.getOver())
    over.emplace_back(array, dim, to);
  Stacks stacks(op, steps);
  // Those after were skipped by the loop that stacked what is read here.
  if (Value taken = to.stepsTaken.lookup(op))
    steps = taken;
  SmallVector<Value> inits = stacks.starts(steps, to);
  Value zero = to.index(0), one = to.index(1);
  auto loop = scf::ForOp::create(b, to.loc(), zero, steps, one, inits);
  Block &old = *op.getBody();
  moveOps(old, *loop.getBody());
  to.enter(loop, &old, /*isLoop=*/true);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  if (op.getReverse()) {
    Value last = arith::SubIOp::create(b, to.loc(), steps, one);
    at = arith::SubIOp::create(b, to.loc(), last, at);
  }
  unsigned carries = op.getNumCarries();
  stacks.enter(old, loop.getRegionIterArgs(), at, to);
  for (unsigned i = 0; i < over.size(); ++i)
    over[i].set(old.getArgument(carries + i), at, to);
  if (failed(body(*loop.getBody())))
    return failure();

  YieldOp yield = yieldOf(*loop.getBody());
  to.at(yield);
  scf::YieldOp::create(b, to.loc(), stacks.next(yield, loop.getRegionIterArgs(), at, to));
  to.leave();
  b.setInsertionPointAfter(loop);
  stacks.leave(loop.getResults(), steps, to);
  return success();
}

//===- while ---------------------------------------------------------------===//

static LogicalResult lowerWhile(WhileOp op, Lowering &to, LowerBlock body) {
  OpBuilder &b = to.b;
  if (failed(knowSizes(op, to)))
    return failure();
  SmallVector<Value> inits;
  for (Value array : op.getInit())
    inits.push_back(carried(array, to));
  unsigned carries = inits.size();
  if (op.getMaxSteps())
    inits.push_back(to.index(0));
  TypeRange types = ValueRange(inits).getTypes();
  SmallVector<Location> locs(inits.size(), to.loc());
  auto loop = scf::WhileOp::create(b, to.loc(), types, inits);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Location loc = to.loc();

  auto lowerRegion = [&](Block &old, Block &block) {
    moveOps(old, block);
    to.enter(loop, &old, /*isLoop=*/true);
    for (unsigned i = 0; i < carries; ++i)
      setCarried(old.getArgument(i), block.getArgument(i), to);
    if (failed(body(block)))
      return YieldOp();
    YieldOp yield = yieldOf(block);
    to.at(yield);
    return yield;
  };
  YieldOp more = lowerRegion(op.getCondRegion().front(), *before);
  if (!more)
    return failure();
  Value flag = load(b, loc, to.numberOf(more.getValues().front()), b.getI1Type());
  if (op.getMaxSteps()) {
    Value limit = to.index(static_cast<int64_t>(*op.getMaxSteps()));
    Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        before->getArguments().back(), limit);
    flag = arith::AndIOp::create(b, loc, flag, below);
  }
  scf::ConditionOp::create(b, loc, flag, before->getArguments());
  to.leave();

  YieldOp yield = lowerRegion(op.getBodyRegion().front(), *after);
  if (!yield)
    return failure();
  SmallVector<Value> next;
  for (unsigned i = 0; i < carries; ++i)
    next.push_back(writtenTo(after->getArgument(i), yield.getValues()[i], to));
  if (op.getMaxSteps())
    next.push_back(arith::AddIOp::create(b, loc, after->getArguments().back(), to.index(1)));
  scf::YieldOp::create(b, loc, next);
  to.leave();
  for (auto [array, value] : llvm::zip(op.getResults(), loop.getResults()))
    setCarried(array, value, to);
  return success();
}

//===- switch --------------------------------------------------------------===//

/// Every branch writes into the same places, so that the results are in one of a kind.
static LogicalResult lowerSwitch(SwitchOp op, Lowering &to, LowerBlock body) {
  OpBuilder &b = to.b;
  if (failed(knowSizes(op, to)))
    return failure();
  SmallVector<Value> places;
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    ArrayType type = arrayType(result);
    places.push_back(isNumber(result) ? Value() : to.empty(type));
    types.push_back(isNumber(result) ? storageType(type.getElementType())
                                     : places.back().getType());
  }
  unsigned count = op.getBranches().size();
  Value selector = to.numberOf(op.getSelector());
  Operation *branch;
  SmallVector<Block *> blocks; // in the order of the op's regions
  if (count <= 2) {
    Value positive = arith::CmpIOp::create(b, to.loc(), arith::CmpIPredicate::sgt, selector,
                                           to.constant(b.getI64IntegerAttr(count == 2 ? 0 : -1)));
    if (count == 1)
      positive = to.constant(b.getBoolAttr(true));
    auto choice = scf::IfOp::create(b, to.loc(), types, positive, /*withElseRegion=*/true);
    branch = choice;
    blocks = {choice.elseBlock(), choice.thenBlock()};
  } else {
    Value low = arith::MaxSIOp::create(b, to.loc(), selector, to.constant(b.getI64IntegerAttr(0)));
    Value at = arith::IndexCastOp::create(b, to.loc(), b.getIndexType(), low);
    auto cases = llvm::to_vector(llvm::seq<int64_t>(0, count - 1));
    auto choice = scf::IndexSwitchOp::create(b, to.loc(), types, at, cases, cases.size());
    branch = choice;
    for (Region &region : choice.getCaseRegions())
      blocks.push_back(&region.emplaceBlock());
    blocks.push_back(&choice.getDefaultRegion().emplaceBlock());
  }
  for (auto [region, block] : llvm::zip(op.getBranches(), blocks)) {
    moveOps(region.front(), *block);
    to.enter(branch, &region.front(), /*isLoop=*/false);
    if (failed(body(*block)))
      return failure();
    YieldOp yield = yieldOf(*block);
    to.at(yield);
    SmallVector<Value> values;
    for (auto [array, place] : llvm::zip_equal(yield.getValues(), places))
      values.push_back(writtenTo(place, array, to));
    scf::YieldOp::create(b, to.loc(), values);
    to.leave();
  }
  for (auto [array, value] : llvm::zip_equal(op.getResults(), branch->getResults()))
    setCarried(array, value, to);
  return success();
}

LogicalResult xtensor::lowerControl(Operation *op, Lowering &to, LowerBlock body) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return lowerScan(scan, to, body);
  if (auto loop = dyn_cast<WhileOp>(op))
    return lowerWhile(loop, to, body);
  return lowerSwitch(cast<SwitchOp>(op), to, body);
}
