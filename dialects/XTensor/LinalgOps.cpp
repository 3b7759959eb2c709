// Result types of dense linear algebra: which two dims are the matrix, and what becomes of them.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

/// The type of the matrix if `dims` are its row and column dim; `square`: of equal sizes.
static FailureOr<ArrayType> checkMatrix(StringRef op, MaybeLoc loc, Value value, ArrayAttr dims,
                                        bool square) {
  auto a = dyn_cast<ArrayType>(value.getType());
  if (!a || !(a.getElementType().isF32() || a.getElementType().isF64()))
    return emitOptionalError(loc, op, ": matrices are arrays of f32 or f64");
  if (dims.size() != 2)
    return emitOptionalError(loc, Fault::Dimension, op, ": expected two dims, row and column, got ",
                             dims.size());
  if (failed(checkDims(op, loc, a, dims.getValue())))
    return failure();
  if (square && a.getSize(dims[0]) != a.getSize(dims[1]))
    return emitOptionalError(loc, Fault::Dimension, op, ": dims ", dims[0], " and ", dims[1],
                             " must have equal sizes, the matrix must be square; it has (",
                             describeDims(a), ")");
  return a;
}

static LogicalResult checkInner(StringRef op, MaybeLoc loc, ArrayType a, StringAttr inner) {
  if (a.hasDim(inner))
    return emitOptionalError(loc, Fault::Dimension, op, ": the new inner dim ", inner,
                             " is a dim of the matrix already; it has (", describeDims(a), ")");
  return success();
}

/// `a` with the dim `from` replaced by `to` of `size`.
static ArrayType replaced(ArrayType a, Attribute from, StringAttr to, int64_t size) {
  SmallVector<StringAttr> names(a.getDimNames());
  SmallVector<int64_t> shape(a.getShape());
  int64_t axis = a.find(from);
  names[axis] = to;
  shape[axis] = size;
  return ArrayType::get(a.getContext(), names, shape, a.getElementType());
}

static ArrayType withTrailing(ArrayType a, StringAttr name, int64_t size) {
  SmallVector<StringAttr> names(a.getDimNames());
  SmallVector<int64_t> shape(a.getShape());
  names.push_back(name);
  shape.push_back(size);
  return ArrayType::get(a.getContext(), names, shape, a.getElementType());
}

/// The smaller of both sizes, or `?`.
static int64_t innerSize(ArrayType a, ArrayAttr dims) {
  int64_t rows = a.getSize(dims[0]), columns = a.getSize(dims[1]);
  if (rows == ArrayType::kDynamic || columns == ArrayType::kDynamic)
    return ArrayType::kDynamic;
  return std::min(rows, columns);
}

static ArrayType batchOf(ArrayType a, ArrayAttr dims) { return minus(a, dims.getValue()); }

LogicalResult CholeskyOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                           Types &types) {
  auto a = checkMatrix("cholesky", loc, adaptor.getA(), adaptor.getDims(), /*square=*/true);
  if (failed(a))
    return failure();
  types.push_back(*a);
  return success();
}

/// The tangent of a factorisation's factors from those, `f`, and what they make, `t`.
static LogicalResult inferTangent(StringRef op, MaybeLoc loc, Value f, Value t, ArrayAttr dims,
                                  bool square, Types &types) {
  auto factors = checkMatrix(op, loc, f, dims, square);
  if (failed(factors))
    return failure();
  auto tangent = dyn_cast<ArrayType>(t.getType());
  Type element = factors->getElementType();
  if (!tangent || tangent.getElementType() != element)
    return emitOptionalError(loc, op, ": the tangent must be an array of ", element);
  for (Attribute dim : dims)
    if (!tangent.hasDim(dim))
      return emitOptionalError(loc, Fault::Dimension, op, ": the tangent lacks dim ", dim,
                               " of the matrix; it has (", describeDims(tangent), ")");
  if (failed(inferUnion(op, loc, {*factors, tangent}, element)))
    return failure();
  types.push_back(unionOf({batchOf(*factors, dims), tangent}, element));
  return success();
}

LogicalResult CholeskyTangentOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                                  Types &types) {
  return inferTangent("cholesky_tangent", loc, adaptor.getL(), adaptor.getT(), adaptor.getDims(),
                      /*square=*/true, types);
}

LogicalResult LuTangentOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                            Types &types) {
  return inferTangent("lu_tangent", loc, adaptor.getPacked(), adaptor.getT(), adaptor.getDims(),
                      /*square=*/false, types);
}

