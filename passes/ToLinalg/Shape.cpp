// Constants and changes of shape. Most are a new view of what is there; data moves only for pad,
// concat, and for a merge of dims that are not neighbours in memory.
#include "Estimates.h"
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;

static StringAttr name(Attribute attr) { return cast<StringAttr>(attr); }

//===- constants and sizes -------------------------------------------------===//

static LogicalResult lower(ConstantOp op, Lowering &to) {
  Type element = arrayType(op.getY()).getElementType(), memory = storageType(element);
  auto type = RankedTensorType::get(op.getValue().getShapedType().getShape(), memory);
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    if (element.isInteger(1))
      dense = cast<DenseElementsAttr>(op.getValue())
                  .mapValues(memory, llvm::function_ref<APInt(const APInt &)>(
                                         [](const APInt &value) { return value.zext(8); }));
    else if (element != memory)
      dense = dense.bitcast(memory);
    if (dense.isSplat()) {
      to.setScalar(op.getY(), to.constant(cast<TypedAttr>(dense.getSplatValue<Attribute>())));
      return success();
    }
    to.setTensor(op.getY(), to.constant(dense));
    return success();
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!resource || element.isInteger(1))
    return op.emitError("constant: only dense elements and, but for bools, resources are lowered");
  to.setTensor(op.getY(),
               to.constant(DenseResourceElementsAttr::get(type, resource.getRawHandle())));
  return success();
}

static LogicalResult lower(IotaOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  if (op.getSize())
    to.noteSize(type.getDimNames()[0], to.indexOf(op.getSize()));
  to.set(op.getY(), {View::Iota, Value(), to.b.getMultiDimIdentityMap(1), type.getElementType()});
  return success();
}

static LogicalResult lower(SizeOp op, Lowering &to) {
  Value size = to.sizeValue(op.getDimAttr(), arrayType(op.getX()));
  to.setScalar(op.getY(), to.b.createOrFold<arith::IndexCastOp>(to.loc(), to.b.getI64Type(), size));
  return success();
}

//===- views ---------------------------------------------------------------===//

static LogicalResult lower(RenameOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  for (auto [before, after] : llvm::zip_equal(from.getDimNames(), type.getDimNames()))
    if (from.isDynamic(before))
      to.noteSize(after, to.sizeValue(before, from));
  to.set(op.getY(), to.view(op.getX()));
  return success();
}

static LogicalResult lower(BroadcastOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  auto size = op.getSizes().begin();
  for (StringAttr dim : dynamicDims(type))
    if (!from.hasDim(dim))
      to.noteSize(dim, to.indexOf(*size++));
  to.set(op.getY(), to.access(op.getX(), type.getDimNames()));
  return success();
}

