// Dense linear algebra. Factors are residuals, and the tangent consists of linear ops: triangular
// solves, contractions and masks.
//
// Formulas: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation" (2008); Murray, "Differentiation of the Cholesky decomposition" (2016); Golub
// and Pereyra (1973) for the pseudoinverse.
#include "Autodiff/Linearizer.h"
#include "Autodiff/Transposer.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// The algebra of one rule: arrays whose matrix dims have the names that the formula gives them.
class Algebra {
public:
  Algebra(Linearizer &l, Operation *op) : l(l), b(l.primal), t(l.linear), op(op) {
    for (Value v : op->getOperands())
      known.push_back(arrayType(v));
    for (Value v : op->getResults())
      known.push_back(arrayType(v));
  }

  /// A name that no array of this rule has.
  StringAttr fresh(StringAttr like) {
    StringAttr name = freshName(like, known);
    known.push_back(ArrayType::get(name.getContext(), {name}, {1}, l.primal.getF32Type()));
    return name;
  }

  using Names = ArrayRef<std::pair<StringAttr, StringAttr>>;
  static Value renamed(ImplicitLocOpBuilder &b, Value v, Names names) {
    SmallVector<Attribute> from, to;
    for (auto [before, after] : names) {
      from.push_back(before);
      to.push_back(after);
    }
    return RenameOp::create(b, v, b.getArrayAttr(from), b.getArrayAttr(to));
  }
  static Value contract(ImplicitLocOpBuilder &b, Value x, Value y, ArrayRef<StringAttr> over) {
    SmallVector<Attribute> dims(over.begin(), over.end());
    return ContractOp::create(b, ValueRange{x, y}, b.getArrayAttr(dims), ArrayAttr());
  }
  static Value solve(ImplicitLocOpBuilder &b, Value a, Value rhs, StringAttr row, StringAttr column,
                     bool upper, bool unit = false) {
    return TriangularSolveOp::create(b, a, rhs, b.getArrayAttr({row, column}), upper, unit,
                                     StringAttr());
  }
  /// The terms of the contraction of two tangents, or of one and a value, on one side of a
  /// diagonal.
  Value triangular(Value x, Value y, ArrayRef<StringAttr> over, StringAttr row, StringAttr column,
                   bool upper, bool strict = false) {
    SmallVector<Attribute> sums(over.begin(), over.end());
    ArrayAttr dims = upper ? b.getArrayAttr({column, row}) : b.getArrayAttr({row, column});
    return TriangularContractOp::create(t, x, y, b.getArrayAttr(sums), dims, strict);
  }
  /// `tangent`, or zeros without one, minus `moved`.
  Value less(Value tangent, Value moved) {
    return tangent ? SubOp::create(t, tangent, moved).getResult()
                   : NegOp::create(t, moved).getResult();
  }
  Value positions(StringAttr name, Value like, StringAttr dim) {
    int64_t size = arrayType(like).getSize(dim);
    auto along = ArrayType::get(b.getContext(), {name}, {size}, b.getI64Type());
    return IotaOp::create(b, along, size == ArrayType::kDynamic ? sizeOf(like, dim) : Value());
  }
  /// Read off the value: names that are fresh here may stand for another size in another rule.
  Value sizeOf(Value like, StringAttr dim) { return b.createOrFold<SizeOp>(like, dim); }
  /// Where position(row) `predicate` position(column); the sizes are those of `like`'s dims.
  Value where(ComparePredicate predicate, StringAttr row, Value rowLike, StringAttr rowDim,
              StringAttr column, Value columnLike, StringAttr columnDim) {
    return CompareOp::create(b, predicate, positions(row, rowLike, rowDim),
                             positions(column, columnLike, columnDim));
  }
  Value where(ComparePredicate predicate, StringAttr row, StringAttr column, Value like) {
    return where(predicate, row, like, row, column, like, column);
  }
  Value identity(StringAttr row, Value rowLike, StringAttr rowDim, StringAttr column,
                 Value columnLike, StringAttr columnDim) {
    Value on = where(ComparePredicate::eq, row, rowLike, rowDim, column, columnLike, columnDim);
    return SelectOp::create(b, on, number(b, 1), number(b, 0));
  }
  Value number(ImplicitLocOpBuilder &b, double value) {
    return scalar(b, b.getLoc(), arrayType(op->getOperand(0)).getElementType(), value);
  }
  Value masked(ImplicitLocOpBuilder &b, Value mask, Value v) {
    return SelectOp::create(b, mask, v, number(b, 0));
  }
  /// What both parts of a complex factor of `x` multiply, along the dim `part`: x and i x, or with
  /// `conjugated`, of a factor that is conjugated, x and -i x.
  Value terms(Value x, StringAttr pair, StringAttr part, bool conjugated) {
    StringAttr summed = fresh(pair);
    double i = conjugated ? -1 : 1;
    SmallVector<Attribute> numbers; // (summed, part, pair)
    for (double v : {1., 0., 0., i, 0., 1., -i, 0.})
      numbers.push_back(b.getFloatAttr(arrayType(x).getElementType(), v));
    Type element = arrayType(x).getElementType();
    Value turn = ConstantOp::create(
        b, ArrayType::get(b.getContext(), {summed, part, pair}, {2, 2, 2}, element),
        DenseElementsAttr::get(RankedTensorType::get({2, 2, 2}, element), numbers));
    return contract(b, renamed(b, x, {{pair, summed}}), turn, {summed});
  }
  /// 1 / x off the diagonal (p, k), 0 on it; k is a dim of `like`, p is another name for it.
  Value gaps(Value x, StringAttr p, StringAttr k, Value like) {
    Value on = where(ComparePredicate::eq, p, like, k, k, like, k);
    Value safe = SelectOp::create(b, on, number(b, 1), x);
    return SelectOp::create(b, on, number(b, 0), DivOp::create(b, number(b, 1), safe).getResult());
  }
  /// What `v`, which is empty along `dim`, has no elements for.
  Value zeros(ImplicitLocOpBuilder &on, Value v, StringAttr dim, StringAttr into, int64_t size,
              Value sized, StringAttr like) {
    Value sum = ReduceOp::create(on, ReduceKind::sum, v, b.getArrayAttr({dim}));
    ArrayType type = arrayType(v);
    SmallVector<StringAttr> names(type.getDimNames());
    SmallVector<int64_t> shape(type.getShape());
    names[type.find(dim)] = into;
    shape[type.find(dim)] = size;
    SmallVector<Value> sizes;
    if (size == ArrayType::kDynamic)
      sizes.push_back(sizeOf(sized, like));
    return BroadcastOp::create(
        on, ArrayType::get(type.getContext(), names, shape, type.getElementType()), sum, sizes);
  }
  /// `v` with dim `dim` as `into`, as long as dim `like` of `sized`: the first elements, or zeros
  /// after the last one. `whole` has the size of `dim`.
  Value fitted(ImplicitLocOpBuilder &on, Value v, StringAttr dim, StringAttr into, Value sized,
               StringAttr like, Value whole) {
    int64_t now = arrayType(v).getSize(dim), size = arrayType(sized).getSize(like);
    if (now == 0)
      return zeros(on, v, dim, into, size, sized, like);
    if (now == ArrayType::kDynamic || size == ArrayType::kDynamic) {
      Value at = positions(into, sized, like);
      Value read = GatherOp::create(on, IndexMode::clip, v, ValueRange{at}, b.getArrayAttr({dim}));
      Value inside = CompareOp::create(b, ComparePredicate::lt, at, sizeOf(whole, dim));
      return masked(on, inside, read);
    }
    if (size < now)
      v = SliceOp::create(on, v, b.getArrayAttr({dim}), int64_t(0), size, int64_t(1));
    else if (size > now)
      v = PadOp::create(on, v, number(b, 0), b.getArrayAttr({dim}), ArrayRef<int64_t>{0},
                        ArrayRef<int64_t>{size - now}, ArrayRef<int64_t>{0});
    return renamed(on, v, {{dim, into}});
  }

