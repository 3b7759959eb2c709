#include "CPU/Strided.h"

#include "Strides.h"
#include "XTensor/XTensor.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

//===- extents -------------------------------------------------------------===//

Extent::Extent(OpFoldResult size) {
  if (auto known = getConstantIntValue(size))
    constant = *known;
  else
    factors.push_back(cast<Value>(size));
}

Extent Extent::operator*(const Extent &other) const {
  // An offset that does not fit into 64 bits is never reached, because memory cannot hold such an
  // array.
  int64_t known;
  llvm::MulOverflow(constant, other.constant, known);
  Extent product(known);
  if (!product.constant)
    return product;
  product.factors = factors;
  product.factors.append(other.factors);
  llvm::sort(product.factors,
             [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
  return product;
}

static Value constantIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value Extent::materialize(OpBuilder &b, Location loc) const {
  if (isConstant())
    return constantIndex(b, loc, constant);
  Value product = factors.front();
  for (Value factor : llvm::drop_begin(factors))
    product = arith::MulIOp::create(b, loc, product, factor);
  if (constant != 1)
    product = arith::MulIOp::create(b, loc, product, constantIndex(b, loc, constant));
  return product;
}

void Offset::add(OpFoldResult index, const Extent &stride) {
  auto known = getConstantIntValue(index);
  if (known && stride.isConstant()) {
    constant += *known * stride.constant;
    return;
  }
  if (stride.is(0) || (known && *known == 0))
    return;
  if (known) { // the sizes are the index then, so that equal offsets look equal
    Extent rest(*known * stride.constant);
    rest.factors.assign(std::next(stride.factors.begin()), stride.factors.end());
    terms.push_back({stride.factors.front(), rest});
    return;
  }
  terms.push_back({cast<Value>(index), stride});
}

Value Offset::materialize(OpBuilder &b, Location loc) const {
  Value sum;
  auto plus = [&](Value v) { sum = sum ? arith::AddIOp::create(b, loc, sum, v).getResult() : v; };
  for (const auto &[index, stride] : terms)
    plus(stride.is(1) ? index : arith::MulIOp::create(b, loc, index, stride.materialize(b, loc)));
  if (constant || !sum)
    plus(constantIndex(b, loc, constant));
  return sum;
}

//===- views ---------------------------------------------------------------===//

OpFoldResult Views::argumentSize(BlockArgument argument, int64_t dim) {
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  auto read = [&](Value &size) {
    if (!size)
      size = memref::DimOp::create(b, func.getLoc(), argument, dim);
    return size;
  };
  auto type = func.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), "xtensor.type");
  if (type)
    if (auto array = dyn_cast<xtensor::ArrayType>(type.getValue()))
      return read(named[array.getDimNames()[dim]]);
  return read(unnamed[{argument, dim}]);
}

StridedView Views::contiguous(Value memref, ArrayRef<OpFoldResult> sizes) {
  StridedView view;
  view.base = memref;
  view.strides.resize(sizes.size());
  for (OpFoldResult size : sizes)
    view.sizes.push_back(Extent(size));
  Extent stride(1);
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    view.strides[d] = stride;
    stride = stride * view.sizes[d];
  }
  return view;
}

namespace {
/// Sizes and strides as products.
struct ViewNumbers {
  Views &views;
  StridedView of(Value memref) { return views.of(memref); }
  Extent number(OpFoldResult size) { return Extent(size); }
  Extent times(const Extent &x, const Extent &y) { return x * y; }
  bool isOne(const Extent &x) { return x.is(1); }
  void advance(StridedView &view, OpFoldResult by, const Extent &stride) {
    view.offset.add(by, stride);
  }
  void restart(StridedView &view, OpFoldResult at) {
    view.offset = Offset();
    view.offset.add(at, Extent(1));
  }
};
} // namespace

/// Whether what `op` shows follows from what its source shows.
static bool isFollowed(Operation *op) {
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return isa<MemRefType>(cast.getSource().getType());
  if (auto view = dyn_cast<memref::ReinterpretCastOp>(op)) {
    auto source = dyn_cast<MemRefType>(view.getSource().getType());
    return source && source.getLayout().isIdentity();
  }
  return isa<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op);
}