Value xtensor::cutOff(const View &view, AffineMap before, ArrayType type, Lowering &to) {
  auto source = cast<RankedTensorType>(view.source.getType());
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape(source.getShape());
  bool shorter = false;
  for (auto [axis, expr] : llvm::enumerate(view.map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    int64_t size = dim ? type.getShape()[dim.getPosition()] : ShapedType::kDynamic;
    bool isOpen = dim && size == ShapedType::kDynamic;
    if (isOpen ? !isa<AffineDimExpr>(before.getResult(axis))
               : size != ShapedType::kDynamic && size != shape[axis]) {
      shape[axis] = size;
      shorter = true;
      sizes.push_back(to.sizeOf(type.getDimNames()[dim.getPosition()], type));
      continue;
    }
    sizes.push_back(shape[axis] == ShapedType::kDynamic
                        ? tensor::getMixedSize(to.b, to.loc(), view.source, axis)
                        : OpFoldResult(to.b.getIndexAttr(shape[axis])));
  }
  if (!shorter)
    return view.source;
  SmallVector<OpFoldResult> offsets(shape.size(), to.b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(shape.size(), to.b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(to.b, to.loc(),
                                        RankedTensorType::get(shape, source.getElementType()),
                                        view.source, offsets, sizes, strides);
}

/// Reads dim i of the operand at `exprs[i]` of the result's dims.
static void setThrough(Value result, Value operand, ArrayRef<AffineExpr> exprs, Lowering &to) {
  ArrayType type = arrayType(result);
  auto access = AffineMap::get(type.getRank(), 0, exprs, result.getContext());
  AffineMap before = to.view(operand).map;
  View view = to.view(operand).at(access);
  if (view.kind == View::Tensor)
    view.source = cutOff(view, before, type, to);
  to.set(result, view);
}

static SmallVector<AffineExpr> dimExprs(ArrayType type) {
  return llvm::map_to_vector(llvm::seq<unsigned>(type.getRank()),
                             [&](unsigned d) { return getAffineDimExpr(d, type.getContext()); });
}

static LogicalResult lower(SqueezeOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX());
  SmallVector<AffineExpr> exprs;
  unsigned next = 0;
  for (StringAttr dim : from.getDimNames())
    exprs.push_back(llvm::is_contained(op.getDims(), dim)
                        ? getAffineConstantExpr(0, op.getContext())
                        : getAffineDimExpr(next++, op.getContext()));
  setThrough(op.getY(), op.getX(), exprs, to);
  return success();
}

static LogicalResult lower(SliceOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX());
  SmallVector<AffineExpr> exprs = dimExprs(from);
  for (auto [dim, offset, stride] :
       llvm::zip_equal(op.getDims(), op.getOffsets(), op.getStrides())) {
    AffineExpr &expr = exprs[from.find(dim)];
    expr = expr * stride + offset;
  }
  setThrough(op.getY(), op.getX(), exprs, to);
  return success();
}

static LogicalResult lower(ReverseOp op, Lowering &to) {
  ArrayType type = arrayType(op.getX());
  SmallVector<AffineExpr> exprs = dimExprs(type);
  SmallVector<StringAttr> dynamic;
  for (Attribute dim : op.getDims()) {
    AffineExpr &expr = exprs[type.find(dim)];
    if (type.isDynamic(dim))
      dynamic.push_back(name(dim));
    else
      expr = (type.getSize(dim) - 1) - expr;
  }
  if (dynamic.empty()) {
    setThrough(op.getY(), op.getX(), exprs, to);
    return success();
  }
  // A map knows no size that is only known at run time.
  View from = to.view(op.getX()).at(AffineMap::get(type.getRank(), 0, exprs, op.getContext()));
  SmallVector<Value> sizes =
      llvm::map_to_vector(dynamic, [&](StringAttr dim) { return to.sizeValue(dim, type); });
  Value result = to.elementwise(type, {}, [&](OpBuilder &b, Location loc, ValueRange) {
    SmallVector<Value> indices;
    for (unsigned d = 0, e = type.getRank(); d < e; ++d)
      indices.push_back(linalg::IndexOp::create(b, loc, d));
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    for (auto [dim, size] : llvm::zip_equal(dynamic, sizes)) {
      Value &index = indices[type.find(dim)];
      index = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, size, one), index);
    }
    return Lowering::elementAt(b, loc, from, indices);
  });
  to.setTensor(op.getY(), result);
  return success();
}

//===- merge and split -----------------------------------------------------===//

static LogicalResult lower(MergeOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX());
  Names dims = llvm::map_to_vector(op.getDims(), name);
  if (llvm::any_of(dims, [&](StringAttr dim) { return from.isDynamic(dim); })) {
    Value size = to.index(1);
    for (StringAttr dim : dims)
      size = to.b.createOrFold<arith::MulIOp>(to.loc(), size, to.sizeValue(dim, from));
    to.noteSize(op.getIntoAttr(), size);
  }
  ArrayRef<Attribute> merges = op.getDims().getValue();
  Stored stored = to.stored(op.getX());
  std::optional<unsigned> found = findNeighbours(stored.order, merges);
  if (!found) {
    // As the operand's type has them if they are neighbours there, else the merged dims last.
    Names order(from.getDimNames());
    found = findNeighbours(order, merges);
    if (!found) {
      llvm::erase_if(order, [&](StringAttr dim) { return llvm::is_contained(dims, dim); });
      found = order.size();
      llvm::append_range(order, dims);
    }
    stored = {to.packed(op.getX(), order), order};
  }
  unsigned at = *found;
  Names order(stored.order);
  order.erase(order.begin() + at, order.begin() + at + dims.size());
  order.insert(order.begin() + at, op.getIntoAttr());
  SmallVector<ReassociationIndices> groups;
  for (unsigned axis = 0, i = 0; i < order.size(); ++i) {
    groups.emplace_back();
    for (unsigned n = i == at ? dims.size() : 1; n; --n)
      groups.back().push_back(axis++);
  }
  Value merged = stored.tensor;
  if (dims.size() > 1) {
    ArrayType result = arrayType(op.getY());
    SmallVector<int64_t> shape =
        llvm::map_to_vector(order, [&](StringAttr dim) { return result.getSize(dim); });
    merged = tensor::CollapseShapeOp::create(
        to.b, to.loc(), RankedTensorType::get(shape, storageType(result.getElementType())), merged,
        groups);
  }
  to.setStored(op.getY(), merged, order);
  return success();
}