  Linearizer &l;
  ImplicitLocOpBuilder &b, &t;
  Operation *op;

private:
  SmallVector<ArrayType> known;
};

StringAttr rowOf(ArrayAttr dims) { return cast<StringAttr>(dims[0]); }
StringAttr columnOf(ArrayAttr dims) { return cast<StringAttr>(dims[1]); }

} // namespace

/// An op of its own, at the cost of the factorisation's steps; L^-1 dA L^-T would take six times as
/// much.
static void choleskyTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<CholeskyOp>(o);
  tangents[0] =
      CholeskyTangentOp::create(l.linear, op.getL(), l.tangent(op.getA()), op.getDims(), false);
}

/// From X L^T + L X^T = T follows dX L^T + L dX^T = dT - (X dL^T + dL X^T), whose symmetric part is
/// that of dT - 2 X dL^T; and where X is symmetric and 2 X L has the lower triangle of T, 2 dX L
/// has that of dT - 2 X dL.
static void choleskyTangentTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<CholeskyTangentOp>(o);
  Algebra m(l, op);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  Value t = l.tangent(op.getT()), dL = l.tangent(op.getL());
  if (dL) {
    StringAttr p = m.fresh(column);
    dL = m.masked(m.t, m.where(ComparePredicate::ge, row, column, op.getL()), dL);
    dL = op.getTransposed() ? m.renamed(m.t, dL, {{row, p}})
                            : m.renamed(m.t, dL, {{row, column}, {column, p}});
    Value x = m.renamed(m.b, op.getX(), {{column, p}});
    x = MulOp::create(m.b, x, m.number(m.b, -2));
    Value moved = m.contract(m.t, x, dL, {p});
    t = t ? AddOp::create(m.t, t, moved).getResult() : moved;
  }
  tangents[0] = CholeskyTangentOp::create(m.t, op.getL(), t, op.getDims(), op.getTransposed());
}

