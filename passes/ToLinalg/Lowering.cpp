#include "ToLinalg/Lowering.h"

#include "XTensor/Place.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace xtensor;

View View::at(AffineMap access) const {
  View result = *this;
  result.map = map.compose(access);
  return result;
}

//===- where arrays are ----------------------------------------------------===//

void Lowering::setTensor(Value array, Value tensor) {
  ArrayType type = arrayType(array);
  tensors[array] = tensor;
  set(array,
      {View::Tensor, tensor, b.getMultiDimIdentityMap(type.getRank()), type.getElementType()});
}

void Lowering::setScalar(Value array, Value scalar) {
  ArrayType type = arrayType(array);
  set(array, {View::Scalar, scalar, AffineMap::get(type.getRank(), 0, b.getContext()),
              type.getElementType()});
}

void Lowering::setStored(Value array, Value tensor, ArrayRef<StringAttr> order) {
  ArrayType type = arrayType(array);
  if (type.getDimNames() == order)
    return setTensor(array, tensor);
  set(array, {View::Tensor, tensor, mapTo(type.getDimNames(), order), type.getElementType()});
}

AffineMap Lowering::mapTo(ArrayRef<StringAttr> loops, ArrayRef<StringAttr> dims) const {
  SmallVector<AffineExpr> exprs;
  for (StringAttr dim : dims) {
    unsigned position = llvm::find(loops, dim) - loops.begin();
    assert(position < loops.size() && "an op loops over all dims of its operands");
    exprs.push_back(getAffineDimExpr(position, dim.getContext()));
  }
  return AffineMap::get(loops.size(), 0, exprs, b.getContext());
}

View Lowering::access(Value array, ArrayRef<StringAttr> loops) const {
  return view(array).at(mapTo(loops, arrayType(array).getDimNames()));
}

Value Lowering::tensor(Value array) {
  if (Value known = tensors.lookup(array))
    return known;
  View from = view(array);
  ArrayType type = arrayType(array);
  if (from.isPermutation() && from.map.isIdentity())
    return tensors[array] = from.source;
  OpBuilder::InsertionGuard guard(b);
  leaveLoopsAround(array).tensors.push_back(array);
  // The copy is of the op that moved the elements, not of the one that reads them.
  Operation *maker = array.getDefiningOp();
  llvm::SaveAndRestore<Location> place(location, maker ? maker->getLoc() : location);
  Value made = from.kind == View::Scalar ? filled(type, from.source) : copied(from, type);
  return tensors[array] = made;
}

Value Lowering::copied(const View &from, ArrayType type) {
  return elementwise(type, from, [](OpBuilder &, Location, ValueRange x) { return x.front(); });
}

namespace {
/// One axis of a tensor read as offset + stride * dim (dim -1: the offset alone).
struct Axis {
  int64_t offset = 0, stride = 0;
  int dim = -1;
};
} // namespace

static std::optional<Axis> matchAxis(AffineExpr expr) {
  Axis axis;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && sum.getKind() == AffineExprKind::Add) {
    auto offset = dyn_cast<AffineConstantExpr>(sum.getRHS());
    if (!offset)
      return {};
    axis.offset = offset.getValue();
    expr = sum.getLHS();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    axis.offset += constant.getValue();
    return axis;
  }
  axis.stride = 1;
  if (auto product = dyn_cast<AffineBinaryOpExpr>(expr);
      product && product.getKind() == AffineExprKind::Mul) {
    auto stride = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (!stride || stride.getValue() < 1)
      return {};
    axis.stride = stride.getValue();
    expr = product.getLHS();
  }
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim)
    return {};
  axis.dim = dim.getPosition();
  return axis;
}

Stored Lowering::stored(Value array) {
  ArrayType type = arrayType(array);
  Names names(type.getDimNames());
  View from = view(array);
  SmallVector<Axis> axes;
  bool sliced = from.kind == View::Tensor;
  for (AffineExpr expr : from.map.getResults()) {
    std::optional<Axis> axis = matchAxis(expr);
    sliced &= axis.has_value();
    axes.push_back(axis.value_or(Axis()));
  }
  Names order;
  for (const Axis &axis : axes)
    if (axis.dim >= 0)
      order.push_back(names[axis.dim]);
  if (!sliced || order.size() != names.size() || tensors.count(array))
    return {tensor(array), names};
  if (from.map.isPermutation())
    return {from.source, order};

  SmallVector<OpFoldResult> offsets, lengths, strides;
  SmallVector<int64_t> shape;
  for (const Axis &axis : axes) {
    offsets.push_back(b.getIndexAttr(axis.offset));
    strides.push_back(b.getIndexAttr(std::max<int64_t>(axis.stride, 1)));
    if (axis.dim < 0) {
      lengths.push_back(b.getIndexAttr(1));
      continue;
    }
    lengths.push_back(sizeOf(names[axis.dim], type));
    shape.push_back(type.getShape()[axis.dim]);
  }
  auto sliceType = RankedTensorType::get(shape, storageType(from.element));
  Value slice = tensor::ExtractSliceOp::create(b, location, sliceType, from.source, offsets,
                                               lengths, strides);
  return {slice, order};
}