static LogicalResult lower(SplitOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  Names into = llvm::map_to_vector(op.getInto(), name);
  if (into.empty()) {
    SmallVector<AffineExpr> exprs = dimExprs(type);
    exprs.insert(exprs.begin() + from.find(op.getDimAttr()),
                 getAffineConstantExpr(0, op.getContext()));
    setThrough(op.getY(), op.getX(), exprs, to);
    return success();
  }
  Stored stored = to.stored(op.getX());
  Names order;
  SmallVector<ReassociationIndices> groups;
  for (StringAttr dim : stored.order) {
    ReassociationIndices group;
    for (StringAttr part : dim == op.getDimAttr() ? ArrayRef<StringAttr>(into) : dim) {
      group.push_back(order.size());
      order.push_back(part);
    }
    groups.push_back(group);
  }
  Value split = stored.tensor;
  if (into.size() > 1) {
    SmallVector<OpFoldResult> sizes =
        llvm::map_to_vector(order, [&](StringAttr dim) { return to.sizeOf(dim, type); });
    SmallVector<int64_t> shape =
        llvm::map_to_vector(order, [&](StringAttr dim) { return type.getSize(dim); });
    split = tensor::ExpandShapeOp::create(
        to.b, to.loc(), RankedTensorType::get(shape, storageType(type.getElementType())), split,
        groups, sizes);
  }
  to.setStored(op.getY(), split, order);
  return success();
}

//===- pad and concat ------------------------------------------------------===//

/// Whether the op of `array` is a reduction, or a convolution: a loop nest by itself.
static bool isReduction(Value array) {
  auto contract = array.getDefiningOp<ContractOp>();
  return array.getDefiningOp<ReduceOp>() ||
         (contract && llvm::any_of(contract.getInputs(), [](Value input) {
            return bool(input.getDefiningOp<WindowOp>());
          }));
}

/// The same of a convolution that runs in tiles.
static Value tilesInto(scf::ForallOp loop, Value place, Lowering &to) {
  SmallVector<scf::ForallOp> loops;
  while (loop && loop->getBlock() == to.b.getBlock() && loop->getNumResults() == 1 &&
         loop->hasOneUse() == !loops.empty()) {
    loops.push_back(loop);
    Value out = loop.getOutputs()[0];
    if (out.getDefiningOp<tensor::EmptyOp>()) {
      loop.getOutputsMutable()[0].set(place);
      for (scf::ForallOp moved : llvm::reverse(loops))
        moved->moveBefore(to.b.getBlock(), to.b.getInsertionPoint());
      return loops.front().getResult(0);
    }
    loop = out.getDefiningOp<scf::ForallOp>();
  }
  return {};
}

/// Makes the reduction that computes `array` write into `place`, if nothing else reads it: null if
/// it cannot.
static Value reducedInto(Value array, Value place, Lowering &to) {
  View view = to.view(array);
  if (!isReduction(array) || !array.hasOneUse() || view.kind != View::Tensor ||
      !view.map.isIdentity() || view.source.getType() != place.getType())
    return {};
  if (auto tiles = view.source.getDefiningOp<scf::ForallOp>())
    return tilesInto(tiles, place, to);
  auto op = view.source.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getNumResults() != 1 || !op->use_empty() || op->getBlock() != to.b.getBlock())
    return {};
  OpOperand *out = op.getDpsInitOperand(0);
  auto fill = out->get().getDefiningOp<linalg::FillOp>();
  if (!fill || !fill->hasOneUse() || !fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return {};
  fill.getDpsInitsMutable()[0].set(place);
  for (Operation *moved : {fill.getOperation(), op.getOperation()})
    moved->moveBefore(to.b.getBlock(), to.b.getInsertionPoint());
  return op.getResult(0);
}