LogicalResult ComplexFactorOp::inferReturnTypes(MLIRContext *context, MaybeLoc loc, Adaptor adaptor,
                                                Types &types) {
  ArrayAttr dims = adaptor.getDims();
  StringAttr inner = adaptor.getInnerAttr(), pair = adaptor.getPairAttr();
  ComplexFactorKind kind = adaptor.getKind();
  bool square = kind == ComplexFactorKind::cholesky || kind == ComplexFactorKind::eig ||
                kind == ComplexFactorKind::eigh;
  std::string op = ("complex_factor " + stringifyComplexFactorKind(kind)).str();
  auto a = checkMatrix(op, loc, adaptor.getA(), dims, square);
  if (failed(a) || failed(checkInner(op, loc, *a, inner)) || failed(checkDims(op, loc, *a, {pair})))
    return failure();
  if (llvm::is_contained(dims, pair) || a->getSize(pair) != 2)
    return emitOptionalError(loc, Fault::Dimension, op, ": the dim ", pair,
                             " of the parts has size 2 and is no dim of the matrix; it has (",
                             describeDims(*a), ")");
  int64_t size = innerSize(*a, dims);
  ArrayType left = replaced(*a, dims[1], inner, size), right = replaced(*a, dims[0], inner, size);
  ArrayType batch = minus(batchOf(*a, dims), {pair});
  switch (kind) {
  case ComplexFactorKind::cholesky:
    types.push_back(left);
    break;
  case ComplexFactorKind::eig:
    types.append({minus(left, {dims[0]}), left});
    break;
  case ComplexFactorKind::eigh:
    types.append({withTrailing(batch, inner, size), left});
    break;
  case ComplexFactorKind::lu:
    types.append({left, right,
                  minus(*a, {dims[1], pair}).withElement(IntegerType::get(context, 64)), batch});
    break;
  case ComplexFactorKind::qr:
    types.append({left, right});
    break;
  case ComplexFactorKind::svd:
    types.append({left, withTrailing(batch, inner, size), right});
    break;
  }
  return success();
}

LogicalResult EighOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  ArrayAttr dims = adaptor.getDims();
  StringAttr inner = adaptor.getInnerAttr();
  auto a = checkMatrix("eigh", loc, adaptor.getA(), dims, /*square=*/true);
  if (failed(a) || failed(checkInner("eigh", loc, *a, inner)))
    return failure();
  int64_t size = innerSize(*a, dims);
  types.append({withTrailing(batchOf(*a, dims), inner, size), replaced(*a, dims[1], inner, size)});
  return success();
}

LogicalResult LuOp::inferReturnTypes(MLIRContext *context, MaybeLoc loc, Adaptor adaptor,
                                     Types &types) {
  ArrayAttr dims = adaptor.getDims();
  auto a = checkMatrix("lu", loc, adaptor.getA(), dims, /*square=*/false);
  if (failed(a))
    return failure();
  ArrayType order = minus(*a, {dims[1]}).withElement(IntegerType::get(context, 64));
  types.append({*a, order, order, batchOf(*a, dims)});
  return success();
}

LogicalResult PinvOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  ArrayAttr dims = adaptor.getDims();
  auto a = checkMatrix("pinv", loc, adaptor.getA(), dims, /*square=*/false);
  if (failed(a))
    return failure();
  SmallVector<Attribute> order = dimsOf(*a);
  std::swap(order[a->find(dims[0])], order[a->find(dims[1])]);
  types.push_back(reordered(*a, order));
  return success();
}

LogicalResult QrOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  ArrayAttr dims = adaptor.getDims();
  StringAttr inner = adaptor.getInnerAttr();
  auto a = checkMatrix("qr", loc, adaptor.getA(), dims, /*square=*/false);
  if (failed(a) || failed(checkInner("qr", loc, *a, inner)))
    return failure();
  int64_t size = innerSize(*a, dims);
  types.append({replaced(*a, dims[1], inner, size), replaced(*a, dims[0], inner, size)});
  return success();
}

LogicalResult SvdOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  ArrayAttr dims = adaptor.getDims();
  StringAttr inner = adaptor.getInnerAttr();
  auto a = checkMatrix("svd", loc, adaptor.getA(), dims, /*square=*/false);
  if (failed(a) || failed(checkInner("svd", loc, *a, inner)))
    return failure();
  int64_t size = innerSize(*a, dims);
  types.append({replaced(*a, dims[1], inner, size), withTrailing(batchOf(*a, dims), inner, size),
                replaced(*a, dims[0], inner, size)});
  return success();
}

