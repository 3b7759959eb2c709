// Choosers: ops such as max, which choose elements. The chosen position is computed once, as a
// residual. The tangent then goes through an ordinary linear op, whose transpose exists already.
// The rule of prod works in the same way: its residuals are the products of the other elements.
#include "Autodiff/ScatterRules.h"
#include "Estimates.h"

using namespace mlir;
using namespace xtensor;

/// Rows shorter than this are not cut into parts, and this many adjacent rows make one part.
constexpr int64_t kLeastRow = 128, kLeastRows = 8, kMostRows = 64;

namespace {
/// An array seen such that one reduction over `inner` gives the parts of a longer one.
struct Parts {
  Value x;
  ArrayAttr inner;
};
} // namespace

/// Dim `dim` of `x` in parts of `length`, in the order in which they are stored.
static Parts cutDim(ImplicitLocOpBuilder &b, Value x, StringAttr dim, int64_t length) {
  ArrayType type = arrayType(x);
  StringAttr outer = freshName(dim, type);
  SmallVector<Attribute> order;
  for (StringAttr name : type.getDimNames()) {
    if (name == dim)
      order.push_back(outer);
    order.push_back(name);
  }
  x = SplitOp::create(b, x, dim, b.getStrArrayAttr({outer.getValue(), dim.getValue()}),
                      ArrayRef<int64_t>{type.getSize(dim) / length, length});
  x = conform(b, b.getLoc(), x, reordered(arrayType(x), order), {});
  return {x, b.getArrayAttr({dim})};
}

/// How to take `op` in parts; no dims if it is better taken as a whole. What is stored next to each
/// other stays so.
static Parts partsOf(ImplicitLocOpBuilder &b, ReduceOp op) {
  ArrayType type = arrayType(op.getX());
  if (!type.hasStaticShape())
    return {op.getX(), {}};
  constexpr int64_t kPart = cut::kComparedPart;
  Amount beside = 1; // elements of one position of `dim`
  for (auto [dim, size] : llvm::reverse(llvm::zip_equal(type.getDimNames(), type.getShape()))) {
    if (!llvm::is_contained(op.getDims(), dim)) {
      beside *= size;
      continue;
    }
    if (beside == 1 && size > kPart && size % (kPart / 4) == 0)
      return cutDim(b, op.getX(), dim, kPart / 4);
    if (beside == 1 && op.getDims().size() > 1 && size >= kLeastRow)
      return {op.getX(), b.getArrayAttr({dim})};
    int64_t rows = kMostRows;
    while (rows > kLeastRows && beside * rows > kPart)
      rows /= 2;
    if (beside >= kLeastRow && beside * size > 2 * kPart && size % rows == 0)
      return cutDim(b, op.getX(), dim, rows);
    break;
  }
  return {op.getX(), {}};
}

static Value sumWhere(ImplicitLocOpBuilder &b, Value condition, Value x, ArrayAttr dims) {
  Value zero = scalar(b, b.getLoc(), arrayType(x).getElementType(), 0);
  Value kept = SelectOp::create(b, condition, x, zero);
  return ReduceOp::create(b, ReduceKind::sum, kept, dims);
}

/// So many elements can be told from one less.
static bool isCounted(ArrayType type, ArrayAttr dims) {
  Type element = type.getElementType();
  int64_t most = element.isF64() ? int64_t(1) << 52 : element.isF32() ? int64_t(1) << 23 : 0;
  for (Attribute dim : dims)
    most = type.isDynamic(dim) ? 0 : most / std::max<int64_t>(1, type.getSize(dim));
  return most > 0;
}

namespace {
/// Who owns an extremum, told by one comparison per element: those that reach it, or, where it is
/// NaN and all numbers reach infinity instead, those that do not.
struct Owners {
  Owners(ImplicitLocOpBuilder &b, ReduceKind kind, Value x, Value y, ArrayAttr dims)
      : x(x), dims(dims) {
    ArrayType type = arrayType(x);
    if (!isCounted(type, dims)) {
      reaches = owns(b, x, y);
      return;
    }
    bool larger = kind == ReduceKind::max;
    isNaN = IsnanOp::create(b, y);
    double least = larger ? -HUGE_VAL : HUGE_VAL;
    Value bound =
        SelectOp::create(b, isNaN, scalar(b, b.getLoc(), type.getElementType(), least), y);
    reaches = CompareOp::create(b, larger ? ComparePredicate::ge : ComparePredicate::le, x, bound);
  }