Attribute Lowering::axes(ArrayRef<StringAttr> order, ArrayRef<StringAttr> dims) {
  SmallVector<int64_t> found;
  for (StringAttr dim : dims)
    found.push_back(llvm::find(order, dim) - order.begin());
  return b.getDenseI64ArrayAttr(found);
}

Value Lowering::packed(Value array, ArrayRef<StringAttr> order, Type element) {
  ArrayType type = arrayType(array);
  if (!element)
    element = type.getElementType();
  OpBuilder::InsertionGuard guard(b);
  leaveLoopsAround(array);
  ArrayType result = reordered(type, order).withElement(element);
  Type from = type.getElementType();
  return elementwise(result, access(array, order), [&](OpBuilder &b, Location loc, ValueRange x) {
    if (element == from)
      return x.front();
    return store(b, loc, load(b, loc, x.front(), from), element);
  });
}

View Lowering::range(StringAttr loop, ArrayType type, ArrayRef<StringAttr> loops) {
  ArrayType along = reordered(type, ArrayRef(loop));
  return {View::Tensor, empty(along), mapTo(loops, loop), type.getElementType()};
}

//===- regions -------------------------------------------------------------===//

void Lowering::enter(Operation *op, Block *old, bool isLoop) {
  Frame frame;
  frame.op = op;
  frame.old = old;
  frame.isLoop = isLoop;
  frames.push_back(std::move(frame));
}

void Lowering::leave() {
  Frame frame = frames.pop_back_val();
  for (Value array : frame.tensors)
    tensors.erase(array);
  for (Value array : frame.numbers)
    numbers.erase(array);
  for (StringAttr name : frame.sizes)
    sizes.erase(name);
  for (const Check &check : frame.checks)
    checked.erase(check);
}

Value Lowering::numberOf(Value array) {
  View from = view(array);
  if (from.kind == View::Scalar)
    return from.source;
  if (Value known = numbers.lookup(array))
    return known;
  OpBuilder::InsertionGuard guard(b);
  leaveLoopsAround(array).numbers.push_back(array);
  return numbers[array] = elementAt(b, location, from, {});
}

Lowering::Frame &Lowering::leaveLoopsAround(Value array) {
  Block *home = array.getParentBlock();
  unsigned level = frames.size() - 1;
  for (Block *block = b.getInsertionBlock(); level && frames[level].isLoop; --level) {
    if (home == block || home == frames[level].old)
      break;
    b.setInsertionPoint(frames[level].op);
    block = frames[level].op->getBlock();
  }
  return frames[level];
}

//===- sizes ---------------------------------------------------------------===//

void Lowering::noteSizes(Value tensor, ArrayType type) {
  for (auto [axis, name] : llvm::enumerate(type.getDimNames()))
    if (type.isDynamic(name) && !sizes.count(name))
      noteSize(name, tensor::DimOp::create(b, location, tensor, axis));
}

OpFoldResult Lowering::sizeOf(StringAttr name, ArrayType type) {
  if (!type.isDynamic(name))
    return b.getIndexAttr(type.getSize(name));
  Value known = sizes.lookup(name);
  assert(known && "a dynamic size comes from an argument or a size operand");
  return known;
}

Value Lowering::sizeValue(StringAttr name, ArrayType type) {
  OpFoldResult size = sizeOf(name, type);
  if (auto value = dyn_cast<Value>(size))
    return value;
  return index(type.getSize(name));
}

Value Lowering::index(int64_t value) { return constant(b.getIndexAttr(value)); }

Value Lowering::indexOf(Value sizeArray) {
  View size = view(sizeArray);
  Value number = size.source;
  if (size.kind == View::Tensor)
    number = elementAt(b, location, size, {});
  if (auto cast = number.getDefiningOp<arith::IndexCastOp>())
    return cast.getIn();
  return b.createOrFold<arith::IndexCastOp>(location, b.getIndexType(), number);
}

//===- building ------------------------------------------------------------===//

Value Lowering::constant(TypedAttr attr) { return arith::ConstantOp::create(b, location, attr); }