/// b has the dim `from` and gets `to` in its place.
static LogicalResult inferSolution(StringRef op, MaybeLoc loc, Value matrix, Value rhs,
                                   ArrayAttr dims, StringAttr pair, StringAttr from, StringAttr to,
                                   Types &types) {
  auto a = checkMatrix(op, loc, matrix, dims, /*square=*/true);
  if (failed(a))
    return failure();
  for (Value operand : {matrix, rhs})
    if (auto type = dyn_cast<ArrayType>(operand.getType());
        pair &&
        (!type || !type.hasDim(pair) || type.getSize(pair) != 2 || llvm::is_contained(dims, pair)))
      return emitOptionalError(loc, Fault::Dimension, op, ": the dim ", pair,
                               " of the parts must be a dim of both operands, of size 2");
  auto b = dyn_cast<ArrayType>(rhs.getType());
  if (!b || b.getElementType() != a->getElementType())
    return emitOptionalError(loc, op, ": the right-hand side must be an array of ",
                             a->getElementType());
  if (!b.hasDim(from) || b.hasDim(to))
    return emitOptionalError(loc, op, ": the right-hand side has ", from, " and not ", to,
                             ", which the result has instead; it has (", describeDims(b), ")");
  if (failed(inferUnion(op, loc, {*a, b}, a->getElementType())))
    return failure();
  auto x = inferUnion(op, loc, {batchOf(*a, dims), replaced(b, from, to, a->getSize(to))},
                      a->getElementType());
  if (failed(x))
    return failure();
  types.push_back(*x);
  return success();
}

static StringAttr nameAt(ArrayAttr dims, unsigned i) {
  return i < dims.size() ? cast<StringAttr>(dims[i]) : StringAttr();
}

LogicalResult SolveOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                        Types &types) {
  ArrayAttr dims = adaptor.getDims();
  bool back = adaptor.getTransposed();
  return inferSolution("solve", loc, adaptor.getA(), adaptor.getB(), dims, adaptor.getPairAttr(),
                       nameAt(dims, back), nameAt(dims, !back), types);
}

int TriangularContractOp::getMatrixOperand() {
  for (int i : {0, 1})
    if (llvm::all_of(getDims(), [&](Attribute d) { return arrayType(getOperand(i)).hasDim(d); }))
      return i;
  return -1;
}

LogicalResult TriangularContractOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                                     Types &types) {
  StringRef op = "triangular_contract";
  auto a = dyn_cast<ArrayType>(adaptor.getA().getType());
  auto b = dyn_cast<ArrayType>(adaptor.getB().getType());
  ArrayAttr dims = adaptor.getDims(), over = adaptor.getOver();
  if (!a || !b || a.getElementType() != b.getElementType() ||
      !(a.getElementType().isF32() || a.getElementType().isF64()))
    return emitOptionalError(loc, op, ": expected two arrays of f32 or of f64");
  if (failed(inferUnion(op, loc, {a, b}, a.getElementType())))
    return failure();
  ArrayType all = unionOf({a, b}, a.getElementType());
  if (dims.size() != 2)
    return emitOptionalError(loc, Fault::Dimension, op, ": expected two dims, row and column, got ",
                             dims.size());
  if (failed(checkDims(op, loc, all, dims.getValue())) ||
      failed(checkDims(op, loc, all, over.getValue())))
    return failure();
  if (all.getSize(dims[0]) != all.getSize(dims[1]))
    return emitOptionalError(loc, Fault::Dimension, op, ": dims ", dims[0], " and ", dims[1],
                             " must have equal sizes; there are (", describeDims(all), ")");
  auto both = [&](Attribute dim) { return a.hasDim(dim) && b.hasDim(dim); };
  bool product = over.size() == 1 && llvm::is_contained(dims, over[0]) && both(over[0]) &&
                 !both(over[0] == dims[0] ? dims[1] : dims[0]);
  bool triangle = llvm::none_of(dims, both) && a.hasDim(dims[0]) != a.hasDim(dims[1]) &&
                  llvm::all_of(over, [&](Attribute dim) {
                    return both(dim) && !llvm::is_contained(dims, dim);
                  });
  if (!product && !triangle)
    return emitOptionalError(loc, Fault::Dimension, op, ": one operand has dims ", dims[0], " and ",
                             dims[1],
                             " and the other the summed one of them, or each has one of them and "
                             "the summed dims beside it; they have (",
                             describeDims(a), ") and (", describeDims(b), ")");
  types.push_back(minus(all, over.getValue()));
  return success();
}

LogicalResult TriangularSolveOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                                  Types &types) {
  ArrayAttr dims = adaptor.getDims();
  return inferSolution("triangular_solve", loc, adaptor.getA(), adaptor.getB(), dims,
                       adaptor.getPairAttr(), nameAt(dims, 0), nameAt(dims, 1), types);
}