/// The other direction of the same op, by the same factors.
template <typename Op>
static Value tangentBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<Op>(o);
  return Op::create(t.b, t.residual(op->getOperand(0)), ct, op.getDims(), !op.getTransposed());
}

/// dV = V (F * V^T dA V), dw = diag(V^T dA V), F = 1 / (w_j - w_i), 0 on the diagonal. Vectors of
/// equal eigenvalues have no derivative: infinities say so.
static void eighTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<EighOp>(o);
  Algebra m(l, op);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), k = op.getInnerAttr();
  StringAttr p = m.fresh(k);
  Value w = op.getW(), v = op.getV(), vp = m.renamed(m.b, v, {{k, p}});
  Value av = m.contract(m.t, l.tangent(op.getA()), m.renamed(m.b, v, {{row, column}}), {column});
  Value s = m.contract(m.t, vp, av, {row});
  tangents[0] = m.contract(m.t, v, av, {row}); // no other element of V^T dA V is needed for it
  Value both = AddOp::create(m.t, s, m.renamed(m.t, s, {{p, k}, {k, p}}));
  Value f = m.gaps(SubOp::create(m.b, w, m.renamed(m.b, w, {{k, p}})), p, k, v);
  f = MulOp::create(m.b, f, m.number(m.b, 0.5));
  tangents[1] = m.contract(m.t, vp, MulOp::create(m.t, f, both), {p});
}

/// As for cholesky.
static void luTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<LuOp>(o);
  Value sorted =
      GatherOp::create(l.linear, IndexMode::clip, l.tangent(op.getA()), ValueRange{op.getOrder()},
                       l.primal.getArrayAttr({rowOf(op.getDims())}));
  tangents[0] = LuTangentOp::create(l.linear, op.getPacked(), sorted, op.getDims(), false);
}

/// With X and d(LU) parted into D, E and dL, dU: from D U + L E = T follows
/// dD U + L dE = dT - (D dU + dL E), and X U^T and L^T X change by X dU^T and dL^T X.
static void luTangentTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<LuTangentOp>(o);
  Algebra m(l, op);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  Value t = l.tangent(op.getT()), change = l.tangent(op.getPacked());
  if (change) {
    Value packed = op.getPacked(), x = op.getX(), minus = m.number(m.b, -1);
    Value below = m.where(ComparePredicate::gt, row, column, packed);
    Value above = NotOp::create(m.b, below);
    StringAttr p = m.fresh(row);
    // Inner dims are as long as the rows.
    auto lower = [&](ImplicitLocOpBuilder &on, Value v) {
      return m.fitted(on, m.masked(on, below, v), column, p, packed, row, packed);
    };
    auto upper = [&](ImplicitLocOpBuilder &on, Value v) {
      return m.renamed(on, m.masked(on, above, v), {{row, p}});
    };
    Value dL = lower(m.t, change), dU = upper(m.t, change), left, right;
    if (op.getTransposed()) {
      x = MulOp::create(m.b, x, minus);
      left = m.contract(m.t, x, dU, {column});
      left = m.masked(m.t, below, m.fitted(m.t, left, p, column, packed, column, left));
      right = m.renamed(m.t, m.contract(m.t, dL, x, {row}), {{p, row}});
      right = m.masked(m.t, above, right);
    } else {
      left = m.contract(m.t, MulOp::create(m.b, lower(m.b, x), minus), dU, {p});
      right = m.contract(m.t, dL, MulOp::create(m.b, upper(m.b, x), minus), {p});
    }
    Value moved = AddOp::create(m.t, left, right);
    t = t ? AddOp::create(m.t, t, moved).getResult() : moved;
  }
  tangents[0] = LuTangentOp::create(m.t, op.getPacked(), t, op.getDims(), op.getTransposed());
}