Value xtensor::inserted(Value array, Value whole, ArrayRef<int64_t> offsets,
                        ArrayRef<int64_t> strides, ArrayType type, Lowering &to) {
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(type.getDimNames(), [&](StringAttr dim) { return to.sizeOf(dim, type); });
  SmallVector<OpFoldResult> starts = getAsIndexOpFoldResult(to.b.getContext(), offsets);
  SmallVector<OpFoldResult> steps = getAsIndexOpFoldResult(to.b.getContext(), strides);
  Value place =
      tensor::ExtractSliceOp::create(to.b, to.loc(), tensorType(type), whole, starts, sizes, steps);
  Value written = reducedInto(array, place, to);
  if (!written)
    written = to.generic(to.access(array, type.getDimNames()), place,
                         to.b.getMultiDimIdentityMap(type.getRank()), /*reductions=*/0,
                         [](OpBuilder &, Location, ValueRange x, ValueRange) {
                           return SmallVector<Value>{x.front()};
                         })
                  .front();
  return tensor::InsertSliceOp::create(to.b, to.loc(), written, whole, starts, sizes, steps);
}

/// An array of which `value` fills what lies around a block. One thread that filled all of it would
/// take it out of the caches of the others.
static Value filledAround(ArrayRef<int64_t> block, ArrayRef<int64_t> at, ArrayType type,
                          Value value, Lowering &to) {
  Value whole = to.empty(type, value.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  auto fill = [&](int64_t axis, int64_t from, int64_t count) {
    if (!count)
      return;
    offsets[axis] = from;
    sizes[axis] = count;
    auto starts = getAsIndexOpFoldResult(to.b.getContext(), offsets),
         counts = getAsIndexOpFoldResult(to.b.getContext(), sizes),
         steps = getAsIndexOpFoldResult(to.b.getContext(), strides);
    Value part = tensor::ExtractSliceOp::create(to.b, to.loc(), whole, starts, counts, steps);
    part = linalg::FillOp::create(to.b, to.loc(), value, part).getResult(0);
    whole = tensor::InsertSliceOp::create(to.b, to.loc(), part, whole, starts, counts, steps);
  };
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    int64_t end = at[axis] + block[axis];
    fill(axis, 0, at[axis]);
    fill(axis, end, type.getShape()[axis] - end);
    offsets[axis] = at[axis];
    sizes[axis] = block[axis];
  }
  return whole;
}

/// Whether the block is so much of a large array that the rest is filled by itself.
static bool isMost(ArrayType block, ArrayType type) {
  constexpr int64_t kLarge = int64_t(1) << 14;
  constexpr int64_t kMostAxes = 4;
  if (!block.hasStaticShape() || !type.hasStaticShape() || type.getRank() > kMostAxes)
    return false;
  Amount all = Amount::ofSizes(type.getShape());
  return all >= kLarge && Amount::ofSizes(block.getShape()) * 2 > all;
}

static LogicalResult lower(PadOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX()), type = arrayType(op.getY());
  SmallVector<int64_t> offsets(from.getRank(), 0), strides(from.getRank(), 1);
  for (auto [dim, low, interior] : llvm::zip_equal(op.getDims(), op.getLow(), op.getInterior())) {
    offsets[from.find(dim)] = low;
    strides[from.find(dim)] = interior + 1;
  }
  Value value = Lowering::elementAt(to.b, to.loc(), to.view(op.getValue()), {});
  bool isDense = llvm::all_of(op.getInterior(), [](int64_t n) { return n == 0; });
  Value whole = isDense && isMost(from, type)
                    ? filledAround(from.getShape(), offsets, type, value, to)
                    : to.filled(type, value);
  if (!llvm::is_contained(from.getShape(), 0))
    whole = inserted(op.getX(), whole, offsets, strides, from, to);
  to.setTensor(op.getY(), whole);
  return success();
}

// The analysis of what may be written in place takes the cube of the length of a chain of
// insertions: more parts than this are copied into the whole.
static constexpr size_t kInsertions = 16;

/// Arrays that are joined by `op`, and by concats that only `op` reads.
static size_t countParts(ConcatOp op) {
  size_t count = 0;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    count += inner && inner->hasOneUse() ? countParts(inner) : 1;
  }
  return count;
}

/// The order in which the result of `op` is stored: that of the result, or of what alone reads it
/// and moves the joined dim to the end.
static ArrayRef<StringAttr> orderOf(ConcatOp op) {
  ArrayType type = arrayType(op.getY());
  if (op->hasOneUse())
    if (auto turned = dyn_cast<BroadcastOp>(*op->user_begin())) {
      ArrayType last = arrayType(turned.getY());
      if (last.getRank() == type.getRank() && last.getDimNames().back() == op.getDimAttr())
        return last.getDimNames();
    }
  return type.getDimNames();
}

/// Elements in a row that one op interleaves at most, and elements from which that pays.
static constexpr int64_t kInterleaved = 4, kLeastInterleaved = 64;