StridedView Views::of(Value memref) {
  auto it = known.find(memref);
  if (it != known.end())
    return it->second;
  auto type = cast<MemRefType>(memref.getType());
  Operation *op = memref.getDefiningOp();
  auto remember = [&](StridedView view) { return known[memref] = std::move(view); };

  if (op && isFollowed(op)) {
    ViewNumbers numbers{*this};
    StridedView view = *ViewRules<StridedView, ViewNumbers>(numbers).through(op);
    if (isa<memref::ReinterpretCastOp>(op) && type.getLayout().isIdentity()) {
      StridedView plain =
          contiguous(view.base, cast<memref::ReinterpretCastOp>(op).getMixedSizes());
      plain.offset = view.offset;
      view = plain;
    }
    return remember(view);
  }

  SmallVector<OpFoldResult> sizes;
  Builder attributes(memref.getContext());
  auto argument = dyn_cast<BlockArgument>(memref);
  bool ofFunction = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  OpBuilder b(memref.getContext());
  b.setInsertionPointAfterValue(memref);
  Location loc = memref.getLoc();
  unsigned dynamic = 0;
  std::optional<memref::ExtractStridedMetadataOp> metadata;
  if (!type.getLayout().isIdentity())
    metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      sizes.push_back(attributes.getIndexAttr(type.getDimSize(d)));
    else if (ofFunction)
      sizes.push_back(argumentSize(argument, d));
    else if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
      sizes.push_back(getAsOpFoldResult(alloc.getDynamicSizes()[dynamic++]));
    else if (auto view = dyn_cast_or_null<memref::ViewOp>(op))
      sizes.push_back(getAsOpFoldResult(view.getSizes()[dynamic++]));
    else if (metadata)
      sizes.push_back(metadata->getSizes()[d]);
    else
      sizes.push_back(memref::DimOp::create(b, loc, memref, d).getResult());
  }
  StridedView view = contiguous(memref, sizes);
  if (metadata) {
    auto [strides, offset] = type.getStridesAndOffset();
    for (int64_t d = 0; d < type.getRank(); ++d)
      view.strides[d] = ShapedType::isDynamic(strides[d]) ? Extent(metadata->getStrides()[d])
                                                          : Extent(strides[d]);
    if (ShapedType::isDynamic(offset))
      view.offset.add(metadata->getOffset(), Extent(1));
    else
      view.offset.constant = offset;
  }
  return remember(view);
}

//===- accesses ------------------------------------------------------------===//

/// Adds `scale` times `expr` to the strides and the constant; false if it is not linear.
static bool addLinear(AffineExpr expr, int64_t scale, MutableArrayRef<int64_t> coefficients,
                      int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += scale;
    return true;
  }
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += scale * number.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, coefficients, constant) &&
           addLinear(binary.getRHS(), scale, coefficients, constant);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         addLinear(binary.getLHS(), scale * factor.getValue(), coefficients, constant);
}

/// Of two values that one place sees, the one that is there later.
static Value laterOf(Value a, Value b) {
  Block *home = a.getParentBlock(), *other = b.getParentBlock();
  if (home != other)
    return home->getParent()->isAncestor(other->getParent()) ? b : a;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return !first || (second && first->isBeforeInBlock(second)) ? b : a;
}

/// A product has no form for it: a number of its own, worked out as soon as its factors are there.
static Extent sum(const Extent &a, const Extent &b) {
  Value last;
  for (const Extent *extent : {&a, &b})
    for (Value factor : extent->factors)
      last = last ? laterOf(last, factor) : factor;
  OpBuilder builder(last.getContext());
  builder.setInsertionPointAfterValue(last);
  Location loc = last.getLoc();
  Value total =
      arith::AddIOp::create(builder, loc, a.materialize(builder, loc), b.materialize(builder, loc));
  return Extent(OpFoldResult(total));
}

std::optional<Access> Views::access(const StridedView &view, AffineMap map) {
  Access access;
  access.base = view.base;
  access.elementType = cast<MemRefType>(view.base.getType()).getElementType();
  access.offset = view.offset;
  access.strides.assign(map.getNumDims(), Extent(0));
  Builder b(map.getContext());
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> coefficients(map.getNumDims());
    int64_t constant = 0;
    if (!addLinear(expr, 1, coefficients, constant))
      return std::nullopt;
    access.offset.add(b.getIndexAttr(constant), view.strides[d]);
    for (auto [loop, coefficient] : llvm::enumerate(coefficients)) {
      if (!coefficient)
        continue;
      Extent step = view.strides[d] * Extent(coefficient);
      Extent &stride = access.strides[loop];
      if (stride.is(0))
        stride = step;
      else if (stride.factors == step.factors) // a diagonal
        stride.constant += step.constant;
      else
        stride = sum(stride, step);
    }
  }
  return access;
}

Value Views::flat(Value base) {
  Value &row = rows[base];
  if (row)
    return row;
  auto type = cast<MemRefType>(base.getType());
  if (type.getRank() == 1 && type.getLayout().isIdentity())
    return row = base;
  OpBuilder b(base.getContext());
  b.setInsertionPointAfterValue(base);
  // Nothing asks a row for its size.
  int64_t size = type.hasStaticShape() && type.getLayout().isIdentity() ? type.getNumElements() : 1;
  auto rowType = MemRefType::get({size}, type.getElementType(), MemRefLayoutAttrInterface(),
                                 type.getMemorySpace());
  return row = memref::ReinterpretCastOp::create(b, base.getLoc(), rowType, base, 0,
                                                 ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
}

/// A buffer of its own, as opposed to something that may be a view of another.
bool Views::isIdentified(Value base) {
  if (auto argument = dyn_cast<BlockArgument>(base))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return base.getDefiningOp<memref::AllocOp>() || base.getDefiningOp<memref::AllocaOp>() ||
         base.getDefiningOp<memref::GetGlobalOp>();
}