/// -P dA P + P P^T dA^T (I - A P) + (I - P A) dA^T P^T P, for matrices of constant rank.
static void pinvTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<PinvOp>(o);
  Algebra m(l, op);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims());
  StringAttr r = m.fresh(row), c = m.fresh(column);
  Value a = op.getA(), p = op.getP(); // p: (column, row)
  Value dA = m.renamed(m.t, l.tangent(a), {{row, r}, {column, c}});
  Value pr = m.renamed(m.b, p, {{row, r}}), pc = m.renamed(m.b, p, {{column, c}});
  auto complement = [&](StringAttr x, StringAttr y, Value like, Value product) -> Value {
    return SubOp::create(m.b, m.identity(x, like, x, y, product, y), product);
  };
  Value rows = m.contract(m.b, m.renamed(m.b, a, {{row, r}}), p, {column});    // A P (r, row)
  Value columns = m.contract(m.b, p, m.renamed(m.b, a, {{column, c}}), {row}); // P A (column, c)
  Value restOfRows = complement(r, row, pr, rows);
  Value restOfColumns = complement(column, c, p, columns);
  Value first = m.contract(m.t, m.contract(m.t, pr, dA, {r}), pc, {c});
  Value ppt = m.contract(m.b, p, pc, {row}), ptp = m.contract(m.b, pr, p, {column});
  Value second = m.contract(m.t, m.contract(m.t, ppt, dA, {c}), restOfRows, {r});
  Value third = m.contract(m.t, m.contract(m.t, restOfColumns, dA, {c}), ptp, {r});
  tangents[0] = SubOp::create(m.t, AddOp::create(m.t, second, third).getResult(), first);
}

/// With R1 the square part of R, X = dA1 R1^-1, S = Q^T X and V the upper triangular matrix of
/// which S less V is skew-symmetric: dQ = X - Q V and dR = V R, where V R is dR1; what a wide
/// matrix has beside it gets Q^T (dA - X R), too.
static void qrTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<QrOp>(o);
  Algebra m(l, op);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), k = op.getInnerAttr();
  StringAttr p = m.fresh(k), j = m.fresh(column);
  Value q = op.getQ(), r = op.getR(), dA = l.tangent(op.getA());
  Value square = m.fitted(m.b, r, column, j, q, k, r); // (k, j)
  Value part = m.fitted(m.t, dA, column, j, q, k, r);
  Value x = m.solve(m.t, square, part, j, k, /*upper=*/false); // (row, k)
  Value qp = m.renamed(m.b, q, {{k, p}});
  Value s = m.contract(m.t, qp, x, {row}); // (p, k)
  Value upper = m.masked(m.t, m.where(ComparePredicate::le, p, q, k, k, q, k), s);
  Value lower = m.masked(m.t, m.where(ComparePredicate::gt, p, q, k, k, q, k), s);
  Value v = AddOp::create(m.t, upper, m.renamed(m.t, lower, {{p, k}, {k, p}}));
  tangents[0] = SubOp::create(m.t, x, m.triangular(v, qp, {p}, p, k, /*upper=*/true));
  Value moved = m.triangular(v, r, {k}, p, k, /*upper=*/true); // (p, column)
  tangents[1] = m.renamed(m.t, moved, {{p, k}});

  int64_t size = arrayType(q).getSize(k), columns = arrayType(r).getSize(column);
  bool dynamic = size == ArrayType::kDynamic || columns == ArrayType::kDynamic;
  if (!dynamic && columns == size)
    return;
  auto beside = [&](ImplicitLocOpBuilder &on, Value v) -> Value {
    return dynamic ? v
                   : SliceOp::create(on, v, m.b.getArrayAttr({column}), size, columns - size,
                                     int64_t(1));
  };
  Value rest = m.less(beside(m.t, dA), m.contract(m.t, x, beside(m.b, r), {k}));
  rest = m.contract(m.t, q, rest, {row}); // (k, column)
  if (dynamic) {
    Value at = m.positions(column, r, column);
    rest = m.masked(m.t, CompareOp::create(m.b, ComparePredicate::ge, at, m.sizeOf(q, k)), rest);
  } else {
    rest = PadOp::create(m.t, rest, m.number(m.t, 0), m.b.getArrayAttr({column}),
                         ArrayRef<int64_t>{size}, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0});
  }
  tangents[1] = AddOp::create(m.t, tangents[1], rest);
}