  Value count(ImplicitLocOpBuilder &b, Value one) {
    Value reached = sum(b, one, true);
    if (!isNaN)
      return reached;
    double all = 1;
    for (Attribute dim : dims)
      all *= static_cast<double>(arrayType(x).getSize(dim));
    Value number = scalar(b, b.getLoc(), arrayType(x).getElementType(), all);
    return SelectOp::create(b, isNaN, SubOp::create(b, number, reached), reached);
  }

  /// The sum of `v` over the owners.
  Value sumOf(ImplicitLocOpBuilder &b, Value v) {
    Value reached = sum(b, v, true);
    return isNaN ? SelectOp::create(b, isNaN, sum(b, v, false), reached).getResult() : reached;
  }

private:
  Value sum(ImplicitLocOpBuilder &b, Value v, bool reached) {
    Value zero = scalar(b, b.getLoc(), arrayType(v).getElementType(), 0);
    Value kept = SelectOp::create(b, reaches, reached ? v : zero, reached ? zero : v);
    return ReduceOp::create(b, ReduceKind::sum, kept, dims);
  }

  Value x, reaches, isNaN;
  ArrayAttr dims;
};
} // namespace

/// Ties share evenly: each owner gets 1 / the number of owners.
static Value shareAmongOwners(Linearizer &l, Operation *o) {
  auto op = cast<ReduceOp>(o);
  ImplicitLocOpBuilder &b = l.primal;
  Value x = op.getX(), y = op.getY();
  ArrayAttr dims = op.getDims();
  b.setInsertionPoint(op);
  Value one = scalar(b, b.getLoc(), arrayType(x).getElementType(), 1), best, each;
  if (Parts parts = partsOf(b, op); parts.inner) {
    best = ReduceOp::create(b, op.getKind(), parts.x, parts.inner);
    each = Owners(b, op.getKind(), parts.x, best, parts.inner).count(b, one);
    op.getXMutable().assign(best);
    op.setDimsAttr(b.getArrayAttr(lacking(arrayType(best), arrayType(y))));
  }
  b.setInsertionPointAfter(op);
  Owners owners(b, op.getKind(), x, y, dims);
  Value count = best ? sumWhere(b, owns(b, best, y), each, op.getDims()) : owners.count(b, one);
  Value share = DivOp::create(b, one, count);
  return MulOp::create(l.linear, share, owners.sumOf(l.linear, l.tangent(x)));
}

/// The same for two arrays: all to the owner, half to each where both own.
static Value shareAmongTwo(Linearizer &l, Operation *op) {
  ImplicitLocOpBuilder &b = l.primal;
  Value y = op->getResult(0);
  Expr::Context context{b, arrayType(y).getElementType()};
  Value own[2] = {owns(b, op->getOperand(0), y), owns(b, op->getOperand(1), y)};
  Value sum;
  for (unsigned i : {0, 1}) {
    Value t = l.tangent(op->getOperand(i));
    if (!t)
      continue;
    Expr alone = where(Expr(context, own[1 - i]), 0.5, 1);
    Value share = where(Expr(context, own[i]), alone, 0).materialize(context);
    Value term = MulOp::create(l.linear, share, t);
    sum = sum ? AddOp::create(l.linear, sum, term).getResult() : term;
  }
  return sum;
}

//===- prod ----------------------------------------------------------------===//

/// Products of so few elements that are stored next to each other are written out: loops over so
/// few take longer. Rows of vectors are multiplied one after the other in registers, however few.
constexpr int64_t kWrittenOut = 4;
/// Of long ones along the dim that is stored last, this many run in parallel, or as many as a
/// vector holds: running products of vectors are cheaper than those inside of a vector.
constexpr int64_t kSideBySide = 64, kVector = 16;
/// Rows of a part of long columns.
constexpr int64_t kRows = 16;

/// The product over `dim` as a tree of pairwise products: exact at zeros and at any order,
/// since nothing is divided.
static Value pairwiseProduct(ImplicitLocOpBuilder &b, Value x, StringAttr dim) {
  ArrayAttr dims = b.getArrayAttr({dim});
  Value odd; // what halving left over, of size 1
  auto slice = [&](Value v, int64_t offset, int64_t size) -> Value {
    return SliceOp::create(b, v, dims, offset, size, int64_t(1));
  };
  int64_t size = arrayType(x).getSize(dim);
  while (size > 1) {
    if (size % 2) {
      Value last = slice(x, size - 1, 1);
      odd = odd ? MulOp::create(b, odd, last).getResult() : last;
    }
    size /= 2;
    x = MulOp::create(b, slice(x, 0, size), slice(x, size, size));
  }
  if (odd)
    x = MulOp::create(b, x, odd);
  return SqueezeOp::create(b, x, dims);
}

