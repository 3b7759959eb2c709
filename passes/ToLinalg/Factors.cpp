// Dense linear algebra: each op is one call of a routine of the runtime. Matrices go in as they are
// stored: the call states in which order the routine sees the axes, batches first.
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// Collects the operands of one call. The routine sees every array with the axes of `batch`, then
/// those that each array names.
class Call {
public:
  Call(Lowering &to, ArrayType batch) : to(to), batch(batch.getDimNames()) {}

  void in(Value array, ArrayRef<StringAttr> trailing) {
    Stored stored = to.stored(array);
    in(stored.tensor, stored.order, trailing);
  }
  void in(Value tensor, ArrayRef<StringAttr> order, ArrayRef<StringAttr> trailing) {
    inputs.push_back(tensor);
    inputAxes.push_back(axes(order, trailing));
  }
  void out(ArrayType type, ArrayRef<StringAttr> trailing) {
    outs.push_back(to.empty(type));
    outAxes.push_back(axes(type.getDimNames(), trailing));
  }
  SmallVector<Value> emit(StringRef routine, ArrayRef<int64_t> options = {}) {
    SmallVector<Attribute> all = inputAxes;
    llvm::append_range(all, outAxes);
    auto call =
        LibraryOp::create(to.b, to.loc(), routine, inputs, outs, to.b.getArrayAttr(all), options);
    return SmallVector<Value>(call.getResults());
  }

private:
  Attribute axes(ArrayRef<StringAttr> order, ArrayRef<StringAttr> trailing) {
    Names seen(batch);
    llvm::append_range(seen, trailing);
    SmallVector<int64_t> places;
    for (StringAttr name : seen) {
      auto *found = llvm::find(order, name);
      places.push_back(found == order.end() ? -1 : found - order.begin());
    }
    return to.b.getDenseI64ArrayAttr(places);
  }

  Lowering &to;
  Names batch;
  SmallVector<Value> inputs, outs;
  SmallVector<Attribute> inputAxes, outAxes;
};

ArrayType batchOf(ArrayType type, ArrayAttr dims) { return minus(type, dims.getValue()); }
StringAttr rowOf(ArrayAttr dims) { return cast<StringAttr>(dims[0]); }
StringAttr columnOf(ArrayAttr dims) { return cast<StringAttr>(dims[1]); }

/// The inner dim of a factorisation has the smaller of both sizes.
void noteInner(StringAttr inner, ArrayType type, ArrayAttr dims, Lowering &to) {
  if (!type.isDynamic(dims[0]) && !type.isDynamic(dims[1]))
    return;
  Value rows = to.sizeValue(rowOf(dims), type), columns = to.sizeValue(columnOf(dims), type);
  to.noteSize(inner, arith::MinSIOp::create(to.b, to.loc(), rows, columns));
}

/// Sizes that only a call knows are compared by the call.
void checkSquare(ArrayType type, ArrayAttr dims, Lowering &to) {
  if (!type.isDynamic(dims[0]) || !type.isDynamic(dims[1]))
    return;
  OpBuilder &b = to.b;
  Location loc = to.loc();
  auto sizeOf = [&](StringAttr name) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), to.sizeValue(name, type));
  };
  Value rows = sizeOf(rowOf(dims)), columns = sizeOf(columnOf(dims));
  Value differ = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rows, columns);
  // The report names one dim; what no user can spell says that there are two.
  auto both =
      b.getStringAttr("~square~ " + rowOf(dims).getValue() + "~ " + columnOf(dims).getValue());
  reportWhere(differ, both, rows, columns, to);
}

/// The factors of a matrix: packed, order, inverse, parity, each in the order of the op's types;
/// made once, whoever asks.
SmallVector<Value> luOf(Value a, ArrayAttr dims, Lowering &to) {
  SmallVector<Value> &known = to.factors[{a, dims}];
  if (!known.empty() &&
      known.front().getParentRegion()->isAncestor(to.b.getInsertionBlock()->getParent()))
    return known;
  ArrayType type = arrayType(a), batch = batchOf(type, dims);
  StringAttr row = rowOf(dims), column = columnOf(dims);
  ArrayType order = minus(type, {column}).withElement(to.b.getI64Type());
  Call call(to, batch);
  call.in(a, {row, column});
  call.out(type, {row, column});
  call.out(order, {row});
  call.out(order, {row});
  call.out(batch, {});
  return known = call.emit("xt_lu");
}