/// With S = U^T dA V and F = 1 / (s_j^2 - s_i^2): ds = diag(S), dU = U (F * (S s + (S s)^T)) and
/// dV = V (F * (s S + (s S)^T)), plus what leaves the space that U or V span. As in eigh, vectors
/// of equal singular values, or of 0, have no derivative.
static void svdTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<SvdOp>(o);
  Algebra m(l, op);
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), k = op.getInnerAttr();
  StringAttr p = m.fresh(k);
  Value u = op.getU(), s = op.getS(), vh = op.getVh(), dA = l.tangent(op.getA());
  ArrayType type = arrayType(op.getA());
  int64_t rows = type.getSize(row), columns = type.getSize(column);
  bool dynamic = rows == ArrayType::kDynamic || columns == ArrayType::kDynamic;
  Value up = m.renamed(m.b, u, {{k, p}}), sp = m.renamed(m.b, s, {{k, p}});
  Value vp = m.renamed(m.b, vh, {{k, p}});
  Value ua = m.contract(m.t, up, dA, {row});   // U^T dA (p, column)
  Value S = m.contract(m.t, ua, vh, {column}); // (p, k)
  // No other element of S is needed for ds.
  tangents[1] = m.contract(m.t, m.renamed(m.t, ua, {{p, k}}), vh, {column});
  Value gaps = MulOp::create(m.b, SubOp::create(m.b, s, sp).getResult(),
                             AddOp::create(m.b, s, sp).getResult());
  Value f = m.gaps(gaps, p, k, u);
  auto symmetric = [&](Value x) -> Value {
    Value both = AddOp::create(m.t, x, m.renamed(m.t, x, {{p, k}, {k, p}}));
    return MulOp::create(m.t, f, both);
  };
  tangents[0] = m.contract(m.t, up, symmetric(MulOp::create(m.t, S, s)), {p});
  tangents[2] = m.contract(m.t, symmetric(MulOp::create(m.t, S, sp)), vp, {p});
  Value inverse = DivOp::create(m.b, m.number(m.b, 1), s);
  if (dynamic || rows > columns) {
    Value av = m.contract(m.t, dA, vh, {column});
    Value rest = SubOp::create(m.t, av, m.contract(m.t, up, S, {p}));
    rest = MulOp::create(m.t, rest, inverse);
    tangents[0] = AddOp::create(m.t, tangents[0], rest);
  }
  if (dynamic || columns > rows) {
    // U^T dA - S Vh, with S's rows as k.
    Value turned = m.renamed(m.t, S, {{p, k}, {k, p}});
    Value rest = SubOp::create(m.t, m.renamed(m.t, ua, {{p, k}}), m.contract(m.t, turned, vp, {p}));
    rest = MulOp::create(m.t, rest, inverse);
    tangents[2] = AddOp::create(m.t, tangents[2], rest);
  }
}

//===- solves --------------------------------------------------------------===//

static void solveTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<SolveOp>(o);
  Algebra m(l, op);
  StringAttr over = cast<StringAttr>(op.getDims()[op.getTransposed() ? 0 : 1]);
  StringAttr pair = op.getPairAttr();
  Value dA = l.tangent(op.getA()), rhs = l.tangent(op.getB());
  if (dA && pair) {
    StringAttr part = m.fresh(pair);
    Value terms = m.terms(op.getX(), pair, part, /*conjugated=*/op.getTransposed());
    rhs = m.less(rhs, m.contract(m.t, m.renamed(m.t, dA, {{pair, part}}), terms, {over, part}));
  } else if (dA) {
    rhs = m.less(rhs, m.contract(m.t, dA, op.getX(), {over}));
  }
  tangents[0] = SolveOp::create(l.linear, op.getA(), rhs, op.getDims(), op.getTransposed(), pair);
}

static Value solveBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<SolveOp>(o);
  return SolveOp::create(t.b, t.residual(op.getA()), ct, op.getDims(), !op.getTransposed(),
                         op.getPairAttr());
}