/// The parts that the last reduced dim is taken in, `beside` elements lie at each of its positions;
/// 0: none.
static int64_t lengthOfParts(ArrayType type, StringAttr dim, Amount beside) {
  int64_t size = type.getSize(dim);
  if (beside != 1) {
    bool isLong = beside >= kLeastRow && size >= kRows * kRows && size % kRows == 0;
    return isLong && type.hasStaticShape() ? kRows : 0;
  }
  int64_t lanes = size < 16 * kSideBySide || size % kSideBySide ? kVector : kSideBySide;
  return size >= 16 * kVector && size % lanes == 0 ? lanes : 0;
}

/// One dim after the other, the last stored first: short ones as trees, the others as reductions
/// over one dim, which `sumOfProductsOfOthers` knows.
static Value expandProduct(ImplicitLocOpBuilder &b, Operation *o) {
  auto op = cast<ReduceOp>(o);
  Value x = op.getX();
  auto isTree = [&](Attribute dim) {
    ArrayType type = arrayType(x);
    int64_t most = dim == type.getDimNames().back() ? kWrittenOut : 1;
    return !type.isDynamic(dim) && type.getSize(dim) > 0 && type.getSize(dim) <= most;
  };
  if (op.getDims().empty())
    return x;
  SmallVector<StringAttr> dims;
  Amount beside = 1; // elements of one position of the last of them
  for (auto [dim, size] :
       llvm::reverse(llvm::zip_equal(arrayType(x).getDimNames(), arrayType(x).getShape())))
    if (llvm::is_contained(op.getDims(), dim))
      dims.push_back(dim);
    else if (dims.empty())
      beside *= ShapedType::isDynamic(size) ? 0 : size;
  StringAttr last = dims[0];
  int64_t length = lengthOfParts(arrayType(x), last, beside);
  if (dims.size() == 1 && !length && !isTree(last))
    return {};
  if (length) {
    // Of what is stored last those side by side are multiplied at the end, of others first.
    dims.insert(dims.begin() + (beside == 1 ? 0 : 1), freshName(last, arrayType(x)));
    x = cutDim(b, x, last, length).x;
  }
  for (StringAttr dim : dims)
    x = isTree(dim) ? pairwiseProduct(b, x, dim)
                    : ReduceOp::create(b, ReduceKind::prod, x, b.getArrayAttr({dim})).getResult();
  return x;
}

/// The partial derivatives along a dim are the products of what is before and what is after: linear
/// in the size, and again made of ops with exact derivatives.
static Value sumOfProductsOfOthers(Linearizer &l, Operation *o) {
  auto op = cast<ReduceOp>(o);
  Value x = op.getX();
  StringRef dim = cast<StringAttr>(op.getDims()[0]);
  auto side = [&](bool reverse) -> Value {
    return CumulativeOp::create(l.primal, CumulativeKind::prod, x, dim, reverse, true);
  };
  Value others = MulOp::create(l.primal, side(false), side(true));
  return ContractOp::create(l.linear, ValueRange{others, l.tangent(x)}, op.getDims(), ArrayAttr());
}

//===- the table -----------------------------------------------------------===//

static Rule chooser(ChooseFn choose, StringRef text, ExpandFn expand = nullptr) {
  Rule rule{Table::Chooser};
  rule.choose = choose;
  rule.expand = expand;
  rule.text = text;
  return rule;
}
#define CHOOSE(fn) fn, #fn

void xtensor::addChooserRules(Rules &rules) {
  rules.add<MaximumOp>(chooser(CHOOSE(shareAmongTwo)));
  rules.add<MinimumOp>(chooser(CHOOSE(shareAmongTwo)));
  rules.add<ReduceOp>(ReduceKind::max, "max", chooser(CHOOSE(shareAmongOwners)));
  rules.add<ReduceOp>(ReduceKind::min, "min", chooser(CHOOSE(shareAmongOwners)));
  rules.add<ReduceOp>(ReduceKind::prod, "prod",
                      chooser(CHOOSE(sumOfProductsOfOthers), expandProduct));
  rules.add<ScatterOp>(ScatterKind::max, "max", chooser(CHOOSE(shareAmongWriters)));
  rules.add<ScatterOp>(ScatterKind::min, "min", chooser(CHOOSE(shareAmongWriters)));
  rules.add<ScatterOp>(ScatterKind::mul, "mul", chooser(CHOOSE(recurProducts)));
}