void lower(CholeskyOp op, Lowering &to) {
  ArrayType type = arrayType(op.getA());
  checkSquare(type, op.getDims(), to);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  Call call(to, batchOf(type, op.getDims()));
  call.in(op.getA(), {row, column});
  call.out(arrayType(op.getL()), {row, column});
  to.setTensor(op.getL(), call.emit("xt_cholesky")[0]);
}

/// Of the factors in the first operand; what the second one is a tangent of has more dims, maybe.
template <typename Op>
void lowerTangent(Op op, StringRef routine, Lowering &to) {
  Value factors = op->getOperand(0);
  ArrayType x = arrayType(op.getX());
  checkSquare(arrayType(factors), op.getDims(), to);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  Call call(to, batchOf(x, op.getDims()));
  call.in(factors, {row, column});
  call.in(op.getT(), {row, column});
  call.out(x, {row, column});
  to.setTensor(op.getX(), call.emit(routine, {op.getTransposed()})[0]);
}

void lower(CholeskyTangentOp op, Lowering &to) { lowerTangent(op, "xt_cholesky_tangent", to); }
void lower(LuTangentOp op, Lowering &to) { lowerTangent(op, "xt_lu_tangent", to); }

/// The same of a square complex matrix: l, u, order, parity.
SmallVector<Value> complexLuOf(Value a, ArrayAttr dims, StringAttr pair, Lowering &to) {
  SmallVector<Value> &known = to.factors[{a, dims}];
  if (!known.empty() &&
      known.front().getParentRegion()->isAncestor(to.b.getInsertionBlock()->getParent()))
    return known;
  ArrayType type = arrayType(a), batch = minus(batchOf(type, dims), {pair});
  StringAttr row = rowOf(dims), column = columnOf(dims);
  Call call(to, batch);
  call.in(a, {row, column, pair});
  call.out(type, {row, column, pair});
  call.out(type, {row, column, pair});
  call.out(minus(type, {column, pair}).withElement(to.b.getI64Type()), {row});
  call.out(batch, {});
  return known = call.emit("xt_complex_lu");
}

void lower(ComplexFactorOp op, Lowering &to) {
  ArrayAttr dims = op.getDims();
  ArrayType type = arrayType(op.getA());
  StringAttr row = rowOf(dims), column = columnOf(dims), inner = op.getInnerAttr();
  StringAttr pair = op.getPairAttr();
  bool lu = op.getKind() == ComplexFactorKind::lu;
  if (op.isSquare() || lu)
    checkSquare(type, dims, to);
  noteInner(inner, type, dims, to);
  if (lu && type.getSize(row) == type.getSize(column)) {
    SmallVector<Value> factors = complexLuOf(op.getA(), dims, pair, to);
    for (auto [result, tensor] : llvm::zip_equal(op.getFactors(), factors))
      to.setTensor(result, tensor);
    return;
  }
  Call call(to, minus(batchOf(type, dims), {pair}));
  call.in(op.getA(), {row, column, pair});
  for (Value factor : op.getFactors()) {
    Names trailing;
    for (StringAttr name : {row, inner, column, pair})
      if (arrayType(factor).hasDim(name))
        trailing.push_back(name);
    call.out(arrayType(factor), trailing);
  }
  std::string routine = ("xt_complex_" + stringifyComplexFactorKind(op.getKind())).str();
  SmallVector<Value> results = call.emit(routine);
  for (auto [result, tensor] : llvm::zip_equal(op.getFactors(), results))
    to.setTensor(result, tensor);
}

void lower(EighOp op, Lowering &to) {
  ArrayType type = arrayType(op.getA());
  checkSquare(type, op.getDims(), to);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), inner = op.getInnerAttr();
  noteInner(inner, type, op.getDims(), to);
  Call call(to, batchOf(type, op.getDims()));
  call.in(op.getA(), {row, column});
  call.out(arrayType(op.getW()), {inner});
  call.out(arrayType(op.getV()), {row, inner});
  SmallVector<Value> results = call.emit("xt_eigh");
  to.setTensor(op.getW(), results[0]);
  to.setTensor(op.getV(), results[1]);
}

void lower(LuOp op, Lowering &to) {
  // Derivatives and determinants count on it where sizes are not known.
  checkSquare(arrayType(op.getA()), op.getDims(), to);
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), luOf(op.getA(), op.getDims(), to)))
    to.setTensor(result, tensor);
}