Value Lowering::number(Type element, double value) {
  Type type = storageType(element);
  if (isa<FloatType>(type))
    return constant(b.getFloatAttr(type, value));
  return constant(b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value Lowering::empty(ArrayType type, Type element) {
  SmallVector<OpFoldResult> shape;
  for (StringAttr name : type.getDimNames())
    shape.push_back(sizeOf(name, type));
  return tensor::EmptyOp::create(b, location, shape,
                                 element ? element : storageType(type.getElementType()));
}

Value Lowering::filled(ArrayType type, Value stored) {
  return linalg::FillOp::create(b, location, stored, empty(type, stored.getType())).getResult(0);
}

/// The element that an iota has at `indices`.
static Value iotaElement(OpBuilder &b, Location loc, const View &view, ValueRange indices) {
  Value position = affine::expandAffineExpr(b, loc, view.map.getResult(0), indices, {});
  return b.createOrFold<arith::IndexCastOp>(loc, storageType(view.element), position);
}

Value Lowering::elementAt(OpBuilder &b, Location loc, const View &view, ValueRange indices) {
  if (view.kind == View::Scalar)
    return view.source;
  if (view.kind == View::Iota)
    return iotaElement(b, loc, view, indices);
  SmallVector<Value> axes;
  for (AffineExpr expr : view.map.getResults())
    axes.push_back(affine::expandAffineExpr(b, loc, expr, indices, {}));
  return tensor::ExtractOp::create(b, loc, view.source, axes);
}

SmallVector<Value> Lowering::generic(ArrayRef<View> inputs, ValueRange inits,
                                     ArrayRef<AffineMap> initMaps, unsigned reductions, Body body) {
  // Each (tensor, map) is an operand once; the rest is written into the body.
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<int> operandOf;
  for (const View &input : inputs) {
    int found = -1;
    if (input.kind == View::Tensor) {
      for (unsigned i = 0; i < operands.size() && found < 0; ++i)
        if (operands[i] == input.source && maps[i] == input.map)
          found = i;
      if (found < 0) {
        found = operands.size();
        operands.push_back(input.source);
        maps.push_back(input.map);
      }
    }
    operandOf.push_back(found);
  }
  unsigned count = operands.size();
  llvm::append_range(maps, initMaps);
  unsigned loops = maps.back().getNumDims();
  SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::parallel);
  std::fill(kinds.end() - reductions, kinds.end(), utils::IteratorType::reduction);

  auto build = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    SmallVector<Value> indices;
    if (llvm::any_of(inputs, [](const View &view) { return view.kind == View::Iota; }))
      for (unsigned d = 0; d < loops; ++d)
        indices.push_back(linalg::IndexOp::create(b, loc, d));
    SmallVector<Value> elements;
    for (auto [input, operand] : llvm::zip_equal(inputs, operandOf)) {
      TypedAttr known;
      if (input.kind == View::Tensor)
        elements.push_back(arguments[operand]);
      else if (input.kind == View::Iota)
        elements.push_back(iotaElement(b, loc, input, indices));
      else if (matchPattern(input.source, m_Constant(&known)))
        elements.push_back(arith::ConstantOp::create(b, loc, known));
      else
        elements.push_back(input.source);
    }
    linalg::YieldOp::create(b, loc, body(b, loc, elements, arguments.drop_front(count)));
    // What folding left behind would cost every later walk over the body.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*b.getBlock())))
      if (isOpTriviallyDead(&op))
        op.erase();
  };
  auto op =
      linalg::GenericOp::create(b, location, inits.getTypes(), operands, inits, maps, kinds, build);
  return SmallVector<Value>(op.getResults());
}

Value Lowering::elementwise(ArrayType type, ArrayRef<View> inputs,
                            llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  return generic(inputs, empty(type), b.getMultiDimIdentityMap(type.getRank()), /*reductions=*/0,
                 [&](OpBuilder &b, Location loc, ValueRange x, ValueRange) {
                   return SmallVector<Value>{body(b, loc, x)};
                 })
      .front();
}

bool xtensor::readsPlainly(const View &view, unsigned loop) {
  return view.kind == View::Tensor &&
         llvm::is_contained(view.map.getResults(), getAffineDimExpr(loop, view.map.getContext()));
}

bool xtensor::readsWindows(const View &view) {
  return view.kind == View::Tensor && llvm::any_of(view.map.getResults(), [&](AffineExpr expr) {
           unsigned dims = 0;
           for (unsigned d = 0; d < view.map.getNumDims(); ++d)
             dims += expr.isFunctionOfDim(d);
           return dims > 1;
         });
}

int32_t Lowering::addSite(StringAttr dim, bool isUnsigned) {
  // The front end names ops that may fail: two of them may stand in one line.
  std::string name;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && named.getName().strref().contains('#')) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  name += isUnsigned ? "u" : "";
  SmallVector<Attribute> all(sites.getValue());
  all.push_back(b.getDictionaryAttr({b.getNamedAttr("dim", dim),
                                     b.getNamedAttr("loc", b.getStringAttr(placeOf(location))),
                                     b.getNamedAttr("op", b.getStringAttr(name))}));
  sites = b.getArrayAttr(all);
  return all.size() - 1;
}