/// Whether the parts lie side by side in rows so short that one op writes all of a row.
static bool isInterleaved(ConcatOp op) {
  ArrayType type = arrayType(op.getY());
  int64_t count = type.getSize(op.getDimAttr());
  return count >= 2 && count <= kInterleaved && op.getInputs().size() > 1 &&
         orderOf(op).back() == op.getDimAttr() &&
         (!type.hasStaticShape() || Amount::ofSizes(type.getShape()) >= kLeastInterleaved);
}

/// The parts, side by side: each of their places along the joined dim is an operand.
static Value interleaved(ConcatOp op, Lowering &to) {
  ArrayRef<StringAttr> order = orderOf(op);
  SmallVector<AffineExpr> exprs = dimExprs(arrayType(op.getY()));
  SmallVector<View> places;
  for (Value input : op.getInputs())
    for (int64_t i = 0; i < arrayType(input).getSize(op.getDimAttr()); ++i) {
      exprs.back() = getAffineConstantExpr(i, op.getContext());
      places.push_back(
          to.access(input, order).at(AffineMap::get(exprs.size(), 0, exprs, op.getContext())));
    }
  ArrayType type = reordered(arrayType(op.getY()), order);
  return to.elementwise(type, places, [&](OpBuilder &b, Location loc, ValueRange x) {
    Value at = linalg::IndexOp::create(b, loc, order.size() - 1), element = x.back();
    for (int64_t i = x.size() - 1; i-- > 0;) {
      Value isThis = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at,
                                           arith::ConstantIndexOp::create(b, loc, i));
      element = arith::SelectOp::create(b, loc, isThis, x[i], element);
    }
    return element;
  });
}

/// Whether the parts of `op` are written directly into the result of another concat.
static bool isPartOfConcat(ConcatOp op) {
  if (!op->hasOneUse() || op->user_begin()->getBlock() != op->getBlock())
    return false;
  auto reader = dyn_cast<ConcatOp>(*op->user_begin());
  return reader && !isInterleaved(reader) && countParts(reader) <= kInsertions &&
         arrayType(reader.getY()).getDimNames() == arrayType(op.getY()).getDimNames();
}

/// `whole` with the parts of `op` written into it from `offsets` on.
static Value joinedInto(ConcatOp op, Value whole, SmallVector<int64_t> offsets, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  int64_t axis = type.find(op.getDimAttr());
  for (Value input : op.getInputs()) {
    int64_t size = arrayType(input).getSize(op.getDimAttr());
    if (size == 0)
      continue;
    auto inner = input.getDefiningOp<ConcatOp>();
    whole = inner && isPartOfConcat(inner)
                ? joinedInto(inner, whole, offsets, to)
                : inserted(input, whole, offsets, SmallVector<int64_t>(type.getRank(), 1),
                           reordered(arrayType(input), dimsOf(type)), to);
    offsets[axis] += size;
  }
  return whole;
}

static LogicalResult lower(ConcatOp op, Lowering &to) {
  if (isPartOfConcat(op))
    return success();
  if (isInterleaved(op)) {
    to.setStored(op.getY(), interleaved(op, to), orderOf(op));
    return success();
  }
  ArrayType type = arrayType(op.getY());
  int64_t axis = type.find(op.getDimAttr());
  SmallVector<Value> inputs = llvm::filter_to_vector(
      op.getInputs(), [&](Value input) { return arrayType(input).getSize(op.getDimAttr()) != 0; });
  if (inputs.size() > kInsertions) {
    SmallVector<Value> parts = llvm::map_to_vector(inputs, [&](Value input) {
      return arrayType(input).getDimNames() == type.getDimNames()
                 ? to.tensor(input)
                 : to.packed(input, type.getDimNames());
    });
    to.setTensor(op.getY(),
                 tensor::ConcatOp::create(to.b, to.loc(), tensorType(type), axis, parts));
    return success();
  }
  SmallVector<int64_t> offsets(type.getRank(), 0);
  to.setTensor(op.getY(), joinedInto(op, to.empty(type), offsets, to));
  return success();
}

LogicalResult xtensor::lowerShape(Operation *op, Lowering &to) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ConstantOp, IotaOp, SizeOp, RenameOp, BroadcastOp, SqueezeOp, SliceOp, ReverseOp,
            MergeOp, SplitOp, PadOp, ConcatOp>([&](auto known) { return lower(known, to); })
      .Case<BarrierOp, SizedOp>([&](auto identity) {
        to.set(identity.getY(), to.view(identity.getX()));
        return success();
      })
      .Default([](Operation *) { return failure(); });
}