void lower(PinvOp op, Lowering &to) {
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  Call call(to, batchOf(arrayType(op.getA()), op.getDims()));
  call.in(op.getA(), {row, column});
  call.out(arrayType(op.getP()), {column, row});
  to.setTensor(op.getP(), call.emit("xt_pinv")[0]);
}

void lower(QrOp op, Lowering &to) {
  ArrayType type = arrayType(op.getA());
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), inner = op.getInnerAttr();
  noteInner(inner, type, op.getDims(), to);
  Call call(to, batchOf(type, op.getDims()));
  call.in(op.getA(), {row, column});
  call.out(arrayType(op.getQ()), {row, inner});
  call.out(arrayType(op.getR()), {inner, column});
  SmallVector<Value> results = call.emit("xt_qr");
  to.setTensor(op.getQ(), results[0]);
  to.setTensor(op.getR(), results[1]);
}

void lower(SvdOp op, Lowering &to) {
  ArrayType type = arrayType(op.getA());
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), inner = op.getInnerAttr();
  noteInner(inner, type, op.getDims(), to);
  Call call(to, batchOf(type, op.getDims()));
  call.in(op.getA(), {row, column});
  call.out(arrayType(op.getU()), {row, inner});
  call.out(arrayType(op.getS()), {inner});
  call.out(arrayType(op.getVh()), {inner, column});
  SmallVector<Value> results = call.emit("xt_svd");
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    to.setTensor(result, tensor);
}

/// The dims of a right-hand side or solution beside the batch: that of the equation, then the rest.
Names withRest(ArrayType type, StringAttr first, ArrayType batch) {
  Names names{first};
  for (StringAttr name : type.getDimNames())
    if (name != first && !batch.hasDim(name))
      names.push_back(name);
  return names;
}

/// Whether `b` is 1 where the positions along its two dims are equal, and else 0.
bool isIdentity(Value b) {
  if (arrayType(b).getRank() != 2)
    return false;
  Value where;
  if (auto cast = b.getDefiningOp<CastOp>()) {
    where = cast.getX();
  } else if (auto select = b.getDefiningOp<SelectOp>()) {
    DenseElementsAttr one, zero;
    if (!matchPattern(select.getLhs(), m_Constant(&one)) || !one.isSplat() ||
        !one.getSplatValue<APFloat>().isExactlyValue(1.0) ||
        !matchPattern(select.getRhs(), m_Constant(&zero)) || !zero.isSplat() ||
        !zero.getSplatValue<APFloat>().isZero())
      return false;
    where = select.getCondition();
  }
  auto compare = where ? where.getDefiningOp<CompareOp>() : CompareOp();
  return compare && compare.getPredicate() == ComparePredicate::eq &&
         arrayType(where).getRank() == 2 && compare.getLhs().getDefiningOp<IotaOp>() &&
         compare.getRhs().getDefiningOp<IotaOp>();
}

/// `withRest` of complex numbers: their parts come last.
Names withRest(ArrayType type, StringAttr first, ArrayType batch, StringAttr pair) {
  Names names = withRest(minus(type, {pair}), first, batch);
  names.push_back(pair);
  return names;
}

void lowerComplex(SolveOp op, Lowering &to) {
  ArrayAttr dims = op.getDims();
  StringAttr pair = op.getPairAttr(), row = rowOf(dims), column = columnOf(dims);
  ArrayType type = arrayType(op.getA()), x = arrayType(op.getX());
  ArrayType batch = minus(batchOf(type, dims), {pair});
  checkSquare(type, dims, to);
  SmallVector<Value> lu = complexLuOf(op.getA(), dims, pair, to);
  Call call(to, batch);
  call.in(lu[0], type.getDimNames(), {row, column, pair});
  call.in(lu[1], type.getDimNames(), {row, column, pair});
  Names order(minus(type, {column, pair}).getDimNames());
  call.in(lu[2], order, {row});
  auto from = op.getTransposed() ? column : row, into = op.getTransposed() ? row : column;
  call.in(op.getB(), withRest(arrayType(op.getB()), from, batch, pair));
  call.out(x, withRest(x, into, batch, pair));
  to.setTensor(op.getX(), call.emit("xt_complex_lu_solve", {op.getTransposed()})[0]);
}