/// What moves the right-hand side is the triangle's tangent times the solution.
static void triangularSolveTangent(Linearizer &l, Operation *o, MutableArrayRef<Value> tangents) {
  auto op = cast<TriangularSolveOp>(o);
  Algebra m(l, op);
  Value dA = l.tangent(op.getA()), rhs = l.tangent(op.getB());
  StringAttr row = rowOf(op.getDims()), column = columnOf(op.getDims()), pair = op.getPairAttr();
  bool upper = op.getUpper(), unit = op.getUnit();
  if (dA && pair) {
    StringAttr part = m.fresh(pair);
    auto side = upper  ? unit ? ComparePredicate::lt : ComparePredicate::le
                : unit ? ComparePredicate::gt
                       : ComparePredicate::ge;
    dA = m.masked(m.t, m.where(side, row, column, op.getA()), dA);
    Value terms = m.terms(op.getX(), pair, part, /*conjugated=*/false);
    rhs = m.less(rhs, m.contract(m.t, m.renamed(m.t, dA, {{pair, part}}), terms, {column, part}));
  } else if (dA) {
    rhs = m.less(rhs, m.triangular(dA, op.getX(), {column}, row, column, upper, unit));
  }
  tangents[0] =
      TriangularSolveOp::create(l.linear, op.getA(), rhs, op.getDims(), upper, unit, pair);
}

static Value triangularSolveBack(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<TriangularSolveOp>(o);
  ArrayAttr turned = t.b.getArrayAttr({op.getDims()[1], op.getDims()[0]});
  Value a = t.residual(op.getA());
  StringAttr pair = op.getPairAttr();
  if (pair) { // the adjoint's elements are conjugates
    Type element = arrayType(a).getElementType();
    SmallVector<Attribute> signs{t.b.getFloatAttr(element, 1), t.b.getFloatAttr(element, -1)};
    Value conjugate =
        ConstantOp::create(t.b, ArrayType::get(t.b.getContext(), {pair}, {2}, element),
                           DenseElementsAttr::get(RankedTensorType::get({2}, element), signs));
    a = MulOp::create(t.b, a, conjugate);
  }
  return TriangularSolveOp::create(t.b, a, ct, turned, !op.getUpper(), op.getUnit(), pair);
}

/// The same terms, of the cotangent and the other operand.
static Value triangularContractBack(Transposer &t, Operation *o, unsigned i, Value ct) {
  auto op = cast<TriangularContractOp>(o);
  Value other = op->getOperand(1 - i);
  ArrayType mine = arrayType(op->getOperand(i)), others = arrayType(other);
  SmallVector<Attribute> over;
  if (op.getMatrixOperand() == int(i)) {
    for (StringAttr dim : others.getDimNames())
      if (!mine.hasDim(dim))
        over.push_back(dim);
  } else {
    for (Attribute dim : op.getDims())
      if (!mine.hasDim(dim))
        over.push_back(dim);
  }
  return TriangularContractOp::create(t.b, ct, t.residual(other), t.b.getArrayAttr(over),
                                      op.getDims(), op.getStrict());
}

//===- the table -----------------------------------------------------------===//

static Rule factors(TangentsFn tangents, StringRef text) {
  Rule rule{Table::Chooser};
  rule.tangents = tangents;
  rule.text = text;
  return rule;
}

/// Linear in the second operand, a product rule in the matrix.
static Rule linearInSecond(TangentsFn tangents, TransposeFn transpose, StringRef text) {
  Rule rule{Table::Linear};
  rule.linearity = Linearity::Jointly;
  rule.operands = {1};
  rule.tangents = tangents;
  rule.transpose = transpose;
  rule.text = text;
  return rule;
}
#define NAMED(fn) fn, #fn

void xtensor::addFactorRules(Rules &rules) {
  rules.add<CholeskyOp>(factors(NAMED(choleskyTangent)));
  rules.add<CholeskyTangentOp>(
      linearInSecond(choleskyTangentTangent, NAMED(tangentBack<CholeskyTangentOp>)));
  rules.add<EighOp>(factors(NAMED(eighTangent)));
  rules.add<LuOp>(factors(NAMED(luTangent)));
  rules.add<LuTangentOp>(linearInSecond(luTangentTangent, NAMED(tangentBack<LuTangentOp>)));
  rules.add<PinvOp>(factors(NAMED(pinvTangent)));
  rules.add<QrOp>(factors(NAMED(qrTangent)));
  rules.add<SvdOp>(factors(NAMED(svdTangent)));
  rules.add<SolveOp>(linearInSecond(solveTangent, NAMED(solveBack)));
  Rule each{Table::Linear};
  each.linearity = Linearity::Each;
  each.transpose = triangularContractBack;
  each.text = "triangularContractBack";
  rules.add<TriangularContractOp>(each);
  rules.add<TriangularSolveOp>(linearInSecond(triangularSolveTangent, NAMED(triangularSolveBack)));
}