void lower(SolveOp op, Lowering &to) {
  if (op.getPair())
    return lowerComplex(op, to);
  ArrayAttr dims = op.getDims();
  ArrayType type = arrayType(op.getA()), batch = batchOf(type, dims), x = arrayType(op.getX());
  StringAttr row = rowOf(dims), column = columnOf(dims);
  checkSquare(type, dims, to);
  SmallVector<Value> lu = luOf(op.getA(), dims, to);
  Call call(to, batch);
  call.in(lu[0], type.getDimNames(), {row, column});
  Names order(minus(type, {column}).getDimNames());
  auto from = op.getTransposed() ? column : row, into = op.getTransposed() ? row : column;
  Names columns = withRest(x, into, batch);
  if (isIdentity(op.getB()) && columns.size() == 2 && !x.isDynamic(columns[1]) &&
      x.getSize(columns[1]) == x.getSize(into)) {
    call.in(lu[1], order, {row});
    call.out(x, columns);
    return to.setTensor(op.getX(), call.emit("xt_lu_inverse", {op.getTransposed()})[0]);
  }
  call.in(lu[op.getTransposed() ? 2 : 1], order, {row});
  call.in(op.getB(), withRest(arrayType(op.getB()), from, batch));
  call.out(x, columns);
  to.setTensor(op.getX(), call.emit("xt_lu_solve", {op.getTransposed()})[0]);
}

void lower(TriangularSolveOp op, Lowering &to) {
  ArrayAttr dims = op.getDims();
  ArrayType batch = batchOf(arrayType(op.getA()), dims), x = arrayType(op.getX());
  StringAttr row = rowOf(dims), column = columnOf(dims);
  checkSquare(arrayType(op.getA()), dims, to);
  if (StringAttr pair = op.getPairAttr()) {
    batch = minus(batch, {pair});
    Call call(to, batch);
    call.in(op.getA(), {row, column, pair});
    call.in(op.getB(), withRest(arrayType(op.getB()), row, batch, pair));
    call.out(x, withRest(x, column, batch, pair));
    auto found = call.emit("xt_complex_triangular_solve", {op.getUpper(), op.getUnit()});
    return to.setTensor(op.getX(), found[0]);
  }
  Call call(to, batch);
  call.in(op.getA(), {row, column});
  call.in(op.getB(), withRest(arrayType(op.getB()), row, batch));
  call.out(x, withRest(x, column, batch));
  to.setTensor(op.getX(), call.emit("xt_triangular_solve", {op.getUpper(), op.getUnit()})[0]);
}

void lower(TriangularContractOp op, Lowering &to) {
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  ArrayType x = arrayType(op.getX());
  int matrix = op.getMatrixOperand();
  if (matrix < 0) {
    bool swap = arrayType(op.getB()).hasDim(row);
    Names rows{row}, columns{column};
    for (auto dim : op.getOver().getAsRange<StringAttr>()) {
      rows.push_back(dim);
      columns.push_back(dim);
    }
    Call call(to, batchOf(x, op.getDims()));
    call.in(swap ? op.getB() : op.getA(), rows);
    call.in(swap ? op.getA() : op.getB(), columns);
    call.out(x, {row, column});
    return to.setTensor(op.getX(), call.emit("xt_triangle_of_product", {op.getStrict()})[0]);
  }
  Value a = op->getOperand(matrix), b = op->getOperand(1 - matrix);
  ArrayType batch = batchOf(arrayType(a), op.getDims());
  checkSquare(arrayType(a), op.getDims(), to);
  bool upper = llvm::is_contained(op.getOver(), row);
  if (upper)
    std::swap(row, column);
  Call call(to, batch);
  call.in(a, {row, column});
  call.in(b, withRest(arrayType(b), column, batch));
  call.out(x, withRest(x, row, batch));
  to.setTensor(op.getX(), call.emit("xt_triangular_product", {upper, op.getStrict()})[0]);
}

} // namespace

LogicalResult xtensor::lowerFactors(Operation *op, Lowering &to) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<CholeskyOp, CholeskyTangentOp, ComplexFactorOp, EighOp, LuOp, LuTangentOp, PinvOp, QrOp,
            SolveOp, SvdOp, TriangularContractOp, TriangularSolveOp>(
          [&](auto known) { return lower(known, to), success(); })
      .Default([](Operation *) { return failure(); });
}
